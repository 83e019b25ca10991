"""Features of Gaussian kernels whose Taylor series are truncated at a degree, with a proven error bound.

A few far rows need a high degree: the remainder is large for pairs of two far rows, but small for a far and a near row.
So the features of all rows may have a low degree if the pairs among the far rows are computed exactly:

    sum over all pairs  ≈  features of all rows − features of the far rows + exact pairs of the far rows
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ism_core.arrays import Array, Ints
from ism_core.engines import own_threads
from ism_core.kernels import TermMap
from ism_core.linalg import corrected
from ism_core.objective.data import ProblemData
from ism_core.objective.strategies.all_pairs import AllPairs
from ism_core.objective.strategies.base import Cost, Strategy
from ism_core.objective.strategies.exact_features import ExactFeatures
from ism_core.objective.truncation import Magnitudes

RESOLUTION = 1e-6  # times the tolerance: relative error of J due to the inconsistency of truncated J and Φ(W)W


@dataclass(frozen=True)
class TruncatedFeatures(ExactFeatures):
    """Truncated Taylor features. Φ may use a lower degree than J and Φ(W)W, because it is corrected afterwards."""

    tolerance: float = 0.0  # largest relative error of J and Φ(W)W that the degree was chosen for; 0: not known
    coarse_maps: Sequence[TermMap] | None = None  # feature maps for Φ; None: the same
    far: Ints | None = None  # rows whose pairs with each other are exact; None: no rows

    def evaluate(self, W: Array, half_gradient: tuple[Array, float] | None = None) -> tuple[Array, float]:
        phi, objective = self._surrogate(self.coarse_maps or self.maps, W)
        if self.is_corrected:
            along, objective = half_gradient or self.half_gradient(W)
            phi = corrected(phi, W, along)
        return phi, objective

    def row_coefficients(self, W: Array) -> tuple[Array, float]:
        C, objective = super().row_coefficients(W)
        for sign, each in self._among_far(self.maps):
            part, value = each.row_coefficients(W)
            C[self.far] += sign * part
            objective += sign * value
        return C, objective

    def half_gradient(self, W: Array) -> tuple[Array, float]:
        sums, objective = super().half_gradient(W)
        for sign, each in self._among_far(self.maps):
            part, value = each.half_gradient(W)
            sums += sign * part
            objective += sign * value
        return sums, objective

    def objective(self, W: Array) -> float:
        return super().objective(W) + sum(sign * each.objective(W) for sign, each in self._among_far(self.maps))

    @cached_property
    def cost(self) -> Cost:
        maps = self.coarse_maps or self.maps
        costs = [self._cost_with(maps), *(each.cost for _, each in self._among_far(maps))]
        total = Cost(*(sum(numbers) for numbers in zip(*costs, strict=True)))
        if self._far_pairs is None:
            return total
        copies = 2 * self._far_pairs.data.X.nbytes  # of the far rows: their own, and a buffer for Φ
        return total._replace(bytes=total.bytes + copies)

    @property
    def is_corrected(self) -> bool:  # type: ignore[override]
        return self.coarse_maps is not None

    @own_threads()
    def error_bound(self, W: Array) -> Magnitudes:
        data = self.data
        norms = data.norms_at(W) if self.far is None else self._in_memory.projections.norms(W, data.gamma, self.far)
        return norms.bound(self.maps)

    @property
    def resolution(self) -> float:
        return RESOLUTION * self.tolerance

    def _surrogate(self, maps: Sequence[TermMap], W: Array) -> tuple[Array, float]:
        phi, objective = super()._surrogate(maps, W)
        for sign, each in self._among_far(maps):
            part, value = each.evaluate(W)
            phi += sign * part
            objective += sign * value
        return phi, objective

    def _among_far(self, maps: Sequence[TermMap]) -> Iterator[tuple[int, Strategy]]:
        """Yield the sums over the pairs among the far rows, exact and by features, with their signs."""
        if self._far_pairs is not None:
            yield 1, self._far_pairs
            yield -1, ExactFeatures(self._far_pairs.data, maps)

    @cached_property
    def _far_pairs(self) -> AllPairs | None:
        return None if self.far is None else AllPairs(self._in_memory.among(self.far))

    @property
    def _in_memory(self) -> ProblemData:
        """The data, whose rows must be in memory if some are far."""
        assert isinstance(self.data, ProblemData)
        return self.data
