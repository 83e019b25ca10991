"""`solve` and `iter_solve` compute a Result from a table, a paradigm and a kernel."""

import math
from collections.abc import Generator, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ism_core.arrays import Array
from ism_core.engines import Engine, own_threads
from ism_core.errors import InvalidInput
from ism_core.kernels import Kernel
from ism_core.linalg import RowSpace, Whitening, is_constant, row_passes, with_fixed_signs
from ism_core.objective import Partitions, Problem
from ism_core.paradigms import Paradigm, Projected, Supervised
from ism_core.solver.alternation import Solution, iter_cluster
from ism_core.solver.ascent import GRADIENT_PER_DELTA
from ism_core.solver.certificate import certify, error
from ism_core.solver.memory import within_memory_limit
from ism_core.solver.options import SolveInput, SolveOptions
from ism_core.solver.partitioned import iter_solve_partitions
from ism_core.solver.reduction import iter_given, iter_reduce, iter_start, notes_on
from ism_core.solver.result import Result, Step, drained, relay
from ism_core.solver.sparse import iter_sparse_result
from ism_core.solver.starts import (
    Start,
    has_constant_derivative,
    interaction_directions,
)

SMALL_MEAN = 0.1  # share of a column's root mean square below which its mean causes no cancellation


def iter_solve(
    X: ArrayLike | Partitions,
    paradigm: Paradigm,
    kernel: Kernel | str,
    q: int,
    *,
    delta: float = 0.01,
    max_iter: int = 300,
    starts: int | Literal["path", "interactions"] | None = None,
    seed: int = 0,
    initial_W: ArrayLike | None = None,
    precision: Literal["double", "single"] = "double",
    tolerance: float | None = None,
    approximation: Mapping[str, int] | None = None,
    engine: Engine | Literal["local", "dask"] = "local",
    memory_limit: int | None = None,
    features_per_axis: int | None = None,
    whitening: Whitening | None = None,
) -> Generator[Step, None, Result]:
    """Find the W (d×q, orthonormal columns) that maximizes J(W) = Σij Γij f(βij).

    The paradigm defines the weights Γ, and the kernel defines f. X is not scaled: standardize it first, unless its
    columns have comparable units.

    `iter_solve` yields a `Step` for each start tried and each iteration, and returns the Result. Steps of the stages
    "search" and "sparsity" may have the J of a sample of the rows, and are not part of `Result.steps`. A caller that
    stops early can continue from the W of the last Step with `initial_W`.

    Parameters
    ----------
    X : array-like of shape (n, d), or Partitions
        The table: a row for each sample, a column for each feature. `partitions` makes a table that is read in parts
        and may exceed the memory; it has its targets with it, so that the paradigm is `Supervised()`.
    paradigm : Paradigm
        `Supervised(y)`, `Unsupervised(k)`, `SemiSupervised(scores, k)` or `Alternative(clustering, k)`.
    kernel : Kernel or str
        A kernel such as `Gaussian()`, a weighted sum of kernels, or a kernel's name.
    q : int
        The number of columns of W.
    delta : float
        Convergence tolerance for the relative change of the eigenvalues. The angle between successive subspaces (in
        radians) and the relative gradient must be below a tenth of it.
    max_iter : int
        The largest number of iterations.
    starts : int, "path", "interactions" or None
        The number of starting points to try. 1 is the start of the paper, Φ0. None means 3 if Γ is fixed, and 1 for a
        clustering. If a number is given, the subsample of a large clustering is iterated to convergence. "path" is
        continuation from a wide kernel to the given one. It is the default for a fixed Γ and a Gaussian narrower than
        0.75 times the median distance. "interactions" is a start from products of columns that the target depends on.
    seed : int
        Seed of all random numbers. The same seed gives the same result.
    initial_W : array-like of shape (d, q) or None
        A starting point that replaces the search.
    precision : "double" or "single"
        Precision of sums over pairs of rows.
    tolerance : float or None
        Largest relative error of Φ(W)W that the truncation of a Gaussian's Taylor series may cause (a proven bound).
        None means 1e-8, or delta/100 if 1e-8 needs more work than all pairs. 0 means no truncation.
    approximation : mapping or None
        `{"features": 2048}` replaces Gaussian and multiquadratic kernels by that many random features.
    engine : Engine, "local" or "dask"
        Where sums over rows are computed.
    memory_limit : int or None
        Bytes that the process may use. A problem that needs more is refused, or solved with less memory.
    features_per_axis : int or None
        The largest number of features with a nonzero weight in each column of W, chosen for the smallest loss of J.
    whitening : Whitening or None
        How X was whitened, so that `features_per_axis` counts features before whitening.

    Returns
    -------
    Result
        W with its eigenvalues, objective, steps, certificate and warnings.

    Raises
    ------
    InvalidInput
        If an argument is wrong. The message says which one, its value, and what to do.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ism_core import Gaussian, Supervised, solve
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> result = solve(X, Supervised(y), Gaussian(), q=2)
    >>> result.W.shape, result.converged
    ((13, 2), True)
    """
    options = SolveOptions(
        delta=delta,
        max_iter=max_iter,
        starts=starts,
        seed=seed,
        initial_W=initial_W,
        precision=precision,
        tolerance=tolerance,
        approximation=approximation,
        engine=engine,
        memory_limit=memory_limit,
        features_per_axis=features_per_axis,
        whitening=whitening,
    )
    if isinstance(X, Partitions):
        return iter_solve_partitions(X, paradigm, kernel, q, options)
    return _iter_solve(SolveInput.of(X, paradigm, kernel, q, options))


