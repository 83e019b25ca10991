"""Subspaces that an ascent may start from, and outlying directions that it may lack."""

from collections.abc import Iterator

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.linalg import dominant, project_out, square_lengths
from ism_core.objective import Problem
from ism_core.solver.starts.initial_surrogate import initial_surrogate

HEAVY_TAIL = 9.0  # kurtosis from which a column is heavy-tailed; a normal one has 3
OUTLYING_AXES = 8  # heavy-tailed columns to try
OUTLYING_ROWS = 4  # rows far from W to try
FAR_ROWS = 1_000  # rows that a start from far rows is made of


def candidates(problem: Problem, rng: np.random.Generator) -> Iterator[Array]:
    """Yield starting points without end: Φ0, then `further_candidates`."""
    yield initial_surrogate(problem).W
    yield from further_candidates(problem, rng)


def further_candidates(problem: Problem, rng: np.random.Generator) -> Iterator[Array]:
    """Yield the far rows (for product kernels), heavy-tailed axes, principal axes, then random subspaces."""
    X, q = problem.X, problem.q
    d = X.shape[1]
    if _has_product_form(problem):
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


def heaviest_rows(problem: Problem) -> tuple[Ints, Array]:
    """The rows that weigh most in Φ(I) with Γ's diagonal alone, and their weights Γii f′(‖xi‖²)."""
    squares = square_lengths(problem.X)
    slopes = sum(weight * term.slope(squares, term.value(squares)) for weight, term in problem.kernel.terms)
    weights = slopes * (problem.gamma.U**2 @ problem.gamma.s)
    rows = np.sort(np.argsort(-weights * squares, kind="stable")[:FAR_ROWS])
    return rows, weights[rows]


def _has_product_form(problem: Problem) -> bool:
    """Whether all terms of the kernel depend on products of rows, so that far rows weigh most."""
    return all(term.form == "product" for _, term in problem.kernel.terms)


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
