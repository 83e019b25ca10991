"""Candidates of a search, with their scores, and the paths of kernels that they belong to."""

from dataclasses import dataclass, field

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg import Scale
from ism_core.selection.rule import is_ahead, standard_error

WHITENED_START = 0.5  # of the median distance: the widest kernel on whitened rows (tuned on Wine, WDBC, Cancer, Iris)
MOST_LOADINGS = 20_000  # entries of loadings that a candidate keeps, 160 KB
# Of that distance: the first width. With wider kernels the ascent moves away from the start, towards noise in the
# class means.
INTERACTION_WIDTH = 0.7


PathKey = tuple[Scale, int, bool, bool, bool, int]  # scale, q, neighbors, interactions, linear, fold


def few_loadings(loadings: Array | None) -> Array | None:
    """Return the loadings of a candidate if they are few enough to be kept, else None."""
    return loadings if loadings is not None and loadings.size <= MOST_LOADINGS else None


@dataclass(eq=False)
class ScoredKernel:
    """One candidate: the kernel at a place of its path, with its scores so far."""

    scale: Scale
    q: int
    neighbors: bool
    interactions: bool
    place: int
    scores: list[Array] = field(default_factory=list)  # one array per fold, with a score for each row
    predictions: list[Array] = field(default_factory=list)  # one array per fold: the SVM's class or values of each row
    seconds: float = 0.0
    loadings: Array | None = None  # of the last fold, if they are few: d×q weights of the scaled features
    goes_on: bool = True  # whether it is scored in the next fold
    linear: bool = False

    @property
    def score(self) -> float:
        return float(np.concatenate(self.scores).mean())

    @property
    def error(self) -> float:
        """The standard error of the score, corrected for the overlap of training sets."""
        return standard_error(np.concatenate(self.scores))

    def is_ahead_of(self, other: "ScoredKernel", errors: float = 1.0) -> bool:
        """Tell whether the score is higher by more than `errors` standard errors, over the folds that both saw."""
        seen = min(len(self.scores), len(other.scores))
        return is_ahead(np.concatenate(self.scores[:seen]), np.concatenate(other.scores[:seen]), errors)

    def may_lead(self, other: "ScoredKernel") -> bool:
        """Tell whether it can still end a standard error ahead of `other`, which has seen more folds.

        It is assumed to avoid half of the errors of `other` in the remaining folds.
        """
        seen = len(self.scores)
        lead = np.concatenate([*self.scores, np.concatenate(other.scores[seen:])]) - np.concatenate(other.scores)
        start = sum(len(fold) for fold in self.scores)
        errors = 1 - np.concatenate(other.scores[seen:])
        avoided = np.flatnonzero(errors > 0)[::2]
        lead[start + avoided] = errors[avoided]
        return is_ahead(lead, np.zeros_like(lead))


@dataclass(eq=False)
class CandidatePath:
    """The candidates with the same scale, q and kind of Γ: kernels from wide to narrow, or one given kernel."""

    scale: Scale
    q: int
    neighbors: bool = False
    interactions: bool = False  # whether ascents start from interactions instead of Φ0
    linear: bool = False  # whether the kernel is squared, and that between values linear: neither has a width
    points: list[ScoredKernel] = field(default_factory=list)

    def at(self, place: int) -> ScoredKernel:
        """Return a new candidate at a place of the path."""
        return ScoredKernel(self.scale, self.q, self.neighbors, self.interactions, place, linear=self.linear)

    @property
    def widest(self) -> float:
        """The width of the first kernel, relative to the usual first width (of the projected rows for interactions).

        All directions of whitened rows vary alike, so that most of the median distance between them is noise. At q = 2
        half of it was as good on Wine, WDBC and Cancer, and better by 0.7 points on Iris.
        """
        if self.interactions:
            return INTERACTION_WIDTH
        return WHITENED_START if self.scale == "whiten" and not self.neighbors else 1.0

    def key(self, fold: int) -> PathKey:
        """Return what identifies the path in one fold."""
        return self.scale, self.q, self.neighbors, self.interactions, self.linear, fold

    @property
    def without_points(self) -> "CandidatePath":
        """The same path without candidates."""
        return CandidatePath(self.scale, self.q, self.neighbors, self.interactions, self.linear)

    @property
    def remaining_places(self) -> list[int]:
        """Places of the candidates that are scored in the next fold."""
        return [point.place for point in self.points if point.goes_on]
