"""Clusterings that pairs of rows guide."""

from copy import copy
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ism_core.arrays import Ints
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma
from ism_core.paradigms.clusterings import LABEL_WEIGHT, Mu, Unsupervised, checked_mu
from ism_core.paradigms.links import Links
from ism_core.paradigms.spectral import Clustering


class Linked(Unsupervised):
    """Find k clusters that agree with pairs of rows: some belong to the same cluster, others to different ones.

    Linked rows are in the same cluster. Rows that are apart are in different clusters, if there are enough clusters.

    Parameters
    ----------
    must_link : array-like of shape (p, 2) or None
        Pairs of row numbers (from 0) that belong to the same cluster.
    cannot_link : array-like of shape (r, 2) or None
        Pairs of row numbers that belong to different clusters.
    n_clusters : int
        Number of clusters.
    rows : int
        Number of rows of X.
    mu : float or "auto", default="auto"
        Weight of the pairs. "auto" is 50, divided by the share of rows in a pair. With 0, pairs do not act on W.
    """

    def __init__(
        self,
        must_link: ArrayLike | None,
        cannot_link: ArrayLike | None,
        n_clusters: int,
        rows: int,
        mu: Mu = "auto",
    ) -> None:
        super().__init__(n_clusters)
        self._mu = checked_mu(mu)
        self._links = Links.of(must_link, cannot_link, rows)

    def check(self, n: int) -> list[str]:
        super().check(n)
        if len(self._links.groups) != n:
            raise InvalidInput("must_link", f"The pairs are for {len(self._links.groups)} rows, but X has {n}.")
        return []

    @property
    def mu(self) -> float:
        """The weight of the pairs."""
        return LABEL_WEIGHT * len(self._links.groups) / len(self.guided) if self._mu == "auto" else float(self._mu)

    @property
    def rank(self) -> int:
        return super().rank + len(self._links.gamma.s)

    @property
    def guided(self) -> Ints:
        return np.flatnonzero(self._links.groups >= 0)

    def restricted(self, rows: Ints) -> Self:
        few = copy(self)
        few._links = self._links.restricted(rows)
        return few

    def target_gamma(self) -> Gamma:
        return self._links.gamma

    def labels(self, clustering: Clustering, seed: int) -> tuple[Ints, list[str]]:
        labels, broken = clustering.linked_labels(self._links, seed)
        if not broken:
            return labels, []
        return labels, [
            f"{broken} pair{'s' * (broken > 1)} of rows that cannot_link names are in the same cluster;"
            f" {self.n_clusters} clusters are too few for all pairs. Ask for more clusters, or leave out pairs."
        ]

    def _guide(self, n: int, rows: Ints | None) -> Gamma:
        links = self._links if rows is None else self._links.restricted(rows)
        return Gamma(links.gamma.U, self.mu * links.gamma.s)
