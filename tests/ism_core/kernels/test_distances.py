"""The scales that kernels take from the data."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from ism_core.arrays import Array
from ism_core.kernels import base
from ism_core.kernels.base import _median, local_scales, median_distance


def test_median_distance_is_over_pairs_that_differ(rows: Array, rng: np.random.Generator) -> None:
    assert median_distance(rows, rng) == pytest.approx(np.median(pdist(rows)))
    pair = np.array([[0.0], [0.0], [0.0], [3.0]])
    assert median_distance(pair, rng) == 3.0


def test_median_distance_of_a_sample_is_near_that_of_all(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = rng.standard_normal((600, 3))
    monkeypatch.setattr(base, "MEDIAN_ROWS", 200)
    sampled = median_distance(X, np.random.default_rng(0))
    assert sampled == median_distance(X, np.random.default_rng(0))
    assert sampled != median_distance(X, np.random.default_rng(1))
    assert sampled == pytest.approx(np.median(pdist(X)), rel=0.1)


@pytest.mark.parametrize("neighbors", [1, 3, 7, 100])
def test_local_scale_is_the_distance_to_the_neighbor(neighbors: int, rows: Array, rng: np.random.Generator) -> None:
    ordered = np.sort(squareform(pdist(rows)), axis=1)  # column 0 is the row itself
    expected = ordered[:, min(neighbors, len(rows) - 1)]
    np.testing.assert_allclose(local_scales(rows, neighbors, rng), expected, rtol=1e-6)


def test_a_row_among_copies_takes_a_tenth_of_the_median(rng: np.random.Generator) -> None:
    X = np.vstack([np.zeros((5, 2)), rng.standard_normal((6, 2))])
    scales = local_scales(X, 3, rng)
    np.testing.assert_allclose(scales[:5], 0.1 * median_distance(X, rng))
    assert (scales[5:] > 0).all()


@pytest.mark.parametrize("count", [1, 2, 99_999, 100_000, 300_001])
@pytest.mark.parametrize("kind", ["normal", "ties", "sorted", "two clusters"])
def test_the_median_of_many_numbers_is_that_of_numpy(count: int, kind: str, rng: np.random.Generator) -> None:
    normal = rng.standard_normal(count)
    numbers = {
        "normal": normal,
        "ties": normal.round(1),
        "sorted": np.sort(normal),
        "two clusters": np.sign(normal) + 0.01 * normal,
    }[kind]
    assert _median(numbers) == np.median(numbers)
