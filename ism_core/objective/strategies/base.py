"""What an evaluation strategy is: one way of computing Φ(W), Φ(W)W and J(W)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, Self

from ism_core.arrays import Array
from ism_core.linalg import NARROW
from ism_core.objective.data import ObjectiveData
from ism_core.objective.truncation import Magnitudes

Method = Literal["tiles", "features", "random features"]

SMALL_FLOPS = 1e9  # flops below which approximating a Φ of few columns (NARROW) saves nothing
SMALL_FLOPS_OF_WIDE = 1e8  # the same if Φ has many columns
HALF_GRADIENTS_PER_SURROGATE = 5  # evaluations of Φ(W)W for each Φ in a typical ascent


class Cost(NamedTuple):
    """What one evaluation costs, in flops of a matrix product and in bytes."""

    surrogate: float  # flops of Φ(W)
    half_gradient: float  # flops of Φ(W)W
    bytes: int  # memory in addition to that of AllPairs

    @property
    def ascent(self) -> float:
        """Flops of a typical ascent per computed Φ."""
        return self.surrogate + HALF_GRADIENTS_PER_SURROGATE * self.half_gradient


@dataclass(frozen=True)
class Strategy(ABC):
    """A way of computing Φ(W), Φ(W)W and J(W) for one problem's data."""

    data: ObjectiveData

    method: ClassVar[Method]
    is_corrected: ClassVar[bool] = False  # whether Φ(W) is an approximation, corrected so that ΦW is exact

    @abstractmethod
    def evaluate(self, W: Array, half_gradient: tuple[Array, float] | None = None) -> tuple[Array, float]:
        """Return Φ(W) and J(W); Φ(W)W and J(W) may be known already."""

    @abstractmethod
    def row_coefficients(self, W: Array) -> tuple[Array, float]:
        """Return the n×q matrix C with Φ(W)W = XᵀC, and J(W), for rows in memory."""

    @abstractmethod
    def half_gradient(self, W: Array) -> tuple[Array, float]:
        """Return Φ(W)W, half of the gradient of J at any W, orthonormal or not; and J(W)."""

    @abstractmethod
    def objective(self, W: Array) -> float:
        """Return J(W)."""

    @property
    @abstractmethod
    def cost(self) -> Cost:
        """The cost of one evaluation."""

    def error_bound(self, W: Array) -> Magnitudes:
        """Return proven bounds on the errors of J and Φ(W)W, rounding aside."""
        return Magnitudes(0.0, 0.0)

    @property
    def resolution(self) -> float:
        """Relative error of J: smaller changes of J are not significant."""
        return 0.0

    @property
    def is_small(self) -> bool:
        """Whether Φ costs so little that approximating it saves nothing."""
        return self.cost.surrogate < (SMALL_FLOPS if self.data.shape[1] < NARROW else SMALL_FLOPS_OF_WIDE)

    def on(self, data: ObjectiveData) -> Self:
        """Return the same strategy for other data."""
        return replace(self, data=data)
