"""Φ and J, in every way of computing them, against double loops over pairs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ism_core import Gaussian, Linear, Multiquadratic, Polynomial, Squared
from ism_core.arrays import Array
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels.base import Kernel
from ism_core.kernels.maps import exact_maps
from ism_core.objective import features as features_module
from ism_core.objective import tiling as panels
from ism_core.objective.problem import Method, Problem
from tests.ism_core import reference
from tests.ism_core.family import EVERY, KERNELS, SUMS, WITH_FEATURES

CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def by(way: Method, X: Array, gamma: Gamma, kernel: Kernel, q: int) -> Problem:
    """The problem with its choice of way made for it."""
    return replace(Problem.of(X, gamma, kernel, q), maps=exact_maps(kernel, q) if way == "features" else None)


@pytest.fixture(scope="module", params=EVERY)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def kernel(name: str, rows: Array) -> Kernel:
    return EVERY[name].bound(rows, np.random.default_rng(0))


@pytest.fixture(scope="module")
def expected(kernel: Kernel, rows: Array, gamma: Gamma, projection: Array) -> tuple[Array, float]:
    """Φ and J by the double loop."""
    return reference.evaluate(rows, gamma, kernel, projection), reference.objective(rows, gamma, kernel, projection)


# 23 rows in one block, and in blocks with a rest of 2 or of 1
@pytest.mark.parametrize("block", [256, 7, 11])
def test_tiles_are_the_sums_over_pairs(
    block: int,
    kernel: Kernel,
    rows: Array,
    gamma: Gamma,
    projection: Array,
    expected: tuple[Array, float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(panels, "TILE", block)
    assert_same(by("tiles", rows, gamma, kernel, 2), projection, *expected)


@pytest.mark.parametrize("block", [1_024, 7, 11])
@pytest.mark.parametrize("name", WITH_FEATURES, indirect=True)
def test_features_are_the_sums_over_pairs(
    block: int,
    kernel: Kernel,
    rows: Array,
    gamma: Gamma,
    projection: Array,
    expected: tuple[Array, float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(features_module, "WIDE_BLOCK", block)
    monkeypatch.setattr(features_module, "NARROW_BLOCKS", (block, block))
    assert_same(by("features", rows, gamma, kernel, 2), projection, *expected)


def assert_same(problem: Problem, W: Array, phi: Array, J: float) -> None:
    found, objective = problem.evaluate(W)
    scale = np.abs(phi).max()
    np.testing.assert_allclose(found / scale, phi / scale, **CLOSE)
    np.testing.assert_allclose(found, found.T, rtol=1e-12, atol=1e-12 * scale)
    assert objective == pytest.approx(J, rel=1e-10, abs=1e-9)
    assert problem.objective(W) == pytest.approx(J, rel=1e-10, abs=1e-9)
    half_gradient, same = problem.half_gradient(W)
    np.testing.assert_allclose(half_gradient / scale, phi @ W / scale, **CLOSE)
    assert same == pytest.approx(J, rel=1e-10, abs=1e-9)


def test_twice_phi_w_is_the_gradient_at_any_w(
    kernel: Kernel, rows: Array, gamma: Gamma, rng: np.random.Generator
) -> None:
    W = 0.4 * rng.standard_normal((4, 2))  # not orthonormal
    few = slice(0, 23, 3)
    part = Problem.of(rows[few], gamma.restricted(np.arange(23)[few]), kernel.restricted(few, few), 2)
    expected = reference.numerical_gradient(part.X, part.gamma, part.kernel, W)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(2 * part.half_gradient(W)[0] / scale, expected / scale, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(2 * part.evaluate(W)[0] @ W / scale, expected / scale, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("sum_name", SUMS)
def test_phi_of_a_sum_is_the_weighted_sum_of_phis(sum_name: str, rows: Array, gamma: Gamma, projection: Array) -> None:
    kernel = SUMS[sum_name].bound(rows, np.random.default_rng(0))
    whole, J = Problem.of(rows, gamma, kernel, 2).evaluate(projection)
    parts = [(weight, Problem.of(rows, gamma, term, 2).evaluate(projection)) for weight, term in kernel.terms]
    np.testing.assert_allclose(whole, sum(weight * phi for weight, (phi, _) in parts), rtol=1e-10, atol=1e-9)
    total = sum(weight * objective for weight, (_, objective) in parts)
    assert total == pytest.approx(J, rel=1e-10)


@given(a=st.floats(0.01, 100), b=st.floats(0.01, 100), seed=st.integers(0, 99))
def test_phi_is_linear_in_the_kernel(a: float, b: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((12, 3)), np.linalg.qr(rng.standard_normal((3, 2)))[0]
    gamma = Gamma(rng.standard_normal((12, 2)), np.array([1.0, -1.0]))
    first, second = Gaussian(1.0), Polynomial(2, 1.0, 0.5)
    whole = Problem.of(X, gamma, a * first + b * second, 2).evaluate(W)[0]
    phis = [Problem.of(X, gamma, kernel, 2).evaluate(W)[0] for kernel in (first, second)]
    np.testing.assert_allclose(whole, a * phis[0] + b * phis[1], rtol=1e-9, atol=1e-9 * (a + b))


@pytest.mark.parametrize("steep", [name for name in EVERY if name != "polynomial c=0"])
def test_first_surrogate_is_phi_with_the_slope_at_zero(steep: str, rows: Array, gamma: Gamma) -> None:
    kernel = EVERY[steep].bound(rows, np.random.default_rng(0))
    expected = reference.initial_surrogate(rows, gamma, kernel)
    np.testing.assert_allclose(Problem.of(rows, gamma, kernel, 2).initial_surrogate(), expected, rtol=1e-10, atol=1e-9)


def test_first_surrogate_keeps_the_sign_of_a_slope_that_is_zero_at_zero(rows: Array, gamma: Gamma) -> None:
    flat = Problem.of(rows, gamma, KERNELS["polynomial c=0"], 2).initial_surrogate()
    np.testing.assert_allclose(flat, Problem.of(rows, gamma, Linear(), 2).initial_surrogate(), rtol=1e-12, atol=1e-12)
    assert np.abs(flat).max() > 1


@pytest.mark.parametrize("tile", [7, 11, 256])
def test_tiles_give_coefficients_of_the_rows_that_make_phi_times_w(
    tile: int, kernel: Kernel, rows: Array, gamma: Gamma, projection: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panels, "TILE", tile)
    problem = by("tiles", rows, gamma, kernel, 2)
    phi, J = problem.evaluate(projection)
    coefficients, same_J = problem.row_coefficients(projection)
    assert coefficients.shape == (23, 2)
    np.testing.assert_allclose(rows.T @ coefficients, phi @ projection, rtol=1e-10, atol=1e-10 * np.abs(phi).max())
    assert same_J == pytest.approx(J, rel=1e-12)


@given(
    n=st.integers(2, 14), d=st.integers(1, 5), q=st.integers(1, 5), classes=st.integers(2, 4), seed=st.integers(0, 9)
)
def test_ways_agree_for_any_shape(n: int, d: int, q: int, classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q = min(q, d)
    X, W = rng.standard_normal((n, d)), np.linalg.qr(rng.standard_normal((d, q)))[0]
    gamma = LabelGamma.of(np.unique(rng.integers(0, classes, n), return_inverse=True)[1])
    kernel = 0.5 * Squared() + Polynomial(3, 1.0, 0.3) + 2 * Linear()
    tiled, featured = (by(way, X, gamma, kernel, q) for way in ("tiles", "features"))
    np.testing.assert_allclose(tiled.evaluate(W)[0], featured.evaluate(W)[0], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(tiled.half_gradient(W)[0], featured.half_gradient(W)[0], rtol=1e-8, atol=1e-8)
    assert tiled.objective(W) == pytest.approx(featured.objective(W), rel=1e-8, abs=1e-8)


def test_features_are_taken_for_many_rows_and_tiles_for_many_features(rng: np.random.Generator) -> None:
    def problem(n: int, q: int, kernel: Kernel) -> Problem:
        return Problem.of(rng.standard_normal((n, 12)), LabelGamma.of(np.arange(n) % 3), kernel, q)

    assert problem(2_000, 2, Polynomial(3, 1.0, 0.1)).method == "features"
    assert problem(60, 10, Polynomial(5, 1.0, 0.1)).method == "tiles"
    assert problem(60, 12, Polynomial(20, 1.0, 0.1)).method == "tiles"  # 226 million features
    assert problem(2_000, 2, Gaussian(1.0)).method == "tiles"  # it has no finite feature map
    assert problem(2_000, 2, Multiquadratic() + Linear()).method == "tiles"


def test_rows_within_a_budget_grow_with_it(rng: np.random.Generator) -> None:
    for kernel in (Gaussian(1.0), Linear()):
        problem = Problem.of(rng.standard_normal((400, 6)), LabelGamma.of(np.arange(400) % 2), kernel, 2)
        assert problem.rows_within(1e12) == 400
        few = problem.rows_within(2e3)
        assert 0 < few < 400
        assert problem.rows_within(6e3) > few


def test_a_restricted_problem_is_the_problem_of_its_rows(
    kernel: Kernel, rows: Array, gamma: Gamma, projection: Array
) -> None:
    chosen = np.array([0, 3, 4, 9, 15, 22])
    part = Problem.of(rows, gamma, kernel, 2).restricted(chosen)
    expected = reference.evaluate(rows[chosen], part.gamma, kernel.restricted(chosen, chosen), projection)
    np.testing.assert_allclose(part.evaluate(projection)[0], expected, rtol=1e-10, atol=1e-10)
    assert len(part.X) == 6
