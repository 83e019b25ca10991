"""The optimization problem: maximize J(W) = Σij Γij f(βij(W)) over W with q orthonormal columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.engines import ALONE, own_threads
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel, TermMap, exact_maps
from ism_core.objective import features, tiles
from ism_core.objective.data import DTYPES, EvaluationOptions, ObjectiveData, Precision, ProblemData, Projections
from ism_core.objective.neighbors import NeighborGamma
from ism_core.objective.pairs import compiled_load_failure, neighbor_pairs_of
from ism_core.objective.plan import first_strategy, strategy_within
from ism_core.objective.strategies import AllPairs, Method, Strategy, TruncatedFeatures
from ism_core.objective.truncation import Magnitudes


@dataclass(frozen=True)
class Problem:
    """J, Φ and Φ(W)W of rows X, a Γ and a kernel fitted to the rows, computed by one strategy."""

    data: ObjectiveData
    strategy: Strategy

    @staticmethod
    def of(
        X: Array,
        gamma: Gamma,
        kernel: Kernel,
        q: int,
        null_directions: Array | None = None,
        options: EvaluationOptions | None = None,
    ) -> "Problem":
        """Return the problem with its cheapest exact strategy; the d×e null directions have no component of any row."""
        return Problem.on(ProblemData.of(X, gamma, kernel, q, null_directions, options))

    @staticmethod
    def on(data: ObjectiveData) -> "Problem":
        """Return the problem with these data and its cheapest exact strategy."""
        kind = NeighborProblem if isinstance(data.gamma, NeighborGamma) else Problem
        return kind(data, first_strategy(data))

    @property
    def X(self) -> Array:  # noqa: N802
        """The rows, which must be in memory."""
        return self._in_memory.X

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return self.data.shape

    @property
    def gamma(self) -> Gamma:
        """Γ"""
        return self.data.gamma

    @property
    def kernel(self) -> Kernel:
        """The kernel, fitted to the rows."""
        return self.data.kernel

    @property
    def q(self) -> int:
        """The number of columns of W."""
        return self.data.q

    @property
    def null_directions(self) -> Array:
        """d×e: directions in which no row has a component."""
        return self.data.null_directions

    @property
    def options(self) -> EvaluationOptions:
        """The options for evaluating J and Φ."""
        return self.data.options

    @property
    def projections(self) -> Projections:
        """The projected rows."""
        return self._in_memory.projections

    @property
    def dimensions(self) -> int:
        """The dimension of the space in which W is sought."""
        return self.shape[1] - int(self.null_directions.shape[1])

    @property
    def scatter(self) -> Array:
        """XᵀX of the centered rows, or of a sample of them if there are many."""
        return self.data.scatter

    def scatter_times(self, V: Array) -> Array:
        """Return the scatter matrix times V, without forming the d×d matrix."""
        return self.data.scatter_times(V)

    def with_null_directions_last(self, phi: Array) -> Array:
        """Return Φ with the eigenvalues of the null directions moved below all others."""
        return self.data.with_null_directions_last(phi)

    # Evaluation

    def evaluate(self, W: Array, half_gradient: tuple[Array, float] | None = None) -> tuple[Array, float]:
        """Return Φ(W) and J(W); Φ(W)W and J(W) may be known already."""
        return self.strategy.evaluate(W, half_gradient)

    def half_gradient(self, W: Array) -> tuple[Array, float]:
        """Return Φ(W)W, half of the gradient of J at any W, orthonormal or not; and J(W)."""
        return self.strategy.half_gradient(W)

    def row_coefficients(self, W: Array) -> tuple[Array, float]:
        """Return the n×q matrix C with Φ(W)W = XᵀC, and J(W)."""
        return self.strategy.row_coefficients(W)

    def objective(self, W: Array) -> float:
        """Return J(W)."""
        return self.strategy.objective(W)

    def error_bound(self, W: Array) -> Magnitudes:
        """Return proven bounds on the errors of J and Φ(W)W, rounding aside."""
        return self.strategy.error_bound(W)

    def initial_surrogate(self) -> Array:
        """Return Φ0: Φ with every f′(β) replaced by f′(0)."""
        n, d = self.shape
        rows = self.data.rows_at(np.empty((d, 0)), 2.0 * n * d * (d + len(self.gamma.s)))
        return self.data.clean(features.initial_surrogate(rows, self.kernel))

    @property
    def method(self) -> Method:
        """The name of the strategy, as results report it."""
        return self.strategy.method

    @property
    def warnings(self) -> list[str]:
        """What the user should know about how J and Φ were computed."""
        failure = compiled_load_failure()
        if failure is None:
            return []
        return [f"Compiled code could not be loaded ({failure}); numpy computed sums over many rows, more slowly."]

    @property
    def flops(self) -> float:
        """Flops of Φ(W)."""
        return self.strategy.cost.surrogate

    @property
    def half_gradient_flops(self) -> float:
        """Flops of Φ(W)W."""
        return self.strategy.cost.half_gradient

    @property
    def solve_flops(self) -> float:
        """Flops of a typical ascent."""
        return self.strategy.cost.ascent

    @property
    def is_small(self) -> bool:
        """Whether Φ costs so little that approximating it saves nothing."""
        return self.strategy.is_small

    @property
    def resolution(self) -> float:
        """Relative error of J: smaller changes of J are not significant."""
        return self.strategy.resolution

    @property
    def is_truncated(self) -> bool:
        """Whether the kernel's Taylor series is truncated."""
        return isinstance(self.strategy, TruncatedFeatures)

    @property
    def tolerance(self) -> float:
        """The tolerance for which the Taylor series was truncated; 0 if it was not."""
        return self.strategy.tolerance if isinstance(self.strategy, TruncatedFeatures) else 0.0

    def rows_within(self, flops: float) -> int:
        """Return the number of rows of a subsample whose Φ costs at most `flops` flops."""
        return self._rows_within(flops / self.flops)

    def _rows_within(self, share: float) -> int:
        """Return the number of rows of a subsample that costs this share of the problem's flops."""
        exponent = 0.5 if self.method == "tiles" else 1.0
        n = self.shape[0]
        return min(n, int(n * share**exponent))

    # Variants of the problem

    @own_threads()
    def within(self, tolerances: Iterable[float], W: Array, size: Magnitudes | None = None) -> "Problem":
        """Return the problem with the cheapest strategy for W and its neighborhood.

        The strategy has random features if the options ask for them. Otherwise features are truncated for the first of
        the tolerances that makes them cheaper than all pairs. Exact features stay.

        Parameters
        ----------
        size
            |J| and ‖Φ(W)W‖, if they are known.
        """
        if exact_maps(self.kernel, self.q) is not None:
            return self
        return replace(self, strategy=strategy_within(self.data, tolerances, W, size))

    def by_all_pairs(self) -> Self:
        """Return the problem with sums over all pairs of rows."""
        return replace(self, strategy=AllPairs(self._in_memory))

    def with_truncated_features(self, maps: Sequence[TermMap]) -> Self:
        """Return the problem with these feature maps."""
        return replace(self, strategy=TruncatedFeatures(self.data, maps))

    def with_strategy_of(self, other: "Problem") -> Self:
        """Return the problem with the strategy of another one, such as that of all rows for a sample."""
        return replace(self, strategy=other.strategy.on(self.data))

    def with_gamma(self, gamma: Gamma) -> Self:
        """Return the problem with another Γ and the same strategy."""
        return self.with_data(replace(self.data, gamma=gamma))

    def in_precision(self, precision: Precision) -> Self:
        """Return the problem with this precision of sums over pairs; itself if it has this precision already."""
        if self.options.precision == precision:
            return self
        return self.with_data(replace(self.data, options=replace(self.options, precision=precision)))

    def restricted(self, chosen: Ints) -> "Problem":
        """Return the problem on some of the rows, for this process, with its cheapest exact strategy."""
        return Problem.on(self._in_memory.restricted(chosen))

    def sampled(self, count: int, rng: np.random.Generator) -> "Problem":
        """Return the problem on a sample of `count` rows; itself if it has no more rows, and they are in memory."""
        sample = self.data.sampled(count, rng)
        return self if sample is self.data else Problem.on(sample)

    @property
    def _in_memory(self) -> ProblemData:
        """The data, whose rows must be in memory."""
        assert isinstance(self.data, ProblemData)
        return self.data

    def with_data(self, data: ObjectiveData) -> Self:
        """Return the problem with other data and the same strategy."""
        return replace(self, data=data, strategy=self.strategy.on(data))


