"""Random features: near the kernel they stand for, the nearer the more there are, and the same for the same seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from ism_core import Gaussian, Linear, Multiquadratic
from ism_core.arrays import Array
from ism_core.engines.base import LOCAL
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels.base import Kernel, Term, random_maps
from ism_core.kernels.random_features import inverse_root_mixture
from ism_core.objective import features, tiles
from ism_core.objective.feature_sums import PlacedRows
from tests.ism_core.conftest import Labelled

TERMS = {"gaussian": Gaussian(2.5), "multiquadratic": Multiquadratic(1.0), "wide": Multiquadratic(6.0)}


def pairs(term: Term, P: Array, count: int, seed: int) -> tuple[Array, Array]:
    """f and f′ between the rows, by random features."""
    own = term.random_map(P.shape[1], count, 2 * float(np.var(P, axis=0).sum()), np.random.default_rng(seed))
    F = own.derivative.of(P)
    np.testing.assert_array_equal(F, own.value.of(P))
    assert F.shape == (len(P), own.derivative.count)
    return F * own.value.weights @ F.T, F * own.derivative.weights @ F.T


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("q", [1, 2, 6])
def test_f_and_its_derivative_are_nearer_with_more_features(name: str, q: int, rng: np.random.Generator) -> None:
    term, P = TERMS[name], 2 * rng.standard_normal((60, q))
    beta = cdist(P, P, "sqeuclidean")
    value = term.value(beta)
    derivative = term.derivative(beta, value)
    errors = np.zeros((2, 2))
    for row, count in enumerate((65, 2_049)):
        for seed in range(5):
            for column, (found, true) in enumerate(zip(pairs(term, P, count, seed), (value, derivative), strict=True)):
                errors[row, column] += np.linalg.norm(found - true) / np.linalg.norm(true) / 5
    assert (errors[0] < 0.7).all()
    assert (errors[1] < 0.15).all()
    assert (errors[1] < errors[0] / 2).all()


@pytest.mark.parametrize("name", TERMS)
def test_on_average_over_directions_they_are_the_kernel(name: str, rng: np.random.Generator) -> None:
    """In 3 dimensions the mean of cos ω·p over the directions of ω is sin x/x, x = ‖ω‖‖p‖."""
    term, betas = TERMS[name], np.geomspace(1e-6, 60, 30)
    own = term.random_map(3, 601, 10.0, rng)
    angles = np.multiply.outer(np.sqrt(betas), np.linalg.norm(own.value.frequencies, axis=0))
    value, derivative = (
        each.constant + np.sinc(angles / np.pi) @ each.amplitudes for each in (own.value, own.derivative)
    )
    np.testing.assert_allclose(value, term.value(betas), rtol=5e-3, atol=2e-3)
    np.testing.assert_allclose(derivative, term.derivative(betas, term.value(betas)), rtol=5e-3, atol=2e-3)


@pytest.mark.parametrize("name", TERMS)
def test_near_rows_have_the_exact_derivative_in_every_direction(name: str, rng: np.random.Generator) -> None:
    term, P = TERMS[name], 1e-4 * rng.standard_normal((6, 3))
    own = term.random_map(3, 31, 10.0, rng)
    F = own.value.of(P)
    found = F * own.value.weights @ F.T
    zero = np.zeros(1)
    change = cdist(P, P, "sqeuclidean") * term.derivative(zero, term.value(zero))
    np.testing.assert_allclose(found - term.value(zero), change, rtol=1e-4, atol=1e-13 * abs(own.value.constant))


@given(c=st.floats(0.05, 20), beta=st.floats(0.01, 1e4))
def test_a_mixture_of_gaussians_stands_for_the_multiquadratic(c: float, beta: float) -> None:
    """From β near 0 to 30 times the typical one."""
    s, a = inverse_root_mixture(256, c, beta)
    betas = beta * np.geomspace(1e-6, 30, 50)
    term = Multiquadratic(c)
    value = term.value(betas)
    exponents = -np.multiply.outer(betas, s)
    np.testing.assert_allclose(-np.exp(exponents) @ a, term.derivative(betas, value), rtol=3e-3)
    np.testing.assert_allclose(-c + np.expm1(exponents) @ (a / s), value, rtol=1e-3)


@pytest.mark.parametrize("name", TERMS)
def test_pull_is_the_derivative_of_the_objective_that_comes_with_it(
    name: str, rows: Array, gamma: Gamma, rng: np.random.Generator
) -> None:
    maps = random_maps(0.4 * TERMS[name] + 0.1 * Linear(), 2, 41, 5.0, rng)
    W, Z = rng.standard_normal((4, 2)), rng.standard_normal((4, 2))
    X, placed, step = LOCAL.place(rows), LOCAL.place(gamma), 1e-5
    C, _ = features.row_coefficients(PlacedRows.of(X, placed, W), maps)
    above, below = (features.objective(PlacedRows.of(X, placed, W + sign * step * Z), maps) for sign in (1, -1))
    assert 2 * np.vdot(rows.T @ C, Z) == pytest.approx((above - below) / (2 * step), rel=1e-6)


@pytest.mark.parametrize("kernel", [Gaussian("median"), Multiquadratic()], ids=["gaussian", "multiquadratic"])
def test_objective_and_surrogate_are_near_the_exact_ones(kernel: Kernel, digits: Labelled) -> None:
    X, gamma = LOCAL.place(digits.X), LOCAL.place(LabelGamma.of(digits.y))
    fitted = kernel.fitted_to(digits.X, np.random.default_rng(0))
    W = np.linalg.eigh(features.initial_surrogate(PlacedRows.of(X, gamma, np.empty((X.here.shape[1], 0))), fitted))[1][
        :, -5:
    ]
    phi, J = tiles.evaluate(X, gamma, LOCAL.place(fitted), W)
    maps = random_maps(fitted, 5, 1_024, 2 * float(np.var(digits.X @ W, axis=0).sum()), np.random.default_rng(1))
    found, near = features.evaluate(PlacedRows.of(X, gamma, W), maps)
    C, same = features.row_coefficients(PlacedRows.of(X, gamma, W), maps)
    assert near == pytest.approx(J, rel=0.01)
    assert same == pytest.approx(near, rel=1e-10)
    assert np.linalg.norm(found - phi) < 0.1 * np.linalg.norm(phi)
    assert np.linalg.norm(digits.X.T @ C - phi @ W) < 0.1 * np.linalg.norm(phi @ W)


@pytest.mark.parametrize("count", [3, 4, 20, 21, 1_000])
def test_features_are_no_more_than_asked_for_and_the_same_for_the_same_seed(count: int) -> None:
    for term in TERMS.values():
        one, same, other = (term.random_map(7, count, 1.0, np.random.default_rng(seed)) for seed in (0, 0, 1))
        assert count / 2 - 14 < one.derivative.count == one.value.count <= count
        np.testing.assert_array_equal(one.derivative.frequencies, same.derivative.frequencies)
        assert not np.array_equal(one.derivative.frequencies, other.derivative.frequencies)
