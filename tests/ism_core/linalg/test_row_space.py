"""The row space of X: nothing is lost by working in it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ism_core import Supervised, solve
from ism_core.arrays import Array
from ism_core.linalg import row_space as rowspace
from ism_core.linalg.row_space import RowSpace
from ism_core.linalg.subspaces import largest_angle
from tests.ism_core.conftest import Labelled

TABLES = {
    "full rank": lambda rng: rng.standard_normal((9, 4)),
    "more columns than rows": lambda rng: rng.standard_normal((5, 12)),
    "a constant zero column": lambda rng: rng.standard_normal((9, 4)) * [1, 0, 1, 1],
    "a copied column": lambda rng: rng.standard_normal((9, 3))[:, [0, 1, 2, 0]],
    "scales far apart": lambda rng: rng.standard_normal((9, 3)) * [1e8, 1.0, 1e-8],
    "one direction": lambda rng: np.outer(rng.standard_normal(9), rng.standard_normal(4)),
    "nothing": lambda rng: np.zeros((6, 3)),
}


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest, rng: np.random.Generator) -> Array:
    return TABLES[request.param](rng)


@pytest.mark.parametrize("q", [1, 2, 3])
def test_rows_are_the_coordinates_times_an_orthonormal_basis(table: Array, q: int) -> None:
    space = RowSpace.of(table, q)
    basis = np.eye(table.shape[1]) if space.basis is None else space.basis
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)
    np.testing.assert_allclose(space.Z @ basis.T, table, atol=1e-9 * max(1, np.abs(table).max()))
    assert space.Z.shape[1] >= q


def test_rank_counts_directions_whatever_their_scale() -> None:
    rng = np.random.default_rng(0)
    ranks = {name: RowSpace.of(make(rng), 1).rank for name, make in TABLES.items()}
    assert ranks == {
        "full rank": 4,
        "more columns than rows": 5,
        "a constant zero column": 3,
        "a copied column": 3,
        "scales far apart": 3,
        "one direction": 1,
        "nothing": 0,
    }


def test_coordinates_are_no_more_than_rows_or_columns(table: Array) -> None:
    space = RowSpace.of(table, 1)
    assert space.Z.shape[1] <= min(table.shape)


@given(n=st.integers(2, 8), d=st.integers(1, 8), q=st.integers(1, 8), seed=st.integers(0, 99))
def test_out_and_into_are_inverse(n: int, d: int, q: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q = min(q, d)
    space = RowSpace.of(rng.standard_normal((n, d)), q)
    inside = np.linalg.qr(rng.standard_normal((space.Z.shape[1], q)))[0]
    outside = space.out(inside)
    np.testing.assert_allclose(outside.T @ outside, np.eye(q), atol=1e-12)
    np.testing.assert_allclose(space.into(outside), inside, atol=1e-10)


def test_into_makes_any_independent_columns_orthonormal(rng: np.random.Generator) -> None:
    given = rng.standard_normal((4, 2)) * [1.0, 50.0]
    inside = RowSpace.of(rng.standard_normal((9, 4)), 2).into(given)
    np.testing.assert_allclose(inside.T @ inside, np.eye(2), atol=1e-12)
    assert largest_angle(np.linalg.qr(given)[0], inside) < 1e-10


@pytest.mark.parametrize("kernel", ["gaussian", "squared", "multiquadratic", "polynomial", "linear"])
def test_empty_columns_change_nothing(kernel: str, blobs: Labelled) -> None:
    padded = np.insert(blobs.X, [0, 3], 0.0, axis=1)
    bare, wide = (solve(X, Supervised(blobs.y), kernel, 2, starts=1) for X in (blobs.X, padded))
    np.testing.assert_allclose(np.delete(wide.W, [0, 4], axis=0), bare.W, atol=1e-9)
    np.testing.assert_array_equal(wide.W[[0, 4]], 0)
    assert wide.objective == pytest.approx(bare.objective, rel=1e-12)


@pytest.mark.parametrize("kernel", ["gaussian", "squared", "multiquadratic", "relative_gaussian"])
@pytest.mark.parametrize("constant", [0.1, 1 / 3, 7.7, 1e8 + 0.1])
def test_a_constant_column_gets_no_weight_where_only_differences_count(
    kernel: str, constant: float, blobs: Labelled
) -> None:
    """Its mean is rounded, so that what is left of it need not be exactly 0."""
    X = np.column_stack([blobs.X, np.full(60, constant)])
    result = solve(X, Supervised(blobs.y), kernel, 5, starts=1)
    assert np.abs(result.W[-1]).max() < 1e-6
    assert not any("varies along" in warning for warning in result.warnings)


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "squared", "linear", "multiquadratic"])
def test_more_columns_than_rows_give_the_answer_of_the_rotated_rows(kernel: str, rng: np.random.Generator) -> None:
    y = np.arange(18) % 3
    X = rng.standard_normal((18, 60))
    X[:, 0] += 5 * y
    X -= X.mean(axis=0)
    wide = solve(X, Supervised(y), kernel, 2, starts=1)
    directions = np.linalg.svd(X, full_matrices=False)[2][:17].T
    narrow = solve(X @ directions, Supervised(y), wide.kernel, 2, starts=1)  # the same gamma, though d is less
    np.testing.assert_allclose(wide.W.T @ wide.W, np.eye(2), atol=1e-12)
    assert largest_angle(wide.W, directions @ narrow.W) < 1e-5
    assert np.linalg.norm(wide.W - directions @ directions.T @ wide.W) < 1e-10


@given(n=st.integers(6, 40), d=st.integers(2, 6), rank=st.integers(0, 6), seed=st.integers(0, 99))
def test_empty_directions_are_those_that_no_row_has_anything_of(n: int, d: int, rank: int, seed: int) -> None:
    """Whatever the columns' scales; from all rows, or from sums of them where there are more than 4 for each column."""
    rng = np.random.default_rng(seed)
    rank = min(rank, d)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) * 10.0 ** rng.integers(-6, 6, d)
    space = RowSpace.of(X, 1)
    assert space.basis is None
    assert space.rank == rank
    assert space.null_directions.shape == (d, min(d - rank, d - 1))  # one is left in where q needs it
    np.testing.assert_allclose(
        space.null_directions.T @ space.null_directions, np.eye(space.null_directions.shape[1]), atol=1e-12
    )
    assert np.abs(X @ space.null_directions).max(initial=0.0) <= 1e-7 * np.abs(X).max(initial=0.0)


