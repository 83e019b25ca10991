"""The interface of a paradigm: how Γ is made from projected rows."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from ism_core.arrays import Array, Ints
from ism_core.engines import own_threads
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel
from ism_core.objective import EvaluationOptions
from ism_core.paradigms.spectral import DENSE_ROWS, Clustering

DEFAULT_OPTIONS = EvaluationOptions()  # double precision, no random features, the threads of this process
CLUSTERING_TOLERANCE = (
    0.1  # error of Y in radians, relative to delta; small enough that the change of Y can be measured
)


class Projected(NamedTuple):
    """Projected rows, and how to make their Γ."""

    P: Array
    kernel: Kernel
    seed: int
    last: Clustering | None = None  # an earlier clustering, from which the iteration starts
    rows: Ints | None = None  # the indices of these rows, if they and the kernel are those of a sample
    tolerance: float | None = None  # allowed error of Y, in radians
    options: EvaluationOptions = DEFAULT_OPTIONS


class Paradigm(ABC):
    """Makes Γ for n rows."""

    alternates: ClassVar[bool]  # whether Γ comes from a clustering that alternates with W

    @abstractmethod
    def check(self, n: int) -> list[str]:
        """Raise InvalidInput if the paradigm does not fit n rows; return warnings for the reader of the result."""

    @abstractmethod
    def gamma(self, projected: Projected) -> tuple[Gamma, Clustering | None]:
        """Return Γ for projected rows, and the clustering that it was made from."""

    def gamma_at(
        self, P: Array, kernel: Kernel, seed: int, delta: float, last: Clustering | None, options: EvaluationOptions
    ) -> tuple[Gamma, Clustering | None]:
        """Return Γ of all projected rows, accurate enough for a solve with convergence tolerance delta."""
        tolerance = CLUSTERING_TOLERANCE * delta if len(P) > DENSE_ROWS else None
        with own_threads():
            return self.gamma(Projected(P, kernel, seed, last, None, tolerance, options))

    def labels(self, clustering: Clustering, seed: int) -> tuple[Ints, list[str]]:
        """Return the cluster of each row, and warnings for the reader of the result."""
        return clustering.labels(seed), []

    @property
    @abstractmethod
    def rank(self) -> int:
        """Number of columns of the factor of Γ."""

    @abstractmethod
    def target_gamma(self) -> Gamma | None:
        """Return H K_Y H of the given labels or scores, None without any. Aligned kernels get their weights from it."""
