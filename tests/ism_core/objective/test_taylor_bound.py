"""Bounds on what cut features leave out: never too small, seldom far too large."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ism_core import Gaussian, Linear, Multiquadratic, Polynomial, RelativeGaussian, Squared
from ism_core.arrays import Array, Ints
from ism_core.engines.base import LOCAL
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import Kernel, taylor_maps
from ism_core.objective import features
from ism_core.objective.data import ProblemData
from ism_core.objective.feature_sums import PlacedRows
from ism_core.objective.strategies import TruncatedFeatures
from ism_core.objective.truncation import Magnitudes, ProjectedNorms, cheapest_truncation, least_degree
from tests.ism_core.conftest import Labelled
from tests.ism_core.reference import dense

ANY = Magnitudes(np.inf, np.inf)


def exactly(X: Array, gamma: Gamma, kernel: Kernel, W: Array) -> tuple[float, Array]:
    """J and Φ(W)W by matrices, for kernels of difference form."""
    P = X @ W
    beta = np.maximum(np.sum((P[:, None] - P) ** 2, axis=2), 0)
    G = dense(gamma)
    values = [(weight, term.value(beta), term) for weight, term in kernel.terms]
    J = sum(weight * np.vdot(G, value) for weight, value, _ in values)
    psi = G * sum(weight * term.derivative(beta, value) for weight, value, term in values)
    return float(J), 2 * X.T @ (np.diag(psi.sum(axis=1)) - psi) @ P


def errors(
    X: Array, gamma: Gamma, kernel: Kernel, W: Array, degree: int, far: Ints | None = None
) -> tuple[Magnitudes, Magnitudes]:
    """The true ones, and the bounds."""
    maps = taylor_maps(kernel, W.shape[1], degree)
    J, half_gradient = exactly(X, gamma, kernel, W)
    strategy = TruncatedFeatures(ProblemData.of(X, gamma, kernel, W.shape[1]), maps, far=far)
    found, cut = strategy.half_gradient(W)
    return Magnitudes(abs(J - cut), float(np.linalg.norm(found - half_gradient))), strategy.error_bound(W)


@given(
    n=st.integers(2, 60),
    d=st.integers(1, 8),
    q=st.integers(1, 3),
    degree=st.integers(0, 8),
    sigma=st.floats(0.2, 20),
    tail=st.sampled_from([0.0, 1.0]),
    classes=st.integers(0, 6),
    far=st.sampled_from([0, 1, 5]),
    seed=st.integers(0, 999),
)
def test_errors_are_within_their_bounds(
    n: int, d: int, q: int, degree: int, sigma: float, tail: float, classes: int, far: int, seed: int
) -> None:
    """For class labels, and for any Γ where classes is 0; on rows with outliers too, and far from the origin.

    The pairs among the outermost rows are exact.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.exp(tail * rng.standard_normal((n, 1))) + 3
    W = np.linalg.qr(rng.standard_normal((d, min(q, d))))[0]
    gamma = Gamma(rng.standard_normal((n, 3)), np.array([1.0, -0.6, 0.3]))
    if classes:
        gamma = LabelGamma.of(np.unique(rng.integers(0, classes, n), return_inverse=True)[1])
    kernel = 0.7 * Gaussian(sigma) + 2.0 * Gaussian(3 * sigma) + 0.1 * Squared()
    outermost = np.argsort(np.linalg.norm((X - X.mean(axis=0)) @ W, axis=1))[n - min(far, n) :]
    true, bound = errors(X, gamma, kernel, W, degree, outermost if far else None)
    rounding = 1e-11 * n**2 * (1 + np.abs(X).max() ** 2 / sigma**2)
    assert true.objective <= bound.objective + rounding
    assert true.gradient <= bound.gradient + rounding * np.abs(X).max()


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_bounds_are_of_the_size_of_the_errors(degree: int, digits: Labelled) -> None:
    X, gamma = digits.X[:600], LabelGamma.of(digits.y[:600])
    kernel = Gaussian("median").fitted_to(X, np.random.default_rng(0))
    phi = features.initial_surrogate(
        PlacedRows.of(LOCAL.place(X), LOCAL.place(gamma), np.empty((X.shape[1], 0))), kernel
    )
    true, bound = errors(X, gamma, kernel, np.linalg.eigh(phi)[1][:, -5:], degree)
    assert bound.objective <= 10 * true.objective
    assert bound.gradient <= 100 * true.gradient


