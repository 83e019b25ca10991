"""Sums over features of the rows, in time linear in n, for kernels with a finite feature map."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ism_core.arrays import Array
from ism_core.engines import allowed_threads
from ism_core.kernels import TermMap
from ism_core.objective import features
from ism_core.objective.data import ObjectiveData
from ism_core.objective.feature_sums import PlacedRows, RowSums
from ism_core.objective.strategies.base import Cost, Method, Strategy

FEATURE_FLOPS = 40.0  # cost of one feature of one row, in flops of a matrix product


@dataclass(frozen=True)
class ExactFeatures(Strategy):
    """One feature map for each term of the kernel; the base of the strategies whose feature maps are approximate."""

    maps: Sequence[TermMap]

    method: ClassVar[Method] = "features"

    def evaluate(self, W: Array, half_gradient: tuple[Array, float] | None = None) -> tuple[Array, float]:
        return self._surrogate(self.maps, W)

    def row_coefficients(self, W: Array) -> tuple[Array, float]:
        rows = self._rows_at(W)
        assert isinstance(rows, PlacedRows)
        return features.row_coefficients(rows, self.maps)

    def half_gradient(self, W: Array) -> tuple[Array, float]:
        sums, objective = features.half_gradient(self._rows_at(W), self.maps)
        return self.data.without_null_part(sums), objective

    def objective(self, W: Array) -> float:
        return features.objective(self._rows_at(W), self.maps)

    @cached_property
    def cost(self) -> Cost:
        return self._cost_with(self.maps)

    def _surrogate(self, maps: Sequence[TermMap], W: Array) -> tuple[Array, float]:
        phi, objective = features.evaluate(self.data.rows_at(W, self.cost.surrogate), maps)
        return self.data.clean(phi), objective

    def _rows_at(self, W: Array) -> RowSums:
        return self.data.rows_at(W, self.cost.half_gradient)

    def _cost_with(self, maps: Sequence[TermMap]) -> Cost:
        """The cost if Φ is computed with these maps."""
        data = self.data
        (n, d), r = data.shape, len(data.gamma.s)
        half_gradient = half_gradient_flops(data, sum(each.derivative.count for each in self.maps))
        surrogate = float(n * d * d * any(each.form == "difference" for each in maps))
        for each in maps:
            count = each.derivative.count
            surrogate += data.gamma.moment_flops(n, d, count) + (2 * d * d * r + FEATURE_FLOPS * n) * count
        copies = allowed_threads() + 2  # copies of the sums: one for each thread, and two computed from these
        widest = max((each.derivative.count for each in maps), default=0)
        total = surrogate + half_gradient if self.is_corrected else surrogate
        return Cost(total, half_gradient, 8 * r * widest * (d + 1) * copies)


def half_gradient_flops(data: ObjectiveData, features: int) -> float:
    """Return the flops of Φ(W)W with `features` features."""
    n, d = data.shape
    return float(2 * n * features * (2 * (data.q + 1) + FEATURE_FLOPS) + 4 * n * d * data.q)
