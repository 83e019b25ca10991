"""Clusterings: W for the clustering and the clustering for W, in turn.

With few rows, some steps of W for each clustering until that stands still. With many, where a clustering costs more
than a step, one step for each, by the mixed Φ of the last rounds: first on a sample, from W = I, then on all rows.
"""

from collections.abc import Generator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ism_core.arguments import Arguments
from ism_core.arrays import Array, Ints
from ism_core.ascent import Point, ascend
from ism_core.clustering import DENSE_ROWS, SAMPLE_ROWS, Clustering
from ism_core.engine import LOCAL
from ism_core.gamma import Gamma
from ism_core.grassmann import dominant, largest_angle
from ism_core.kernel import Kernel
from ism_core.means import Means
from ism_core.mixing import Mixing
from ism_core.result import Step, Stop
from ism_core.rowspace import RowSpace
from ism_core.starts import Start, candidates, search
from ism_core.surrogate import ROUGH, Problem

ROUND_ITERATIONS = 2  # steps of W between two clusterings, of few rows
NEAR_Y = 0.1  # radians that Y may still turn on a sample
MIXED = 0.01  # the gradient from which on Φs are mixed
PATIENCE = 4  # rounds without a smaller gradient after which they no longer are
NEAR = 0.1  # times delta: how exact Y must be, in radians, for its change to be told


class Solution(NamedTuple):
    """A problem, the point that solves it, why it is the last one, and for clusterings the clustering."""

    problem: Problem
    point: Point
    stop: Stop
    iteration: int  # the number of its last step
    clustering: Clustering | None = None

    def padded(self, space: RowSpace) -> Start:
        """The same W in a space with more directions after those that it had."""
        more = space.Z.shape[1] - len(self.point.W)
        return Start(np.pad(self.point.W, ((0, more), (0, 0))), np.pad(self.point.phi, (0, more)))


def cluster(
    given: Arguments, space: RowSpace, kernel: Kernel, rng: np.random.Generator, before: Solution | None
) -> Generator[Step, None, Solution]:
    """W and a clustering that belong together: on a sample first where there are many rows, then on all of them."""
    everything = _Alternation(given, kernel, None)
    n = len(space.Z)
    if before is not None:
        start, last, first = before.padded(space), before.clustering, before.iteration + 1
    elif given.start is not None:
        start, last, first = Start(space.into(given.start)), None, 0
    elif n > DENSE_ROWS:
        chosen = np.sort(rng.choice(n, SAMPLE_ROWS, replace=False))
        few = _Alternation(given, kernel.restricted(chosen, chosen), chosen)
        sample = yield from _as_search(few.from_nothing(space.Z[chosen], space.empty, rng))
        assert sample.clustering is not None
        start, last, first = Start(sample.point.W, sample.point.phi), sample.clustering.spread(chosen, n), 0
    else:
        return (yield from everything.from_nothing(space.Z, space.empty, rng))
    gamma, clustering = everything.gamma(space.Z @ start.W, last)
    problem = Problem.of(space.Z, gamma, kernel, given.q, space.empty, given.means)
    if n > DENSE_ROWS:
        return (yield from everything.settle(problem, clustering, start, first))
    return (yield from everything.alternate(problem, clustering, start, first))


