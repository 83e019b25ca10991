"""Where to begin. J has many local maxima, and which one is reached is decided here.

Starts: the dominant eigenvectors of Φ0 (the paper's), the axes of the heaviest-tailed columns, the principal axes,
then random ones. From the best of them, exchanges: one of the weakest directions of W gives way to the axis of a
heavy-tailed column, or to the direction of an outlying row, if that leads higher. On data with such columns (a pixel
that is almost always 0) the good maxima differ just in which of those axes they hold: on digits this finds
J = 535,302 (polynomial) and 1,015,124 (multiquadratic) from every start, where single ascents end between 494,149 and
535,302, and between 1,012,062 and 1,015,123. For a gaussian, far rows weigh nothing, and no exchange ever led higher.

A polynomial kernel weighs far rows so much that a sample, which has others, says little about all rows. It is searched
on all rows, within the space that the starts and the outlying directions span.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array
from ism_core.engines.threads import own_threads
from ism_core.linalg.subspaces import largest_angle, orthonormal
from ism_core.objective import COARSE_TOLERANCE, Problem
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint
from ism_core.solver.ascent.polynomial_moments import PolynomialMoments, everywhere, flops, is_possible
from ism_core.solver.ascent.spectral import ascend
from ism_core.solver.ascent.surrogate_model import SurrogateModel
from ism_core.solver.progress import ReturnCapture, drain, relay
from ism_core.solver.result import Step
from ism_core.solver.starts.candidates import AXES, ROWS, candidates, heaviest, others
from ism_core.solver.starts.candidates import outlying as outlying_of
from ism_core.solver.starts.initial_surrogate import first

DEFAULT_STARTS = 3
WHOLE_FLOPS = 1e9  # a problem whose Φ costs more is searched on a sample of its rows
COARSE_FLOPS = 3e8  # of the Φ of that sample
COARSE_ROWS = 300  # at least
SPANNING = 1.1  # rows for each column: with fewer, a sample has nothing of some directions, and they would be chosen
MOST_SPANNING = 1_200  # rows that are taken for that
COARSE_DELTA = 0.05
COARSE_ITERATIONS = 25
GROWING_DELTA = 0.2  # of the samples between the first and all rows: four times the rows move W by more than its tenth
ROUGH_ITERATIONS = 50
WORTH = 2  # times the cost of a rough Φ(W)W: if the exact one costs less, rough ones save nothing
GROWTH = 4  # of the rows from one sample to the next
REACH = 5  # times the last gain: what an ascent may still gain, its gains shrinking by a sixth a step or more
SAME_ANGLE = 0.1  # radians: two points on the way up that are nearer than this end in the same maximum
MOST_DIRECTIONS = 64  # of a space to search in
EVALUATIONS = 150  # of J and Φ in such a search, about
SHARE = 5  # of what the ascent costs that follows: what the search may
WEAKEST = 2  # directions of W that may be exchanged
EXCHANGES = 5


class Start(NamedTuple):
    """Where to begin, and what is known of Φ there from a sample of the rows, if it was one."""

    W: Array
    model: SurrogateModel | None = None
    problem: Problem | None = None  # as it is to be solved from there, if that is known


def search(
    problem: Problem, starts: int, delta: float, rng: np.random.Generator, tolerances: Sequence[float] = ()
) -> Generator[Step, None, Start]:
    """The most promising of several starts and of exchanges from the best; yields a Step for each that was tried.

    Where there are many rows it is sought on a sample, and followed up on samples of four times the rows; at last, for
    kernels that can be cut, on all rows with few features, unless the tolerances ask for few anyway.
    """
    if all(term.has_constant_slope for _, term in problem.kernel.terms):
        return Start(next(candidates(problem, rng)))
    moments = everywhere(problem) if starts > 1 else None
    if moments is not None:
        best, _ = yield from _best(moments, candidates(problem, rng), partial(outlying_of, problem), starts, delta)
        return Start(best.W)
    with own_threads():
        space = _space(problem, starts, rng) if starts > 1 and not problem.is_small else None
    if space is not None:
        return (yield from _search_within(space, starts, delta))
    rows = len(problem.X)
    if problem.flops > WHOLE_FLOPS:
        spanning = min(int(SPANNING * problem.X.shape[1]), MOST_SPANNING)
        rows = max(problem.rows_within(COARSE_FLOPS), COARSE_ROWS, spanning)
    coarse = problem.sampled(rows, rng)
    if coarse is problem and starts == 1:
        return Start(next(candidates(problem, rng)))
    outlying = None if problem.kernel.nonnegative else partial(outlying_of, coarse)
    best, number = yield from _best(coarse, candidates(coarse, rng), outlying, starts, delta)
    if coarse is problem:
        return Start(best.W)
    return (yield from grown(problem, Start(best.W, best.model), rows, number, delta, rng, tolerances))


def grown(
    problem: Problem,
    start: Start,
    rows: int,
    number: int,
    delta: float,
    rng: np.random.Generator,
    tolerances: Sequence[float],
) -> Generator[Step, None, Start]:
    """From a start on a sample of so many rows to a start on all of them; `number` counts what was tried."""
    while (rows := GROWTH * rows) <= len(problem.X) / 2:
        finer = problem.sampled(rows, rng).within([COARSE_TOLERANCE], start.W)
        steps = ascend(finer, start.W, max(delta, GROWING_DELTA), COARSE_ITERATIONS, known=start.model)
        point = drain(steps).point
        start = Start(point.W, point.model)
        number += 1
        yield _report(number, point)
    roughly, exactly = problem.within([COARSE_TOLERANCE], start.W), problem.within(tolerances, start.W)
    if roughly.is_truncated and exactly.half_gradient_flops > WORTH * roughly.half_gradient_flops:
        steps = ascend(roughly, start.W, delta, ROUGH_ITERATIONS, known=start.model, looking_out=True)
        point = drain(steps).point
        yield _report(number + 1, point)
        return Start(point.W, point.model)
    return start._replace(problem=exactly)


class _Space(NamedTuple):
    """All rows in the directions of a few starts and of the outlying ones."""

    moments: PolynomialMoments
    pool: list[Array]
    outlying: list[Array]


def _space(problem: Problem, starts: int, rng: np.random.Generator) -> _Space | None:
    """None where the kernel has no moments, or they would cost much more than the ascent that follows."""
    q = problem.q
    width = min(starts * q + AXES + ROWS, MOST_DIRECTIONS)
    if not is_possible(problem, width) or flops(problem, width, EVALUATIONS) > SHARE * problem.solve_flops:
        return None
    far = problem.restricted(heaviest(problem)[0])  # what is outlying is so on these rows
    pool = [first(problem).W, *islice(others(far, rng), starts - 1)]
    outlying = list(outlying_of(far, np.zeros((problem.X.shape[1], 0))))
    columns = [*pool[:2], *(direction[:, None] for direction in outlying), *pool[2:]]
    basis = orthonormal(np.hstack(columns), MOST_DIRECTIONS)
    moments = PolynomialMoments.of(problem, basis)
    assert moments is not None
    inside = [np.linalg.qr(basis.T @ W)[0] for W in pool]
    return _Space(moments, inside, [basis.T @ direction for direction in outlying])


def _search_within(space: _Space, starts: int, delta: float) -> Generator[Step, None, Start]:
    moments, pool, outlying = space

    def seen_outside(step: Step) -> Step:
        return replace(step, W=moments.basis @ step.W)

    found = _best(moments, iter(pool), lambda W: iter(outlying), starts, delta)
    best, _ = yield from relay(found, seen_outside)
    return Start(np.linalg.qr(moments.basis @ best.W)[0])


def _best(
    problem: Problem | PolynomialMoments,
    pool: Iterator[Array],
    outlying: Callable[[Array], Iterator[Array]] | None,
    starts: int,
    delta: float,
) -> Generator[Step, None, tuple[EvaluatedPoint, int]]:
    """The best point, and the number of the last that was tried; with exchanges where there are outlying directions."""
    with own_threads():
        best = _climb(problem, next(pool), delta)
    yield _report(0, best)
    for tried in range(1, starts):
        with own_threads():
            point = _climb(problem, next(pool), delta, best)
        best = point if _is_higher(point, best) else best
        yield _report(tried, point)
    last = starts - 1
    if outlying is None or starts == 1:
        return best, last
    for _ in range(EXCHANGES):
        with own_threads():
            better = _exchange(problem, best, list(outlying(best.W)), delta)
        if better is None:
            break
        best = better
        last += 1
        yield _report(last, best)
    return best, last


def _climb(
    problem: Problem | PolynomialMoments, W: Array, delta: float, best: EvaluatedPoint | None = None
) -> EvaluatedPoint:
    """The maximum above W, or `best` as soon as the way turns out to lead there, or no higher."""
    known = None if best is None else best.model
    ascent = ReturnCapture(ascend(problem, W, max(delta, COARSE_DELTA), COARSE_ITERATIONS, known=known))
    before = -np.inf
    for step in ascent:
        if best is not None and step.objective < best.objective:
            within_reach = step.objective + REACH * (step.objective - before)
            if within_reach < best.objective or largest_angle(step.W, best.W) < SAME_ANGLE:
                return best
        before = step.objective
    return ascent.value.point


def _exchange(
    problem: Problem | PolynomialMoments, best: EvaluatedPoint, directions: list[Array], delta: float
) -> EvaluatedPoint | None:
    """A higher point reached from `best` with one weak direction replaced by an outlying one."""
    trials: list[tuple[float, int, Array]] = []
    for weak in range(max(0, problem.q - WEAKEST), problem.q):
        kept = np.delete(best.W, weak, axis=1)
        for direction in directions:
            rest = direction - kept @ (kept.T @ direction)
            length = np.linalg.norm(rest)
            if length > 0.3:  # else it is in W already
                W = np.column_stack([kept, rest / length])
                trials.append((problem.objective(W), len(trials), W))
    for _, _, W in sorted(trials, reverse=True)[:2]:
        point = _climb(problem, W, delta, best)
        if _is_higher(point, best):
            return point
    return None


def _is_higher(point: EvaluatedPoint, best: EvaluatedPoint) -> bool:
    """By more than the coarse delta leaves open: which of two equal maxima is taken must not hang on rounding."""
    return point.objective > best.objective + 1e-6 * abs(best.objective)


def _report(tried: int, point: EvaluatedPoint) -> Step:
    return Step("search", 0, tried, point.objective, point.eigenvalues, None, None, point.gradient, point.W)
