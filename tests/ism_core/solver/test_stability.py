"""Standard errors of loadings: as wide as new rows would make them, and small where there is nothing to vary."""

import numpy as np
import pytest

from ism_core import InvalidInput, Supervised, Unsupervised, solve
from ism_core.arrays import Array
from ism_core.linalg import Scaling
from ism_core.solver import stability
from tests.ism_core.conftest import Labelled, Planted


def drawn(rng: np.random.Generator, rows: int) -> Labelled:
    """Three classes that differ along two of six features."""
    y = np.arange(rows) % 3
    X = rng.standard_normal((rows, 6))
    X[:, :2] += np.array([[1.2, 0.0], [-0.6, 1.0], [-0.6, -1.0]])[y]
    return Labelled(X, y)


def turned(W: Array, towards: Array) -> Array:
    left, _, right = np.linalg.svd(W.T @ towards)
    aligned: Array = W @ (left @ right)
    return aligned


@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_errors_are_what_the_loadings_of_new_rows_vary_by(kernel: str, rng: np.random.Generator) -> None:
    data = drawn(rng, 240)
    result = solve(data.X, Supervised(data.y), kernel, 2)
    errors = stability(data.X, Supervised(data.y), result, resamples=40).errors
    others = []
    for _ in range(40):
        fresh = drawn(rng, 240)
        others.append(turned(solve(fresh.X, Supervised(fresh.y), kernel, 2).W, result.W))
    true = np.std(others, axis=0)
    assert 0.5 < np.median(errors / true) < 2
    assert 0.5 < np.sqrt((errors**2).sum() / (true**2).sum()) < 2


def test_four_times_the_rows_halve_the_errors(rng: np.random.Generator) -> None:
    sizes = []
    for rows in (120, 480):
        data = drawn(rng, rows)
        result = solve(data.X, Supervised(data.y), "gaussian", 2)
        sizes.append(np.linalg.norm(stability(data.X, Supervised(data.y), result, resamples=20).errors))
    assert 1.3 < sizes[0] / sizes[1] < 3


def test_the_basis_does_not_count(planted: Planted) -> None:
    paradigm = Supervised(planted.labels)
    result = solve(planted.X, paradigm, "linear", 2)  # two equal eigenvalues: halves give any basis of their plane
    found = stability(planted.X, paradigm, result)
    assert found.errors.max() < 0.1
    assert found.angles.max() < 0.3
    assert found.rows == 75


def test_few_features_stay_those_that_were_chosen(wine: Labelled) -> None:
    result = solve(wine.X, Supervised(wine.y), "gaussian", 2, features_per_axis=4)
    found = stability(wine.X, Supervised(wine.y), result, resamples=8)
    assert (found.errors[result.W == 0] == 0).all()
    assert (found.errors[result.W != 0] > 0).all()
    assert found.errors.max() < 0.5


@pytest.mark.parametrize("few", [None, 4])
def test_whitened_loadings_vary_in_the_features_before(few: int | None, wine: Labelled) -> None:
    scaling, Z = Scaling.learned(wine.X, "whiten", wine.y)
    paradigm = Supervised(wine.y)
    result = solve(Z, paradigm, "gaussian", 2, features_per_axis=few, whitening=scaling.whitening)
    found = stability(Z, paradigm, result, resamples=8, whitening=scaling.whitening)
    V = scaling.outside(result.W)
    assert found.errors.shape == V.shape
    assert 0 < found.errors.max() < np.abs(V).max()
    if few is not None:
        assert result.sparsity is not None
        assert np.abs(found.errors[~result.sparsity.support]).max() < 1e-12


@pytest.mark.parametrize("kernel", ["gaussian", "relative_gaussian", "polynomial"])
def test_loadings_of_a_clustering_have_errors_too(kernel: str, planted: Planted) -> None:
    result = solve(planted.X, Unsupervised(3), kernel, 2)
    found = stability(planted.X, Unsupervised(3), result, resamples=6)
    assert np.isfinite(found.errors).all()
    assert found.errors.max() < 0.3


def test_more_columns_than_rows_in_a_half_are_no_trouble(rng: np.random.Generator) -> None:
    data = drawn(rng, 40)
    X = np.hstack([data.X, rng.standard_normal((40, 50))])
    result = solve(X, Supervised(data.y), "gaussian", 2)
    found = stability(X, Supervised(data.y), result, resamples=4)
    assert np.isfinite(found.errors).all()
    assert found.angles.max() > 0.3  # so few rows say little of so many columns


def test_the_same_seed_gives_the_same_errors(blobs: Labelled) -> None:
    result = solve(blobs.X, Supervised(blobs.y), "gaussian", 2)
    first, second, other = (
        stability(blobs.X, Supervised(blobs.y), result, resamples=4, seed=seed).errors for seed in (3, 3, 4)
    )
    assert (first == second).all()
    assert (first != other).any()


def test_what_cannot_be_resampled_is_told(blobs: Labelled) -> None:
    result = solve(blobs.X, Supervised(blobs.y), "gaussian", 2)
    with pytest.raises(InvalidInput, match="resamples is 1; it must be a whole number of 2 or more"):
        stability(blobs.X, Supervised(blobs.y), result, resamples=1)
    few = solve(blobs.X[:6], Supervised(blobs.y[:6]), "gaussian", 1)
    with pytest.raises(InvalidInput, match="X has 6 rows; standard errors need at least 8"):
        stability(blobs.X[:6], Supervised(blobs.y[:6]), few)


def test_classes_of_few_rows_are_halved_too(rng: np.random.Generator) -> None:
    """Else every half would be all of the rows, and the errors about 0."""
    data = drawn(rng, 15)  # three classes of 5 rows
    result = solve(data.X, Supervised(data.y), "linear", 2)
    assert stability(data.X, Supervised(data.y), result, resamples=10).angles.min() > 0.01