def test_the_least_degree_is_the_first_within_the_bounds(wine: Labelled) -> None:
    gamma, W = LabelGamma.of(wine.y), np.eye(13)[:, :2]
    norms = ProjectedNorms.of(wine.X @ W, np.linalg.norm(wine.X, axis=1), gamma)
    kernel = Gaussian(2.0) + Linear()
    for allowed in (Magnitudes(1e-3, np.inf), Magnitudes(np.inf, 1e-3), Magnitudes(1e-8, 1e-8)):
        degree = least_degree(kernel, 2, norms, allowed, 10_000)
        enough, less = (norms.bound(taylor_maps(kernel, 2, each)) for each in (degree, degree - 1))
        assert enough.objective <= allowed.objective
        assert enough.gradient <= allowed.gradient
        assert less.objective > allowed.objective or less.gradient > allowed.gradient
    assert least_degree(kernel, 2, norms, Magnitudes(1e-3, 1e-3), 10) is None  # more features than are allowed
    assert least_degree(Gaussian(1e-3), 2, norms, Magnitudes(1e-3, 1e-3), 10_000) is None  # no degree would do


def test_the_cheapest_truncation_is_within_the_bounds(wine: Labelled) -> None:
    gamma, W = LabelGamma.of(wine.y), np.eye(13)[:, :2]
    norms = ProjectedNorms.of(wine.X @ W, np.linalg.norm(wine.X, axis=1), gamma)
    kernel = Gaussian(2.0) + Linear()
    for allowed in (Magnitudes(1e-3, np.inf), Magnitudes(np.inf, 1e-3), Magnitudes(1e-8, 1e-8)):
        plain = cheapest_truncation(kernel, 2, norms, 1e-4, allowed, 1.0, 1e9, 1e9)  # pairs are never worth their price
        assert plain is not None
        assert plain.norms.far is None
        assert plain.degree == least_degree(kernel, 2, norms, allowed, 10_000)
        mixed = cheapest_truncation(kernel, 2, norms, 1e-4, allowed, 1.0, 0.01, plain.flops)
        assert mixed is not None
        assert mixed.norms.far is not None
        assert 0 < mixed.norms.far_count == len(mixed.norms.far)
        assert mixed.norms.is_within(taylor_maps(kernel, 2, mixed.degree), allowed)
        assert mixed.flops < plain.flops
        assert cheapest_truncation(kernel, 2, norms, 1e-4, allowed, 1.0, 0.01, 0.9 * mixed.flops) is None
    narrow = Gaussian(1e-3)
    assert cheapest_truncation(narrow, 2, norms, 1e-4, Magnitudes(1e-3, 1e-3), 1.0, 1e9, 1e12) is None


def test_far_rows_are_the_outermost(rng: np.random.Generator) -> None:
    P = rng.standard_normal((200, 2))
    P[[7, 9, 120]] *= 40
    norms = ProjectedNorms.of(P, np.ones(200), LabelGamma.of(np.arange(200) % 2))
    found = norms.with_fewest_far(taylor_maps(Gaussian(2.0), 2, 30), Magnitudes(1e-3, 1e-3), 50)
    assert found is not None
    np.testing.assert_array_equal(found.far, [7, 9, 120])
    assert norms.with_fewest_far(taylor_maps(Gaussian(2.0), 2, 30), Magnitudes(1e-3, 1e-3), 2) is None


@pytest.mark.parametrize("kernel", [Multiquadratic() + Gaussian(1.0), RelativeGaussian()])
def test_kernels_that_cannot_be_cut_have_no_degree(kernel: Kernel, rows: Array, gamma: Gamma) -> None:
    norms = ProjectedNorms.of(rows[:, :2], np.ones(23), gamma)
    fitted = kernel.fitted_to(rows, np.random.default_rng(0))
    assert least_degree(fitted, 2, norms, ANY, 10_000) is None
    assert cheapest_truncation(fitted, 2, norms, 1e-4, ANY, 1.0, 1.0, 1e9) is None


def test_exact_terms_leave_nothing_out(rows: Array, gamma: Gamma) -> None:
    norms = ProjectedNorms.of(rows[:, :2], np.linalg.norm(rows, axis=1), gamma)
    assert norms.bound(taylor_maps(Linear() + Squared() + Polynomial(2, 1.0, 0.5), 2, 3)) == Magnitudes(0.0, 0.0)


def test_rows_that_coincide_leave_nothing_out(gamma: Gamma) -> None:
    norms = ProjectedNorms.of(np.full((23, 2), 4.0), np.zeros(23), gamma)
    bound = norms.bound(taylor_maps(Gaussian(1.0), 2, 0))
    assert bound.objective < 1e-200
    assert bound.gradient < 1e-200
