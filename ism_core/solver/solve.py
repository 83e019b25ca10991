"""ISM from beginning to end: `iterate` gives every step to whoever drives it, `solve` drives it to the result."""

import math
from collections.abc import Generator, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ism_core.arrays import Array
from ism_core.engines.base import Engine
from ism_core.engines.threads import own_threads
from ism_core.errors import InvalidInput
from ism_core.kernels.base import Kernel
from ism_core.linalg.row_passes import column_means
from ism_core.linalg.row_space import RowSpace
from ism_core.linalg.subspaces import count_informative, with_fixed_signs
from ism_core.objective.problem import Problem
from ism_core.objective.taylor_bound import ErrorBound
from ism_core.paradigms import Paradigm, Supervised
from ism_core.scaling import Whitening, is_constant
from ism_core.solver.alternation import Solution, cluster
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint
from ism_core.solver.ascent.spectral import ascend, drain, relay
from ism_core.solver.certificate import certify, error, is_within
from ism_core.solver.memory import Shape, spare_bytes
from ism_core.solver.options import Arguments, checked
from ism_core.solver.result import Result, Step, Stop
from ism_core.solver.sparse.readable import check_features_per_axis, readable
from ism_core.solver.starts.continuation import descend, path
from ism_core.solver.starts.search import DEFAULT_STARTS, Start, search
from ism_core.solver.starts.straight import has_constant_slope, solved

CENTERED = 0.1  # a mean of this share of the deviation costs no digits