@dataclass(frozen=True)
class NeighborProblem(Problem):
    """A Γ that depends on W, since neighbors predict each row; see `NeighborGamma`.

    The gradient of J is that of a problem whose Γ is fixed at its value for W.
    """

    def evaluate(self, W: Array, half_gradient: tuple[Array, float] | None = None) -> tuple[Array, float]:
        fixed, objective = self._at(W)
        return fixed.evaluate(W)[0], objective

    def half_gradient(self, W: Array) -> tuple[Array, float]:
        C, objective = self.row_coefficients(W)
        return self._in_memory.column_sums(C), objective

    def row_coefficients(self, W: Array) -> tuple[Array, float]:
        data, gamma = self._in_memory, self.gamma
        engine = data.engine_for(self.half_gradient_flops)
        assert isinstance(gamma, NeighborGamma)
        P = data.projections.projected(W)
        if (pairs := neighbor_pairs_of(P, data.kernel, gamma, DTYPES[data.options.precision], engine)) is not None:
            return pairs.row_coefficients()
        if data.few_rows is not None and engine is ALONE:
            return data.few_rows.neighbor_coefficients(P)
        fixed, objective = self._at(W)
        return fixed.row_coefficients(W)[0], objective

    def objective(self, W: Array) -> float:
        return self._at(W)[1]

    def rows_within(self, flops: float) -> int:
        """Return the number of rows of a subsample whose Φ(W)W costs at most `flops` flops: an ascent needs no Φ."""
        return self._rows_within(flops / self.half_gradient_flops)

    def within(self, tolerances: Iterable[float], W: Array, size: Magnitudes | None = None) -> "Problem":
        """Return the problem itself: its strategy is all pairs of rows."""
        return self

    def _at(self, W: Array) -> tuple[Strategy, float]:
        """Return the strategy with Γ fixed at its value for W, and J(W)."""
        data, gamma = self._in_memory, self.gamma
        assert isinstance(gamma, NeighborGamma)
        P, engine = data.projections.projected(W), data.engine_for(self.half_gradient_flops)
        sums = tiles.neighbor_sums(P, data.placed_kernel, gamma, precision=data.options.precision, engine=engine)
        fixed, objective = gamma.fixed(*sums)
        return self.strategy.on(replace(data, gamma=fixed)), objective
