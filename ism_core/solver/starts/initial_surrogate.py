"""Φ0, which is Φ with f′(0) in place of every f′(β), and its dominant eigenvectors.

Where the rows of Γ = U diag(s) Uᵀ add up to 0, or there are no distances, it is a multiple of XᵀΓX, of no higher rank
than Γ: its eigenvectors come from an r×r matrix. Where they are fewer than q, the directions orthogonal to them along
which the rows vary most are taken too.
"""

from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg import block_krylov as krylov
from ism_core.linalg.subspaces import RANK_TOLERANCE, dominant
from ism_core.objective import Problem

LOW = 4  # columns of X for each of U and W: with fewer, all of Φ0 is decomposed
ROUNDING = 1e-10
PRODUCTS = 200
NEAR = 1e-5  # radians: which of two directions that vary alike is taken matters little


class First(NamedTuple):
    """Φ0, its q dominant eigenvectors, and the gap to the next."""

    phi: Array
    W: Array
    gap: float


def first(problem: Problem) -> First:
    """By whichever way costs less."""
    found = _of_low_rank(problem)
    if found is not None:
        return found
    phi = problem.initial_surrogate()
    return First(phi, *dominant(phi, problem.q, problem))


def _of_low_rank(problem: Problem) -> First | None:
    """None where its rank is not known to be low."""
    gamma, q, d = problem.gamma, problem.q, problem.X.shape[1]
    slopes = problem.kernel.slopes_at_zero
    row_sums = gamma.U @ (gamma.s * gamma.U.sum(axis=0))
    distances = any(form == "difference" for form, _ in slopes)
    if LOW * (len(gamma.s) + q) > d or (distances and np.abs(row_sums).max() > ROUNDING * np.abs(gamma.s).max()):
        return None
    weights = sum(slope * (-2 if form == "difference" else 1) for form, slope in slopes) * gamma.s
    B = problem.column_sums(gamma.U)
    basis, coordinates = np.linalg.qr(B)
    values, turn = np.linalg.eigh((coordinates * weights) @ coordinates.T)
    values, vectors = values[::-1], basis @ turn[:, ::-1]
    smallest = RANK_TOLERANCE * float(np.linalg.norm(values))
    positive = int(np.count_nonzero(values > smallest))
    phi: Array = (B * weights) @ B.T
    if positive >= q:
        return First(phi, vectors[:, :q], float(values[q - 1] - (values[q] if positive > q else 0.0)))
    others = _widest(problem, vectors[:, np.abs(values) > smallest], q - positive)
    return First(phi, np.linalg.qr(np.hstack([vectors[:, :positive], others]))[0], 0.0)


def _widest(problem: Problem, taken: Array, count: int) -> Array:
    """The directions orthogonal to some along which the rows vary most."""

    def spread(V: Array) -> Array:
        V = problem.spread(V - taken @ (taken.T @ V))
        return V - taken @ (taken.T @ V)

    block = spread(krylov.block(None, len(taken), count, 0))
    return krylov.largest(spread, block, count, NEAR, PRODUCTS).vectors
