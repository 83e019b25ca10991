"""Whitening, and scaling as a whole."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import load_wine

from ism_core import InvalidInput
from ism_core.arrays import Array, Ints
from ism_core.linalg import SCALES, Scale, Scaling, Whitening
from ism_core.linalg.whitening import SHRINKAGES


@pytest.mark.parametrize(("n", "d"), [(60, 5), (30, 80)])
def test_the_map_is_the_inverse_root_of_the_shrunk_covariance(n: int, d: int, rng: np.random.Generator) -> None:
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    X -= X.mean(axis=0)
    covariance = ledoit_wolf(X, assume_centered=True)[0]
    L = Whitening.of(X).times(np.eye(d))
    np.testing.assert_allclose(L @ covariance @ L, np.eye(d), atol=1e-8)
    np.testing.assert_allclose(L, L.T, atol=1e-12)


@pytest.mark.parametrize(("n", "d", "distance"), [(60, 5, 3.0), (60, 40, 0.4), (30, 80, 0.4), (30, 80, 3.0)])
def test_with_classes_it_is_shrunk_as_cross_validation_of_their_indicators_prefers(
    n: int, d: int, distance: float, rng: np.random.Generator
) -> None:
    codes = np.arange(n) % 3
    X = rng.standard_normal((n, d)) * rng.uniform(0.2, 1, d)
    X[:, 0] += distance * codes
    X -= X.mean(axis=0)
    rows = X - np.vstack([X[codes == c].mean(axis=0) for c in range(3)])[codes]
    covariance = rows.T @ rows / n
    shrinkage = max(ledoit_wolf(rows, assume_centered=True)[1], best_of_ridge_regressions(X, codes, covariance))
    shrunk = (1 - shrinkage) * covariance + shrinkage * np.eye(d) * np.trace(covariance) / d
    L = Whitening.of(X, codes).times(np.eye(d))
    np.testing.assert_allclose(L @ shrunk @ L, np.eye(d), atol=1e-8)


def best_of_ridge_regressions(X: Array, codes: Ints, covariance: Array) -> float:
    """Return the shrinkage whose ridge regression has the best generalized cross-validation, from n×n matrices."""
    n, d = X.shape
    Y = np.eye(3)[codes] - np.bincount(codes) / n
    criteria = []
    for shrinkage in SHRINKAGES:
        penalty = shrinkage / (1 - shrinkage) * np.trace(covariance) / d
        hat = X @ np.linalg.solve(X.T @ X + n * penalty * np.eye(d), X.T)
        criteria.append(((Y - hat @ Y) ** 2).sum() / (n - 1 - np.trace(hat)) ** 2)
    return SHRINKAGES[int(np.argmin(criteria))]


def test_rows_of_one_class_are_whitened_as_rows_without_classes(rng: np.random.Generator) -> None:
    X = rng.standard_normal((30, 4))
    X -= X.mean(axis=0)
    L = Whitening.of(X, np.zeros(30, dtype=int)).times(np.eye(4))
    np.testing.assert_allclose(L, Whitening.of(X).times(np.eye(4)), atol=1e-8)


@pytest.mark.parametrize(("n", "d"), [(60, 5), (30, 80)])
def test_whitening_can_be_undone(n: int, d: int, rng: np.random.Generator) -> None:
    whitening = Whitening.of(rng.standard_normal((n, d)))
    M = rng.standard_normal((d, 3))
    np.testing.assert_allclose(whitening.solve(whitening.times(M)), M, atol=1e-10)


def test_rows_that_do_not_vary_are_left_as_they_are() -> None:
    np.testing.assert_array_equal(Whitening.of(np.zeros((4, 3))).times(np.eye(3)), np.eye(3))


@pytest.mark.parametrize("scale", SCALES)
def test_a_w_outside_projects_standardized_features_as_the_w_inside_projects_scaled_rows(scale: Scale) -> None:
    X, y = load_wine(return_X_y=True)
    scaling, rows = Scaling.learned(X, scale, y)
    W = np.linalg.qr(np.random.default_rng(0).standard_normal((13, 2)))[0]
    np.testing.assert_allclose((X - scaling.mean) / scaling.scale @ scaling.outside(W), rows @ W, atol=1e-9)
    np.testing.assert_allclose(scaling.inside(scaling.outside(W)), W, atol=1e-12)
    np.testing.assert_allclose(scaling.apply(X), rows, atol=1e-12)


def test_a_column_that_never_varies_stays_0_when_whitened() -> None:
    X, y = load_wine(return_X_y=True)
    padded = np.insert(X, 4, 7.0, axis=1)
    scaling, rows = Scaling.learned(padded, "whiten", y)
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows[:, 4], 0, atol=1e-12)
    np.testing.assert_allclose(np.delete(scaling.outside(np.eye(14)), 4, axis=0)[:, 4], 0, atol=1e-12)


def test_an_unknown_scale_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InvalidInput, match='scale is \'robust\'; it must be "standard", "whiten" or "none"'):
        Scaling.learned(np.eye(3), "robust")  # type: ignore[arg-type]
