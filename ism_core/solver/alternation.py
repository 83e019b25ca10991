"""Clusterings: W for the clustering and the clustering for W, in turn.

With few rows, some steps of W for each clustering until that stands still. With many, where a clustering costs more
than a step, one step for each, by the mixed Φ of the last rounds: first on a sample, from W = I, then on all rows. On
these with few features until W and Y stand still, then exactly until they do again. Where a number of starts is given,
the sample is clustered as few rows are, to the end: that takes twice as long, and leads to poor clusters less often.
"""

from collections.abc import Generator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.engines.base import LOCAL
from ism_core.engines.threads import own_threads
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel, exact_maps
from ism_core.linalg.row_space import RowSpace
from ism_core.linalg.subspaces import dominant, largest_angle
from ism_core.objective import COARSE_TOLERANCE, Problem
from ism_core.paradigms import DENSE_ROWS, SAMPLE_ROWS, Clustering, affordable_maps
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint
from ism_core.solver.ascent.spectral import ascend
from ism_core.solver.ascent.surrogate_model import SurrogateModel
from ism_core.solver.newton_mixing import Mixing
from ism_core.solver.options import SolveInput
from ism_core.solver.progress import relay
from ism_core.solver.result import Error, Step, Stop
from ism_core.solver.starts.candidates import candidates
from ism_core.solver.starts.search import Start, search

ROUND_ITERATIONS = 2  # steps of W between two clusterings, of few rows
NEAR_Y = 0.1  # radians that Y may still turn on a sample
MIXED = 0.03  # the gradient from which on Φs are mixed
PATIENCE = 10  # rounds without a smaller gradient after which they no longer are: to pass by a saddle takes some
FAR = 0.6  # radians: no mix is meant to turn W by so much
NEAR = 0.1  # times delta: how exact Y must be, in radians, for its change to be told
NEARLY = 0.5  # times delta: how exact while all is computed roughly
LEFT_OUT = 0.1  # times delta: what features may leave out of K then. Measured: Φ(W)W is off by a third of this


class Solution(NamedTuple):
    """A problem, the point that solves it, why it is the last one, and for clusterings the clustering."""

    problem: Problem
    point: EvaluatedPoint
    stop: Stop
    iteration: int  # the number of its last step
    clustering: Clustering | None = None
    gap: float | None = None  # to the next eigenvalue, where all of them are known
    error: Error | None = None  # of J and Φ(W)W, where it is known

    def padded(self, space: RowSpace) -> Start:
        """The same W in a space with more directions after those that it had."""
        more = space.Z.shape[1] - len(self.point.W)
        return Start(np.pad(self.point.W, ((0, more), (0, 0))), self.point.model.padded(more))


def cluster(
    given: SolveInput, space: RowSpace, kernel: Kernel, rng: np.random.Generator, before: Solution | None
) -> Generator[Step, None, Solution]:
    """W and a clustering that belong together: on a sample first where there are many rows, then on all of them."""
    everything = _Alternation(given, kernel, None)
    n = len(space.Z)
    if before is not None:
        start, last, first = before.padded(space), before.clustering, before.iteration + 1
    elif given.initial_W is not None:
        start, last, first = Start(space.into(given.initial_W)), None, 0
    elif n > DENSE_ROWS:
        chosen = np.sort(rng.choice(n, SAMPLE_ROWS, replace=False))
        few = _Alternation(given, kernel.restricted(chosen, chosen), chosen)
        sample = yield from relay(
            few.from_nothing(space.Z[chosen], space.null_directions, rng), lambda step: replace(step, stage="search")
        )
        assert sample.clustering is not None
        start, last, first = Start(sample.point.W, sample.point.model), sample.clustering.spread(chosen, n), 0
    else:
        return (yield from everything.from_nothing(space.Z, space.null_directions, rng))
    gamma, clustering = everything.gamma(space.Z @ start.W, last)
    problem = Problem.of(space.Z, gamma, kernel, given.q, space.null_directions, given.evaluation)
    if n > DENSE_ROWS:
        return (yield from everything.settle(problem, clustering, start, first))
    return (yield from everything.alternate(problem, clustering, start, first))


