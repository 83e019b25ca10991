"""Clusterings: optimize W for a fixed clustering, recluster, repeat.

With few rows, W takes a few steps for each clustering until the clustering settles, then ascends to convergence. With
many rows a clustering costs more than a step, so W takes one step for each (`ClusteringAscent`): first on a subsample
from W = I, then on all rows with coarse features until W and Y settle, then exactly until they settle again. If a
number of starts is given, the subsample is solved as if it were all rows: that takes twice as long, but poor clusters
are rarer.
"""

from collections.abc import Generator
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.engines import LOCAL, own_threads
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel, exact_maps
from ism_core.linalg import RowSpace, dominant, largest_angle
from ism_core.objective import COARSE_TOLERANCE, Problem
from ism_core.paradigms import DENSE_ROWS, SAMPLE_ROWS, Clustering, Projected, affordable_maps
from ism_core.solver.ascent import EvaluatedPoint, Move, is_stationary, iter_ascend, iter_moves
from ism_core.solver.newton_mixing import NewtonMixing
from ism_core.solver.options import SolveInput, SolveOptions
from ism_core.solver.result import Error, Step, Stop, relay
from ism_core.solver.starts import Start, candidates, iter_search

ROUND_STEPS = 2  # steps of W between two clusterings of few rows
SAMPLE_ANGLE = 0.1  # radians that Y may still turn when the subsample is left
MIXING_GRADIENT = 0.03  # relative gradient below which Φs are mixed
MIXING_PATIENCE = 10  # rounds without a smaller gradient before mixing ends; passing a saddle takes some
LARGEST_MIXED_ANGLE = 0.6  # radians; a mixed Φ that turns W farther has found other eigenvectors
EXACT_CLUSTERING = 0.1  # times delta: error of Y in radians that still shows whether Y changes
COARSE_CLUSTERING = 0.5  # times delta: error of Y in radians while features are coarse
COARSE_FEATURES = 0.1  # times delta: error of K by coarse features; that of Φ(W)W is a third of it (measured)


class Solution(NamedTuple):
    """A problem, the point that solves it, why it is the last one, and the clustering if there is one."""

    problem: Problem
    point: EvaluatedPoint
    stop: Stop
    iteration: int  # of the last step
    clustering: Clustering | None = None
    gap: float | None = None  # to the next eigenvalue, if all of them are known
    error: Error | None = None  # of J and Φ(W)W, if it is known

    def padded(self, space: RowSpace) -> Start:
        """The same W in a space that has further directions after its own."""
        more = space.Z.shape[1] - len(self.point.W)
        return Start(np.pad(self.point.W, ((0, more), (0, 0))), np.pad(self.point.phi, (0, more)))


def iter_cluster(
    given: SolveInput, space: RowSpace, kernel: Kernel, rng: np.random.Generator, before: Solution | None
) -> Generator[Step, None, Solution]:
    """Find W and a clustering that belong together; continue from a solution in a smaller space if there is one."""
    everything = _Rounds(given, kernel, None)
    n = len(space.Z)
    if before is not None:
        start, last, first = before.padded(space), before.clustering, before.iteration + 1
    elif given.initial_W is not None:
        start, last, first = Start(space.into(given.initial_W)), None, 0
    elif n > DENSE_ROWS:
        chosen = np.sort(rng.choice(n, SAMPLE_ROWS, replace=False))
        few = _Rounds(given, kernel.restricted(chosen, chosen), chosen)
        steps = few.iter_from_identity(space.Z[chosen], space.null_directions, rng)
        sample = yield from relay(steps, lambda step: replace(step, stage="search"))
        assert sample.clustering is not None
        start, last, first = Start(sample.point.W, sample.point.phi), sample.clustering.spread(chosen, n), 0
    else:
        return (yield from everything.iter_from_identity(space.Z, space.null_directions, rng))
    gamma, clustering = everything.gamma(space.Z @ start.W, last)
    problem = Problem.of(space.Z, gamma, kernel, given.q, space.null_directions, given.evaluation)
    if n > DENSE_ROWS:
        return (yield from everything.iter_single_steps(problem, clustering, start, first))
    return (yield from everything.iter_alternate(problem, clustering, start, first))


