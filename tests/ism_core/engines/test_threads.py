"""Threads of our own: the BLAS is held to one and released again, and the sums stay the same."""

import threading
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from ism_core import Gaussian, Supervised, Unsupervised, solve
from ism_core.arrays import Array
from ism_core.engines.base import in_threads, own_threads
from ism_core.gamma import LabelGamma
from ism_core.kernels import taylor_maps
from ism_core.linalg.subspaces import largest_angle
from ism_core.objective import Problem, data
from ism_core.objective import pairs as panels
from ism_core.objective.strategies import TruncatedFeatures
from tests.ism_core.conftest import Labelled
from tests.ism_core.family import EVERY


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()}


@pytest.fixture(autouse=True)
def two_threads():
    """Whatever the machine has."""
    with threadpool_limits(2, user_api="blas"):
        yield


def test_the_blas_is_held_to_one_thread_and_released() -> None:
    assert blas_threads() == {2}
    with own_threads() as threads:
        assert threads == 2
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_nested_holds_know_the_limit_and_release_once() -> None:
    with own_threads(), own_threads() as threads:
        assert threads == 2
        with own_threads():
            pass
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_any_thread_may_hold_and_release() -> None:
    """threadpoolctl lets only the first thread that ever set a limit set another one, and ignores the rest."""
    seen = []

    def hold() -> None:
        with own_threads():
            seen.append(blas_threads())

    hold()
    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert seen == [{1}, {1}]
    assert blas_threads() == {2}


def test_an_error_releases_the_blas() -> None:
    with pytest.raises(ZeroDivisionError), own_threads():
        raise ZeroDivisionError
    assert blas_threads() == {2}


def test_a_cap_on_the_blas_is_a_cap_on_our_threads() -> None:
    with threadpool_limits(1, user_api="blas"):
        with own_threads() as threads:
            assert threads == 1
        assert blas_threads() == {1}


def test_of_two_holders_the_last_releases() -> None:
    inside, leave, left = threading.Event(), threading.Event(), threading.Event()

    def other() -> None:
        with own_threads():
            inside.set()
            leave.wait(10)
        left.set()

    thread = threading.Thread(target=other)
    with own_threads():
        thread.start()
        assert inside.wait(10)
    assert blas_threads() == {1}  # the other one still holds it
    leave.set()
    assert left.wait(10)
    thread.join()
    assert blas_threads() == {2}


@pytest.mark.parametrize(("items", "threads"), [(1, 4), (5, 1), (5, 2), (5, 8), (2, 2)])
def test_every_item_is_worked_on_once_and_shares_keep_their_order(items: int, threads: int) -> None:
    shares = in_threads(list, items, threads)
    assert sorted(index for share in shares for index in share) == list(range(items))
    assert shares == in_threads(list, items, threads)
    assert len(shares) <= min(items, threads)


def test_norms_of_large_matrices_leave_the_threads_of_the_blas_asleep(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those are sums of more than 10,000 squares, which OpenBLAS would share out; its threads then spin for a while."""
    norm, awake = np.linalg.norm, []

    def watched(x: Array, *args: Any, **named: Any) -> Any:
        if np.size(x) > 10_000:
            awake.append(max(blas_threads()))
        return norm(x, *args, **named)

    monkeypatch.setattr(np.linalg, "norm", watched)
    X, y = rng.standard_normal((300, 110)), np.arange(300) % 3
    solve(X + y[:, None], Supervised(y), "gaussian", 2)
    assert set(awake) == {1}


def test_an_error_in_a_thread_reaches_the_caller() -> None:
    def fail(share: list[int]) -> None:
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        in_threads(fail, 4, 2)


@pytest.mark.parametrize("name", EVERY)
def test_phi_is_the_same_on_one_thread_and_on_several(
    name: str, blobs: Labelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panels, "TILE", 16)
    monkeypatch.setattr(data.in_memory, "THREAD_FLOPS", 0)
    kernel = EVERY[name].fitted_to(blobs.X, np.random.default_rng(0))
    W = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 2)))[0]

    def evaluate(threads: int) -> tuple[Array, float]:
        with threadpool_limits(threads, user_api="blas"):
            return Problem.of(blobs.X, LabelGamma.of(blobs.y), kernel, 2).evaluate(W)

    one, J = evaluate(1)
    for threads in (2, 4):
        several, same = evaluate(threads)
        np.testing.assert_array_equal(several, one)
        assert same == J
    three, near = evaluate(3)
    np.testing.assert_allclose(three, one, rtol=1e-12, atol=1e-12 * np.abs(one).max())
    assert near == pytest.approx(J, rel=1e-12)


def test_sums_with_far_rows_are_the_same_on_one_thread_and_on_several(
    blobs: Labelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panels, "TILE", 16)
    monkeypatch.setattr(data.in_memory, "THREAD_FLOPS", 0)
    W, maps = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 2)))[0], taylor_maps(Gaussian(2.0), 2, 6)
    assert maps is not None

    def sums(threads: int) -> Array:
        with threadpool_limits(threads, user_api="blas"):
            problem = data.ProblemData.of(blobs.X, LabelGamma.of(blobs.y), Gaussian(2.0), 2)
            strategy = TruncatedFeatures(problem, maps, far=np.arange(0, len(blobs.X), 2))
            return np.hstack([strategy.evaluate(W)[0], strategy.half_gradient(W)[0]])

    for threads in (2, 4):
        np.testing.assert_array_equal(sums(threads), sums(1))


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial"])
@pytest.mark.parametrize("supervised", [True, False])
def test_a_result_does_not_depend_on_the_number_of_threads(kernel: str, supervised: bool, wine: Labelled) -> None:
    results = []
    for threads in (1, 3):
        with threadpool_limits(threads, user_api="blas"):
            paradigm = Supervised(wine.y) if supervised else Unsupervised(3)
            results.append(solve(wine.X, paradigm, kernel, 2))
    one, three = results
    assert three.objective == pytest.approx(one.objective, rel=1e-12 if supervised else 1e-9)
    assert largest_angle(one.W, three.W) < (1e-9 if supervised else 1e-6)


def test_solves_in_threads_of_the_caller_do_not_disturb_each_other(blobs: Labelled) -> None:
    alone = solve(blobs.X, Supervised(blobs.y), "gaussian", 2)
    results = in_threads(lambda share: [solve(blobs.X, Supervised(blobs.y), "gaussian", 2) for _ in share], 6, 3)
    for result in (result for share in results for result in share):
        np.testing.assert_array_equal(result.W, alone.W)
    assert blas_threads() == {2}