class _Alternation:
    """The rounds of one solve, on all rows or on some of them."""

    def __init__(self, given: SolveInput, kernel: Kernel, rows: Ints | None) -> None:
        self._given = given
        self._kernel = kernel
        self._rows = rows
        self._options = given.options
        self._evaluation = given.evaluation if rows is None else replace(given.evaluation, engine=LOCAL)

    def gamma(self, P: Array, last: Clustering | None, nearness: float = NEAR) -> tuple[Gamma, Clustering]:
        """For the projected rows; where they are many, with a Y that is off by so many times delta at the most."""
        many = len(P) > DENSE_ROWS or self._rows is not None
        with own_threads():  # of products with a vector, several threads of the BLAS only wait for each other
            gamma, clustering = self._given.paradigm.gamma(
                P,
                self._kernel,
                self._options.seed,
                last,
                rows=self._rows,
                tolerance=nearness * self._options.delta if many else None,
                options=self._evaluation,
            )
        assert clustering is not None
        return gamma, clustering

    def from_nothing(
        self, X: Array, null_directions: Array, rng: np.random.Generator
    ) -> Generator[Step, None, Solution]:
        """Beginning at W = I; on a sample only until W and Y are near, unless starts were asked for."""
        gamma, clustering = self.gamma(X, None)
        problem = Problem.of(X, gamma, self._kernel, self._given.q, null_directions, self._evaluation)
        if self._rows is not None and not isinstance(self._options.starts, int):
            start = Start(next(candidates(problem, rng)))
            return (yield from self.settle(problem, clustering, start, 0))
        starts = self._options.starts if isinstance(self._options.starts, int) else 1
        start = yield from search(problem, starts, self._options.delta, rng, self._options.tolerances)
        return (yield from self.alternate(problem, clustering, start, 0))

    def settle(
        self, problem: Problem, clustering: Clustering, start: Start, first: int
    ) -> Generator[Step, None, Solution]:
        """One step of W for each clustering, until neither moves; on a sample, until both are near."""
        delta, max_iter = self._options.delta, self._options.max_iter
        still, gradient = (delta, delta / 10) if self._rows is None else (NEAR_Y, np.inf)
        exact = False
        mixing = Mixing()
        last: EvaluatedPoint | None = None
        turned = change = angle = None
        lowest, worse, mixes = np.inf, 0, True
        W = start.W
        P = problem.projections.projected(W)
        for iteration in range(first, max_iter):
            with own_threads():  # between sums over rows, those of the BLAS would be in the way of ours
                problem = problem.within(self._options.tolerances, W) if exact else self._roughly(problem, W, P)
                point = self._point(problem, W, last, start.model)
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
            if settled and (exact or self._rows is not None):
                return Solution(problem, point, Stop.CONVERGED, iteration, clustering)
            if iteration + 1 == max_iter:
                return Solution(problem, point, Stop.ROUNDS, iteration, clustering)
            exact = exact or settled
            lowest, worse = (point.gradient, 0) if point.gradient < lowest else (lowest, worse + 1)
            mixes = mixes and worse <= PATIENCE  # it helps near the end, and may lead astray before
            near = mixes and last is not None and point.gradient < MIXED
            with own_threads():
                W = _next(problem, point, mixing if near else None)
                P = problem.projections.projected(W)
                gamma, found = self.gamma(P, clustering, NEAR if exact else NEARLY)
                turned = largest_angle(clustering.Y, found.Y)
            problem, clustering, last = problem.with_gamma(gamma), found, point
        raise AssertionError("the last round returns")

    def _roughly(self, problem: Problem, W: Array, P: Array) -> Problem:
        """With few features, on all rows for Φ(W)W alone: that takes far less than all of Φ, and may have more."""
        if self._rows is None and problem.options.features is None and exact_maps(self._kernel, problem.q) is None:
            maps = affordable_maps(P, self._kernel, LEFT_OUT * self._options.delta)
            if maps is not None:
                return problem.with_truncated_features(maps)
        return problem.within((COARSE_TOLERANCE,), W)

    def _point(
        self, problem: Problem, W: Array, last: EvaluatedPoint | None, known: SurrogateModel | None
    ) -> EvaluatedPoint:
        """With all of Φ on a sample, or where that costs little; else the last Φ, or the sample's, set right."""
        if self._rows is None and not problem.is_small:
            point = None
            if last:
                point = last.moved(problem, W)
            elif known is not None:
                point = EvaluatedPoint.like(problem, W, known, *problem.half_gradient(W))
            if point is not None:
                return point
            problem = problem.within((COARSE_TOLERANCE,), W)
        return EvaluatedPoint.at(problem, W)

    def alternate(
        self, problem: Problem, clustering: Clustering, start: Start, first: int
    ) -> Generator[Step, None, Solution]:
        """A few steps of W for the clustering, then it for W, until it stands still; then W to the end."""
        delta, max_iter = self._options.delta, self._options.max_iter
        settled = False
        W, model = start.W, start.model
        for round in range(max_iter):
            budget = max_iter - first if settled else min(ROUND_ITERATIONS, max_iter - first)
            problem = problem.within(self._options.tolerances, W)
            point, stop, iteration = yield from ascend(
                problem, W, delta, budget, round, first, known=model, leaping=settled
            )
            gamma, found = self.gamma(problem.X @ point.W, clustering)
            first = iteration + 1
            still = largest_angle(clustering.Y, found.Y) < delta
            if (settled and still) or first >= max_iter:
                return Solution(problem, point, stop if settled and still else Stop.ROUNDS, iteration, found)
            settled = still
            problem, clustering, W, model = problem.with_gamma(gamma), found, point.W, point.model
        raise AssertionError("every round takes at least one iteration")


def _next(problem: Problem, point: EvaluatedPoint, mixing: Mixing | None) -> Array:
    """The dominant eigenvectors of the mixed Φ, unless it has others than those near W; then of Φ."""
    if mixing is not None:
        W = dominant(mixing.mixed(point.phi, point.W), problem.q, problem)[0]
        if largest_angle(point.W, W) < FAR:
            return W
    return dominant(point.phi, problem.q, problem)[0]


def _change(before: Array, now: Array) -> float:
    return float(np.linalg.norm(now - before) / (np.linalg.norm(now) or 1.0))
