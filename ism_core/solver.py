"""ISM from beginning to end: `iterate` gives every step to whoever drives it, `solve` drives it to the result."""

from collections.abc import Generator
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ism_core.arrays import Array, as_table, is_whole
from ism_core.ascent import Point, ascend, drained
from ism_core.certificate import certify
from ism_core.clustering import Clustering
from ism_core.errors import InvalidInput
from ism_core.grassmann import count_informative, largest_angle, with_fixed_signs
from ism_core.kernel import Kernel
from ism_core.kernels import as_kernel
from ism_core.paradigms import Paradigm
from ism_core.result import Result, Step, Stop
from ism_core.rowspace import RowSpace
from ism_core.scaling import is_constant
from ism_core.starts import DEFAULT_STARTS, search
from ism_core.surrogate import Problem

T = TypeVar("T")

ROUND_ITERATIONS = 2  # steps of W between two clusterings


def solve(
    X: ArrayLike,
    paradigm: Paradigm,
    kernel: Kernel | str,
    q: int,
    *,
    delta: float = 0.01,
    max_iter: int = 300,
    starts: int | None = None,
    seed: int = 0,
    initial_W: ArrayLike | None = None,
) -> Result:
    """The W (d×q, orthonormal columns) that maximises J(W) = Σij Γij f(βij), Γ by the paradigm and f by the kernel.

    X is taken as it is given: standardise it first unless its scales mean something. `delta` is how still the
    eigenvalues must stand (relative change) and, at a tenth of it, the subspace (radians) and the gradient
    (relative). `starts` is how many starting points are tried: by default 3 where Γ is fixed and 1 for clusterings,
    and 1 is the paper's own start alone. `initial_W` replaces them. The same seed gives the same result.
    """
    return drained(
        iterate(X, paradigm, kernel, q, delta=delta, max_iter=max_iter, starts=starts, seed=seed, initial_W=initial_W)
    )


def iterate(
    X: ArrayLike,
    paradigm: Paradigm,
    kernel: Kernel | str,
    q: int,
    *,
    delta: float = 0.01,
    max_iter: int = 300,
    starts: int | None = None,
    seed: int = 0,
    initial_W: ArrayLike | None = None,
) -> Generator[Step, None, Result]:
    """The same as a generator: yields a Step for each start tried and each iteration, and returns the Result.

    Bad input is refused at once, before the first step. The steps of the search ("search") tell J on a sample of the
    rows where there are many, and are not part of `Result.steps`. A caller that stops early keeps the W of the last
    Step, and may go on from it later with `initial_W`.
    """
    if not isinstance(paradigm, Paradigm):
        raise InvalidInput(
            "paradigm", f"paradigm is {paradigm!r}; it must be one such as Supervised(y) or Unsupervised(3)."
        )
    table = as_table(X)
    _check_size(table)
    _check(q, table.shape[1], delta, max_iter, starts, seed)
    notes = paradigm.check(len(table))
    start = None if initial_W is None else _as_start(initial_W, table.shape[1], q)
    return _iterate(table, paradigm, as_kernel(kernel), q, delta, max_iter, starts, seed, start, notes)


def _iterate(
    table: Array,
    paradigm: Paradigm,
    kernel: Kernel,
    q: int,
    delta: float,
    max_iter: int,
    starts: int | None,
    seed: int,
    start: Array | None,
    notes: list[str],
) -> Generator[Step, None, Result]:
    rng = np.random.default_rng(seed)
    bound = kernel.bound(table, rng, paradigm.guidance())
    if not bound.terms:
        raise InvalidInput("weight", "All weights in the sum of kernels are 0; at least one must be more than 0.")
    if all(term.form == "difference" for _, term in bound.terms):
        constant = is_constant(table)
        table = table - table.mean(axis=0)  # differences do not see an offset, but rounding does
        table[:, constant] = 0
    space = RowSpace.of(table, q)

    W = None if start is None else space.into(start)
    gamma, clustering = paradigm.gamma(space.Z if W is None else space.Z @ W, bound, seed, None)
    problem = Problem(space.Z, gamma, bound, q)
    if W is None:
        count = starts or (1 if paradigm.alternates else DEFAULT_STARTS)
        W = yield from _seen_outside(search(problem, count, delta, rng), space, [])

    trace: list[Step] = []
    if clustering is None:
        point, stop, _ = yield from _seen_outside(ascend(problem, W, delta, max_iter), space, trace)
    else:
        steps = _alternate(paradigm, problem, clustering, W, delta, max_iter, seed)
        problem, clustering, point, stop = yield from _seen_outside(steps, space, trace)

    W = with_fixed_signs(space.out(point.W))
    certificate = certify(problem, point, rng)
    return Result(
        W=W,
        eigenvalues=point.eigenvalues,
        objective=point.objective,
        steps=tuple(trace),
        stop=stop,
        certificate=replace(certificate, orthonormality=float(np.abs(W.T @ W - np.eye(q)).max())),
        kernel=bound,
        way=problem.way,
        warnings=tuple(notes + _warnings(point, stop, space.rank, table.shape[1])),
        labels=None if clustering is None else clustering.labels(seed),
        spectral=None if clustering is None else clustering.Y,
    )


