"""Sums over all pairs of rows, in tiles: exact, for every kernel, in O(n²) time."""

from dataclasses import dataclass
from functools import cached_property

from ism_core.arrays import Array
from ism_core.engines import ALONE, Threads
from ism_core.objective import tiles
from ism_core.objective.data import ProblemData
from ism_core.objective.strategies.base import Cost, Strategy

PAIR_FLOPS = 60.0  # cost of f and f′ of one pair, in flops of a matrix product
SINGLE_RESOLUTION = 1e-8  # relative rounding error of J in single precision, as measured


@dataclass(frozen=True)
class AllPairs(Strategy):
    """Every pair of rows, tile by tile; or all at once if there are few rows."""

    data: ProblemData

    method = "tiles"

    def evaluate(self, W: Array, half_gradient: tuple[Array, float] | None = None) -> tuple[Array, float]:
        data, options = self.data, self.data.options
        if data.few_rows is not None and data.engine_for(self.cost.surrogate) is ALONE:
            phi, objective = data.few_rows.evaluate(W)
            return data.clean(phi), objective
        phi, objective = tiles.evaluate(
            data.rows,
            data.placed_gamma,
            data.placed_kernel,
            W,
            precision=options.precision,
            engine=data.engine_for(self.cost.surrogate),
            lean=options.spare_bytes is not None and options.spare_bytes < data.X.nbytes,
        )
        return data.clean(phi), objective

    def row_coefficients(self, W: Array) -> tuple[Array, float]:
        data = self.data
        engine = data.engine_for(self.cost.half_gradient)
        if data.few_rows is not None and engine is ALONE:
            return data.few_rows.row_coefficients(data.projections.projected(W))
        return tiles.half_gradient(
            data.rows,
            data.placed_gamma,
            data.placed_kernel,
            W,
            precision=data.options.precision,
            engine=engine,
            # other processes project the rows themselves: W is smaller to send than XW
            known=data.projections.projected(W) if isinstance(engine, Threads) else None,
        )

    def half_gradient(self, W: Array) -> tuple[Array, float]:
        C, objective = self.row_coefficients(W)
        return self.data.column_sums(C), objective

    def objective(self, W: Array) -> float:
        return self.row_coefficients(W)[1]

    @cached_property
    def cost(self) -> Cost:
        n, d = self.data.X.shape
        return Cost(self._pair_flops(d) + 3.0 * n * d**2, self._pair_flops(self.data.q), 0)

    @property
    def resolution(self) -> float:
        return SINGLE_RESOLUTION if self.data.options.precision == "single" else 0.0

    def _pair_flops(self, columns: int) -> float:
        """Return the flops of the sums over all pairs if each pair needs an inner product of `columns` numbers."""
        data = self.data
        per_pair = columns + len(data.gamma.s) + data.q + PAIR_FLOPS * len(data.kernel.terms)
        return float(len(data.X) ** 2 * per_pair)