def solve(
    X: ArrayLike,
    paradigm: Paradigm,
    kernel: Kernel | str,
    q: int,
    *,
    delta: float = 0.01,
    max_iter: int = 300,
    starts: int | Literal["path"] | None = None,
    seed: int = 0,
    initial_W: ArrayLike | None = None,
    precision: Literal["double", "single"] = "double",
    tolerance: float | None = None,
    approximation: Mapping[str, int] | None = None,
    engine: Engine | Literal["local", "dask"] = "local",
    memory_limit: int | None = None,
    features_per_axis: int | None = None,
    whitening: Whitening | None = None,
) -> Result:
    """The W (d×q, orthonormal columns) that maximizes J(W) = Σij Γij f(βij), Γ by the paradigm and f by the kernel.

    X is taken as it is given: standardize it first unless its scales mean something. `delta` is how still the
    eigenvalues must stand (relative change) and, at a tenth of it, the subspace (radians) and the gradient
    (relative). `starts` is how many starting points are tried: by default 3 where Γ is fixed and 1 for clusterings
    (which, if a number is given and the rows are many, cluster their sample to the end first), and 1 is the paper's own
    start alone; "path" follows the kernel from wide to narrow, which is the default for a gaussian narrower than the
    median distance. `initial_W` replaces them. The same seed gives the same result.

    What it costs and how exact it is: `precision` is that of sums over pairs of rows. `tolerance` is how far Φ(W)W may
    be off, proven, where a gaussian kernel is cut to finitely many features: by default 1e-8, or delta/100 where that
    many features would cost more than all pairs; 0 cuts nothing. `approximation` = {"features": 2048} replaces gaussian
    and multiquadratic kernels by so many random features. `engine` = "dask" works on a cluster. With a `memory_limit`
    in bytes, a problem that would take more is refused, or solved in a leaner way.

    With `features_per_axis`, at most so many features make up each column of W, chosen for the smallest loss of J; the
    columns stay orthonormal. Where X was whitened, features are those before, and `whitening` says how.
    """
    return drain(
        iterate(
            X,
            paradigm,
            kernel,
            q,
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
    )


def iterate(
    X: ArrayLike,
    paradigm: Paradigm,
    kernel: Kernel | str,
    q: int,
    *,
    delta: float = 0.01,
    max_iter: int = 300,
    starts: int | Literal["path"] | None = None,
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
    """The same as a generator: yields a Step for each start tried and each iteration, and returns the Result.

    Bad input is refused at once, before the first step. The steps of the search ("search") and those towards few
    features ("sparsity") tell J on a sample of the rows where there are many, and are not part of `Result.steps`. A
    caller that stops early keeps the W of the last Step, and may go on from it later with `initial_W`.
    """
    given = checked(
        X,
        paradigm,
        kernel,
        q,
        delta,
        max_iter,
        starts,
        seed,
        initial_W,
        precision,
        tolerance,
        approximation,
        engine,
        memory_limit,
    )
    check_features_per_axis(features_per_axis, given.q, whitening)
    if features_per_axis is None or features_per_axis >= given.table.shape[1]:
        return _iterate(given)
    return _iterate_to_few(given, features_per_axis, whitening)


def _iterate_to_few(given: Arguments, most: int, whitening: Whitening | None) -> Generator[Step, None, Result]:
    result = yield from _iterate(given)
    return (yield from readable(given, result, most, whitening))


def _iterate(given: Arguments) -> Generator[Step, None, Result]:
    rng = np.random.default_rng(given.seed)
    table, q, paradigm = given.table, given.q, given.paradigm
    bound = given.kernel.bound(table, rng, paradigm.guidance())
    if not bound.terms:
        raise InvalidInput("weight", "All weights in the sum of kernels are 0; at least one must be more than 0.")
    if isinstance(paradigm, Supervised) and paradigm.neighbors and not bound.nonnegative:
        raise InvalidInput(
            "neighbors", "neighbors takes the kernel's values for nearness, so that it is for gaussian kernels only."
        )
    if all(term.form == "difference" for _, term in bound.terms):
        table = _centered(table)
    n, d = table.shape
    shape = Shape(n, d, q, paradigm.rank, paradigm.alternates)
    given = replace(given, options=replace(given.options, spare=spare_bytes(shape, table, given.memory_limit)))
    space = _space(given, table, bound)
    trace: list[Step] = []

    def seen_outside(step: Step) -> Step:
        """With W in the columns of X; those of the ascent are kept."""
        outside = replace(step, W=with_fixed_signs(space.out(step.W)))
        if step.stage == "ascent":
            trace.append(outside)
        return outside

    find = cluster if paradigm.alternates else _reduce
    found = yield from relay(find(given, space, bound, rng, None), seen_outside)
    while True:
        outside = space.outside(partial(found.problem.row_coefficients, found.point.W))
        left = float(np.linalg.norm(outside)) / (found.point.size or 1.0)
        if left < given.delta / 10 or found.iteration + 1 >= given.max_iter:
            break
        space = space.widened(outside)
        found = yield from relay(find(given, space, bound, rng, found), seen_outside)
    problem, point, stop = found.problem, found.point, found.stop
    W = with_fixed_signs(space.out(point.W))
    with own_threads():
        certificate = certify(problem, point, rng, found.gap)
    certificate = replace(
        certificate,
        gradient=math.hypot(certificate.gradient, left),
        orthonormality=float(np.abs(W.T @ W - np.eye(q)).max()),
    )
    return Result(
        W=W,
        eigenvalues=point.eigenvalues,
        objective=point.objective,
        steps=tuple(trace),
        stop=stop,
        certificate=certificate,
        kernel=bound,
        method=problem.method,
        error=found.error or error(problem, point),
        warnings=tuple(given.notes + _warnings(point, stop, space.rank, table.shape[1])),
        labels=None if found.clustering is None else found.clustering.labels(given.seed),
        spectral=None if found.clustering is None else found.clustering.Y,
    )


def _space(given: Arguments, table: Array, kernel: Kernel) -> RowSpace:
    """Where W is sought. A straight kernel's eigenvectors keep out of empty directions by themselves."""
    if has_constant_slope(kernel) and not given.paradigm.alternates:
        space = RowSpace.at_least(table, given.q + given.paradigm.rank + 1)
        if space is not None:
            return space
    return RowSpace.of(table, given.q).reaching(given.start)


def _reduce(
    given: Arguments, space: RowSpace, kernel: Kernel, rng: np.random.Generator, before: Solution | None
) -> Generator[Step, None, Solution]:
    """For a fixed Γ: the most promising start, or where a narrower space led to, then up from there."""
    gamma, _ = given.paradigm.gamma(space.Z, kernel, given.seed, None)
    problem = Problem.of(space.Z, gamma, kernel, given.q, space.null_directions, given.options)
    first = 0 if before is None else before.iteration + 1
    if has_constant_slope(kernel):
        point, gap = solved(problem)
        yield Step("ascent", 0, first, point.objective, point.eigenvalues, None, None, point.gradient, point.W)
        return Solution(problem, point, Stop.FIXED_POINT, first, gap=gap)
    if before is not None:
        start = before.padded(space)
    elif given.start is not None:
        start = Start(space.into(given.start))
    else:
        start = yield from _start(problem, given, rng)
    size = None
    while True:
        problem = start.problem or problem.within(given.tolerances, start.W, size)
        point, stop, iteration = yield from ascend(
            problem, start.W, given.delta, given.max_iter - first, first=first, known=start.model
        )
        off = error(problem, point)
        if is_within(off, problem.tolerance) or iteration + 1 >= given.max_iter:
            return Solution(problem, point, stop, iteration, error=off)
        # The features were cut for a W that is too far from this one.
        start, first = Start(point.W, point.model), iteration + 1
        size = ErrorBound(abs(point.objective), float(np.linalg.norm(point.half_gradient)))


def _start(problem: Problem, given: Arguments, rng: np.random.Generator) -> Generator[Step, None, Start]:
    """Where to begin: at the end of a path, or at the most promising of several points."""
    asked = given.starts == "path"
    if asked or (given.starts is None and problem.kernel == given.kernel):  # a width that X has given needs no path
        kernels = path(problem, rng, asked=asked)
        if len(kernels) == 1:
            return (yield from search(problem, 1, given.delta, rng, given.tolerances))
        if kernels:
            return (yield from descend(problem, kernels, rng, given.tolerances, given.delta))
    starts = given.starts if isinstance(given.starts, int) else DEFAULT_STARTS
    return (yield from search(problem, starts, given.delta, rng, given.tolerances))


def _centered(table: Array) -> Array:
    """Without its mean, which differences do not see but rounding does; itself where the mean is small already."""
    mean, square = column_means(table)
    if (mean**2 <= CENTERED**2 * square).all():
        return table
    constant = is_constant(table)
    table = table - mean
    table[:, constant] = 0
    return table


def _warnings(point: EvaluatedPoint, stop: Stop, rank: int, d: int) -> list[str]:
    q = point.W.shape[1]
    notes = [] if stop.converged else [stop.value]
    informative = count_informative(point.eigenvalues, point.size)
    if rank < q:
        notes.append(
            f"X varies along {rank} of its {d} dimensions only;"
            f" {q - rank} of the {q} columns of W are arbitrary, and XW is constant along them."
        )
    elif informative < q:
        notes.append(
            f"Only {informative} of the {q} directions carry information for this kernel and paradigm;"
            f" the other {q - informative} are the directions of largest variance orthogonal to them."
        )
    return notes
