"""Every evaluation strategy computes J, Φ and Φ(W)W as the plain double loop over pairs of rows does.

The suite runs each strategy with every kernel that it supports, compiled and by numpy, in blocks of several sizes, on
one and on two threads and in both precisions: any two of these together, not all of their combinations.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import pytest

from ism_core.arrays import Array
from ism_core.engines.base import LOCAL
from ism_core.gamma import Gamma
from ism_core.kernels import Gaussian, Kernel, exact_maps, random_maps, taylor_maps
from ism_core.objective import data, feature_blocks, features, pairs
from ism_core.objective.data import EvaluationOptions, Precision, ProblemData
from ism_core.objective.strategies import AllPairs, ExactFeatures, RandomFeatures, Strategy, TruncatedFeatures
from tests.ism_core import reference
from tests.ism_core.family import EVERY, KINDS
from tests.support.pairwise import pairwise

NEVER = 10**9
DEGREE = 70  # of the Taylor series: what it leaves out of the rows below is less than rounding
FAR = np.array([0, 3, 4, 6, 11, 20])  # rows whose pairs are exact; any rows will do
ROUNDING: dict[Precision, float] = {"double": 1e-11, "single": 1e-5}
CODES, THREADS = ("compiled", "numpy"), (1, 2)
INDIRECT = ["code", "block", "threads"]
BLOCKS = (512, 7, 1)  # the rows of a tile or of a block: more than there are, no divisor of them, and one


@dataclass(frozen=True)
class Expected:
    """What the double loop gives."""

    phi: Array
    objective: float
    size: float  # of what J is a sum of, without signs: rounding errors of J are relative to it


@pytest.fixture(scope="module", params=KINDS)
def kernel(request: pytest.FixtureRequest, rows: Array) -> Kernel:
    return EVERY[request.param].fitted_to(rows, np.random.default_rng(0))


@pytest.fixture(scope="module")
def expected(kernel: Kernel, rows: Array, gamma: Gamma, projection: Array) -> Expected:
    pieces = reference.dense(gamma) * reference.kernel_matrix(rows @ projection, kernel)
    phi = reference.evaluate(rows, gamma, kernel, projection)
    return Expected(phi, float(pieces.sum()), float(np.abs(pieces).sum()))


@pytest.fixture
def code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows are left to numpy otherwise."""
    least = 0 if request.param == "compiled" else NEVER
    monkeypatch.setattr(pairs, "COMPILED_ROWS", least)
    monkeypatch.setattr(feature_blocks, "COMPILED_NUMBERS", least)
    monkeypatch.setattr(feature_blocks, "COMPILED_NUMBERS_OF_GAUSSIANS", least)


@pytest.fixture
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "TILE", request.param)
    monkeypatch.setattr(features, "WIDE_BLOCK", request.param)
    monkeypatch.setattr(features, "NARROW_BLOCKS", (request.param, request.param))
    monkeypatch.setattr(features, "COMPILED_BLOCK", request.param)


