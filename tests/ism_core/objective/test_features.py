"""Φ, Φ(W)W and J through features, against the plain definition."""

import pickle
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ism_core import Gaussian, Linear, Polynomial, Squared
from ism_core.arrays import Array
from ism_core.engines.base import LOCAL, Engine, Placed
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import Kernel, exact_maps, random_maps, taylor_maps
from ism_core.objective import features
from ism_core.objective.feature_sums import PlacedRows
from tests.ism_core import reference
from tests.ism_core.family import EVERY

T = TypeVar("T")


class Elsewhere(Engine):
    """Shares that reach their worker, and come back, as bytes."""

    def place(self, value: T) -> Placed[T]:
        return Placed(value, pickle.dumps(value))

    def run(self, work: Callable[..., T], items: int, *args: Any) -> list[T]:
        sent = pickle.dumps((work, [arg.there if isinstance(arg, Placed) else pickle.dumps(arg) for arg in args]))
        results = []
        for first in range(min(3, items)):
            own, values = pickle.loads(sent)
            results.append(own(list(range(first, items, 3)), *map(pickle.loads, values)))
        return pickle.loads(pickle.dumps(results))


def placed(X: Array, gamma: Gamma, W: Array, engine: Engine = LOCAL) -> PlacedRows:
    return PlacedRows.of(engine.place(X), engine.place(gamma), W, engine)


@pytest.fixture(params=[(7, 5), (11, 3), (1_024, 256)], ids=["7 rows", "11 rows", "all rows"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    wide, narrow = request.param
    monkeypatch.setattr(features, "WIDE_BLOCK", wide)
    monkeypatch.setattr(features, "NARROW_BLOCKS", (narrow, narrow))


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("name", EVERY)
def test_first_surrogate_needs_no_projection(name: str, rows: Array, gamma: Gamma) -> None:
    kernel = EVERY[name].fitted_to(rows, np.random.default_rng(0))
    found = features.initial_surrogate(placed(rows, gamma, np.empty((4, 0))), kernel)
    if name == "polynomial c=0":  # f′(0) = 0, and the sign of f′ stands for it
        kernel = Linear()
    expected = reference.initial_surrogate(rows, gamma, kernel)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11 * np.abs(expected).max())


@given(
    n=st.integers(2, 14), d=st.integers(1, 5), q=st.integers(1, 5), classes=st.integers(1, 4), seed=st.integers(0, 9)
)
def test_pull_is_phi_times_w_for_any_shape(n: int, d: int, q: int, classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((n, d)), rng.standard_normal((d, min(q, d)))
    gamma = LabelGamma.of(np.unique(rng.integers(0, classes, n), return_inverse=True)[1])
    kernel = 0.5 * Squared() + Polynomial(3, 1.0, 0.3) + 2 * Linear() + Gaussian(2.0)
    maps = taylor_maps(kernel, W.shape[1], 3)
    phi, J = features.evaluate(placed(X, gamma, W), maps)
    C, same_J = features.row_coefficients(placed(X, gamma, W), maps)
    np.testing.assert_allclose(X.T @ C, phi @ W, rtol=1e-9, atol=1e-9 * max(1, np.abs(phi).max()))
    assert same_J == pytest.approx(J, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize(
    "kernel", [Polynomial(3, 1.0, 0.2), Gaussian(1.5) + Linear(), 0.3 * Squared()], ids=["product", "mixed", "distance"]
)
def test_work_may_be_done_elsewhere(kernel: Kernel, rows: Array, gamma: Gamma, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "WIDE_BLOCK", 6)
    monkeypatch.setattr(features, "NARROW_BLOCKS", (4, 4))
    W = np.random.default_rng(4).standard_normal((4, 2))
    for maps in (taylor_maps(kernel, 2, 3), random_maps(kernel, 2, 15, 1.0, np.random.default_rng(0))):
        there = Elsewhere()
        for function in (features.evaluate, features.row_coefficients, features.half_gradient):
            matrix, J = function(placed(rows, gamma, W), maps)
            same, same_J = function(placed(rows, gamma, W, there), maps)
            np.testing.assert_allclose(same, matrix, rtol=1e-11, atol=1e-11)
            assert same_J == pytest.approx(J, rel=1e-11)


def test_distances_do_not_see_an_offset(rows: Array, gamma: Gamma, projection: Array) -> None:
    maps = taylor_maps(Gaussian(2.0) + 0.1 * Squared(), 2, 6)
    near, far = (features.row_coefficients(placed(X, gamma, projection), maps) for X in (rows, rows + 1e4))
    np.testing.assert_allclose(far[0], near[0], rtol=1e-6, atol=1e-7)
    assert far[1] == pytest.approx(near[1], rel=1e-7)


def test_what_overflows_is_infinite_or_undefined_and_nobody_warns(rows: Array, gamma: Gamma, projection: Array) -> None:
    far, maps = placed(1e40 * rows, gamma, projection), exact_maps(Polynomial(9, 1.0, 1.0), 2)
    for _, J in (features.evaluate(far, maps), features.half_gradient(far, maps)):
        assert not np.isfinite(J)
