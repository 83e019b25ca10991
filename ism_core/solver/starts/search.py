"""The search for a starting point. J has many local maxima, and the start decides which one is reached.

Starts are the dominant eigenvectors of Φ0 (the paper's), the directions of far rows for product kernels, the axes of
the heaviest-tailed columns, the principal axes, then random ones. From the best of them exchanges are tried: a weak
direction of W gives way to the axis of a heavy-tailed column, or to the direction of an outlying row, if J rises. On
data with such columns (a pixel that is almost always 0) good maxima differ in which of those axes they hold. On digits
with a multiquadratic kernel this finds J = 1,015,124 from every start; single ascents end between 1,012,062 and
1,015,123. With a polynomial kernel, J is 8 % lower without exchanges at q = 4 and 5. A Gaussian has none: far rows
have no weight, and J never rose.

A polynomial kernel is dominated by a few far rows, and a sample misses most of them. So the search uses all rows,
within the space that the starts and the outlying directions span.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array
from ism_core.engines import own_threads
from ism_core.linalg import largest_angle, orthonormal, project_out
from ism_core.objective import COARSE_TOLERANCE, Problem
from ism_core.solver.ascent import (
    EvaluatedPoint,
    PolynomialMoments,
    ascend,
    has_moments,
    iter_ascend,
    moments_flops,
    moments_in_all_directions,
)
from ism_core.solver.certificate import beyond_saddle
from ism_core.solver.options import SolveOptions
from ism_core.solver.result import ReturnCapture, Step, relay
from ism_core.solver.starts.candidates import (
    OUTLYING_AXES,
    OUTLYING_ROWS,
    candidates,
    far_problem,
    further_candidates,
    has_constant_derivative,
    initial_surrogate,
    outlying_directions,
)

DEFAULT_STARTS = 3  # if Γ is fixed: Φ0 and the next two candidates
WHOLE_FLOPS = 1e9  # flops of Φ beyond which a sample of the rows is searched
SAMPLE_FLOPS = 3e8  # flops of the Φ of that sample
SAMPLE_ROWS = 300  # rows of the sample at least
SPANNING_ROWS = 1.1  # rows of the sample for each column; with fewer, it has null directions that would be chosen
MOST_SPANNING_ROWS = 1_200  # rows that are taken for that reason at most
SEARCH_DELTA = 0.05  # convergence tolerance of ascents in the search, unless that of the solve is wider
SEARCH_STEPS = 25  # steps of an ascent in the search at most
GROWTH = 4  # ratio of the rows of two successive samples
# Convergence tolerance on these samples. A tighter one is wasted, because the next sample, four times as large, moves W
# by more than a tenth of this.
GROWTH_DELTA = 0.2
SAMPLE_DELTA = 0.02  # convergence tolerance on the whole sample of a table in partitions; all rows move W as much
COARSE_STEPS = 50  # steps on all rows with coarse features at most
COARSE_GAIN = 2  # coarse steps come first only if an exact Φ(W)W costs more than this many coarse ones
# An ascent may still gain up to this many times its last gain: gains shrink by 1/6 per step, and
# 5/6 + (5/6)² + … = 5.
EXPECTED_GAIN = 5
SAME_MAXIMUM_ANGLE = 0.1  # radians; ascents that come nearer to each other end in the same maximum
DISTINCT_MAXIMUM = 1e-6  # share of J by which a maximum must be higher, so that rounding does not decide
MOST_DIRECTIONS = 64  # of the space that polynomial kernels are searched in
TYPICAL_EVALUATIONS = 150  # of J and Φ in such a search, for the estimate of its cost
MOST_EXPENSIVE = 5  # typical ascents that such a search may cost
WEAKEST_DIRECTIONS = 2  # directions of W that may be exchanged
MOST_EXCHANGES = 5  # successful ones, after which the search ends
EXCHANGE_TRIALS = 2  # exchanges that are followed by an ascent, those with the highest J
LEAST_NEW = 0.3  # length outside W from which a direction is not in W already


class Start(NamedTuple):
    """Where to begin, with the Φ of a similar problem there if it is known."""

    W: Array
    phi: Array | None = None
    problem: Problem | None = None  # as it is to be solved from there, if that is known


def iter_search(
    problem: Problem, starts: int, options: SolveOptions, rng: np.random.Generator
) -> Generator[Step, None, Start]:
    """Find the most promising of several starts, and of exchanges from the best; yield a Step for each.

    If there are many rows, a sample is searched, and samples of four times the rows follow. At last come a few steps on
    all rows with coarse features, if those cost much less.
    """
    delta = options.delta
    if has_constant_derivative(problem.kernel):
        return Start(next(candidates(problem, rng)))
    may_have_moments = starts > 1 and problem.kernel.has_product_form
    moments = moments_in_all_directions(problem) if may_have_moments else None
    if moments is not None:
        far = problem if problem.data.far is None else far_problem(problem)
        outliers = partial(outlying_directions, far)
        best, _ = yield from _iter_best(moments, candidates(problem, rng), outliers, starts, delta)
        return Start(best.W)
    with own_threads():
        space = _search_space(problem, starts, rng) if may_have_moments and not problem.is_small else None
    if space is not None:
        return (yield from _iter_search_within(space, starts, delta))
    rows, columns = problem.shape
    if problem.flops > WHOLE_FLOPS:
        spanning = min(int(SPANNING_ROWS * columns), MOST_SPANNING_ROWS)
        rows = max(problem.rows_within(SAMPLE_FLOPS), SAMPLE_ROWS, spanning)
    sample = problem.sampled(rows, rng)
    if sample is problem and starts == 1:
        return Start(next(candidates(problem, rng)))
    outlying = None if problem.kernel.nonnegative else partial(outlying_directions, sample)
    best, number = yield from _iter_best(sample, candidates(sample, rng), outlying, starts, delta)
    if sample is problem:
        return Start(best.W)
    return (yield from iter_grow(problem, Start(best.W, best.phi), rows, number, options, rng))


def iter_grow(
    problem: Problem, start: Start, rows: int, number: int, options: SolveOptions, rng: np.random.Generator
) -> Generator[Step, None, Start]:
    """Bring a start on a sample of `rows` rows to all rows; `number` is that of the last start tried."""
    delta = options.delta
    while (rows := GROWTH * rows) <= problem.data.most_sampled:
        finer = problem.sampled(rows, rng).within([COARSE_TOLERANCE], start.W)
        point = ascend(finer, start.W, max(delta, GROWTH_DELTA), SEARCH_STEPS, similar_phi=start.phi).point
        start = Start(point.W, point.phi)
        number += 1
        yield _report(number, point)
    if problem.data.far is not None:  # rows are read again for each step: come as near as the sample allows
        sample = problem.sampled(problem.data.most_sampled, rng).within([COARSE_TOLERANCE], start.W)
        point = ascend(sample, start.W, max(delta, SAMPLE_DELTA), SEARCH_STEPS, similar_phi=start.phi).point
        yield _report(number + 1, point)
        return Start(point.W, point.phi)
    coarse, exact = problem.within([COARSE_TOLERANCE], start.W), problem.within(options.tolerances, start.W)
    if coarse.is_truncated and exact.half_gradient_flops > COARSE_GAIN * coarse.half_gradient_flops:
        point = ascend(coarse, start.W, delta, COARSE_STEPS, similar_phi=start.phi).point
        with own_threads():
            higher = beyond_saddle(coarse, point, rng)
        if higher is not None:
            point = ascend(coarse, higher, delta, COARSE_STEPS, similar_phi=point.phi).point
        yield _report(number + 1, point)
        return Start(point.W, point.phi)
    return start._replace(problem=exact)


class _SearchSpace(NamedTuple):
    """The moments of all rows in a space of few directions, with starts and outlying directions in its coordinates."""

    moments: PolynomialMoments
    pool: list[Array]
    outlying: list[Array]


def _search_space(problem: Problem, starts: int, rng: np.random.Generator) -> _SearchSpace | None:
    """Return the space that the starts and the outlying directions span.

    Return None if the kernel has no moments, or if they would cost much more than the ascent that follows.
    """
    width = min(starts * problem.q + OUTLYING_AXES + OUTLYING_ROWS, MOST_DIRECTIONS)
    most = MOST_EXPENSIVE * problem.solve_flops
    if not has_moments(problem, width) or moments_flops(problem, width, TYPICAL_EVALUATIONS) > most:
        return None
    far = far_problem(problem)  # its rows hold the outlying ones
    pool = [initial_surrogate(problem).W, *islice(further_candidates(far, rng), starts - 1)]
    outlying = list(outlying_directions(far, np.zeros((problem.shape[1], 0))))
    columns = [*pool[:2], *(direction[:, None] for direction in outlying), *pool[2:]]
    basis = orthonormal(np.hstack(columns), MOST_DIRECTIONS)
    moments = PolynomialMoments.of(problem, basis)
    assert moments is not None
    pool = [np.linalg.qr(basis.T @ W)[0] for W in pool]
    return _SearchSpace(moments, pool, [basis.T @ direction for direction in outlying])


def _iter_search_within(space: _SearchSpace, starts: int, delta: float) -> Generator[Step, None, Start]:
    moments, pool, outlying = space
    steps = _iter_best(moments, iter(pool), lambda W: iter(outlying), starts, delta)
    best, _ = yield from relay(steps, lambda step: replace(step, W=moments.basis @ step.W))
    return Start(np.linalg.qr(moments.basis @ best.W)[0])


def _iter_best(
    problem: Problem | PolynomialMoments,
    pool: Iterator[Array],
    outlying: Callable[[Array], Iterator[Array]] | None,
    starts: int,
    delta: float,
) -> Generator[Step, None, tuple[EvaluatedPoint, int]]:
    """Find the best point, with exchanges if there are outlying directions; return it and the number of the last."""
    with own_threads():
        best = _ascend_to_best(problem, next(pool), delta)
    yield _report(0, best)
    for number in range(1, starts):
        with own_threads():
            point = _ascend_to_best(problem, next(pool), delta, best)
        best = point if _is_higher(point, best) else best
        yield _report(number, point)
    last = starts - 1
    if outlying is None or starts == 1:
        return best, last
    for _ in range(MOST_EXCHANGES):
        with own_threads():
            better = _exchanged(problem, best, list(outlying(best.W)), delta)
        if better is None:
            break
        best = better
        last += 1
        yield _report(last, best)
    return best, last


def _ascend_to_best(
    problem: Problem | PolynomialMoments, W: Array, delta: float, best: EvaluatedPoint | None = None
) -> EvaluatedPoint:
    """Ascend from W. Return `best` early if the ascent approaches `best` or is unlikely to exceed its J."""
    known = None if best is None else best.phi
    ascent = ReturnCapture(iter_ascend(problem, W, max(delta, SEARCH_DELTA), SEARCH_STEPS, similar_phi=known))
    before = -np.inf
    for step in ascent:
        if best is not None and step.objective < best.objective:
            within_reach = step.objective + EXPECTED_GAIN * (step.objective - before)
            if within_reach < best.objective or largest_angle(step.W, best.W) < SAME_MAXIMUM_ANGLE:
                return best
        before = step.objective
    return ascent.value.point


def _exchanged(
    problem: Problem | PolynomialMoments, best: EvaluatedPoint, directions: list[Array], delta: float
) -> EvaluatedPoint | None:
    """A higher point, reached from `best` with one weak direction replaced by an outlying one."""
    trials: list[tuple[float, int, Array]] = []
    for weak in range(max(0, problem.q - WEAKEST_DIRECTIONS), problem.q):
        kept = np.delete(best.W, weak, axis=1)
        for direction in directions:
            rest = project_out(kept, direction)
            length = np.linalg.norm(rest)
            if length > LEAST_NEW:
                W = np.column_stack([kept, rest / length])
                trials.append((problem.objective(W), len(trials), W))
    for _, _, W in sorted(trials, reverse=True)[:EXCHANGE_TRIALS]:
        point = _ascend_to_best(problem, W, delta, best)
        if _is_higher(point, best):
            return point
    return None


def _is_higher(point: EvaluatedPoint, best: EvaluatedPoint) -> bool:
    return point.objective > best.objective + DISTINCT_MAXIMUM * abs(best.objective)


def _report(number: int, point: EvaluatedPoint) -> Step:
    return Step("search", 0, number, point.objective, point.eigenvalues, None, None, point.gradient, point.W)
