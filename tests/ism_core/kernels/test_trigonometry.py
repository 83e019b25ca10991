"""Cosines and sines by table, and by what is compiled."""

from collections.abc import Callable

import numpy as np
import pytest

from ism_core.arrays import Array
from ism_core.kernels.trigonometry import CHUNK, cos_sin

Way = Callable[[Array, Array, Array], None]


def compiled(angles: Array, cosines: Array, sines: Array) -> None:
    pytest.importorskip("numba")
    from ism_core.objective.compiled import waves as compiled_waves

    compiled_waves.cos_sin(angles.ravel(), cosines.ravel(), sines.ravel())


each_way = pytest.mark.parametrize("way", [cos_sin, compiled])


@each_way
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 5), (2, CHUNK // 2), (3, CHUNK)])
@pytest.mark.parametrize("size", [1e-9, 1.0, 30.0, 1e5])
def test_they_are_those_of_numpy(way: Way, shape: tuple[int, int], size: float, rng: np.random.Generator) -> None:
    angles = size * rng.standard_normal(shape)
    before = angles.copy()
    cosines, sines = np.empty(shape), np.empty(shape)
    way(angles, cosines, sines)
    np.testing.assert_allclose(cosines, np.cos(angles), rtol=0, atol=1e-14 + 1e-15 * size)
    np.testing.assert_allclose(sines, np.sin(angles), rtol=0, atol=1e-14 + 1e-15 * size)
    np.testing.assert_array_equal(angles, before)


@each_way
def test_where_the_table_changes_over_and_all_around(way: Way) -> None:
    angles = np.concatenate([np.pi * np.arange(-5_000, 5_000) / 1_024, [0.0, -0.0, np.pi, -np.pi]])
    cosines, sines = np.empty_like(angles), np.empty_like(angles)
    way(angles, cosines, sines)
    np.testing.assert_allclose(cosines, np.cos(angles), rtol=0, atol=2e-14)
    np.testing.assert_allclose(sines, np.sin(angles), rtol=0, atol=2e-14)
