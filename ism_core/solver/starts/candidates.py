"""Starting points of an ascent: Φ0 and others, and outlying directions that a W may lack.

Φ0 is Φ with f′(0) in place of every f′(β). If the rows of Γ = U diag(s) Uᵀ add up to 0, or the kernel has no distances,
Φ0 is a multiple of XᵀΓX. Its rank is then at most that of Γ, and its eigenvectors come from an r×r matrix. If these are
fewer than q, W is completed by the directions orthogonal to them along which the rows vary most.

If f′ is constant (linear and squared kernels), Φ is Φ0 for every W, and its eigenvectors are the solution.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.kernels import Kernel
from ism_core.linalg import RANK_TOLERANCE, block_krylov, dominant, project_out, row_passes
from ism_core.objective import Problem
from ism_core.solver.ascent import EvaluatedPoint

LOW_RANK_COLUMNS = 4  # the r×r matrix is used if d is at least this multiple of r + q
KRYLOV_PRODUCTS = 200  # products with the scatter matrix at most
KRYLOV_ANGLE = 1e-5  # radians; which of two directions of equal variance is taken hardly matters


class InitialSurrogate(NamedTuple):
    """Φ0, its q dominant eigenvectors, and the gap to the next eigenvalue."""

    phi: Array
    W: Array
    gap: float


def initial_surrogate(problem: Problem) -> InitialSurrogate:
    """Compute Φ0 and its dominant eigenvectors, from a matrix of the rank of Γ if that is cheaper."""
    found = _of_low_rank(problem)
    if found is not None:
        return found
    phi = problem.initial_surrogate()
    return InitialSurrogate(phi, *dominant(phi, problem.q, problem))


def has_constant_derivative(kernel: Kernel) -> bool:
    """Whether f′ is constant, so that Φ is Φ0 for every W."""
    return all(term.has_constant_derivative for _, term in kernel.terms)


def constant_derivative_maximum(problem: Problem) -> tuple[EvaluatedPoint, float | None]:
    """The maximum of J = tr WᵀΦ0W, and the gap to the next eigenvalue if there is one."""
    phi, W, gap = initial_surrogate(problem)
    half_gradient = phi @ W
    values = np.einsum("dq,dq->q", W, half_gradient)
    order = np.argsort(-values, kind="stable")
    point = EvaluatedPoint(W[:, order], phi, half_gradient[:, order], float(values.sum()), values[order])
    return point, gap if problem.q < problem.dimensions else None


def _of_low_rank(problem: Problem) -> InitialSurrogate | None:
    """Compute Φ0 from an r×r matrix, where r is the rank of Γ; return None if r is not known to be low."""
    gamma, q, d = problem.gamma, problem.q, problem.shape[1]
    derivatives = problem.kernel.derivatives_at_zero
    if LOW_RANK_COLUMNS * (len(gamma.s) + q) > d:
        return None
    B = problem.data.target_sums(centered=any(form == "difference" for form, _ in derivatives))
    if B is None:
        return None
    weights = sum(derivative * (-2 if form == "difference" else 1) for form, derivative in derivatives) * gamma.s
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
    """Return the directions orthogonal to those taken along which the rows vary most."""

    def scatter_times(V: Array) -> Array:
        return project_out(taken, problem.scatter_times(project_out(taken, V)))

    first = scatter_times(block_krylov.block(None, len(taken), count, problem.options.seed))
    return block_krylov.largest(scatter_times, first, count, KRYLOV_ANGLE, KRYLOV_PRODUCTS).vectors


HEAVY_TAIL = 9.0  # kurtosis from which a column is heavy-tailed; a normal one has 3
OUTLYING_AXES = 8  # heavy-tailed columns to try
OUTLYING_ROWS = 4  # rows far from W to try
FAR_ROWS = 1_000  # rows that a start from far rows is made of


def candidates(problem: Problem, rng: np.random.Generator) -> Iterator[Array]:
    """Yield starting points without end: Φ0, then `further_candidates`, of a sample if rows are not in memory."""
    yield initial_surrogate(problem).W
    yield from further_candidates(problem.sampled(problem.data.most_sampled, rng) if problem.data.far else problem, rng)


def further_candidates(problem: Problem, rng: np.random.Generator) -> Iterator[Array]:
    """Yield the far rows (for product kernels), heavy-tailed axes, principal axes, then random subspaces."""
    X, q = problem.X, problem.q
    d = X.shape[1]
    if problem.kernel.has_product_form:
        rows, weights = heaviest_rows(problem)
        yield dominant((X[rows].T * weights) @ X[rows], q, problem)[0]  # Φ(I) with Γ's diagonal alone
    yield _orthonormal(problem, np.eye(d)[:, np.argsort(-_moments(X)[1], kind="stable")[:q]])
    yield dominant(problem.scatter, q, problem)[0]
    while True:
        yield _orthonormal(problem, rng.standard_normal((d, q)))


def outlying_directions(problem: Problem, W: Array) -> Iterator[Array]:
    """Yield the axes of the heaviest-tailed columns, then the directions of the rows that lie farthest from W."""
    X = problem.X
    variance, fourth = _moments(X)
    kurtosis = np.divide(fourth, variance**2, out=np.zeros_like(variance), where=variance > 0)
    for axis in np.argsort(-kurtosis, kind="stable")[:OUTLYING_AXES]:
        if kurtosis[axis] > HEAVY_TAIL:
            yield _orthonormal(problem, np.eye(X.shape[1])[:, [axis]])[:, 0]
    centered = X - X.mean(axis=0)
    squares = np.einsum("ij,ij->i", centered, centered) - np.einsum("iq,iq->i", centered @ W, centered @ W)
    for row in np.argsort(-squares, kind="stable")[:OUTLYING_ROWS]:
        if squares[row] > HEAVY_TAIL * squares.mean():
            yield centered[row] / np.linalg.norm(centered[row])


def far_problem(problem: Problem) -> Problem:
    """Return the problem on the rows that weigh most; if rows are not in memory, on those farthest from the mean."""
    return problem.restricted(heaviest_rows(problem)[0]) if problem.data.far is None else Problem.on(problem.data.far)


def heaviest_rows(problem: Problem) -> tuple[Ints, Array]:
    """The rows that weigh most in Φ(I) with Γ's diagonal alone, and their weights Γii f′(‖xi‖²)."""
    squares = row_passes.square_lengths(problem.X)
    derivatives = sum(weight * term.derivative(squares, term.value(squares)) for weight, term in problem.kernel.terms)
    weights = derivatives * (problem.gamma.U**2 @ problem.gamma.s)
    rows = np.sort(np.argsort(-weights * squares, kind="stable")[:FAR_ROWS])
    return rows, weights[rows]


def _moments(X: Array) -> tuple[Array, Array]:
    """The second and the fourth central moment of each column."""
    powers = X - X.mean(axis=0)
    powers *= powers
    second: Array = powers.mean(axis=0)
    powers *= powers
    return second, np.asarray(powers.mean(axis=0))


def _orthonormal(problem: Problem, W: Array) -> Array:
    """An orthonormal basis of the span of W, without null directions."""
    return np.linalg.qr(project_out(problem.null_directions, W))[0]
