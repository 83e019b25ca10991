"""Features of gaussian kernels whose Taylor series are truncated at a degree, with a proven error bound."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ism_core.arrays import Array
from ism_core.engines import own_threads
from ism_core.kernels import TermMap
from ism_core.linalg import corrected
from ism_core.objective.projections import ErrorBound
from ism_core.objective.strategies.base import Cost
from ism_core.objective.strategies.exact_features import ExactFeatures

RESOLUTION = 1e-6  # times the tolerance: relative error of J due to the inconsistency of truncated J and Φ(W)W


@dataclass(frozen=True)
class TruncatedFeatures(ExactFeatures):
    """Truncated Taylor features. Φ may use a lower degree than J and Φ(W)W, because it is corrected afterwards."""

    tolerance: float = 0.0  # largest relative error of J and Φ(W)W that the degree was chosen for; 0: not known
    coarse_maps: Sequence[TermMap] | None = None  # feature maps for Φ; None: the same

    def evaluate(self, W: Array, half_gradient: tuple[Array, float] | None = None) -> tuple[Array, float]:
        phi, objective = self._surrogate(self.coarse_maps or self.maps, W)
        if self.is_corrected:
            along, objective = half_gradient or self.half_gradient(W)
            phi = corrected(phi, W, along)
        return phi, objective

    @cached_property
    def cost(self) -> Cost:
        return self._cost_with(self.coarse_maps or self.maps)

    @property
    def is_corrected(self) -> bool:  # type: ignore[override]
        return self.coarse_maps is not None

    @own_threads()
    def error_bound(self, W: Array) -> ErrorBound:
        return self.data.projections.norms(W, self.data.gamma).bound(self.maps)

    @property
    def resolution(self) -> float:
        return RESOLUTION * self.tolerance
