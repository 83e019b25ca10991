"""Choose the scaling of a clustering that labels guide: hide some labels, and see which scaling finds them again.

Consensus cannot compare scalings: whitened rows have other clusters than standardized rows, and both agree well among
themselves. Hidden labels can. Few labels say little, so rows are whitened only if that finds more labels by two
standard errors.
"""

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.kernels import Kernel
from ism_core.linalg import Scale, Scaling
from ism_core.paradigms import SemiSupervised, Unsupervised
from ism_core.selection.choice import Choice, SearchFinished, Trial
from ism_core.selection.consensus import DELTA, ITERATIONS, drawn_rows, iter_consensus
from ism_core.solver import ReturnCapture, iter_solve

FOLDS = 5  # parts of the labels that are hidden in turn
MAX_ROWS = 800  # rows of the subsample on which labels are hidden, if the table has more
STANDARD_ERRORS = 2.0  # of the difference by which whitened rows must be better


def iter_guided_choice(
    table: Array,
    paradigm: Unsupervised,
    kernel: Kernel,
    is_open: bool,
    any_kernel: bool,
    q: int | None,
    scales: tuple[Scale, ...],
    seed: int,
    finish: Callable[[], bool],
) -> Generator[Trial, None, Choice]:
    """Choose by consensus with the first scale, or with the second one if that finds more hidden labels.

    The search ends when `finish` returns True.
    """
    consensus = partial(iter_consensus, table, paradigm, kernel, is_open, any_kernel, q, seed=seed, finish=finish)
    usual = yield from consensus(scale=scales[0])
    if len(scales) == 1 or usual.rows == 0 or usual.cut_short or not isinstance(paradigm, SemiSupervised):
        return usual
    rows = drawn_rows(len(table), paradigm.guided, np.random.default_rng(seed), MAX_ROWS)
    known = paradigm.restricted(rows).known_clusters
    if known is None or np.bincount(known[known >= 0]).max() == 1:
        return usual
    comparison = _HiddenLabels(table[rows], paradigm.restricted(rows), known, seed, finish)
    try:
        found = yield from comparison.iter_found(usual)
        if not _is_better(np.ones_like(found), found):  # not even if all labels were found
            return usual
        other = yield from consensus(scale=scales[1])
        more = yield from comparison.iter_found(other)
    except SearchFinished:
        reason = f"The search was cut short before {scales[1]} rows were compared. {usual.reason}"
        return replace(usual, reason=reason, cut_short=True)
    if not _is_better(more, found):
        return usual
    reason = (
        f"If labels are hidden, whitened rows get back {more.mean():.0%} of the {len(more)} labels, and"
        f" {scales[0]} rows {found.mean():.0%}. Its clusters agree best with those of the other whitened candidates."
    )
    return Choice("consensus", usual.candidates + other.candidates, other.chosen, usual.rows, reason)


class _HiddenLabels:
    """Parts of the labels that are hidden in turn; one label of each class always stays."""

    def __init__(
        self, table: Array, paradigm: SemiSupervised, known: Ints, seed: int, finish: Callable[[], bool]
    ) -> None:
        self._table, self._paradigm, self._known, self._seed, self._finish = table, paradigm, known, seed, finish
        self._fold = np.full(len(table), -1)  # −1 for rows whose label is missing or stays
        rng = np.random.default_rng(seed)
        for label in range(known.max() + 1):
            own = rng.permutation(np.flatnonzero(known == label))
            if len(own) > 1:
                self._fold[own] = (np.arange(len(own)) + rng.integers(FOLDS)) % FOLDS

    def iter_found(self, choice: Choice) -> Generator[Trial, None, Array]:
        """Return for each hidden label whether the row is still in the cluster of its class."""
        chosen = choice.chosen
        rows = Scaling.learnt(self._table, chosen.scale)[1]
        found = np.zeros(len(rows))
        for fold in np.unique(self._fold[self._fold >= 0]):
            hidden: Ints = np.flatnonzero(self._fold == fold)
            steps = iter_solve(
                rows,
                self._paradigm.without(hidden),
                chosen.kernel,
                chosen.q,
                delta=DELTA,
                max_iter=ITERATIONS,
                seed=self._seed,
            )
            trial = Trial(chosen.scale, chosen.q, int(fold) + 1, FOLDS, len(choice.candidates), chosen.score)
            solving = ReturnCapture(steps)
            for _ in solving:
                yield trial
                if self._finish():
                    raise SearchFinished
            labels = solving.value.labels
            assert labels is not None
            found[hidden] = labels[hidden] == self._known[hidden]
        return found[self._fold >= 0]


def _is_better(one: Array, other: Array) -> bool:
    """Tell whether one finds more labels than the other, beyond the error of the paired difference."""
    difference, n = one - other, len(one)
    error = np.sqrt((np.mean(difference**2) + 1 / n) / n)  # 1/n: one more label on which they differ
    return bool(difference.mean() > STANDARD_ERRORS * error)