class _Rounds:
    """The rounds of one solve, on all rows or on a subsample."""

    def __init__(self, given: SolveInput, kernel: Kernel, rows: Ints | None) -> None:
        self.options = given.options
        self.kernel = kernel
        self.is_sample = rows is not None
        self._given = given
        self._rows = rows
        self._evaluation = given.evaluation if rows is None else replace(given.evaluation, engine=LOCAL)

    def gamma(self, P: Array, last: Clustering | None, error: float = EXACT_CLUSTERING) -> tuple[Gamma, Clustering]:
        """Cluster the projected rows; if there are many, with an error of Y of at most `error` times delta."""
        is_large = len(P) > DENSE_ROWS or self.is_sample
        with own_threads():  # for products with a vector, the threads of the BLAS only wait for each other
            tolerance = error * self.options.delta if is_large else None
            projected = Projected(P, self.kernel, self.options.seed, last, self._rows, tolerance, self._evaluation)
            gamma, clustering = self._given.paradigm.gamma(projected)
        assert clustering is not None
        return gamma, clustering

    def reclustered(
        self, problem: Problem, W: Array, last: Clustering, error: float
    ) -> tuple[Problem, Clustering, float]:
        """Return the problem with the clustering at W, the clustering, and the angle by which Y turned since."""
        gamma, found = self.gamma(problem.projections.projected(W), last, error)
        return problem.with_gamma(gamma), found, largest_angle(last.Y, found.Y)

    def coarse(self, problem: Problem, W: Array) -> Problem:
        """The problem with few features. With all rows more are affordable, because only Φ(W)W is computed, not Φ."""
        has_choice = problem.options.features is None and exact_maps(self.kernel, problem.q) is None
        if not self.is_sample and has_choice:
            P = problem.projections.projected(W)
            maps = affordable_maps(P, self.kernel, COARSE_FEATURES * self.options.delta)
            if maps is not None:
                return problem.with_truncated_features(maps)
        return problem.within((COARSE_TOLERANCE,), W)

    def iter_from_identity(
        self, X: Array, null_directions: Array, rng: np.random.Generator
    ) -> Generator[Step, None, Solution]:
        """Start from the clustering of W = I."""
        gamma, clustering = self.gamma(X, None)
        problem = Problem.of(X, gamma, self.kernel, self._given.q, null_directions, self._evaluation)
        starts = self.options.starts
        if self.is_sample and not isinstance(starts, int):
            return (yield from self.iter_single_steps(problem, clustering, Start(next(candidates(problem, rng))), 0))
        count = starts if isinstance(starts, int) else 1
        start = yield from iter_search(problem, count, self.options, rng)
        return (yield from self.iter_alternate(problem, clustering, start, 0))

    def iter_single_steps(
        self, problem: Problem, clustering: Clustering, start: Start, first: int
    ) -> Generator[Step, None, Solution]:
        """Take one step of W for each clustering, until neither changes; on a subsample, until both are near."""
        method = ClusteringAscent(self, problem, clustering, start.phi)
        moves = iter_moves(method, start.W, self.options.max_iter - 1 - first, first)
        point, stop, iteration = yield from relay(moves, lambda move: move.as_step(move.iteration))
        stop = Stop.ROUNDS if stop is Stop.MAX_ITER else stop
        return Solution(method.problem, point, stop, iteration, method.clustering)

    def iter_alternate(
        self, problem: Problem, clustering: Clustering, start: Start, first: int
    ) -> Generator[Step, None, Solution]:
        """Take a few steps of W for each clustering until it settles; then ascend to convergence."""
        delta, max_iter = self.options.delta, self.options.max_iter
        was_still = False
        W, phi = start.W, start.phi
        for round in range(max_iter):
            budget = max_iter - first if was_still else min(ROUND_STEPS, max_iter - first)
            problem = problem.within(self.options.tolerances, W)
            point, stop, iteration = yield from iter_ascend(
                problem, W, delta, budget, round=round, first=first, similar_phi=phi, leaping=was_still
            )
            gamma, new = self.gamma(problem.X @ point.W, clustering)
            first = iteration + 1
            is_still = largest_angle(clustering.Y, new.Y) < delta
            has_settled = was_still and is_still
            if has_settled or first >= max_iter:
                return Solution(problem, point, stop if has_settled else Stop.ROUNDS, iteration, new)
            was_still = is_still
            problem, clustering, W, phi = problem.with_gamma(gamma), new, point.W, point.phi
        raise AssertionError("every round takes at least one iteration")


