"""Products with the affinity by features and by tiles, against the matrix."""

import numpy as np
import pytest

from ism_core.arrays import Array
from ism_core.objective import tiles
from ism_core.paradigms import affinity
from ism_core.paradigms.affinity import Affinity
from tests.ism_core.family import EVERY, WITH_FEATURES

WITH_MAPS = [name for name in EVERY if name in WITH_FEATURES or name in ("gaussian", "mixed")]


@pytest.fixture(scope="module")
def projected() -> Array:
    rng = np.random.default_rng(2)
    rows: Array = rng.standard_normal((700, 2)) * [1.0, 0.5] + [0.4, -0.3]
    return rows


@pytest.fixture(scope="module")
def vectors() -> Array:
    return np.random.default_rng(4).standard_normal((700, 3))


@pytest.mark.parametrize("name", EVERY)
def test_products_are_those_of_the_matrix(name: str, projected: Array, vectors: Array) -> None:
    kernel = EVERY[name].fitted_to(projected, np.random.default_rng(0))
    scale = np.random.default_rng(5).uniform(0.5, 1.5, len(projected))
    found = Affinity.of(projected, kernel, scale, 1e-9)
    A = scale[:, None] * tiles.kernel_matrix(projected, kernel) * scale - found.shift
    np.fill_diagonal(A, 0)
    np.testing.assert_allclose(found.times(vectors), A @ vectors, atol=1e-6 * np.abs(A).max() * len(projected))
    assert (found.maps is not None) == (name in WITH_MAPS)


@pytest.mark.parametrize("name", WITH_MAPS)
def test_features_by_many_small_blocks_change_nothing(
    name: str, projected: Array, vectors: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = EVERY[name]
    monkeypatch.setattr(affinity, "BLOCKS", (32, 33))
    maps = affinity.affordable_maps(projected, kernel, 1e-12)
    assert maps is not None
    exact = tiles.kernel_product(projected, kernel, vectors)
    np.testing.assert_allclose(
        affinity.feature_product(projected, maps, vectors), exact, atol=1e-8 * np.abs(exact).max()
    )


def test_a_gaussian_is_cut_at_the_least_degree_that_leaves_out_little_enough(projected: Array) -> None:
    counts = []
    for left_out in (1e-2, 1e-4, 1e-6):
        maps = affinity.affordable_maps(projected, EVERY["gaussian"], left_out)
        assert maps is not None
        assert 0 < affinity.omissions(projected, maps).mean() <= left_out
        counts.append(maps[0].value.count)
    assert counts[0] < counts[1] < counts[2]
    assert affinity.affordable_maps(projected[:40], EVERY["gaussian"], 1e-6) is None


@pytest.mark.parametrize("name", EVERY)
def test_the_diagonal_is_that_of_the_matrix(name: str, projected: Array) -> None:
    kernel = EVERY[name].fitted_to(projected, np.random.default_rng(0))
    np.testing.assert_allclose(
        affinity.kernel_diagonal(projected, kernel),
        np.diag(tiles.kernel_matrix(projected, kernel)),
        atol=1e-12,
        rtol=1e-12,
    )


@pytest.mark.parametrize("name", EVERY)
def test_the_smallest_value_is_nearly_found_from_a_few_rows(
    name: str, projected: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = EVERY[name].fitted_to(projected, np.random.default_rng(0))
    K = tiles.kernel_matrix(projected, kernel)
    monkeypatch.setattr(affinity, "SEARCHED_ROWS", 20)
    found = affinity.smallest_value(projected, kernel, np.ones(len(projected)))
    assert K.min() - 1e-9 <= found <= K.min() + 0.02 * np.ptp(K)