def _alternate(
    paradigm: Paradigm, problem: Problem, clustering: Clustering, W: Array, delta: float, max_iter: int, seed: int
) -> Generator[Step, None, tuple[Problem, Clustering, Point, Stop]]:
    """A few steps of W for the clustering, then the clustering for W, until that stands still; then W to the end."""
    first = 0
    settled = False
    for round in range(max_iter):
        budget = max_iter - first if settled else min(ROUND_ITERATIONS, max_iter - first)
        point, stop, iteration = yield from ascend(problem, W, delta, budget, round, first)
        gamma, found = paradigm.gamma(problem.X @ point.W, problem.kernel, seed, clustering)
        assert found is not None
        first = iteration + 1
        still = largest_angle(clustering.Y, found.Y) < delta
        if (settled and still) or first >= max_iter:
            return problem, found, point, stop if settled and still else Stop.ROUNDS
        settled = still
        problem, clustering, W = replace(problem, gamma=gamma), found, point.W
    raise AssertionError("every round takes at least one iteration")


def _seen_outside(steps: Generator[Step, None, T], space: RowSpace, record: list[Step]) -> Generator[Step, None, T]:
    """The same steps with W in the columns of X, kept in `record` too."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            value: T = end.value
            return value
        record.append(replace(step, W=with_fixed_signs(space.out(step.W))))
        yield record[-1]


def _warnings(point: Point, stop: Stop, rank: int, d: int) -> list[str]:
    q = point.W.shape[1]
    notes = [] if stop.converged else [stop.value]
    informative = count_informative(point.phi, point.W)
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


def _check_size(table: Array) -> None:
    largest = float(np.abs(table).max())
    if largest > 1e20 or 0 < largest < 1e-20:
        raise InvalidInput(
            "X",
            f"The largest value of X is {largest:.3g}, too {'large' if largest > 1 else 'small'} to compute with;"
            " standardise X, or scale it to between 1e-20 and 1e20.",
        )


def _check(q: int, d: int, delta: float, max_iter: int, starts: int | None, seed: int) -> None:
    if not is_whole(q) or not 1 <= q <= d:
        raise InvalidInput(
            "q", f"q is {q!r}; it must be a whole number from 1 to the {d} feature(s) of X (n_features = {d})."
        )
    if isinstance(delta, bool) or not isinstance(delta, int | float | np.number) or not 0 < delta <= 1:
        raise InvalidInput("delta", f"delta is {delta!r}; it must be a number above 0 and at most 1.")
    if not is_whole(max_iter) or max_iter < 1:
        raise InvalidInput("max_iter", f"max_iter is {max_iter!r}; it must be a whole number of 1 or more.")
    if starts is not None and (not is_whole(starts) or starts < 1):
        raise InvalidInput(
            "starts", f"starts is {starts!r}; it must be a whole number of 1 or more, or None for the default."
        )
    if not is_whole(seed) or seed < 0:
        raise InvalidInput("seed", f"seed is {seed!r}; it must be a whole number of 0 or more.")


def _as_start(initial_W: ArrayLike, d: int, q: int) -> Array:
    W = as_table(initial_W, "initial_W", min_rows=1)
    if W.shape != (d, q):
        raise InvalidInput("initial_W", f"initial_W has the shape {W.shape}; for this X and q it must be ({d}, {q}).")
    if np.linalg.matrix_rank(W) < q:
        raise InvalidInput(
            "initial_W", f"initial_W has rank {np.linalg.matrix_rank(W)}; its {q} columns must be independent."
        )
    return W