@pytest.mark.parametrize("n", [130, 1_000, 2_111])
def test_sums_of_rows_have_the_empty_directions_of_all_rows(
    n: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = rng.standard_normal((n, 22)) @ rng.standard_normal((22, 30))
    X[:, 7] = 0
    sketched = RowSpace.of(X, 2)
    monkeypatch.setattr(rowspace, "SKETCH_ROWS", n)
    exact = RowSpace.of(X, 2)
    assert sketched.rank == exact.rank == 22
    assert largest_angle(exact.null_directions, sketched.null_directions) < 1e-8
    assert np.abs(X @ sketched.null_directions).max() < 1e-10 * np.abs(X).max()


def test_the_seed_draws_the_axes_that_the_rows_do_not_determine(rng: np.random.Generator) -> None:
    X, y = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 9)), np.arange(6) % 2
    one, same, other = (solve(X, Supervised(y), "gaussian", 4, starts=1, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.W, same.W)
    assert largest_angle(one.W, other.W) > 0.1


def test_one_row_in_many_is_enough_for_a_direction_not_to_be_empty(rng: np.random.Generator) -> None:
    X = rng.standard_normal((5_000, 6))
    X[:, 3] = 0
    assert RowSpace.of(X, 1).rank == 5
    X[4_321, 3] = 1e-3
    assert RowSpace.of(X, 1).rank == 6


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "linear"])
def test_a_copied_column_shares_its_weight_with_the_original(kernel: str, blobs: Labelled) -> None:
    doubled = blobs.X[:, [0, 1, 2, 3, 4, 0]]
    result = solve(doubled, Supervised(blobs.y), kernel, 2)
    np.testing.assert_allclose(result.W[0], result.W[5], atol=1e-9)
    np.testing.assert_allclose(result.W.T @ result.W, np.eye(2), atol=1e-12)
