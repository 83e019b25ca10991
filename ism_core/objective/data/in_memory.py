"""The data of a problem whose rows are in memory."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.engines import ALONE, LOCAL, Engine, Placed
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel
from ism_core.linalg import row_passes
from ism_core.objective.data.base import DTYPES, EvaluationOptions, ObjectiveData, Precision
from ism_core.objective.data.projections import Projections
from ism_core.objective.feature_sums import Blocks, PlacedRows, Work
from ism_core.objective.few_rows import MOST_ROWS, FewRows
from ism_core.objective.truncation import ProjectedNorms

T = TypeVar("T")

REMOTE_FLOPS = 2e9  # about 30 ms on two threads, which is what the messages to a Dask cluster cost
THREAD_FLOPS = 3e8  # for less work, two threads spend more time on synchronization than they save
SCATTER_ROWS = 2_000  # rows that the scatter matrix is estimated from; enough to rank directions by variance
ROW_SUM_ROUNDING = 1e-10  # share of the largest |s| below which the row sums of Γ are 0


@dataclass(frozen=True)
class ProblemData(ObjectiveData):
    """The data of a problem whose rows are in memory."""

    rows: Placed[Array]
    projections: Projections

    @staticmethod
    def of(
        X: Array,
        gamma: Gamma,
        kernel: Kernel,
        q: int,
        null_directions: Array | None = None,
        options: EvaluationOptions | None = None,
    ) -> "ProblemData":
        """Place the rows where the engine works on them."""
        options = options or EvaluationOptions()
        null_directions = np.empty((X.shape[1], 0)) if null_directions is None else null_directions
        return ProblemData(gamma, kernel, q, null_directions, options, options.engine.place(X), Projections(X))

    @property
    def X(self) -> Array:  # noqa: N802
        """The rows."""
        return self.rows.here

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return n, d

    @property
    def most_sampled(self) -> int:
        return len(self.X) // 2

    def sampled(self, count: int, rng: np.random.Generator) -> "ProblemData":
        return self if count >= len(self.X) else self.restricted(self.gamma.sample(count, rng))

    def rows_at(self, W: Array, flops: float) -> PlacedRows:
        """Return the projected rows, computed in this process, which is faster than to fetch them."""
        P, center = self.projections.centered(W)
        engine = self.engine_for(flops)
        return PlacedRows(self.rows, engine.place(P), center, self.placed_gamma, engine)

    def total(self, work: Work[T], size: int, *args: Any) -> T:
        n = len(self.X)
        return self.options.engine.total(work, -(-n // size), self.rows, self.placed_gamma, Blocks(size, n), *args)

    def variance_along(self, W: Array) -> float:
        return float(np.var(self.X @ W, axis=0).sum())

    def norms_at(self, W: Array) -> ProjectedNorms:
        return self.projections.norms(W, self.gamma)

    def target_sums(self, centered: bool) -> Array | None:
        U, s = self.gamma.U, self.gamma.s
        row_sums = U @ (s * U.sum(axis=0))
        fits = not centered or np.abs(row_sums).max() <= ROW_SUM_ROUNDING * np.abs(s).max()
        return self.column_sums(U) if fits else None

    def engine_for(self, flops: float) -> Engine:
        """Return the engine that finishes work of this size first: little work stays in this thread or process."""
        if flops > REMOTE_FLOPS:
            return self.options.engine
        return LOCAL if flops > THREAD_FLOPS else ALONE

    @cached_property
    def placed_gamma(self) -> Placed[Gamma]:
        """Γ, placed where the engine works on it."""
        return self.options.engine.place(self.gamma)

    @cached_property
    def placed_kernel(self) -> Placed[Kernel]:
        """The kernel, placed likewise."""
        return self.options.engine.place(self.kernel)

    @cached_property
    def few_rows(self) -> FewRows | None:
        """The sums over all pairs in a few calls, if there are few rows and the kernel is a Gaussian."""
        if len(self.X) > MOST_ROWS:
            return None
        return FewRows.of(self.X, self.gamma, self.kernel, DTYPES[self.options.precision])

    def restricted(self, chosen: Ints) -> "ProblemData":
        """Return the data of some of the rows, for this process."""
        return self._of_rows(chosen, self.gamma.restricted(chosen), self.options.precision)

    def among(self, chosen: Ints) -> "ProblemData":
        """Return the data of the pairs among some far rows, for this process; Γij and the center are those of all rows.

        The precision is double: single precision would lose digits of the distances between far rows.
        """
        part = self._of_rows(chosen, self.gamma.among(chosen), "double")
        return replace(part, projections=Projections(part.X, row_passes.column_means(self.X)[0]))

    def _of_rows(self, chosen: Ints, gamma: Gamma, precision: Precision) -> "ProblemData":
        return ProblemData.of(
            row_passes.picked(self.X, chosen),
            gamma,
            self.kernel.restricted(chosen, chosen),
            self.q,
            self.null_directions,
            replace(self.options, precision=precision, engine=LOCAL),
        )

    def column_sums(self, C: Array) -> Array:
        """XᵀC, without the rounding errors along the null directions."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.without_null_part(row_passes.column_sums(self.X, C))

    @cached_property
    def scatter(self) -> Array:
        return self.clean(self._centered_sample.T @ self._centered_sample)

    def scatter_times(self, V: Array) -> Array:
        """Return the scatter matrix times V, without forming the d×d matrix."""
        return self.without_null_part(self._centered_sample.T @ (self._centered_sample @ V))

    @cached_property
    def _centered_sample(self) -> Array:
        sample = self.X[:: max(1, len(self.X) // SCATTER_ROWS)]
        centered: Array = sample - sample.mean(axis=0)
        return centered
