"""Φ0, which is Φ with f′(0) in place of every f′(β), and its dominant eigenvectors.

If the rows of Γ = U diag(s) Uᵀ add up to 0, or the kernel has no distances, Φ0 is a multiple of XᵀΓX. Its rank is at
most that of Γ, and its eigenvectors come from an r×r matrix. If these are fewer than q, W is completed with the
directions orthogonal to them along which the rows vary most.

If f′ is constant (linear and squared kernels), Φ is Φ0 for every W, and its eigenvectors are the solution.
"""

from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array
from ism_core.kernels import Kernel
from ism_core.linalg import RANK_TOLERANCE, block, dominant, largest, project_out
from ism_core.objective import Problem
from ism_core.solver.ascent import EvaluatedPoint

LOW_RANK_COLUMNS = 4  # columns of X for each column of U and W from which the r×r matrix is cheaper than Φ0
ROW_SUM_ROUNDING = 1e-10  # share of the largest |s| below which the row sums of Γ are 0
KRYLOV_PRODUCTS = 200  # products with the scatter matrix at most
KRYLOV_ANGLE = 1e-5  # radians; which of two directions of equal variance is taken hardly matters


class InitialSurrogate(NamedTuple):
    """Φ0, its q dominant eigenvectors, and the gap to the next eigenvalue."""

    phi: Array
    W: Array
    gap: float


def initial_surrogate(problem: Problem) -> InitialSurrogate:
    """Compute Φ0 and its dominant eigenvectors, from an r×r matrix if that is cheaper."""
    found = _of_low_rank(problem)
    if found is not None:
        return found
    phi = problem.initial_surrogate()
    return InitialSurrogate(phi, *dominant(phi, problem.q, problem))


def has_constant_slope(kernel: Kernel) -> bool:
    """Whether f′ is constant, so that Φ is Φ0 for every W."""
    return all(term.has_constant_slope for _, term in kernel.terms)


def constant_slope_maximum(problem: Problem) -> tuple[EvaluatedPoint, float | None]:
    """The maximum of J = tr WᵀΦ0W, and the gap to the next eigenvalue if there is one."""
    phi, W, gap = initial_surrogate(problem)
    half_gradient = phi @ W
    values = np.einsum("dq,dq->q", W, half_gradient)
    order = np.argsort(-values, kind="stable")
    point = EvaluatedPoint(W[:, order], phi, half_gradient[:, order], float(values.sum()), values[order])
    return point, gap if problem.q < problem.dimensions else None


def _of_low_rank(problem: Problem) -> InitialSurrogate | None:
    """Φ0 by an r×r matrix; None if its rank is not known to be low."""
    gamma, q, d = problem.gamma, problem.q, problem.X.shape[1]
    slopes = problem.kernel.slopes_at_zero
    row_sums = gamma.U @ (gamma.s * gamma.U.sum(axis=0))
    has_distances = any(form == "difference" for form, _ in slopes)
    is_centered = np.abs(row_sums).max() <= ROW_SUM_ROUNDING * np.abs(gamma.s).max()
    if LOW_RANK_COLUMNS * (len(gamma.s) + q) > d or (has_distances and not is_centered):
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
        return InitialSurrogate(phi, vectors[:, :q], float(values[q - 1] - (values[q] if positive > q else 0.0)))
    others = _most_varying(problem, vectors[:, np.abs(values) > smallest], q - positive)
    return InitialSurrogate(phi, np.linalg.qr(np.hstack([vectors[:, :positive], others]))[0], 0.0)


def _most_varying(problem: Problem, taken: Array, count: int) -> Array:
    """The directions orthogonal to those taken along which the rows vary most."""

    def scatter_times(V: Array) -> Array:
        return project_out(taken, problem.spread(project_out(taken, V)))

    first = scatter_times(block(None, len(taken), count, problem.options.seed))
    return largest(scatter_times, first, count, KRYLOV_ANGLE, KRYLOV_PRODUCTS).vectors