solve = drained(iter_solve)


def _iter_solve(given: SolveInput) -> Generator[Step, None, Result]:
    result = yield from _iter_dense(given)
    limit = given.options.features_per_axis
    if limit is None or limit >= given.X.shape[1]:
        return result
    return (yield from iter_sparse_result(given, result, limit))


def _iter_dense(given: SolveInput) -> Generator[Step, None, Result]:
    rng = np.random.default_rng(given.options.seed)
    table, q, paradigm, options = given.X, given.q, given.paradigm, given.options
    fitted = given.kernel.fitted_to(table, rng, paradigm.target_gamma())
    if not fitted.terms:
        raise InvalidInput("weight", "All weights in the sum of kernels are 0; at least one must be more than 0.")
    if isinstance(paradigm, Supervised) and paradigm.neighbors and not fitted.nonnegative:
        raise InvalidInput(
            "neighbors", "neighbors needs a kernel whose values measure nearness; give a Gaussian kernel."
        )
    if all(term.form == "difference" for _, term in fitted.terms):
        table = _centered(table)
    if options.memory_limit is not None:
        given = replace(given, evaluation=within_memory_limit(given, table))
    space = _space(given, table, fitted)
    trace: list[Step] = []

    def in_columns_of_X(step: Step) -> Step:  # noqa: N802
        """Return the step with W for the columns of X instead of the row space. Add ascent steps to the trace."""
        step = replace(step, W=with_fixed_signs(space.out(step.W)))
        if step.stage == "ascent":
            trace.append(step)
        return step

    find = iter_cluster if paradigm.alternates else _iter_reduce
    found = yield from relay(find(given, space, fitted, rng, None), in_columns_of_X)
    while True:
        outside = space.outside(partial(found.problem.row_coefficients, found.point.W))
        left = float(np.linalg.norm(outside)) / (found.point.size or 1.0)
        if left < GRADIENT_PER_DELTA * options.delta or found.iteration + 1 >= options.max_iter:
            break
        space = space.widened(outside)
        found = yield from relay(find(given, space, fitted, rng, found), in_columns_of_X)
    problem, point, stop = found.problem, found.point, found.stop
    W = with_fixed_signs(space.out(point.W))
    with own_threads():
        certificate = certify(problem, point, rng, found.gap)
    certificate = replace(
        certificate,
        gradient=math.hypot(certificate.gradient, left),
        orthonormality=float(np.abs(W.T @ W - np.eye(q)).max()),
    )
    labels, notes = (None, []) if found.clustering is None else paradigm.labels(found.clustering, options.seed)
    return Result(
        W=W,
        eigenvalues=point.eigenvalues,
        objective=point.objective,
        steps=tuple(trace),
        stop=stop,
        certificate=certificate,
        kernel=fitted,
        method=problem.method,
        error=found.error or error(problem, point),
        warnings=tuple(given.warnings + notes_on(point, stop, space.rank, table.shape[1]) + problem.warnings + notes),
        labels=labels,
        spectral=None if found.clustering is None else found.clustering.Y,
    )


def _space(given: SolveInput, table: Array, kernel: Kernel) -> RowSpace:
    """Return the space in which W is sought.

    If f′ is constant, the dominant eigenvectors of Φ are orthogonal to null directions anyway.
    """
    if has_constant_derivative(kernel) and not given.paradigm.alternates:
        space = RowSpace.at_least(table, given.q + given.paradigm.rank + 1)
        if space is not None:
            return space
    return RowSpace.of(table, given.q, given.options.seed).reaching(given.initial_W)


def _iter_reduce(
    given: SolveInput, space: RowSpace, kernel: Kernel, rng: np.random.Generator, before: Solution | None
) -> Generator[Step, None, Solution]:
    """Solve without alternation: find a start, or continue from a solution in a smaller space, and ascend."""
    options = given.options
    gamma, _ = given.paradigm.gamma(Projected(space.Z, kernel, options.seed))
    problem = Problem.of(space.Z, gamma, kernel, given.q, space.null_directions, given.evaluation)
    if before is not None:
        search = iter_given(before.padded(space))
    elif given.initial_W is not None:
        search = iter_given(Start(space.into(given.initial_W)))
    elif options.starts == "interactions":
        search = iter_given(Start(space.into(interaction_directions(given.X, problem.gamma, given.q, rng)[0])))
    else:
        search = iter_start(problem, given.kernel, given.X, options, rng)
    return (yield from iter_reduce(problem, options, search, 0 if before is None else before.iteration + 1))


def _centered(table: Array) -> Array:
    """Return the table, centered unless all means are small: a large mean causes cancellation in differences."""
    mean, square = row_passes.column_means(table)
    if (mean**2 <= SMALL_MEAN**2 * square).all():
        return table
    constant = is_constant(table)
    table = table - mean
    table[:, constant] = 0
    return table
