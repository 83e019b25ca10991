"""Where to begin. J has many local maxima, and which one is reached is decided here.

Starts: the dominant eigenvectors of Φ0 (the paper's), the axes of the heaviest-tailed columns, the principal axes,
then random ones. From the best of them, exchanges: one of the weakest directions of W gives way to the axis of a
heavy-tailed column, if that leads higher. On data with such columns (a pixel that is almost always 0) the good maxima
differ just in which of those axes they hold: on digits this finds J = 535,302 (polynomial) and 1,015,124
(multiquadratic) from every start, where single ascents end between 494,149 and 535,302, and between 1,012,062 and
1,015,123.
"""

from collections.abc import Generator, Iterator

import numpy as np

from ism_core.arrays import Array
from ism_core.ascent import Ascent, Point, ascend
from ism_core.grassmann import dominant, largest_angle
from ism_core.result import Step
from ism_core.surrogate import Problem

DEFAULT_STARTS = 3
COARSE_FLOPS = 2e9  # a problem whose Φ costs more is searched on a sample of its rows
COARSE_ROWS = 300  # at least
COARSE_DELTA = 0.05
COARSE_ITERATIONS = 25
REACH = 5  # times the last gain: what an ascent may still gain, its gains shrinking by a sixth a step or more
SAME_ANGLE = 0.1  # radians: two points on the way up that are nearer than this end in the same maximum
HEAVY = 9.0  # a column's fourth moment over its squared variance; a normal one has 3
AXES = 8  # heavy-tailed axes to try
WEAKEST = 2  # directions of W that may be exchanged
EXCHANGES = 5


def candidates(problem: Problem, rng: np.random.Generator) -> Iterator[Array]:
    """Φ0, heavy-tailed axes, principal axes, then random subspaces without end."""
    X, q = problem.X, problem.q
    d = X.shape[1]
    yield dominant(problem.first_surrogate(), q, X)[0]
    yield np.eye(d)[:, np.argsort(-_moment(X, 4), kind="stable")[:q]]
    centred = X - X.mean(axis=0)
    yield dominant(centred.T @ centred, q, X)[0]
    while True:
        yield np.linalg.qr(rng.standard_normal((d, q)))[0]


def search(problem: Problem, starts: int, delta: float, rng: np.random.Generator) -> Generator[Step, None, Array]:
    """The most promising W of several starts and of exchanges from the best; yields a Step for each that was tried."""
    pool = candidates(problem, rng)
    if starts == 1 or all(term.is_straight for _, term in problem.kernel.terms):
        return next(pool)
    coarse = _sampled(problem, rng)
    best = _climb(coarse, next(pool), delta)
    yield _report(0, best)
    for tried in range(1, starts):
        point = _climb(coarse, next(pool), delta, best)
        best = point if _is_higher(point, best) else best
        yield _report(tried, point)
    for exchanged in range(EXCHANGES):
        better = _exchange(coarse, best, delta)
        if better is None:
            break
        best = better
        yield _report(starts + exchanged, best)
    return best.W


def _sampled(problem: Problem, rng: np.random.Generator) -> Problem:
    n = len(problem.X)
    rows = max(problem.rows_within(COARSE_FLOPS), COARSE_ROWS)
    return problem if rows >= n else problem.restricted(problem.gamma.sample(rows, rng))


def _climb(problem: Problem, W: Array, delta: float, best: Point | None = None) -> Point:
    """The maximum above W, or `best` as soon as the way turns out to lead there, or no higher."""
    steps = ascend(problem, W, max(delta, COARSE_DELTA), COARSE_ITERATIONS)
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
    """A higher point reached from `best` with one weak direction replaced by a heavy-tailed axis."""
    X = problem.X
    spread = _moment(X, 2)
    tails = np.divide(_moment(X, 4), spread**2, out=np.zeros_like(spread), where=spread > 0)
    axes = [int(axis) for axis in np.argsort(-tails, kind="stable")[:AXES] if tails[axis] > HEAVY]
    trials: list[tuple[float, int, Array]] = []
    for weak in range(max(0, problem.q - WEAKEST), problem.q):
        kept = np.delete(best.W, weak, axis=1)
        for axis in axes:
            rest = -kept @ kept[axis]
            rest[axis] += 1
            length = np.linalg.norm(rest)
            if length > 0.3:  # else the axis is in W already
                W = np.column_stack([kept, rest / length])
                trials.append((problem.objective(W), len(trials), W))
    for _, _, W in sorted(trials, reverse=True)[:2]:
        point = _climb(problem, W, delta, best)
        if _is_higher(point, best):
            return point
    return None


def _is_higher(point: Point, best: Point) -> bool:
    """By more than the coarse delta leaves open: which of two equal maxima is taken must not hang on rounding."""
    return point.objective > best.objective + 1e-6 * abs(best.objective)


def _moment(X: Array, power: int) -> Array:
    moment: Array = np.mean((X - X.mean(axis=0)) ** power, axis=0)
    return moment


def _report(tried: int, point: Point) -> Step:
    return Step("search", 0, tried, point.objective, point.eigenvalues, None, None, point.gradient, point.W)
