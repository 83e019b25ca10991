"""Where to begin. J has many local maxima, and which one is reached is decided here.

Starts: the dominant eigenvectors of Φ0 (the paper's), the axes of the heaviest-tailed columns, the principal axes,
then random ones. From the best of them, exchanges: one of the weakest directions of W gives way to the axis of a
heavy-tailed column, or to the direction of an outlying row, if that leads higher. On data with such columns (a pixel
that is almost always 0) the good maxima differ just in which of those axes they hold: on digits this finds
J = 535,302 (polynomial) and 1,015,124 (multiquadratic) from every start, where single ascents end between 494,149 and
535,302, and between 1,012,062 and 1,015,123.
"""

from collections.abc import Generator, Iterator
from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array
from ism_core.ascent import Ascent, Point, ascend, drained
from ism_core.first import first
from ism_core.grassmann import dominant, largest_angle
from ism_core.model import Model
from ism_core.result import Step
from ism_core.surrogate import ROUGH, Problem

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
GROWTH = 4  # of the rows from one sample to the next
REACH = 5  # times the last gain: what an ascent may still gain, its gains shrinking by a sixth a step or more
SAME_ANGLE = 0.1  # radians: two points on the way up that are nearer than this end in the same maximum
HEAVY = 9.0  # a column's fourth moment over its squared variance; a normal one has 3
AXES = 8  # of heavy-tailed columns to try
ROWS = 4  # far from W to try
WEAKEST = 2  # directions of W that may be exchanged
EXCHANGES = 5


class Start(NamedTuple):
    """Where to begin, and what is known of Φ there from a sample of the rows, if it was one."""

    W: Array
    model: Model | None = None


def candidates(problem: Problem, rng: np.random.Generator) -> Iterator[Array]:
    """Φ0, heavy-tailed axes, principal axes, then random subspaces without end."""
    X, q = problem.X, problem.q
    d = X.shape[1]
    yield first(problem).W
    yield _inside(problem, np.eye(d)[:, np.argsort(-_moments(X)[1], kind="stable")[:q]])
    yield dominant(problem.scatter, q, problem)[0]
    while True:
        yield _inside(problem, rng.standard_normal((d, q)))


def search(problem: Problem, starts: int, delta: float, rng: np.random.Generator) -> Generator[Step, None, Start]:
    """The most promising of several starts and of exchanges from the best; yields a Step for each that was tried.

    Where there are many rows it is sought on a sample, and followed up on samples of four times the rows; at last, for
    kernels that can be cut, on all rows with few features.
    """
    if all(term.is_straight for _, term in problem.kernel.terms):
        return Start(next(candidates(problem, rng)))
    rows = len(problem.X)
    if problem.flops > WHOLE_FLOPS:
        spanning = min(int(SPANNING * problem.X.shape[1]), MOST_SPANNING)
        rows = max(problem.rows_within(COARSE_FLOPS), COARSE_ROWS, spanning)
    coarse = problem.sampled(rows, rng)
    if coarse is problem and starts == 1:
        return Start(next(candidates(problem, rng)))
    best, number = yield from _best(coarse, starts, delta, rng)
    if coarse is problem:
        return Start(best.W)
    while (rows := GROWTH * rows) <= len(problem.X) / 2:
        finer = problem.sampled(rows, rng).within([ROUGH], best.W)
        best = drained(ascend(finer, best.W, max(delta, GROWING_DELTA), COARSE_ITERATIONS, known=best.model)).point
        number += 1
        yield _report(number, best)
    roughly = problem.within([ROUGH], best.W)
    if roughly.features_are == "cut":  # all rows, but few features: what costs more has little left to do
        best = drained(ascend(roughly, best.W, delta, ROUGH_ITERATIONS, known=best.model)).point
        yield _report(number + 1, best)
    return Start(best.W, best.model)


def _best(
    problem: Problem, starts: int, delta: float, rng: np.random.Generator
) -> Generator[Step, None, tuple[Point, int]]:
    """The best point, and the number of the last that was tried."""
    pool = candidates(problem, rng)
    best = _climb(problem, next(pool), delta)
    yield _report(0, best)
    for tried in range(1, starts):
        point = _climb(problem, next(pool), delta, best)
        best = point if _is_higher(point, best) else best
        yield _report(tried, point)
    last = starts - 1
    for _ in range(EXCHANGES if starts > 1 else 0):
        better = _exchange(problem, best, delta)
        if better is None:
            break
        best = better
        last += 1
        yield _report(last, best)
    return best, last


def _inside(problem: Problem, W: Array) -> Array:
    """An orthonormal basis of what W spans, less the directions that no row has anything of."""
    return np.linalg.qr(W - problem.empty @ (problem.empty.T @ W))[0]


def _climb(problem: Problem, W: Array, delta: float, best: Point | None = None) -> Point:
    """The maximum above W, or `best` as soon as the way turns out to lead there, or no higher."""
    known = None if best is None else best.model
    steps = ascend(problem, W, max(delta, COARSE_DELTA), COARSE_ITERATIONS, known=known)
    before = -np.inf
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            reached: Ascent = end.value
            return reached.point
        if best is not None and step.objective < best.objective:
            within_reach = step.objective + REACH * (step.objective - before)
            if within_reach < best.objective or largest_angle(step.W, best.W) < SAME_ANGLE:
                return best
        before = step.objective


def _exchange(problem: Problem, best: Point, delta: float) -> Point | None:
    """A higher point reached from `best` with one weak direction replaced by an outlying one."""
    trials: list[tuple[float, int, Array]] = []
    directions = list(_outlying(problem, best.W))
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


def _outlying(problem: Problem, W: Array) -> Iterator[Array]:
    """The axes of the heaviest-tailed columns, and the directions of the rows that lie farthest from W."""
    X = problem.X
    spread, fourth = _moments(X)
    tails = np.divide(fourth, spread**2, out=np.zeros_like(spread), where=spread > 0)
    for axis in np.argsort(-tails, kind="stable")[:AXES]:
        if tails[axis] > HEAVY:
            yield _inside(problem, np.eye(X.shape[1])[:, [axis]])[:, 0]
    centred = X - X.mean(axis=0)
    squares = np.einsum("ij,ij->i", centred, centred) - np.einsum("iq,iq->i", centred @ W, centred @ W)
    for row in np.argsort(-squares, kind="stable")[:ROWS]:
        if squares[row] > HEAVY * squares.mean():
            yield centred[row] / np.linalg.norm(centred[row])


def _is_higher(point: Point, best: Point) -> bool:
    """By more than the coarse delta leaves open: which of two equal maxima is taken must not hang on rounding."""
    return point.objective > best.objective + 1e-6 * abs(best.objective)


def _moments(X: Array) -> tuple[Array, Array]:
    """The second and the fourth central moment of each column."""
    powers = X - X.mean(axis=0)
    powers *= powers
    second: Array = powers.mean(axis=0)
    powers *= powers
    return second, np.asarray(powers.mean(axis=0))


def _report(tried: int, point: Point) -> Step:
    return Step("search", 0, tried, point.objective, point.eigenvalues, None, None, point.gradient, point.W)
