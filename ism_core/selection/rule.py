"""The decision rule among candidates, and the score of the choice corrected for the optimism of choosing the best.

The rule:

1. Choose the smallest q whose best score is within one standard error of the overall best.
2. A candidate is special if its Γ counts neighbors or its start comes from second moments. With this q, take the best
   special candidate if it leads the best of the others by more than one standard error, or if there are no others.
3. Otherwise take the simplest candidate within one standard error of the best: whitened rows first, then the widest
   kernel. Exception: with few rows for each column, take the widest kernel of each scaling, then the better of these.
4. If a squared kernel with the same scaling leads this one by half a standard error, take it instead. It has no width
   and no other maximum, so it fits less noise. Squared kernels take no part in steps 2 and 3. For classes they are
   tried only if there are few rows for each column.

Wide kernels on whitened rows amount to discriminant analysis, so they are simple. With few rows for each column the
covariance is poorly known, and one standard error is so large that whitening would always win. On halves of nine such
tables the exception gains 0.6 points.

If the targets are values, the best candidate with this q is taken. Squared errors have heavy tails, so that one
standard error covers most candidates. On halves of seven tables, R² at q = 2 is then 0.68 on average instead of 0.65.

Standard errors are those of the difference between two candidates, row by row.

The best of many scores is optimistic. Bootstrap bias-corrected cross-validation (Tsamardinos, Greasidou and
Borboudakis, 2018) removes the optimism without further solves. It draws rows with replacement, applies the rule to
their scores, and scores the candidate that it chooses on the rows that were not drawn.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg import Scale

# Correction factor of standard errors, because the training sets of all folds overlap. With k folds it is
# √(1 + k/(k − 1)): 1.6 for three folds and 1.5 for five (Nadeau and Bengio, 2003). 1.5 is used for both.
OVERLAP_CORRECTION = 1.5
FEW_ROWS_PER_COLUMN = 5  # rows of the search per column, below which whitened rows do not count as simpler
SQUARED_LEAD = 0.5  # standard errors by which a squared kernel leads if it is chosen (tuned on 12 small tables)
RESAMPLES = 200  # bootstrap resamples; with more the corrected score changes by less than a tenth of its error


class Ranked(Protocol):
    """The properties of a candidate that the rule uses."""

    @property
    def scale(self) -> Scale:
        """Preprocessing of the rows."""

    @property
    def q(self) -> int:
        """Number of axes."""

    @property
    def neighbors(self) -> bool:
        """Whether Γ counts nearest neighbors."""

    @property
    def interactions(self) -> bool:
        """Whether the ascent starts from interactions."""

    @property
    def linear(self) -> bool:
        """Whether the kernel is squared."""

    @property
    def place(self) -> int:
        """Place of the kernel on its path; 0 is the widest."""


class Scored(Protocol):
    """A candidate with its scores."""

    @property
    def scores(self) -> list[Array]:
        """One array per fold, with a score for each row."""


class Corrected(NamedTuple):
    """A score without the optimism of the choice, and its standard error."""

    score: float
    error: float


def standard_error(scores: Array) -> float:
    """Return the standard error of the mean, corrected for the overlap of training sets."""
    return float(OVERLAP_CORRECTION * scores.std() / np.sqrt(len(scores)))


def is_ahead(one: Array, other: Array, errors: float = 1.0) -> bool:
    """Tell whether the mean of `one` is higher by more than `errors` standard errors of the difference."""
    lead = one - other
    return bool(lead.mean() > errors * standard_error(lead))


def stacked(candidates: Sequence[Scored]) -> Array:
    """Return the scores of candidates that saw all folds: one row per candidate, one column per row of the table."""
    return np.stack([np.concatenate(candidate.scores) for candidate in candidates])


def decide(
    candidates: Sequence[Ranked], scores: Array, *, are_values: bool = False, prefer_whitened: bool = True
) -> tuple[int, int]:
    """Apply the rule; return the places of the chosen candidate and of the best one with the same q.

    Row c of `scores` has the score of candidate c for each row of the table. `are_values` says that targets are values,
    `prefer_whitened` that there are enough rows for each column to count whitened rows as simpler.
    """
    means = scores.mean(axis=1)

    def best_of(places: list[int]) -> int:
        return max(places, key=lambda place: means[place])

    overall = best_of(list(range(len(candidates))))
    for q in sorted({candidate.q for candidate in candidates}):
        same_q = [place for place, candidate in enumerate(candidates) if candidate.q == q]
        best = best_of(same_q)
        if not is_ahead(scores[overall], scores[best]):
            break
    if are_values:
        return best, best

    def simplest_of(places: list[int]) -> int:
        leading = best_of(places)
        near = [place for place in places if not is_ahead(scores[leading], scores[place])]
        near.sort(key=lambda place: (candidates[place].scale != "whiten", candidates[place].place))
        if prefer_whitened:
            return near[0]
        widest = {candidates[place].scale: place for place in reversed(near)}
        return best_of(sorted(widest.values()))

    wide = [place for place in same_q if not candidates[place].linear]
    plain = [place for place in wide if not candidates[place].neighbors and not candidates[place].interactions]
    if not plain:
        return best, best
    special = best_of(wide)
    chosen = special if is_ahead(scores[special], scores[best_of(plain)]) else simplest_of(plain)
    scale = candidates[chosen].scale
    for place in same_q:
        squared = candidates[place].linear and candidates[place].scale == scale
        if squared and is_ahead(scores[place], scores[chosen], SQUARED_LEAD):
            return place, best
    return chosen, best


def corrected_score(
    candidates: Sequence[Ranked],
    scores: Array,
    losses: Array,
    variances: Array,
    rng: np.random.Generator,
    *,
    are_values: bool = False,
    prefer_whitened: bool = True,
) -> Corrected:
    """Return the bootstrap bias-corrected score of the choice that the rule makes.

    Parameters
    ----------
    scores
        The scores that the rule compares: one row per candidate, one column per row of the table.
    losses
        The errors of the predictions that are to be scored, in the same layout: 1 for a wrong class, or the squared
        error of a value.
    variances
        For each row, the loss of the trivial prediction: 1 for classes, or the squared deviation from the mean. The
        score is 1 − Σ losses / Σ variances.
    """
    n = scores.shape[1]
    loss_sums = np.zeros(n)  # of each row: its losses, summed over the resamples that left it out
    counts = np.zeros(n)
    for _ in range(RESAMPLES):
        drawn = rng.integers(n, size=n)
        left_out = np.bincount(drawn, minlength=n) == 0
        chosen, _ = decide(candidates, scores[:, drawn], are_values=are_values, prefer_whitened=prefer_whitened)
        loss_sums[left_out] += losses[chosen, left_out]
        counts[left_out] += 1
    seen = counts > 0
    relative = loss_sums[seen] / counts[seen] / variances[seen].mean()
    return Corrected(float(1 - relative.mean()), standard_error(relative))