@pytest.fixture
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Little work is left to one thread otherwise."""
    monkeypatch.setattr(data.in_memory, "THREAD_FLOPS", 0 if request.param == 2 else np.inf)
    if request.param == 2:
        monkeypatch.setattr("ism_core.engines.base.own_threads", two_threads)


@contextmanager
def two_threads() -> Iterator[int]:
    """As many as a machine with two cores has."""
    yield 2


def strategies(data: ProblemData, W: Array) -> Iterator[Strategy]:
    """All that the kernel supports."""
    kernel, q = data.kernel, data.q
    yield AllPairs(data)
    if (maps := exact_maps(kernel, q)) is not None:
        yield ExactFeatures(data, maps)
    elif (maps := taylor_maps(kernel, q, DEGREE)) is not None:
        yield TruncatedFeatures(data, maps)
        yield TruncatedFeatures(data, maps, coarse_maps=taylor_maps(kernel, q, DEGREE - 5))
        yield TruncatedFeatures(data, maps, far=FAR[len(data.X) > FAR])
    if exact_maps(kernel, q) is None and (maps := random_maps(kernel, q, 9, 1.0, np.random.default_rng(0))) is not None:
        yield RandomFeatures(data, maps, W)


def featured(strategy: ExactFeatures, W: Array) -> Expected:
    """The double loop with the strategy's own feature maps in the place of f and f′."""
    data = strategy.data
    assert isinstance(data, ProblemData)
    X, P, G = data.X, data.X @ W, reference.dense(data.gamma)
    phi, pieces = np.zeros((X.shape[1], X.shape[1])), np.zeros_like(G)
    for each in strategy.maps:
        centered = P - P.mean(axis=0) if each.form == "difference" else P
        value, derivative = (
            each.weight * (F := one.of(centered)).copy() * one.weights @ F.T for one in (each.value, each.derivative)
        )
        pieces += G * value
        psi = G * derivative
        phi += X.T @ psi @ X if each.form == "product" else 2 * X.T @ (np.diag(psi.sum(axis=1)) - psi) @ X
    return Expected(phi, float(pieces.sum()), float(np.abs(pieces).sum()))


@pytest.mark.usefixtures("code", "block", "threads")
@pytest.mark.parametrize(
    ("code", "block", "threads", "precision"), pairwise(CODES, BLOCKS, THREADS, list(ROUNDING)), indirect=INDIRECT
)
def test_every_strategy_gives_the_sums_over_pairs(
    precision: Precision, kernel: Kernel, rows: Array, gamma: Gamma, projection: Array, expected: Expected
) -> None:
    W = projection
    data = ProblemData.of(rows, gamma, kernel, 2, options=EvaluationOptions(precision, engine=LOCAL))
    for strategy in strategies(data, W):
        limit = ROUNDING[precision] if isinstance(strategy, AllPairs) else ROUNDING["double"]
        wanted = expected
        if isinstance(strategy, RandomFeatures):
            assert_random(strategy, W)
            continue
        phi, J = strategy.evaluate(W)
        half_gradient, same = strategy.half_gradient(W)
        C, again = strategy.row_coefficients(W)
        np.testing.assert_allclose(phi, phi.T, rtol=0, atol=1e-13 * np.abs(phi).max())
        assert_near(phi, wanted.phi, limit)
        assert_near(half_gradient, wanted.phi @ W, limit)
        assert_near(rows.T @ C, wanted.phi @ W, limit)
        for value in (J, same, again, strategy.objective(W)):
            assert abs(value - wanted.objective) <= 0.1 * limit * wanted.size
        known = strategy.evaluate(W, (half_gradient, same))
        assert_near(known[0], phi, 1e-14)
        assert strategy.cost.half_gradient <= strategy.cost.ascent


def assert_random(strategy: RandomFeatures, W: Array) -> None:
    """Random features are few here, so that their sums are compared with double loops over the same features.

    Φ is those sums, made exact along W. What is exact there, the derivative of J, `test_accuracy` compares with
    differences of J.
    """
    wanted = featured(strategy, W)
    phi, J = strategy.evaluate(W)
    half_gradient, same = strategy.half_gradient(W)
    aside = np.linalg.qr(np.hstack([W, np.eye(len(W))]))[0][:, W.shape[1] :]
    assert_near(aside.T @ phi @ aside, aside.T @ wanted.phi @ aside, 1e-10)
    assert_near(phi @ W, half_gradient, 1e-11)
    for value in (J, same, strategy.row_coefficients(W)[1], strategy.objective(W)):
        assert abs(value - wanted.objective) <= 1e-12 * wanted.size


