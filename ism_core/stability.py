"""How far the loadings can be trusted: their standard errors, from solves on halves of the rows.

Each half is drawn at random, with half of every class, and W climbs from where all rows have led it to the maximum for
that half. J does not tell bases of a subspace apart, so each W is turned to be as near to the first as can be
(Procrustes; axes of few features keep their features and are compared as they are). The deviation of what half of the
rows say is the standard error of what all of them do: the jackknife that deletes half (Shao and Wu 1989).

Γ is that of all rows. For a clustering this is what the loadings vary by while the clusters are those that were found.
"""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ism_core.arrays import Array, as_table, is_whole
from ism_core.engines.threads import own_threads
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel
from ism_core.linalg.row_space import RowSpace
from ism_core.linalg.subspaces import largest_angle
from ism_core.objective import EvaluationOptions, Problem
from ism_core.paradigms import Clustering, Paradigm
from ism_core.scaling import Whitening
from ism_core.solver.ascent.spectral import ascend
from ism_core.solver.progress import drain
from ism_core.solver.result import Result
from ism_core.solver.sparse.sparsity import Features
from ism_core.solver.sparse.supports import at, climbed

RESAMPLES = 20
FEWEST_ROWS = 8
DELTA = 0.03  # of the climbs, or that of the solve if it is coarser: far less than halves of the rows differ by
ITERATIONS = 30
GAIN = 1e-6  # of J, on given supports


@dataclass(frozen=True)
class Stability:
    """What the loadings vary by."""

    errors: Array  # d×q, the standard error of each loading
    angles: Array  # from the subspace of each half to that of all rows: the largest, in radians
    rows: int  # in each half


def stability(
    X: ArrayLike,
    paradigm: Paradigm,
    result: Result,
    *,
    resamples: int = RESAMPLES,
    delta: float = 0.01,
    seed: int = 0,
    whitening: Whitening | None = None,
    precision: str = "double",
) -> Stability:
    """Of the loadings of a result: X, paradigm and whitening as they were given to `solve`."""
    return drain(
        resampling(
            X,
            paradigm,
            result,
            resamples=resamples,
            delta=delta,
            seed=seed,
            whitening=whitening,
            precision=precision,
        )
    )


def resampling(
    X: ArrayLike,
    paradigm: Paradigm,
    result: Result,
    *,
    resamples: int = RESAMPLES,
    delta: float = 0.01,
    seed: int = 0,
    whitening: Whitening | None = None,
    precision: str = "double",
) -> Generator[int, None, Stability]:
    """The same as a generator, which yields how many halves are done."""
    table = as_table(X)
    if not is_whole(resamples) or resamples < 2:
        raise InvalidInput("resamples", f"resamples is {resamples!r}; it must be a whole number of 2 or more.")
    if len(table) < FEWEST_ROWS:
        raise InvalidInput(
            "X", f"X has {len(table)} rows; to compare halves of them at least {FEWEST_ROWS} are needed."
        )
    options = EvaluationOptions(precision="single" if precision == "single" else "double")
    last = None if result.spectral is None else Clustering.of(result.spectral)
    gamma, _ = paradigm.gamma_at(table @ result.W, result.kernel, seed, delta, last, options)
    return _resampling(_Halves(table, gamma, result, max(delta, DELTA), options, whitening), resamples, seed)


def _resampling(halves: "_Halves", resamples: int, seed: int) -> Generator[int, None, Stability]:
    rng = np.random.default_rng(seed)
    W, rows = halves.W, len(halves.X) // 2
    loadings, angles = [], []
    for done in range(1, resamples + 1):
        with own_threads():
            other = halves.solved(rng, rows)
        loadings.append(halves.loadings(other))
        angles.append(largest_angle(W, other))
        yield done
    spread = np.array(loadings) - halves.loadings(W)
    errors: Array = np.sqrt((spread**2).mean(axis=0))
    return Stability(errors, np.array(angles), rows)


@dataclass(frozen=True)
class _Halves:
    """The problem of a result, to be solved on some of its rows."""

    X: Array
    gamma: Gamma
    result: Result
    delta: float
    options: EvaluationOptions
    whitening: Whitening | None

    @property
    def W(self) -> Array:  # noqa: N802
        return self.result.W

    @property
    def kernel(self) -> Kernel:
        return self.result.kernel

    def loadings(self, W: Array) -> Array:
        """As they are read: of the features before whitening, and 0 where an axis has none of one, without rounding."""
        loadings = W if self.whitening is None else self.whitening.times(W)
        sparsity = self.result.sparsity
        return loadings if sparsity is None else np.where(sparsity.support, loadings, 0.0)

    def solved(self, rng: np.random.Generator, count: int) -> Array:
        """W for so many of the rows, in the basis that is nearest to that of all rows."""
        rows = self.gamma.sample(count, rng)
        gamma, kernel = self.gamma.restricted(rows), self.kernel.restricted(rows, rows)
        if self.result.sparsity is not None:
            given = Features(self.X[rows], gamma, kernel, self.W.shape[1], self.options, self.whitening)
            return self._on_supports(given)
        space = RowSpace.of(self.X[rows], self.W.shape[1]).reaching(self.W)
        problem = Problem.of(space.Z, gamma, kernel, self.W.shape[1], space.null_directions, self.options)
        reached = drain(ascend(problem, space.into(self.W), self.delta, ITERATIONS))
        W = space.out(reached.point.W)
        left, _, right = np.linalg.svd(W.T @ self.W)
        turned: Array = W @ (left @ right)
        return turned

    def _on_supports(self, given: Features) -> Array:
        assert self.result.sparsity is not None
        support = self.result.sparsity.support
        used = np.flatnonzero(support.any(axis=1))
        V = given.loadings(self.W)
        problem = given.problem(used)
        axes = climbed(problem, at(problem, V[used], support[used], given.metric(used)), GAIN, ITERATIONS)
        loadings: Array = np.zeros_like(V)
        loadings[used] = axes.W
        return given.projecting(loadings)
