"""What the projection is wanted for. A paradigm is only a way of making Γ = U diag(s) Uᵀ.

supervised           Γ = H K_Y H                                   labels or real targets are given, Γ is fixed
clusterings          Γ = D^(−½) H (Y Yᵀ + μ K_Ŷ) H D^(−½)          Y is found from XW, W from Γ, in turn
    unsupervised         μ = 0
    semi-supervised      μ > 0: towards expert scores Ŷ
    alternative          μ < 0: away from a clustering Ŷ that is known already
"""

from abc import ABC, abstractmethod
from copy import copy
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ism_core.arrays import Array, Ints, is_whole
from ism_core.errors import InvalidInput
from ism_core.gamma import BalancedGamma, Gamma, LabelGamma, NeighborGamma
from ism_core.kernels.base import Kernel
from ism_core.objective.options import EvaluationOptions
from ism_core.paradigms.spectral import Clustering, spectral
from ism_core.paradigms.targets import Kind, TargetKernel, Targets

USUAL_MEANS = EvaluationOptions()


class Projected(NamedTuple):
    """Projected rows, and how their Γ is to be made."""

    P: Array
    kernel: Kernel
    seed: int
    last: Clustering | None  # one that is near
    rows: Ints | None  # which rows these are, where they are a sample
    tolerance: float | None  # how far Y may be off
    options: EvaluationOptions


class Paradigm(ABC):
    """Makes Γ for n rows."""

    alternates: ClassVar[bool]  # whether Γ depends on the projection

    @abstractmethod
    def check(self, n: int) -> list[str]:
        """Raise InvalidInput where this does not fit n rows; give back what a reader of the result should know."""

    def gamma(
        self,
        P: Array,
        kernel: Kernel,
        seed: int,
        last: Clustering | None,
        *,
        rows: Ints | None = None,
        tolerance: float | None = None,
        options: EvaluationOptions = USUAL_MEANS,
    ) -> tuple[Gamma, Clustering | None]:
        """Γ for the projected rows P, and the clustering that it was made from, found to that tolerance.

        Where P and the kernel are of a sample only, `rows` says which rows are in it.
        """
        return self._of(Projected(P, kernel, seed, last, rows, tolerance, options))

    @abstractmethod
    def _of(self, projected: Projected) -> tuple[Gamma, Clustering | None]:
        """The same."""

    @property
    @abstractmethod
    def rank(self) -> int:
        """How many columns the factor of Γ has."""

    @abstractmethod
    def guidance(self) -> Gamma | None:
        """H K_Y H of the labels or scores that were given, for kernels that adapt to them."""


class Supervised(Paradigm):
    """Keep what tells the classes apart, or what goes with real-valued targets (one column or several).

    y of text, booleans or whole numbers is read as class labels, other numbers as real targets; `kind` overrides
    this. Real targets are compared by a gaussian kernel at their median distance, or by a linear one. With `balance`
    the indicators of the classes have one length, so that a rare class is not drowned by the others. With `neighbors`,
    J is the share that each row's own class has among its neighbors, summed over the rows: Γ follows W then.
    """

    alternates = False

    def __init__(
        self,
        y: ArrayLike,
        kind: Kind = "auto",
        target_kernel: TargetKernel = "gaussian",
        balance: bool = False,
        neighbors: bool = False,
    ) -> None:
        if target_kernel not in ("gaussian", "linear"):
            raise InvalidInput(
                "target_kernel", f'target_kernel is {target_kernel!r}; it must be "gaussian" or "linear".'
            )
        for name, flag in (("balance", balance), ("neighbors", neighbors)):
            if not isinstance(flag, bool | np.bool_):
                raise InvalidInput(name, f"{name} is {flag!r}; it must be True or False.")
        self._targets = Targets(y, "y", kind)
        self._target_kernel = target_kernel
        self._balance, self._neighbors = bool(balance), bool(neighbors)
        if balance and self._targets.codes is None:
            raise InvalidInput(
                "balance", "balance gives classes the same weight, and y holds real values; leave it out."
            )
        if neighbors and self._targets.codes is None:
            raise InvalidInput(
                "neighbors", "neighbors counts rows of the same class, and y holds real values; leave it out."
            )
        if neighbors and balance:
            raise InvalidInput("balance", "balance does not go with neighbors; leave out one of the two.")

    def check(self, n: int) -> list[str]:
        self._targets.check(n)
        if self._targets.missing.any():
            first = int(np.argmax(self._targets.missing))
            count = int(self._targets.missing.sum())
            raise InvalidInput("y", f"y has {count} missing value(s), the first in row {first}. Drop those rows.")
        return self._targets.warnings()

    def _of(self, projected: Projected) -> tuple[Gamma, None]:
        gamma = self.guidance()
        return gamma if projected.rows is None else gamma.restricted(projected.rows), None

    @property
    def rank(self) -> int:
        k = len(self._gamma.s)
        return 2 * k + 2 if self._neighbors else k

    @property
    def neighbors(self) -> bool:
        """Whether Γ follows W."""
        return self._neighbors

    @property
    def can_have_neighbors(self) -> bool:
        """Whether that could be asked for."""
        return self.codes is not None and not self._balance

    def guidance(self) -> Gamma:
        return self._gamma

    @property
    def codes(self) -> Ints | None:
        """The class of each row as a number; None for real targets."""
        return self._targets.codes

    @property
    def values(self) -> Array | None:
        """The real targets of each row; None for classes."""
        return self._targets.values

    def with_neighbors(self, neighbors: bool) -> "Supervised":
        """The same with a Γ that follows W, or without."""
        if neighbors == self._neighbors:
            return self
        assert self.codes is not None
        return Supervised(self.codes, "labels", balance=self._balance, neighbors=neighbors)

    def restricted(self, rows: Ints) -> "Supervised":
        """The same for some of the rows."""
        if self.codes is not None:
            return Supervised(self.codes[rows], "labels", balance=self._balance, neighbors=self._neighbors)
        assert self.values is not None
        return Supervised(self.values[rows], "real", self._target_kernel)

    @cached_property
    def _gamma(self) -> Gamma:
        codes = self._targets.codes
        if codes is not None:
            kind = NeighborGamma if self._neighbors else BalancedGamma if self._balance else LabelGamma
            return kind.of(codes)
        U = self._targets.real_factor(self._target_kernel)
        return Gamma(U, np.ones(U.shape[1]))


