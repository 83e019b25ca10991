"""The three clustering paradigms: unsupervised, semi-supervised and alternative.

They are one paradigm with a guidance term of weight 0, +μ or −μ.
"""

from copy import copy
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from ism_core.arrays import Ints, is_whole
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma
from ism_core.paradigms.base import Paradigm, Projected
from ism_core.paradigms.spectral import Clustering, named_clusters, spectral
from ism_core.paradigms.targets import Kind, Targets

Mu = float | Literal["auto"]

LABEL_WEIGHT = 50.0  # automatic μ if all rows have a label (tuned on 18 tables with labels on 10 % of the rows)
STANDARD_ERRORS = 2.0  # by which labels must agree more with the clusters than the largest class does
SCORE_WEIGHT = 5.0  # automatic μ if all rows have a real score; a larger one follows noise (docs/paper.md)


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

    def restricted(self, rows: Ints) -> Self:
        """Return this paradigm for some of the rows."""
        return self

    def target_gamma(self) -> Gamma | None:
        return None

    def _guide(self, n: int, rows: Ints | None) -> Gamma:
        """Return μ H K_Ŷ H of all n rows, or of a sample of n rows; empty without guidance."""
        return Gamma(np.empty((n, 0)), np.empty(0))


class _Guided(Unsupervised):
    """A clustering with a guidance term of weight ±μ.

    K_Ŷ is scaled so that μ does not depend on n or on the number of classes. Class indicators have length 1, and real
    scores a largest eigenvalue of 1. So K_Ŷ, like YYᵀ, weighs each direction by at most 1.
    """

    def __init__(self, given: ArrayLike, name: str, n_clusters: int, mu: Mu, sign: int, kind: Kind) -> None:
        super().__init__(n_clusters)
        self._targets = Targets(given, name, kind)
        self._mu = mu
        self._sign = sign

    def check(self, n: int) -> list[str]:
        super().check(n)
        self._targets.check(n)
        return self._targets.warnings()

    @property
    def mu(self) -> float:
        """The weight of the guidance."""
        return float(self._mu)

    @property
    def rank(self) -> int:
        return super().rank + int(self._targets.unit_factor.shape[1])

    @property
    def guided(self) -> Ints:
        return np.flatnonzero(~self._targets.missing)

    def restricted(self, rows: Ints) -> Self:
        few = copy(self)
        few._targets = self._targets.restricted(rows)
        return few

    def _guide(self, n: int, rows: Ints | None) -> Gamma:
        U = self._targets.unit_factor
        if rows is not None:
            few = U[rows]
            U = (few - few.mean(axis=0)) * np.sqrt(len(U) / n)  # scaled so that its columns keep their length
        return Gamma(U, np.full(U.shape[1], self._sign * self.mu))


class SemiSupervised(_Guided):
    """Find k clusters that agree with expert scores.

    With an automatic weight, or a weight of 0, rows with a label are in the cluster of their class, and clusters are
    numbered like the sorted classes. This needs at least as many clusters as classes. With another weight, labels act
    through W only; with a weight of 0, they do not act on W.

    Parameters
    ----------
    scores : array-like of shape (n,) or (n, t)
        Labels or real columns. Rows without a score (NaN or None) carry no guidance.
    n_clusters : int
        Number of clusters.
    mu : float or "auto", default="auto"
        Weight of the scores. "auto" is 50 for labels and 5 for real scores, divided by the share of rows with a score;
        a choice of the settings takes 0 if guided axes do not find more hidden labels (`ism_core/selection`).
    kind : "auto", "classes" or "values", default="auto"
        How to read the scores.
    """

    def __init__(self, scores: ArrayLike, n_clusters: int, mu: Mu = "auto", kind: Kind = "auto") -> None:
        super().__init__(scores, "scores", n_clusters, checked_mu(mu), +1, kind)

    def check(self, n: int) -> list[str]:
        return super().check(n) + self._notes_on_classes()

    @property
    def mu(self) -> float:
        """The weight of the guidance. If few rows have a score, the guidance term is small, so the weight is large."""
        if self._mu != "auto":
            return self._mu
        weight = SCORE_WEIGHT if self._targets.codes is None else LABEL_WEIGHT
        return weight * self._targets.rows / len(self.guided)

    def target_gamma(self) -> Gamma:
        U = self._targets.unit_factor
        return Gamma(U, np.ones(U.shape[1]))

    @property
    def known_clusters(self) -> Ints | None:
        """The cluster of each row with a label, −1 for the other rows; None if labels do not determine clusters."""
        codes = self._targets.codes
        if not self._keeps_labels or codes is None or self._targets.classes > self.n_clusters:
            return None
        return np.where(self._targets.missing, -1, codes)

    @property
    def _keeps_labels(self) -> bool:
        return self._mu in ("auto", 0)

    @property
    def unguided(self) -> "SemiSupervised":
        """This paradigm with a weight of 0: labels name the clusters, but do not act on W."""
        other = copy(self)
        other._mu = 0.0
        return other

    def without(self, rows: Ints) -> "SemiSupervised":
        """Return this paradigm without the labels of some rows."""
        fewer = copy(self)
        fewer._targets = self._targets.without(rows)
        return fewer

    def labels(self, clustering: Clustering, seed: int) -> tuple[Ints, list[str]]:
        known = self.known_clusters
        if known is None:
            return super().labels(clustering, seed)
        labels, agreement = (
            named_clusters(clustering.labels(seed), known) if self._mu == 0 else (clustering.constrained_labels(known))
        )
        count = len(self.guided)
        largest = float(np.bincount(known[self.guided]).max() / count)
        if agreement > largest + STANDARD_ERRORS * np.sqrt(largest * (1 - largest) / count):
            return labels, []
        return labels, [
            f"The clusters hardly agree with the labels: {agreement:.0%} of {count} labeled rows are nearest to the"
            f" cluster of their class; always guessing the largest class gives {largest:.0%}. Check the scores, or try"
            " another kernel or scale."
        ]

    def _notes_on_classes(self) -> list[str]:
        classes, k = self._targets.classes, self.n_clusters
        if not self._keeps_labels or self._targets.codes is None:
            return []
        if classes > k:
            return [f"scores has {classes} classes, more than the {k} clusters; it guides the axes only."]
        if classes < k and not self._targets.missing.any():
            return [f"Every row has one of {classes} classes, so {k - classes} of the {k} clusters have no rows."]
        return []


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
        if not _is_weight(mu):
            raise InvalidInput("mu", f"mu is {mu!r}; it must be a number of 0 or more.")
        super().__init__(clustering, "clustering", n_clusters, mu, -1, "classes")


def checked_mu(mu: Mu) -> Mu:
    """Return a weight; raise InvalidInput if it is none."""
    if mu != "auto" and not _is_weight(mu):
        raise InvalidInput("mu", f'mu is {mu!r}; it must be a number of 0 or more, or "auto".')
    return mu


def _is_weight(mu: object) -> bool:
    is_number = isinstance(mu, int | float | np.number) and not isinstance(mu, bool)
    return is_number and bool(np.isfinite(mu) and mu >= 0)  # type: ignore[operator, call-overload]
