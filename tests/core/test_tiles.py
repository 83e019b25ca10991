"""Sums over pairs of projected rows, tile by tile, against the whole kernel matrix."""

import numpy as np
import pytest

from ism_core import Gaussian, tiles
from ism_core.arrays import Array
from ism_core.kernel import Kernel
from tests.core import reference
from tests.core.family import EVERY


@pytest.fixture(params=[256, 7, 1])
def tile(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(tiles, "TILE", request.param)
    return request.param


@pytest.fixture(scope="module", params=EVERY)
def kernel(request: pytest.FixtureRequest, rows: Array) -> Kernel:
    return EVERY[request.param].bound(rows, np.random.default_rng(0))


@pytest.fixture(scope="module")
def whole(kernel: Kernel, rows: Array) -> Array:
    return reference.kernel_matrix(rows, kernel)


@pytest.mark.usefixtures("tile")
def test_every_sum_agrees_with_the_whole_matrix(
    kernel: Kernel, whole: Array, rows: Array, rng: np.random.Generator
) -> None:
    K = whole
    V, scale = rng.standard_normal((23, 3)), rng.uniform(0.5, 2, 23)
    close = {"rtol": 1e-10, "atol": 1e-11 * np.abs(K).max()}
    np.testing.assert_allclose(tiles.kernel_matrix(rows, kernel), K, **close)
    np.testing.assert_allclose(tiles.kernel_product(rows, kernel, V), K @ V, rtol=1e-9, atol=1e-10 * np.abs(K).max())
    np.testing.assert_allclose(tiles.kernel_diagonal(rows, kernel), np.diag(K), **close)
    assert tiles.smallest_value(rows, kernel, scale) == pytest.approx((K * np.outer(scale, scale)).min(), rel=1e-10)
    offsets = rows[:, 0]
    assert tiles.square_sum(rows, kernel, offsets) == pytest.approx(
        ((K - offsets[:, None] - offsets) ** 2).sum(), rel=1e-10
    )


@pytest.mark.usefixtures("tile")
def test_distances_do_not_suffer_from_an_offset(rows: Array) -> None:
    near, far = tiles.kernel_matrix(rows, Gaussian(1.0)), tiles.kernel_matrix(rows + 1e6, Gaussian(1.0))
    np.testing.assert_allclose(far, near, atol=1e-8)


def test_distances_are_never_negative(rng: np.random.Generator) -> None:
    P = np.repeat(rng.standard_normal((5, 3)), 4, axis=0)
    pairs = tiles.Pairs(P)
    beta = pairs.beta("difference", slice(0, 20), slice(0, 20), np.empty((20, 20)))
    assert (beta >= 0).all()
