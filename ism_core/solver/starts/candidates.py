"""Subspaces that an ascent may begin at, and directions that it may be short of."""

from collections.abc import Iterator

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.linalg.row_passes import square_lengths
from ism_core.linalg.subspaces import dominant
from ism_core.objective import Problem
from ism_core.solver.starts.initial_surrogate import first

HEAVY = 9.0  # a column's fourth moment over its squared variance; a normal one has 3
AXES = 8  # of heavy-tailed columns to try
ROWS = 4  # far from W to try
FAR_ROWS = 1_000


def candidates(problem: Problem, rng: np.random.Generator) -> Iterator[Array]:
    """Φ0, where products of rows count the far rows, heavy-tailed axes, principal axes, then random subspaces without
    end."""
    yield first(problem).W
    yield from others(problem, rng)


def others(problem: Problem, rng: np.random.Generator) -> Iterator[Array]:
    """Those after Φ0."""
    X, q = problem.X, problem.q
    d = X.shape[1]
    if _counts_products(problem):
        yield _far(problem)
    yield _inside(problem, np.eye(d)[:, np.argsort(-_moments(X)[1], kind="stable")[:q]])
    yield dominant(problem.scatter, q, problem)[0]
    while True:
        yield _inside(problem, rng.standard_normal((d, q)))


def outlying(problem: Problem, W: Array) -> Iterator[Array]:
    """The axes of the heaviest-tailed columns, and the directions of the rows that lie farthest from W."""
    X = problem.X
    spread, fourth = _moments(X)
    tails = np.divide(fourth, spread**2, out=np.zeros_like(spread), where=spread > 0)
    for axis in np.argsort(-tails, kind="stable")[:AXES]:
        if tails[axis] > HEAVY:
            yield _inside(problem, np.eye(X.shape[1])[:, [axis]])[:, 0]
    centered = X - X.mean(axis=0)
    squares = np.einsum("ij,ij->i", centered, centered) - np.einsum("iq,iq->i", centered @ W, centered @ W)
    for row in np.argsort(-squares, kind="stable")[:ROWS]:
        if squares[row] > HEAVY * squares.mean():
            yield centered[row] / np.linalg.norm(centered[row])


def _counts_products(problem: Problem) -> bool:
    return all(term.form == "product" for _, term in problem.kernel.terms)


def _far(problem: Problem) -> Array:
    """The directions of the far rows: the dominant ones of Φ(I) with Γ's diagonal alone."""
    rows, weights = heaviest(problem)
    return dominant((problem.X[rows].T * weights) @ problem.X[rows], problem.q, problem)[0]


def heaviest(problem: Problem) -> tuple[Ints, Array]:
    """The rows that weigh most in that, and their weights Γii f′(‖xi‖²)."""
    squares = square_lengths(problem.X)
    slopes = sum(weight * term.slope(squares, term.value(squares)) for weight, term in problem.kernel.terms)
    weights = slopes * (problem.gamma.U**2 @ problem.gamma.s)
    rows = np.sort(np.argsort(-weights * squares, kind="stable")[:FAR_ROWS])
    return rows, weights[rows]


def _moments(X: Array) -> tuple[Array, Array]:
    """The second and the fourth central moment of each column."""
    powers = X - X.mean(axis=0)
    powers *= powers
    second: Array = powers.mean(axis=0)
    powers *= powers
    return second, np.asarray(powers.mean(axis=0))


def _inside(problem: Problem, W: Array) -> Array:
    """An orthonormal basis of what W spans, less the directions that no row has anything of."""
    return np.linalg.qr(W - problem.null_directions @ (problem.null_directions.T @ W))[0]