@pytest.mark.usefixtures("code", "threads")
@pytest.mark.parametrize(
    ("code", "threads", "precision"), pairwise(CODES, THREADS, list(ROUNDING)), indirect=["code", "threads"]
)
def test_a_low_degree_is_enough_if_the_pairs_of_far_rows_are_exact(
    precision: Precision, rows: Array, gamma: Gamma, projection: Array
) -> None:
    """The far rows lie in two places, one of them beyond."""
    W, X = projection, 0.1 * rows
    X[FAR] += 12 * np.where(FAR < 5, 1.0, -1.0)[:, None] * W[:, 0]
    X[20] += 40 * W[:, 1]
    kernel = Gaussian(1.0) + 0.5 * Gaussian(1.5)
    data = ProblemData.of(X, gamma, kernel, 2, options=EvaluationOptions(precision))
    maps = taylor_maps(kernel, 2, 40)
    assert maps is not None
    phi = reference.evaluate(X, gamma, kernel, W)
    pieces = reference.dense(gamma) * reference.kernel_matrix(X @ W, kernel)
    limit, size = ROUNDING["double"], np.abs(pieces).sum()  # in single precision, too
    strategy = TruncatedFeatures(data, maps, far=FAR)
    for value in (strategy.evaluate(W)[1], strategy.objective(W), strategy.half_gradient(W)[1]):
        assert abs(value - pieces.sum()) <= limit * size
    assert_near(strategy.evaluate(W)[0], phi, limit)
    assert_near(strategy.half_gradient(W)[0], phi @ W, limit)
    assert abs(TruncatedFeatures(data, maps).objective(W) - pieces.sum()) > 0.01 * size
    assert strategy.error_bound(W).objective < 1e-9 * TruncatedFeatures(data, maps).error_bound(W).objective


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize("code", CODES, indirect=True)
def test_the_half_gradient_holds_for_any_w(kernel: Kernel, rows: Array, gamma: Gamma, rng: np.random.Generator) -> None:
    W = 0.4 * rng.standard_normal((4, 2))  # not orthonormal
    few = np.arange(0, 23, 3)
    data = ProblemData.of(rows[few], gamma.restricted(few), kernel.restricted(few, few), 2)
    wanted = reference.numerical_gradient(data.X, data.gamma, data.kernel, W)
    for strategy in strategies(data, W):
        if not isinstance(strategy, RandomFeatures):
            half_gradient, J = strategy.half_gradient(W)
            assert_near(2 * half_gradient, wanted, 1e-6)
            assert pytest.approx(reference.objective(data.X, data.gamma, data.kernel, W)) == J


@pytest.mark.usefixtures("code", "block", "threads")
@pytest.mark.parametrize(("code", "block", "threads"), pairwise(CODES, BLOCKS, THREADS), indirect=INDIRECT)
def test_all_pairs_are_the_same_if_memory_is_scarce(
    kernel: Kernel, rows: Array, gamma: Gamma, projection: Array
) -> None:
    for precision, limit in ROUNDING.items():
        data = ProblemData.of(rows, gamma, kernel, 2, options=EvaluationOptions(precision))
        scarce = replace(data, options=replace(data.options, spare_bytes=0))
        (phi, J), (lean, same) = AllPairs(data).evaluate(projection), AllPairs(scarce).evaluate(projection)
        assert_near(lean, phi, limit)
        assert same == pytest.approx(J, rel=limit)


@pytest.mark.usefixtures("code", "threads")
@pytest.mark.parametrize(("code", "threads"), pairwise(CODES, THREADS), indirect=True)
def test_a_sum_of_no_kernels_is_zero(rows: Array, gamma: Gamma, projection: Array) -> None:
    phi, J = AllPairs(ProblemData.of(rows, gamma, 0.0 * EVERY["gaussian"], 2)).evaluate(projection)
    np.testing.assert_array_equal(phi, np.zeros((4, 4)))
    assert J == 0


def assert_near(found: Array, wanted: Array, limit: float) -> None:
    assert np.linalg.norm(found - wanted) <= limit * np.linalg.norm(wanted)
