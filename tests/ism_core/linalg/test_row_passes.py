"""Passes over all rows give what numpy gives at once, however the rows fall into blocks."""

import numpy as np
import pytest

from ism_core.arrays import Array
from ism_core.gamma import LabelGamma
from ism_core.kernels import Gaussian, taylor_maps
from ism_core.linalg import row_passes as rows
from ism_core.objective.data import Projections
from ism_core.objective.truncation import ProjectedNorms

N, D = 23, 5


@pytest.fixture(params=[1, 4, 23, 100])
def table(request: pytest.FixtureRequest, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> Array:
    monkeypatch.setattr(rows, "BLOCK", request.param)
    return rng.standard_normal((N, D)) + 3.0


def test_products_are_those_of_the_whole_table(table: Array, rng: np.random.Generator) -> None:
    W, C = rng.standard_normal((D, 2)), rng.standard_normal((N, 3))
    np.testing.assert_allclose(rows.projected(table, W), table @ W, rtol=1e-13)
    np.testing.assert_allclose(rows.column_sums(table, C), table.T @ C, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(rows.squares(table), table.T @ table, rtol=1e-12)


def test_means_and_lengths_are_those_of_the_whole_table(table: Array) -> None:
    mean, square = rows.column_means(table)
    np.testing.assert_allclose(mean, table.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(square, (table**2).mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(rows.square_lengths(table, mean), ((table - mean) ** 2).sum(axis=1), rtol=1e-12)


def test_a_table_in_single_precision_is_the_rounded_one(table: Array) -> None:
    single = np.empty(table.shape, np.float32)
    rows.convert(table, single)
    np.testing.assert_array_equal(single, table.astype(np.float32))


def test_rows_are_picked_in_the_order_asked_for(table: Array) -> None:
    chosen = np.array([3, 3, 22, 0, 7, 1])
    np.testing.assert_array_equal(rows.picked(table, chosen), table[chosen])


def test_rows_are_projected_once_for_a_w_and_its_bound(
    table: Array, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    projections, gamma = Projections(table), LabelGamma.of(np.arange(N) % 3)
    W, other = np.linalg.qr(rng.standard_normal((2, D, 2)))[0]
    turned = W @ np.linalg.qr(rng.standard_normal((2, 2)))[0]
    maps = taylor_maps(Gaussian(2.0), 2, 3)
    expected = Projections(table).norms(turned, gamma).bound(maps)
    P = projections.projected(W)
    monkeypatch.setattr(rows, "projected", None)
    assert projections.projected(W.copy()) is P
    found = projections.norms(turned, gamma).bound(maps)
    assert (found.objective, found.gradient) == pytest.approx((expected.objective, expected.gradient))
    with pytest.raises(TypeError):
        projections.projected(other)
    with pytest.raises(TypeError):
        projections.norms(other, gamma)


def test_extents_follow_w_and_gamma(table: Array, rng: np.random.Generator) -> None:
    projections = Projections(table)
    lengths = np.linalg.norm(table - table.mean(axis=0), axis=1)
    gammas = [LabelGamma.of(np.arange(N) % k) for k in (2, 3)]
    for W in np.linalg.qr(rng.standard_normal((2, D, 2)))[0]:
        for gamma in (*gammas, gammas[0]):
            expected = ProjectedNorms.of(table @ W, lengths, gamma)
            for _ in range(2):
                np.testing.assert_allclose(
                    projections.norms(W, gamma).moments, expected.moments, rtol=1e-12, atol=1e-12
                )