class Unsupervised(Paradigm):
    """Find k clusters and the projection that shows them best."""

    alternates = True

    def __init__(self, n_clusters: int) -> None:
        if not is_whole(n_clusters) or n_clusters < 1:
            raise InvalidInput("n_clusters", f"n_clusters is {n_clusters!r}; it must be a whole number of 1 or more.")
        self._k = int(n_clusters)

    def check(self, n: int) -> list[str]:
        if self._k > n:
            raise InvalidInput(
                "n_clusters",
                f"n_clusters = {self._k} is more than the n_samples = {n} rows that came; ask for {n} or fewer.",
            )
        return []

    def _of(self, projected: Projected) -> tuple[Gamma, Clustering]:
        P, kernel, seed, last, rows, tolerance, options = projected
        clustering = spectral(
            P, kernel, self._k, seed, last, tolerance=tolerance, precision=options.precision, engine=options.engine
        )
        Y = clustering.Y - clustering.Y.mean(axis=0)
        guide = self._guide(len(P), rows)
        U = clustering.root[:, None] * np.hstack([Y, guide.U])
        return Gamma(U, np.concatenate([np.ones(self._k), guide.s])), clustering

    @property
    def rank(self) -> int:
        return self._k

    @property
    def n_clusters(self) -> int:
        """How many clusters are sought."""
        return self._k

    @property
    def guided(self) -> Ints:
        """The rows that something is known about."""
        return np.empty(0, dtype=np.intp)

    def restricted(self, rows: Ints) -> "Unsupervised":
        """The same for some of the rows."""
        return self

    def guidance(self) -> Gamma | None:
        return None

    def _guide(self, n: int, rows: Ints | None) -> Gamma:
        """μ H K_Ŷ H of n rows, these or all, or nothing."""
        return Gamma(np.empty((n, 0)), np.empty(0))


class _Guided(Unsupervised):
    """A clustering with a guidance term of weight ±μ.

    K_Ŷ is scaled to leave μ free of n and of the number of classes: class indicators have length 1, and real scores a
    largest eigenvalue of 1. So, like YYᵀ, it weighs each direction by at most 1.
    """

    def __init__(self, given: ArrayLike, name: str, n_clusters: int, mu: float, sign: int, kind: Kind) -> None:
        super().__init__(n_clusters)
        if isinstance(mu, bool) or not isinstance(mu, int | float | np.number) or not np.isfinite(mu) or mu < 0:
            raise InvalidInput("mu", f"mu is {mu!r}; it must be a number of 0 or more.")
        self._targets = Targets(given, name, kind)
        self._weight = sign * float(mu)

    def check(self, n: int) -> list[str]:
        super().check(n)
        self._targets.check(n)
        return self._targets.warnings()

    @property
    def rank(self) -> int:
        return super().rank + int(self._targets.unit_factor.shape[1])

    @property
    def guided(self) -> Ints:
        return np.flatnonzero(~self._targets.missing)

    def restricted(self, rows: Ints) -> "Unsupervised":
        few = copy(self)
        few._targets = self._targets.restricted(rows)
        return few

    def _guide(self, n: int, rows: Ints | None) -> Gamma:
        U = self._targets.unit_factor
        if rows is not None:
            few = U[rows]
            U = (few - few.mean(axis=0)) * np.sqrt(len(U) / n)  # of about the same length
        return Gamma(U, np.full(U.shape[1], self._weight))


class SemiSupervised(_Guided):
    """Find k clusters that agree with expert scores: labels, or real columns.

    Rows without a score (NaN or None) carry no guidance.
    """

    def __init__(self, scores: ArrayLike, n_clusters: int, mu: float = 5.0, kind: Kind = "auto") -> None:
        super().__init__(scores, "scores", n_clusters, mu, +1, kind)

    def guidance(self) -> Gamma:
        U = self._targets.unit_factor
        return Gamma(U, np.ones(U.shape[1]))


class Alternative(_Guided):
    """Find k clusters that a given clustering does not show."""

    def __init__(self, clustering: ArrayLike, n_clusters: int, mu: float = 20.0) -> None:
        super().__init__(clustering, "clustering", n_clusters, mu, -1, "labels")
