"""Choose the scaling of a clustering that labels guide, and whether they guide its axes: hide some labels, and compare.

Consensus cannot compare scalings: whitened rows have other clusters than standardized rows, and both agree well among
themselves. Hidden labels can compare them. With few labels this comparison is noisy, so rows are whitened only if
whitening recovers more hidden labels by two standard errors. Labels that contradict the clusters of a table, or are too
few, can lead the axes away from clusters that are found without them. So labels guide the axes only if guided axes find
more hidden labels.
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
GUIDED_ERRORS = 0.5  # the same for axes that labels guide (tuned on 23 tables with labels on 10 % of the rows)


def iter_guided_choice(
    table: Array,
    paradigm: Unsupervised,
    kernel: Kernel,
    chooses_width: bool,
    any_kernel: bool,
    q: int | None,
    scales: tuple[Scale, ...],
    seed: int,
    finish: Callable[[], bool],
) -> Generator[Trial, None, Choice]:
    """Choose by consensus with the first scale, or with the second one if that finds more hidden labels.

    Labels guide the axes if that finds more hidden labels than the clusters of all rows without labels. The search ends
    when `finish` returns True.
    """
    settings = kernel, chooses_width, any_kernel, q
    consensus = partial(iter_consensus, table, paradigm, *settings, seed=seed, finish=finish)
    usual = yield from consensus(scale=scales[0])
    if usual.rows == 0 or usual.cut_short or not isinstance(paradigm, SemiSupervised):
        return usual
    rows = drawn_rows(len(table), paradigm.guided, np.random.default_rng(seed), MAX_ROWS)
    known = paradigm.restricted(rows).known_clusters
    if known is None or paradigm.mu == 0 or np.bincount(known[known >= 0]).max() == 1:
        return usual
    few = paradigm.restricted(rows)
    comparison = _HiddenLabels(table[rows], known, seed, finish)
    chosen = usual
    try:
        found = yield from comparison.iter_found(few, usual)
        if len(scales) > 1 and _is_better(np.ones_like(found), found):  # if all labels were found
            other = yield from consensus(scale=scales[1])
            more = yield from comparison.iter_found(few, other)
            if _is_better(more, found):
                reason = (
                    f"With some labels hidden, the clusters of whitened rows recovered {more.mean():.0%} of the"
                    f" {len(more)} hidden labels; those of {scales[0]} rows, {found.mean():.0%}. Its clusters agree"
                    " best with those of the other whitened candidates."
                )
                candidates = usual.candidates + other.candidates
                chosen, found = Choice("consensus", candidates, other.chosen, usual.rows, reason), more
        free = yield from iter_consensus(
            table, Unsupervised(paradigm.n_clusters), *settings, scale=scales[0], seed=seed, finish=finish
        )
        kept = yield from comparison.iter_found(few.unguided, free)
    except SearchFinished:
        reason = f"The search was finished early before all settings were compared. {chosen.reason}"
        return replace(chosen, reason=reason, cut_short=True)
    if free.cut_short or _is_better(found, kept, GUIDED_ERRORS):
        return replace(chosen, cut_short=free.cut_short)
    reason = (
        f"With some labels hidden, clusters without guidance recovered {kept.mean():.0%} of the {len(kept)} hidden"
        f" labels; guided ones, {found.mean():.0%}. So labels keep their rows in the cluster of their class, but do not"
        f" guide the axes (mu = 0). {free.reason}"
    )
    return replace(free, candidates=chosen.candidates + free.candidates, reason=reason, mu=0.0)


class _HiddenLabels:
    """Parts of the labels that are hidden in turn; one label of each class always stays."""

    def __init__(self, table: Array, known: Ints, seed: int, finish: Callable[[], bool]) -> None:
        self._table, self._known, self._seed, self._finish = table, known, seed, finish
        self._fold = np.full(len(table), -1)  # −1 for rows whose label is missing or stays
        rng = np.random.default_rng(seed)
        for label in range(known.max() + 1):
            own = rng.permutation(np.flatnonzero(known == label))
            if len(own) > 1:
                self._fold[own] = (np.arange(len(own)) + rng.integers(FOLDS)) % FOLDS

    def iter_found(self, paradigm: SemiSupervised, choice: Choice) -> Generator[Trial, None, Array]:
        """Return for each hidden label whether the row is still in the cluster of its class."""
        chosen = choice.chosen
        rows = Scaling.learned(self._table, chosen.scale)[1]
        found = np.zeros(len(rows))
        for fold in np.unique(self._fold[self._fold >= 0]):
            hidden: Ints = np.flatnonzero(self._fold == fold)
            steps = iter_solve(
                rows,
                paradigm.without(hidden),
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


def _is_better(one: Array, other: Array, errors: float = STANDARD_ERRORS) -> bool:
    """Tell whether one finds more labels than the other, beyond the error of the paired difference."""
    difference, n = one - other, len(one)
    error = np.sqrt((np.mean(difference**2) + 1 / n) / n)  # 1/n: one more label on which they differ
    return bool(difference.mean() > errors * error)
