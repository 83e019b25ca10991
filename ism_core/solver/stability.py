"""Solves on random halves of the rows, for the standard errors of a result (delete-half jackknife, Shao and Wu 1989).

Each half has half of every class. The solve starts at the W of all rows and converges to the maximum for the half. J
does not depend on the basis of a subspace, so a Procrustes rotation brings each W nearest to the W of all rows. Axes of
few features keep their features and are compared without rotation.

Γ is that of all rows. For a clustering, the errors therefore hold for the clusters that were found.
"""

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from ism_core.arrays import Array, Ints, as_table, is_whole
from ism_core.engines import own_threads
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel
from ism_core.linalg import RowSpace, Whitening, largest_angle, procrustes_rotation
from ism_core.objective import EvaluationOptions, Problem
from ism_core.paradigms import Clustering, Paradigm
from ism_core.solver.ascent import ascend
from ism_core.solver.result import Result, drained
from ism_core.solver.sparse import FeatureProblems, ascend_on_supports

RESAMPLES = 20  # halves by default
FEWEST_ROWS = 8  # rows that a table needs
DELTA = 0.03  # convergence tolerance of these solves at least: far below the differences between halves
ITERATIONS = 30  # of each solve at most
GAIN = 1e-6  # relative gain of J at which axes of few features have converged


@dataclass(frozen=True)
class Resample:
    """The solve on some of the rows."""

    rows: Ints
    W: Array  # for the columns of X, in the basis nearest to that of all rows


@dataclass(frozen=True)
class Stability:
    """The variability of the loadings."""

    errors: Array  # d×q, the standard error of each loading
    angles: Array  # largest principal angle between the subspaces of each half and of all rows, in radians
    rows: int  # number of rows in each half
    resamples: tuple[Resample, ...]


def iter_stability(
    X: ArrayLike,
    paradigm: Paradigm,
    result: Result,
    *,
    resamples: int = RESAMPLES,
    rows: int | None = None,
    max_iter: int = ITERATIONS,
    delta: float = 0.01,
    seed: int = 0,
    whitening: Whitening | None = None,
    precision: str = "double",
) -> Generator[int, None, Stability]:
    """Return the stability of a result's loadings, and yield the number of halves done.

    X, paradigm and whitening are those that were given to `solve`. `rows` is the number of rows in each resample; None
    means half of them. Each solve has `max_iter` iterations at most.
    """
    table = as_table(X)
    if not is_whole(resamples) or resamples < 2:
        raise InvalidInput("resamples", f"resamples is {resamples!r}; it must be a whole number of 2 or more.")
    if len(table) < FEWEST_ROWS:
        raise InvalidInput("X", f"X has {len(table)} rows; standard errors need at least {FEWEST_ROWS}.")
    options = EvaluationOptions(precision="single" if precision == "single" else "double", seed=seed)
    last = None if result.spectral is None else Clustering.of(result.spectral)
    gamma, _ = paradigm.gamma_at(table @ result.W, result.kernel, seed, delta, last, options)
    halves = _Halves(table, gamma, result, max(delta, DELTA), max_iter, options, whitening)
    return _iter_halves(halves, resamples, len(table) // 2 if rows is None else rows, seed)


stability = drained(iter_stability)


def _iter_halves(halves: "_Halves", resamples: int, count: int, seed: int) -> Generator[int, None, Stability]:
    rng = np.random.default_rng(seed)
    W, n = halves.result.W, len(halves.X)
    found = []
    for done in range(1, resamples + 1):
        with own_threads():
            found.append(halves.solved(rng, count))
        yield done
    loadings = partial(halves.result.loadings, halves.whitening)
    spread = np.array([loadings(each.W) for each in found]) - loadings()
    errors: Array = np.sqrt((spread**2).mean(axis=0) * scale_of_deviations(count, n) ** 2)
    return Stability(errors, np.array([largest_angle(W, each.W) for each in found]), count, tuple(found))


def scale_of_deviations(count: int, n: int) -> float:
    """Return the factor that turns deviations of solves on `count` of n rows into errors of the solve on all rows."""
    return 1.0 if count == n // 2 else float(np.sqrt(count / (n - count)))


@dataclass(frozen=True)
class _Halves:
    """The problem of a result, to be solved on halves of its rows."""

    X: Array
    gamma: Gamma
    result: Result
    delta: float
    max_iter: int
    options: EvaluationOptions
    whitening: Whitening | None

    @property
    def W(self) -> Array:  # noqa: N802
        return self.result.W

    @property
    def kernel(self) -> Kernel:
        return self.result.kernel

    def solved(self, rng: np.random.Generator, count: int) -> Resample:
        """Return W for `count` rows, in the basis nearest to that of all rows."""
        rows = self.gamma.sample(count, rng, fewest=1)  # small classes are halved too
        gamma, kernel = self.gamma.restricted(rows), self.kernel.restricted(rows, rows)
        if self.result.sparsity is not None:
            given = FeatureProblems(self.X[rows], gamma, kernel, self.W.shape[1], self.options, self.whitening)
            return Resample(rows, self._on_supports(given))
        space = RowSpace.of(self.X[rows], self.W.shape[1], self.options.seed).reaching(self.W)
        problem = Problem.of(space.Z, gamma, kernel, self.W.shape[1], space.null_directions, self.options)
        reached = ascend(problem, space.into(self.W), self.delta, self.max_iter)
        W = space.out(reached.point.W)
        return Resample(rows, W @ procrustes_rotation(W, self.W))

    def _on_supports(self, given: FeatureProblems) -> Array:
        assert self.result.sparsity is not None
        support = self.result.sparsity.support
        used = np.flatnonzero(support.any(axis=1))
        V = given.loadings(self.W)
        problem = given.problem(used)
        axes = ascend_on_supports(problem, V[used], support[used], given.metric(used), GAIN, self.max_iter)
        loadings: Array = np.zeros_like(V)
        loadings[used] = axes.W
        return given.projection(loadings)
