"""The data of a problem, its projected rows and the options for its evaluation: what every strategy needs."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from ism_core.arrays import Array, Dtype, Ints
from ism_core.engines import ALONE, LOCAL, Engine, Placed
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel
from ism_core.linalg import row_passes
from ism_core.objective.few_rows import MOST_ROWS, FewRows
from ism_core.objective.truncation import ProjectedNorms

Precision = Literal["double", "single"]

DTYPES: dict[Precision, Dtype] = {"double": np.float64, "single": np.float32}
REMOTE_FLOPS = 2e9  # about 30 ms on two threads, which is what the messages to a Dask cluster cost
THREAD_FLOPS = 3e8  # for less work, two threads spend more time on synchronization than they save
SCATTER_ROWS = 2_000  # rows that the scatter matrix is estimated from; enough to rank directions by variance
MEAN_ROWS = 1_000  # rows that the center is estimated from
SAME_BASIS = 1e-12  # largest difference that rounding leaves between two bases of one subspace


@dataclass(frozen=True)
class EvaluationOptions:
    """How J and Φ may be computed."""

    precision: Precision = "double"  # of sums over pairs of rows
    features: int | None = None  # random features for each term of the kernel; None: no random features
    seed: int = 0  # of the random features and of samples of the rows
    engine: Engine = LOCAL
    spare_bytes: int | None = None  # bytes that a strategy may use beyond what all pairs need; None: no limit


class Projections:
    """Φ(W), Φ(W)W, several tolerances and an error bound all need XW at the same W: it is computed once.

    Several threads may share an instance. Each cache holds one immutable tuple that is read and replaced as a whole, so
    that a thread never combines the W of one call with the projected rows of another.
    """

    def __init__(self, X: Array, center: Array | None = None) -> None:
        self._X = X
        self._center = center  # of the rows; None: their mean
        self._projected: tuple[Array, Array] | None = None  # W and XW
        self._coordinates: tuple[Array, Array] | None = None  # an orthonormal basis and X in it
        self._norms: tuple[Array, Gamma, Ints | None, ProjectedNorms] | None = None

    def projected(self, W: Array) -> Array:
        """XW"""
        known = self._projected
        if known is None or not np.array_equal(known[0], W):
            known = self._projected = W, self._project(W)
        return known[1]

    def centered(self, W: Array) -> tuple[Array, Array]:
        """XW, and the projected center."""
        P = self.projected(W)
        return P, P.mean(axis=0) if self._center is None else self._center @ W

    def remember(self, basis: Array, coordinates: Array) -> None:
        """Keep the rows in an orthonormal basis: XW follows from them if W lies in its span."""
        self._coordinates = basis, coordinates

    def norms(self, W: Array, gamma: Gamma, far: Ints | None = None) -> ProjectedNorms:
        """Norms of the projected rows, which are the same for every basis of span(W)."""
        known = self._norms
        if known is None or known[1] is not gamma or known[2] is not far or not np.array_equal(known[0], W):
            norms = ProjectedNorms.of(self._projected_by_any_basis(W), self._row_norms, gamma, far)
            known = self._norms = W, gamma, far, norms
        return known[3]

    def _project(self, W: Array) -> Array:
        known = self._coordinates
        if known is not None:
            basis, coordinates = known
            V = basis.T @ W
            if _are_same(basis @ V, W):
                within: Array = coordinates @ V
                return within
        return row_passes.projected(self._X, W)

    def _projected_by_any_basis(self, W: Array) -> Array:
        """XW, or XV of the last V if it spans the same subspace."""
        known = self._projected
        if known is not None:
            V, P = known
            if V.shape == W.shape and _are_same(V @ (V.T @ W), W):
                return P
        return self.projected(W)

    @cached_property
    def _row_norms(self) -> Array:
        """Norms of the rows less about their mean; the bound holds for any center."""
        center = self._X[:: max(1, len(self._X) // MEAN_ROWS)].mean(axis=0)
        return np.sqrt(row_passes.square_lengths(self._X, center))


@dataclass(frozen=True)
class ProblemData:
    """Everything that J depends on besides W, with the options to compute it."""

    rows: Placed[Array]
    gamma: Gamma
    kernel: Kernel  # fitted to the rows
    q: int
    null_directions: Array  # d×e: directions in which no row has a component
    options: EvaluationOptions
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
        return ProblemData(options.engine.place(X), gamma, kernel, q, null_directions, options, Projections(X))

    @property
    def X(self) -> Array:  # noqa: N802
        """The rows."""
        return self.rows.here

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
            return self._without_null_part(row_passes.column_sums(self.X, C))

    def clean(self, phi: Array) -> Array:
        """Φ without the rounding errors along the null directions."""
        if self.null_directions.shape[1] == 0:
            return phi
        with np.errstate(over="ignore", invalid="ignore"):
            return self._without_null_part(self._without_null_part(phi).T)

    def with_null_directions_last(self, phi: Array) -> Array:
        """Return Φ with the eigenvalues of the null directions moved below all others."""
        if self.null_directions.shape[1] == 0:
            return phi
        lowered: Array = phi - (2 * float(np.linalg.norm(phi, np.inf)) or 1.0) * self._null_projector
        return lowered

    @cached_property
    def scatter(self) -> Array:
        """XᵀX of the centered rows, or of a sample of them if there are many."""
        return self.clean(self._centered_sample.T @ self._centered_sample)

    def scatter_times(self, V: Array) -> Array:
        """Return the scatter matrix times V, without forming the d×d matrix."""
        return self._without_null_part(self._centered_sample.T @ (self._centered_sample @ V))

    def _without_null_part(self, V: Array) -> Array:
        N = self.null_directions
        outside: Array = V - N @ (N.T @ V) if N.shape[1] else V
        return outside

    @cached_property
    def _null_projector(self) -> Array:
        projector: Array = self.null_directions @ self.null_directions.T
        return projector

    @cached_property
    def _centered_sample(self) -> Array:
        sample = self.X[:: max(1, len(self.X) // SCATTER_ROWS)]
        centered: Array = sample - sample.mean(axis=0)
        return centered


def _are_same(V: Array, W: Array) -> bool:
    return bool(np.abs(V - W).max(initial=0) < SAME_BASIS)
