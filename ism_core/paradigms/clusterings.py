"""The three clustering paradigms: unsupervised, semi-supervised and alternative.

They are one paradigm with a guidance term of weight 0, +μ or −μ.
"""

from copy import copy

import numpy as np
from numpy.typing import ArrayLike

from ism_core.arrays import Ints, is_whole
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma
from ism_core.paradigms.base import Paradigm, Projected
from ism_core.paradigms.spectral import Clustering, spectral
from ism_core.paradigms.targets import Kind, Targets


class Unsupervised(Paradigm):
    """Find k clusters, and the projection that shows them best.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    """

    alternates = True

    def __init__(self, n_clusters: int) -> None:
        if not is_whole(n_clusters) or n_clusters < 1:
            raise InvalidInput("n_clusters", f"n_clusters is {n_clusters!r}; it must be a whole number of 1 or more.")
        self._k = int(n_clusters)

    def check(self, n: int) -> list[str]:
        if self._k > n:
            raise InvalidInput(
                "n_clusters",
                f"n_clusters = {self._k} is more than the n_samples = {n} rows of X; ask for {n} or fewer.",
            )
        return []

    def gamma(self, projected: Projected) -> tuple[Gamma, Clustering]:
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
        """Number of clusters."""
        return self._k

    @property
    def guided(self) -> Ints:
        """The rows with a score."""
        return np.empty(0, dtype=np.intp)

    def restricted(self, rows: Ints) -> "Unsupervised":
        """Return this paradigm for some of the rows."""
        return self

    def guidance(self) -> Gamma | None:
        return None

    def _guide(self, n: int, rows: Ints | None) -> Gamma:
        """Return μ H K_Ŷ H of all n rows, or of a sample of n rows; empty without guidance."""
        return Gamma(np.empty((n, 0)), np.empty(0))


class _Guided(Unsupervised):
    """A clustering with a guidance term of weight ±μ.

    K_Ŷ is scaled so that μ does not depend on n or on the number of classes. Class indicators have length 1, and real
    scores a largest eigenvalue of 1. So K_Ŷ, like YYᵀ, weighs each direction by at most 1.
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
            U = (few - few.mean(axis=0)) * np.sqrt(len(U) / n)  # scaled so that its columns keep their length
        return Gamma(U, np.full(U.shape[1], self._weight))


class SemiSupervised(_Guided):
    """Find k clusters that agree with expert scores.

    Parameters
    ----------
    scores : array-like of shape (n,) or (n, t)
        Labels or real columns. Rows without a score (NaN or None) carry no guidance.
    n_clusters : int
        Number of clusters.
    mu : float, default=5.0
        Weight of the scores.
    kind : "auto", "classes" or "values", default="auto"
        How to read the scores.
    """

    def __init__(self, scores: ArrayLike, n_clusters: int, mu: float = 5.0, kind: Kind = "auto") -> None:
        super().__init__(scores, "scores", n_clusters, mu, +1, kind)

    def guidance(self) -> Gamma:
        U = self._targets.unit_factor
        return Gamma(U, np.ones(U.shape[1]))


class Alternative(_Guided):
    """Find k clusters that differ from a known clustering.

    Parameters
    ----------
    clustering : array-like of shape (n,)
        The known clustering.
    n_clusters : int
        Number of clusters.
    mu : float, default=20.0
        Weight of the penalty for agreement with it.
    """

    def __init__(self, clustering: ArrayLike, n_clusters: int, mu: float = 20.0) -> None:
        super().__init__(clustering, "clustering", n_clusters, mu, -1, "classes")
