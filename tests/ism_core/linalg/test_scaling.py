"""Standardizing columns of any offset and scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ism_core.arrays import Array
from ism_core.linalg import Scaling, standardized


@given(
    offset=st.floats(-1e6, 1e6),
    scale=st.floats(1e-6, 1e6),
    seed=st.integers(0, 99),
)
def test_columns_come_out_with_mean_0_and_deviation_1(offset: float, scale: float, seed: int) -> None:
    X = offset + scale * np.random.default_rng(seed).standard_normal((30, 2))
    Z, mean, deviation = standardized(X)
    if np.abs(offset) < 1e6 * scale:  # else the rows themselves are rounded
        np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(Z.std(axis=0), 1, rtol=1e-9)
        np.testing.assert_allclose(Z * deviation + mean, X, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("value", [0.0, 0.1, -7.7, 1e8 + 0.1, 1e-300, 1e300])
def test_a_constant_column_becomes_exactly_zero_at_scale_1(value: float, rows: Array) -> None:
    Z, _, scale = standardized(np.column_stack([rows, np.full(len(rows), value)]))
    np.testing.assert_array_equal(Z[:, -1], 0)
    assert scale[-1] == 1


def test_a_column_that_varies_by_rounding_only_counts_as_constant(rng: np.random.Generator) -> None:
    column = np.full(40, 0.1) + np.spacing(0.1) * rng.integers(0, 2, 40)
    Z, _, scale = standardized(column[:, None])
    np.testing.assert_array_equal(Z, 0)
    np.testing.assert_array_equal(scale, 1)


def test_an_offset_of_1e8_or_a_scale_of_1e_minus_8_leaves_the_rows_alone(rows: Array) -> None:
    plain = standardized(rows)[0]
    np.testing.assert_allclose(standardized(rows + 1e8)[0], plain, atol=1e-7)
    np.testing.assert_allclose(standardized(rows * 1e-8)[0], plain, atol=1e-12)
    np.testing.assert_allclose(standardized(rows * 1e150)[0], plain, atol=1e-12)


def test_the_table_that_came_is_left_as_it_was(rows: Array) -> None:
    before = rows.copy()
    standardized(rows)
    np.testing.assert_array_equal(rows, before)


def test_a_spread_whose_square_is_too_small_for_a_number_counts_as_none() -> None:
    scaled, _, scale = standardized(np.array([[0.0], [1e-170], [2e-170]]))
    assert scale == 1
    assert (scaled == 0).all()


def with_gross_cells(rng: np.random.Generator) -> Array:
    X = rng.standard_normal((300, 3))
    X[:3, 1] = 40, -25, 60
    return X


@pytest.mark.parametrize("scale", ["standard", "whiten"])
def test_gross_cells_move_to_the_edge_of_their_column_also_in_new_rows(scale: str, rng: np.random.Generator) -> None:
    X = with_gross_cells(rng)
    edges = X[3:, 1].min(), X[3:, 1].max()
    mended = X.copy()
    mended[:3, 1] = np.clip(X[:3, 1], *edges)
    scaling, rows = Scaling.learned(X, scale)  # type: ignore[arg-type]
    np.testing.assert_allclose(rows, Scaling.learned(mended, scale)[1], atol=1e-12)  # type: ignore[arg-type]
    assert scaling.limits is not None
    np.testing.assert_array_equal(scaling.limits[:, 1], edges)
    assert np.isinf(scaling.limits[:, [0, 2]]).all()
    np.testing.assert_allclose(scaling.apply(X), rows, atol=1e-12)
    np.testing.assert_allclose(scaling.apply(X[:1] + np.array([0, 1e9, 0])), scaling.apply(mended[:1]), atol=1e-12)


def test_a_warning_names_the_columns_with_gross_cells(rng: np.random.Generator) -> None:
    X = with_gross_cells(rng)
    scaling = Scaling.learned(X, "standard")[0]
    (text,) = scaling.warnings(X, ["a", "b", "c"])
    assert text.startswith("3 cells far outside the others of their column were moved")
    assert ": b (3). " in text
    assert Scaling.learned(X, "none")[0].warnings(X, ["a", "b", "c"]) == []


@pytest.mark.parametrize("seed", range(5))
def test_ordinary_columns_have_no_gross_cells(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 1000
    X = np.column_stack(
        [
            rng.standard_normal(n),
            rng.exponential(size=n),
            rng.standard_t(5, n),
            rng.random(n) < 0.01,  # indicators of levels
            rng.random(n) < 0.3,
            rng.random(n) < 0.5,
            rng.poisson(0.2, n),
            rng.poisson(3, n),
            np.where(rng.random(n) < 0.9, 0, np.exp(3 * rng.standard_normal(n))),  # mostly zeros, as word counts
            np.where(rng.random(n) < 0.05, 100, 0) + rng.standard_normal(n),  # a group of rows, not errors
            np.full(n, 7.0),
        ]
    )
    assert Scaling.learned(X, "standard")[0].limits is None
