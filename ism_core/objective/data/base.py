"""What a problem knows besides W, wherever its rows are: in memory, or in partitions."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from ism_core.arrays import Array, Dtype
from ism_core.engines import LOCAL, Engine
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel
from ism_core.objective.feature_sums import RowSums, Work
from ism_core.objective.truncation import ProjectedNorms

if TYPE_CHECKING:
    from ism_core.objective.data.in_memory import ProblemData

T = TypeVar("T")
Precision = Literal["double", "single"]

DTYPES: dict[Precision, Dtype] = {"double": np.float64, "single": np.float32}


@dataclass(frozen=True)
class EvaluationOptions:
    """How J and Φ may be computed."""

    precision: Precision = "double"  # of sums over pairs of rows
    features: int | None = None  # random features for each term of the kernel; None: no random features
    seed: int = 0  # of the random features and of samples of the rows
    engine: Engine = LOCAL
    spare_bytes: int | None = None  # bytes that a strategy may use beyond what all pairs need; None: no limit


@dataclass(frozen=True)
class ObjectiveData(ABC):
    """Everything that J depends on besides W, with the options to compute it; where the rows are, subclasses know."""

    gamma: Gamma  # of the rows; for rows in partitions, its weights alone
    kernel: Kernel  # fitted to the rows
    q: int
    null_directions: Array  # d×e: directions in which no row has a component
    options: EvaluationOptions

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""

    @property
    @abstractmethod
    def scatter(self) -> Array:
        """XᵀX of the centered rows, or of a sample of them."""

    def scatter_times(self, V: Array) -> Array:
        """Return the scatter matrix times V."""
        product: Array = self.scatter @ V
        return product

    @property
    @abstractmethod
    def most_sampled(self) -> int:
        """The most rows that a sample on the way to all rows may have."""

    @abstractmethod
    def sampled(self, count: int, rng: np.random.Generator) -> "ProblemData":
        """Return the data of a sample of the rows, for this process."""

    @property
    def far(self) -> "ProblemData | None":
        """The data of the rows farthest from the mean, if not all rows are in memory."""
        return None

    @abstractmethod
    def rows_at(self, W: Array, flops: float) -> RowSums:
        """Return the rows with their projections XW, for sums of so many flops."""

    @abstractmethod
    def total(self, work: Work[T], size: int, *args: Any) -> T:
        """Return the sum of work(share, X, gamma, blocks, *args) over blocks of `size` rows."""

    @abstractmethod
    def variance_along(self, W: Array) -> float:
        """Return the sum of the variances of the columns of XW."""

    @abstractmethod
    def norms_at(self, W: Array) -> ProjectedNorms:
        """Return the sums over the projected rows that error bounds follow from."""

    @abstractmethod
    def target_sums(self, centered: bool) -> Array | None:
        """Return XᵀU; None if the rows of Γ must add up to 0 and do not."""

    def clean(self, phi: Array) -> Array:
        """Φ without the rounding errors along the null directions."""
        if self.null_directions.shape[1] == 0:
            return phi
        with np.errstate(over="ignore", invalid="ignore"):
            return self.without_null_part(self.without_null_part(phi).T)

    def with_null_directions_last(self, phi: Array) -> Array:
        """Return Φ with the eigenvalues of the null directions moved below all others."""
        if self.null_directions.shape[1] == 0:
            return phi
        lowered: Array = phi - (2 * float(np.linalg.norm(phi, np.inf)) or 1.0) * self._null_projector
        return lowered

    def without_null_part(self, V: Array) -> Array:
        """Return V without its part along the null directions."""
        N = self.null_directions
        outside: Array = V - N @ (N.T @ V) if N.shape[1] else V
        return outside

    @cached_property
    def _null_projector(self) -> Array:
        projector: Array = self.null_directions @ self.null_directions.T
        return projector