class _Alternation:
    """The rounds of one solve, on all rows or on some of them."""

    def __init__(self, given: Arguments, kernel: Kernel, rows: Ints | None) -> None:
        self._given = given
        self._kernel = kernel
        self._rows = rows
        self._means: Means = given.means if rows is None else replace(given.means, engine=LOCAL)

    def gamma(self, P: Array, last: Clustering | None) -> tuple[Gamma, Clustering]:
        many = len(P) > DENSE_ROWS or self._rows is not None
        gamma, clustering = self._given.paradigm.gamma(
            P,
            self._kernel,
            self._given.seed,
            last,
            rows=self._rows,
            tolerance=NEAR * self._given.delta if many else None,
            means=self._means,
        )
        assert clustering is not None
        return gamma, clustering

    def from_nothing(self, X: Array, empty: Array, rng: np.random.Generator) -> Generator[Step, None, Solution]:
        """Beginning at W = I."""
        gamma, clustering = self.gamma(X, None)
        problem = Problem.of(X, gamma, self._kernel, self._given.q, empty, self._means)
        if self._rows is not None:
            start = Start(next(candidates(problem, rng)))
            return (yield from self.settle(problem, clustering, start, 0))
        start = yield from search(problem, self._given.starts or 1, self._given.delta, rng)
        return (yield from self.alternate(problem, clustering, start, 0))

    def settle(
        self, problem: Problem, clustering: Clustering, start: Start, first: int
    ) -> Generator[Step, None, Solution]:
        """One step of W for each clustering, until neither moves; on a sample, until both are near."""
        delta, max_iter = self._given.delta, self._given.max_iter
        still, gradient = (delta, delta / 10) if self._rows is None else (NEAR_Y, np.inf)
        tolerances: tuple[float, ...] = (ROUGH,)
        mixing = Mixing()
        last: Point | None = None
        turned = change = angle = None
        lowest, worse, mixes = np.inf, 0, True
        W = start.W
        for iteration in range(first, max_iter):
            problem = problem.within(tolerances, W)
            point = self._point(problem, W, last, start.phi)
            if last is not None:
                change = _change(last.eigenvalues, point.eigenvalues)
                angle = largest_angle(last.W, point.W)
            yield Step(
                "ascent",
                iteration,
                iteration,
                point.objective,
                point.eigenvalues,
                change,
                angle,
                point.gradient,
                point.W,
            )
            settled = turned is not None and turned < still and point.gradient < gradient
            if (settled and tolerances is self._given.tolerances) or (settled and self._rows is not None):
                return Solution(problem, point, Stop.CONVERGED, iteration, clustering)
            if iteration + 1 == max_iter:
                return Solution(problem, point, Stop.ROUNDS, iteration, clustering)
            if settled:
                tolerances = self._given.tolerances
            lowest, worse = (point.gradient, 0) if point.gradient < lowest else (lowest, worse + 1)
            mixes = mixes and worse <= PATIENCE  # it helps near the end, and may lead astray before
            phi = mixing.mixed(point.phi, point.W) if mixes and point.gradient < MIXED else point.phi
            W = dominant(phi, problem.q, problem)[0]
            gamma, found = self.gamma(problem.X @ W, clustering)
            turned = largest_angle(clustering.Y, found.Y)
            problem, clustering, last = replace(problem, gamma=gamma), found, point
        raise AssertionError("the last round returns")

    def _point(self, problem: Problem, W: Array, last: Point | None, known: Array | None) -> Point:
        """With all of Φ where that costs no more than a clustering; else the last Φ, or the sample's, set right."""
        if self._rows is None and problem.maps is None and not problem.is_small:
            point = last.moved(problem, W) if last else None if known is None else Point.like(problem, W, known)
            if point is not None:
                return point
        return Point.at(problem, W)

    def alternate(
        self, problem: Problem, clustering: Clustering, start: Start, first: int
    ) -> Generator[Step, None, Solution]:
        """A few steps of W for the clustering, then it for W, until it stands still; then W to the end."""
        delta, max_iter = self._given.delta, self._given.max_iter
        settled = False
        W, phi = start
        for round in range(max_iter):
            budget = max_iter - first if settled else min(ROUND_ITERATIONS, max_iter - first)
            problem = problem.within(self._given.tolerances, W)
            point, stop, iteration = yield from ascend(problem, W, delta, budget, round, first, known=phi)
            gamma, found = self.gamma(problem.X @ point.W, clustering)
            first = iteration + 1
            still = largest_angle(clustering.Y, found.Y) < delta
            if (settled and still) or first >= max_iter:
                return Solution(problem, point, stop if settled and still else Stop.ROUNDS, iteration, found)
            settled = still
            problem, clustering, W, phi = replace(problem, gamma=gamma), found, point.W, point.phi
        raise AssertionError("every round takes at least one iteration")


def _change(before: Array, now: Array) -> float:
    return float(np.linalg.norm(now - before) / (np.linalg.norm(now) or 1.0))


def _as_search(steps: Generator[Step, None, Solution]) -> Generator[Step, None, Solution]:
    """The steps on a sample are part of the search for where to begin."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            found: Solution = end.value
            return found
        yield replace(step, stage="search")