class Rounds(Protocol):
    """The rounds of a clustering, wherever the rows are."""

    @property
    def options(self) -> SolveOptions:
        """The options of the solve."""

    @property
    def is_sample(self) -> bool:
        """Whether the rows are a subsample."""

    def reclustered(self, problem: Problem, W: Array, last: Any, error: float) -> tuple[Problem, Any, float]:
        """Return the problem with the clustering at W, the clustering, and the angle by which Y turned since the last.

        The error of Y is at most `error` times delta.
        """

    def coarse(self, problem: Problem, W: Array) -> Problem:
        """Return the problem with few features."""


class ClusteringAscent:
    """An ascent method whose Γ changes at every step: one step of W, then a new clustering.

    J is not comparable from step to step, so every step is accepted. Near the end, W is taken from mixed Φs.
    """

    def __init__(self, rounds: Rounds, problem: Problem, clustering: Any, similar_phi: Array | None) -> None:
        self.problem = problem
        self.clustering = clustering
        self._rounds = rounds
        self._similar_phi = similar_phi
        self._is_exact = False
        self._turned = np.inf  # the angle by which Y turned at the last step, in radians
        self._mixing: NewtonMixing | None = NewtonMixing()
        self._is_near = False  # enough for mixing
        self._smallest_gradient, self._worse_rounds = np.inf, 0

    def init(self, W: Array) -> EvaluatedPoint:
        here = self._evaluate(W, None)
        self._smallest_gradient = here.gradient
        return here

    def step(self, here: EvaluatedPoint) -> tuple[EvaluatedPoint, Stop | None]:
        W = self._next(here)
        error = EXACT_CLUSTERING if self._is_exact else COARSE_CLUSTERING
        found = self._rounds.reclustered(self.problem, W, self.clustering, error)
        self.problem, self.clustering, self._turned = found
        return self._evaluate(W, here), None

    def after_step(self, move: Move[EvaluatedPoint]) -> tuple[EvaluatedPoint, Stop | None]:
        here, delta = move.point, self._rounds.options.delta
        if self._rounds.is_sample:
            has_settled = self._turned < SAMPLE_ANGLE
        else:
            has_settled = self._turned < delta and is_stationary(here, delta)
        if has_settled and (self._is_exact or self._rounds.is_sample):
            return here, Stop.CONVERGED
        self._is_exact = self._is_exact or has_settled
        if here.gradient < self._smallest_gradient:
            self._smallest_gradient, self._worse_rounds = here.gradient, 0
        else:
            self._worse_rounds += 1
        if self._worse_rounds > MIXING_PATIENCE:
            self._mixing = None
        self._is_near = here.gradient < MIXING_GRADIENT
        return here, None

    def _next(self, here: EvaluatedPoint) -> Array:
        """The dominant eigenvectors of the mixed Φ; of Φ itself if those are far from W."""
        q = self.problem.q
        if self._mixing is not None and self._is_near:
            W = dominant(self._mixing.mixed(here.phi, here.W), q, self.problem)[0]
            if largest_angle(here.W, W) < LARGEST_MIXED_ANGLE:
                return W
        return dominant(here.phi, q, self.problem)[0]

    def _evaluate(self, W: Array, last: EvaluatedPoint | None) -> EvaluatedPoint:
        """Evaluate Φ on a subsample, or if it costs little; else correct the last Φ, or that of the subsample."""
        options, is_sample = self._rounds.options, self._rounds.is_sample
        self.problem = problem = (
            self.problem.within(options.tolerances, W) if self._is_exact else self._rounds.coarse(self.problem, W)
        )
        if not is_sample and not problem.is_small:
            if last is not None:
                return last.moved(problem, W)
            if self._similar_phi is not None:
                point = EvaluatedPoint.from_similar(W, self._similar_phi, *problem.half_gradient(W))
                if point is not None:
                    return point
            problem = problem.within((COARSE_TOLERANCE,), W)
        return EvaluatedPoint.at(problem, W)
