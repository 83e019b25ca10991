"""Correlations between columns, groups of collinear columns, and a direction that is uncorrelated with another one."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh

from ism_core.arrays import Array, Ints
from ism_core.linalg.subspaces import project_out, with_fixed_signs

NOT_CONSTANT = 1e-9  # deviation from which a column varies, relative to the largest deviation
PRECISION = 1e-6  # relative precision of the eigenvalue that belongs to an uncorrelated direction


def correlations(rows: Array, others: Array) -> Array:
    """Return the correlations between the centered columns of two tables; 0 if one of the columns is constant."""
    sizes = rows.std(axis=0)[:, None] * others.std(axis=0)
    found: Array = np.zeros_like(sizes)
    np.divide(rows.T @ others / len(rows), sizes, out=found, where=sizes > NOT_CONSTANT * sizes.max(initial=0.0))
    return found


def collinear_groups(rows: Array, threshold: float) -> Ints:
    """Return a group number for each centered column.

    Columns belong to one group if a chain of correlations above the threshold, of either sign, connects them.
    """
    linked: Any = csr_array(np.abs(correlations(rows, rows)) > threshold)
    numbers: Ints = connected_components(linked, directed=False)[1].astype(np.intp)
    return numbers


def uncorrelated_direction(rows: Array, w: Array) -> Array | None:
    """Return the unit weights of centered columns with the largest variance that is uncorrelated with the weights w.

    Returns None if no direction is left that varies.
    """
    d = rows.shape[1]
    if d == 1:
        return None
    correlated = rows.T @ (rows @ w.reshape(-1, 1))
    correlated /= np.linalg.norm(correlated) or 1.0

    def covariance(v: Array) -> Array:
        v = project_out(correlated, v.reshape(-1, 1))
        return project_out(correlated, rows.T @ (rows @ v) / len(rows))

    if d == 2:
        weights = correlated[::-1] * [[-1], [1]]
    else:
        operator: Any = LinearOperator((d, d), covariance, dtype=np.float64)
        start: Any = np.random.default_rng(0).standard_normal(d)  # any start leads to the same direction
        if not covariance(start).any():
            return None
        weights = eigsh(operator, 1, v0=start, tol=PRECISION)[1]
    direction: Array = with_fixed_signs(weights)[:, 0]
    varies = (rows @ direction).std() > NOT_CONSTANT * rows.std(axis=0).max()
    return direction if varies else None
