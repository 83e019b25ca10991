"""What a result says about the features: which axes are informative, and which features they consist of.

`docs/interpretation.md` has the definitions. Contributions, errors and permutation drops come from solves on halves of
the rows (`ism_core/solver/stability.py`), each measured on rows of the other half.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ism_core.arrays import Array, Ints, named
from ism_core.engines import own_threads
from ism_core.linalg import Whitening, collinear_groups, correlations, uncorrelated_direction, with_fixed_signs
from ism_core.paradigms import Paradigm
from ism_core.selection import HeldOut, Losses, Target, sample
from ism_core.solver import Result, Stability, drained, iter_stability, scale_of_deviations

FEWEST_ROWS = 20  # rows that resamples need; with fewer, contributions are those on all rows
RESAMPLES = 10  # random halves by default
RESAMPLED_ROWS = 500  # rows of each of them at most
RESAMPLED_ITERATIONS = 10  # of their solves at most: informative axes are found by then, others need not be
COLLINEAR = 0.95  # |correlation| above which two features are interchangeable
MOST_GROUPED = 1_000  # features with the largest weights; groups are sought among them
MOST_PERMUTED = 200  # groups with the largest importance; only they are permuted
ROWS = 5_000  # rows of the sample from which variances and correlations are computed
CORRELATED_ROWS = 2_000  # rows of it from which correlations between features are computed
PERMUTED_ROWS = 20_000  # rows in all permutations of one resample together
FEWEST_PERMUTED = 50  # rows in each permutation, if there are as many
CLEAR = 2.0  # standard errors by which a clear importance exceeds 0


@dataclass(frozen=True)
class Contribution:
    """What is lost without one axis."""

    objective: float  # share of J
    score: float | None  # explained variance of the target, on held-out rows
    error: float | None  # standard error of `objective`
    share: float  # weight of the axis in the importance; the shares add up to 1
    informative: bool  # False: the axis is shown in plots only


@dataclass(frozen=True)
class Permutation:
    """Loss of explained variance on held-out rows if a feature is permuted together with its group."""

    drop: Array  # d
    error: Array  # d standard errors
    rows: int  # number of rows in each permutation


@dataclass(frozen=True)
class Interpretation:
    """The importance of the features, and what it rests on."""

    importance: Array  # d shares that add up to 1; all 0 if no measure of an axis is above 0
    importance_errors: Array | None  # d standard errors
    unclear: NDArray[np.bool_]  # d: whether the importance is within its error of 0
    structure: Array  # d×q: correlations of the features with the axes
    groups: tuple[Ints, ...]  # interchangeable features, two or more in each group
    contributions: tuple[Contribution, ...]  # q
    permutation: Permutation | None
    picture: Array | None  # d weights of the display axis: a second axis for plots, if q = 1
    stability: Stability | None  # of the loadings


def iter_interpret(
    X: Array,
    paradigm: Paradigm,
    result: Result,
    *,
    resamples: int = 0,
    delta: float = 0.01,
    seed: int = 0,
    whitening: Whitening | None = None,
    precision: str = "double",
) -> Generator[int, None, Interpretation]:
    """Return the interpretation of a result, and yield the number of resamples done.

    X, paradigm and whitening are those that were given to `solve`. `resamples` is the number of random halves of the
    rows to solve again; 0 means 10 halves of 500 rows at most, which takes less than a second for 2,000×100 numbers.
    """
    stability = None
    if len(X) >= FEWEST_ROWS or resamples:
        given: dict[str, Any] = {"delta": delta, "seed": seed, "whitening": whitening, "precision": precision}
        if resamples:
            given |= {"resamples": resamples}
        else:
            rows = min(len(X) // 2, RESAMPLED_ROWS)
            given |= {"resamples": RESAMPLES, "rows": rows, "max_iter": RESAMPLED_ITERATIONS}
        stability = yield from iter_stability(X, paradigm, result, **given)
    return _interpretation(X, paradigm, result, stability, whitening, seed)


interpret = drained(iter_interpret)


class InterpretedMixin:
    """An estimator whose result is interpreted when the interpretation is first read."""

    _interpretation: Callable[[], Interpretation] | Interpretation
    _is_pandas: bool
    features_: Any

    @property
    def interpretation_(self) -> Interpretation:
        """Contributions of the axes; importance of the features with standard errors, structure and groups."""
        check_is_fitted(self)
        if not isinstance(self._interpretation, Interpretation):
            self._interpretation = self._interpretation()
        return self._interpretation

    @property
    def feature_importances_(self) -> Any:
        """Share of each feature in the informative axes: an array, or a named series if X was a pandas frame."""
        importance = self.interpretation_.importance
        return named(importance, self.features_, "importance") if self._is_pandas else importance


def _interpretation(
    X: Array, paradigm: Paradigm, result: Result, stability: Stability | None, whitening: Whitening | None, seed: int
) -> Interpretation:
    rng = np.random.default_rng(seed)
    with own_threads():
        W = result.loadings(whitening)
        table = _Features.of(X[sample(len(X), ROWS, rng)], whitening, W)
        target = Target.of(paradigm, result)
        resamples = () if stability is None else stability.resamples
        judged = [target.held_out(X, each, rng) for each in resamples]
        contributions = _contributions([each for _, each in judged] or [target.insample(X)])
        shares = np.array([each.share for each in contributions])
        importance, of_groups = table.importance(W, shares)
        errors, permutation = None, None
        unclear = (importance == 0) | (not any(each.informative for each in contributions))
        if stability is not None:
            loadings = [result.loadings(whitening, each.W) for each in resamples]
            scale = scale_of_deviations(stability.rows, len(X))
            resampled = [table.importance(W + scale * (each - W), shares) for each in loadings]
            errors = _root_mean_square([each - importance for each, _ in resampled])
            group_errors = _root_mean_square([each - of_groups for _, each in resampled])
            unclear |= (of_groups <= CLEAR * group_errors)[table.group]
            permutation = _permutation(X, whitening, table, judged, loadings, of_groups, rng)
        signed = with_fixed_signs(W)
        return Interpretation(
            importance,
            errors,
            unclear,
            table.structure(signed),
            table.groups,
            contributions,
            permutation,
            uncorrelated_direction(table.rows, signed[:, 0]) if W.shape[1] == 1 else None,
            stability,
        )


@dataclass(frozen=True)
class _Features:
    """Rows of features before whitening, centered, and the group of each feature."""

    rows: Array
    group: Ints  # d group numbers

    @staticmethod
    def of(X: Array, whitening: Whitening | None, W: Array) -> "_Features":
        rows = _before_whitening(X, whitening)
        rows = rows - rows.mean(axis=0)
        largest = np.sort(np.argsort(-np.abs(W).max(axis=1) * rows.std(axis=0), kind="stable")[:MOST_GROUPED])
        group = len(W) + np.arange(len(W))
        group[largest] = collinear_groups(rows[:CORRELATED_ROWS, largest], COLLINEAR)
        return _Features(rows, np.unique(group, return_inverse=True)[1])

    @property
    def groups(self) -> tuple[Ints, ...]:
        """The features of each group of two or more."""
        counts = np.bincount(self.group)
        return tuple(np.flatnonzero(self.group == each) for each in np.flatnonzero(counts > 1))

    def structure(self, W: Array) -> Array:
        """Return the correlation of each feature with each axis."""
        P = self.rows @ W
        return correlations(self.rows, P - P.mean(axis=0))

    def importance(self, W: Array, shares: Array) -> tuple[Array, Array]:
        """Return the importance of each feature and of each group.

        A group's part of an axis is the variance of its terms, relative to the sum over all groups. Within a group
        it is distributed in proportion to the squared structure.
        """
        parts = np.zeros((self.group.max() + 1, W.shape[1]))
        parts[self.group] = (W * self.rows.std(axis=0)[:, None]) ** 2
        within = np.ones_like(W)
        squares = self.structure(W) ** 2 if self.groups else within
        for members in self.groups:
            parts[self.group[members[0]]] = (self.rows[:, members] @ W[members]).var(axis=0)
            known = squares[members].sum(axis=0) > 0  # else the axis is constant, and the members share it equally
            within[members] = _normalized(np.where(known, squares[members], 1.0))
        parts = _normalized(parts) * _normalized(np.where(parts.sum(axis=0) > 0, shares, 0.0))
        importance: Array = (parts[self.group] * within).sum(axis=1)
        return importance, parts.sum(axis=1)


def _contributions(judged: list[HeldOut]) -> tuple[Contribution, ...]:
    """Return the contributions of the axes, from the losses on held-out rows.

    The losses of halves deviate from their mean by about the standard error of the loss of all rows. If there is one
    loss only, nothing was held out: there is no error, and the score is not reported.
    """
    # If two axes carry the same information, removing either one loses nothing. If no axis is informative, each is
    # therefore measured without the others.
    for alone in (False, True):
        objective = Losses.of([each.objectives(alone) for each in judged])
        score = Losses.of([each.scores(alone) for each in judged])
        informative = objective.informative | score.informative
        if informative.any() or len(informative) == 1:
            break
    weights = objective.relative + score.relative
    shares = _normalized(np.where(informative, weights, 0.0) if informative.any() else weights)
    size = max(objective.whole.mean(), objective.whole.std()) or 1.0  # the mean of J may be near 0
    held_out = len(judged) > 1
    return tuple(
        Contribution(
            float(lost.mean() / size),
            float(lost_score.mean()) if held_out else None,
            float(lost.std() / size) if held_out else None,
            float(share),
            bool(counts),
        )
        for lost, lost_score, share, counts in zip(objective.lost.T, score.lost.T, shares, informative, strict=True)
    )


def _permutation(
    X: Array,
    whitening: Whitening | None,
    table: _Features,
    judged: list[tuple[Ints, HeldOut]],
    loadings: list[Array],
    of_groups: Array,
    rng: np.random.Generator,
) -> Permutation:
    """Permute each of the most important groups among the held-out rows of each resample."""
    permuted = np.argsort(-of_groups, kind="stable")[:MOST_PERMUTED]
    members = [np.flatnonzero(table.group == each) for each in permuted]
    count = max(FEWEST_PERMUTED, PERMUTED_ROWS // len(permuted))
    drops = np.zeros((len(judged), len(of_groups)))
    rows = 0
    for found, (test, held_out), W in zip(drops, judged, loadings, strict=True):
        some = sample(len(test), count, rng)
        rows, features = len(some), _before_whitening(X[test[some]], whitening)
        changes = ((features[np.ix_(rng.permutation(rows), each)] - features[:, each]) @ W[each] for each in members)
        found[permuted] = held_out.drops(some, (held_out.P_test[some] + change for change in changes))
    return Permutation(drops.mean(axis=0)[table.group], drops.std(axis=0)[table.group], rows)


def _before_whitening(X: Array, whitening: Whitening | None) -> Array:
    return X if whitening is None else whitening.solve(X.T).T


def _normalized(weights: Array) -> Array:
    """Return weights whose columns add up to 1, or are 0."""
    sums = weights.sum(axis=0)
    normalized: Array = weights / np.where(sums > 0, sums, 1.0)
    return normalized


def _root_mean_square(deviations: list[Array]) -> Array:
    size: Array = np.sqrt(np.mean(np.square(deviations), axis=0))
    return size
