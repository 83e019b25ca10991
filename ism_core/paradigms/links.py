"""Pairs of rows that belong to the same cluster, or to different ones.

Linked rows form groups, and some groups are apart. Class labels are the special case that all groups are apart.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from ism_core.arrays import Array, Ints
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma

MOST_LINKED_ROWS = 2_000  # rows with a link; the guidance has at most that many directions
MAX_STEPS = 100  # steps of the constrained k-means at most; it converges in far fewer
SMALLEST_WEIGHT = 1e-9  # directions of the guidance with a smaller share of the largest weight are left out


@dataclass(frozen=True, eq=False)
class Links:
    """The groups of linked rows, and the pairs of groups that are apart."""

    groups: Ints  # the group of each row, −1 for rows without a link
    apart: Ints  # pairs of groups, one for each row of this array

    @classmethod
    def of(cls, must_link: ArrayLike | None, cannot_link: ArrayLike | None, n: int) -> "Links":
        """Make the groups from pairs of row numbers; raise InvalidInput if two pairs contradict each other."""
        must, cannot = _pairs(must_link, "must_link", n), _pairs(cannot_link, "cannot_link", n)
        linked = np.unique(np.concatenate([must.ravel(), cannot.ravel()]))
        if not linked.size:
            raise InvalidInput("must_link", "must_link and cannot_link have no pairs; give at least one pair of rows.")
        if linked.size > MOST_LINKED_ROWS:
            raise InvalidInput(
                "must_link",
                f"must_link and cannot_link name {linked.size:,} rows; the most is {MOST_LINKED_ROWS:,}. Give fewer"
                " pairs, or give the known clusters as scores.",
            )
        graph = coo_array((np.ones(len(must)), (must[:, 0], must[:, 1])), shape=(n, n))
        component = connected_components(graph, directed=False)[1]
        groups = np.full(n, -1)
        groups[linked] = np.unique(component[linked], return_inverse=True)[1]
        apart = np.sort(groups[cannot], axis=1)
        for pair in cannot[apart[:, 0] == apart[:, 1]][:1]:
            raise InvalidInput(
                "cannot_link",
                f"cannot_link has the pair {pair.tolist()}, but must_link puts these two rows into the same cluster;"
                " leave out one of the pairs.",
            )
        return cls(groups, np.unique(apart, axis=0))

    def restricted(self, rows: Ints) -> "Links":
        """Return the links among some of the rows."""
        kept, groups = np.unique(self.groups[rows], return_inverse=True)
        number = np.full(self.count, -1)
        number[kept[kept >= 0]] = np.arange(np.count_nonzero(kept >= 0))
        apart = number[self.apart]
        return Links(groups - np.count_nonzero(kept < 0), apart[(apart >= 0).all(axis=1)])

    @property
    def count(self) -> int:
        """The number of groups."""
        return int(self.groups.max(initial=-1)) + 1

    @cached_property
    def gamma(self) -> Gamma:
        """H M H, where M is positive between rows of a group and negative between groups that are apart.

        The diagonal of M is 0: a row says nothing about itself. Groups of any size weigh the same, and M weighs no
        direction by more than 1.
        """
        linked = np.flatnonzero(self.groups >= 0)
        members = np.zeros((len(linked), self.count))
        members[np.arange(len(linked)), self.groups[linked]] = 1
        sizes = members.sum(axis=0)
        M = (members / np.maximum(sizes - 1, 1)) @ members.T
        np.fill_diagonal(M, 0)
        between = np.zeros((self.count, self.count))
        between[self.apart[:, 0], self.apart[:, 1]] = between[self.apart[:, 1], self.apart[:, 0]] = 1
        members /= np.sqrt(sizes)
        weights, directions = np.linalg.eigh(M - members @ between @ members.T)
        largest = np.abs(weights).max()
        kept = np.abs(weights) > SMALLEST_WEIGHT * largest
        U = np.zeros((len(self.groups), np.count_nonzero(kept)))
        U[linked] = directions[:, kept]
        return Gamma(U - U.mean(axis=0), weights[kept] / largest)

    def assigned(self, rows: Array, centers: Array) -> tuple[Ints, int]:
        """Return the labels of constrained k-means from these centers, and how many pairs of groups are not kept apart.

        A group moves as a whole. Large groups choose their cluster first, among those without a group that is apart
        from them (Wagstaff and others, 2001); if there is none, they take the nearest cluster.
        """
        others: list[list[int]] = [[] for _ in range(self.count)]
        for one, other in self.apart.tolist():
            others[one].append(other)
            others[other].append(one)
        members = [np.flatnonzero(self.groups == group) for group in range(self.count)]
        by_size = sorted(range(self.count), key=lambda group: (-len(others[group]), -len(members[group])))
        labels: Ints = np.full(len(rows), -1)
        for _ in range(MAX_STEPS):
            distances = cdist(rows, centers, "sqeuclidean")
            last, labels = labels, distances.argmin(axis=1)
            own = np.full(self.count, -1)
            for group in by_size:
                costs = distances[members[group]].sum(axis=0)
                taken = {int(own[other]) for other in others[group]}
                free = [cluster for cluster in np.argsort(costs).tolist() if cluster not in taken]
                own[group] = free[0] if free else int(costs.argmin())
                labels[members[group]] = own[group]
            if (labels == last).all():
                break
            for cluster in np.unique(labels):
                centers[cluster] = rows[labels == cluster].mean(axis=0)
        return labels, int(np.count_nonzero(own[self.apart[:, 0]] == own[self.apart[:, 1]]))


def _pairs(given: ArrayLike | None, name: str, n: int) -> Ints:
    """Return the pairs of row numbers as an array of two columns."""
    pairs = np.asarray([] if given is None else given)
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise InvalidInput(name, f"{name} must be a list of pairs of row numbers, such as [[0, 7], [3, 5]].")
    outside = pairs[((pairs < 0) | (pairs >= n)).any(axis=1)]
    if len(outside):
        raise InvalidInput(
            name, f"{name} has the pair {outside[0].tolist()}, but the rows of X are numbered from 0 to {n - 1}."
        )
    return pairs.astype(np.intp)
