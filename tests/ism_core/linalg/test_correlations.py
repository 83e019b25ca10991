"""Groups of collinear columns, and directions that are uncorrelated with another one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ism_core.linalg import collinear_groups, correlations, uncorrelated_direction


def test_chains_of_correlated_columns_are_one_group(rng: np.random.Generator) -> None:
    rows = rng.standard_normal((400, 5))
    rows[:, 3] = -rows[:, 1] + 0.1 * rng.standard_normal(400)
    rows[:, 4] = -rows[:, 3] + 0.3 * rng.standard_normal(400)
    groups = collinear_groups(rows - rows.mean(axis=0), 0.95)
    assert groups[1] == groups[3] == groups[4]
    assert len(set(groups)) == 3


def test_constant_columns_correlate_with_nothing(rng: np.random.Generator) -> None:
    rows = rng.standard_normal((50, 3))
    rows -= rows.mean(axis=0)
    rows[:, 1] = 0
    found = correlations(rows, rows)
    assert (found[1] == 0).all()
    np.testing.assert_allclose(found[[0, 2]][:, [0, 2]], np.corrcoef(rows[:, [0, 2]].T))


@given(d=st.integers(2, 6), seed=st.integers(0, 99))
def test_the_direction_has_the_largest_variance_of_all_uncorrelated_ones(d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((60, d)) * rng.uniform(0.5, 2, d)
    rows -= rows.mean(axis=0)
    w = rng.standard_normal(d)
    found = uncorrelated_direction(rows, w)
    assert found is not None
    assert np.linalg.norm(found) == pytest.approx(1)
    assert abs(np.corrcoef(rows @ found, rows @ w)[0, 1]) < 1e-6
    normal = rows.T @ (rows @ w)
    others = rng.standard_normal((20, d))
    others -= np.outer(others @ normal, normal) / (normal @ normal)
    others /= np.linalg.norm(others, axis=1)[:, None]
    assert (rows @ others.T).std(axis=0).max() <= (rows @ found).std() * (1 + 1e-5)


def test_a_single_column_leaves_no_direction(rng: np.random.Generator) -> None:
    assert uncorrelated_direction(rng.standard_normal((20, 1)), np.ones(1)) is None


def test_constant_columns_have_no_direction_that_varies() -> None:
    assert uncorrelated_direction(np.zeros((20, 5)), np.eye(5)[0]) is None
