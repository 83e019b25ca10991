"""Choose kernel, q and scale from the data: by cross-validation if there is a target, by consensus for clusterings.

Candidates are the kernels along a path from wide to narrow, on standardized and on whitened rows, for one or several q.
For kernel "auto", there are also candidates whose Γ predicts rows from their neighbors. In each fold, scaling, W and
classifiers are learned from the other folds. All candidates share the folds. Along a path each solve starts from the
previous W, so a path costs little more than the solve with its last kernel. After each fold, candidates that are
significantly behind the best drop out.

The score of a candidate is the mean accuracy of an SVM and of 5 nearest neighbors on the projection (R² for targets
that are values). `search` has the order in which candidates are tried, `rule` the decision among them. If the search
used a sample of the rows and chose neighbors, narrower kernels are then tried on many more rows.
"""

from collections.abc import Callable, Generator

import numpy as np
from numpy.typing import ArrayLike

from ism_core.arrays import Array, Ints, as_table, is_whole
from ism_core.errors import InvalidInput
from ism_core.gamma import LabelGamma
from ism_core.kernels import Kernel, as_kernel
from ism_core.linalg import SCALES, Scale
from ism_core.paradigms import Supervised, Unsupervised
from ism_core.selection.candidates import CandidatePath, ScoredKernel
from ism_core.selection.choice import (
    Auto,
    Candidate,
    Choice,
    Journal,
    OutOfFold,
    SearchControl,
    SearchFinished,
    Trial,
    never,
)
from ism_core.selection.cross_validation import SuccessiveHalving
from ism_core.selection.hidden_labels import iter_guided_choice
from ism_core.selection.rule import FEW_ROWS_PER_COLUMN, corrected_score, decide, stacked
from ism_core.selection.search import iter_search
from ism_core.selection.table_kernels import TableKernels
from ism_core.solver import (
    FINE_ASCENT_DELTA,
    drained,
    kernel_with_automatic_width,
    with_width,
)

SAMPLE = 800  # rows of the subsample that the search uses, if the table has more (tuned on the paper's data)
ROWS_PER_COLUMN = 5  # rows of the subsample per column, if that is more (tuned on MNIST)
LARGEST_SAMPLE = 3_000  # rows of the subsample at most
MOST_ROWS_WITH_NEIGHBORS = 20_000  # rows beyond which neighbors are not tried: their Γ needs all pairs of rows
LARGER_TABLE = 2.5  # tables with at least this many times the rows of the subsample also try narrower kernels
NARROWED_ROWS = 10_000  # most rows of the larger subsample on which narrower kernels are tried
NARROWED_FOLDS = 5  # its folds; only the first is scored
FIVE_FOLD_ROWS = 400  # rows up to which there are five folds; larger subsamples have three
FEWEST_ROWS = 10  # rows that cross-validation needs
AXES = (1, 2, 3, 4, 6, 8, 10)  # values of q that "auto" tries
MOST_AXES_FOR_VALUES = 4  # the largest q that "auto" tries for targets that are values
MOST_AXES_FOR_TWO_CLASSES = 3  # the same for two or three classes; for more classes it is their number


def iter_choose(
    X: ArrayLike,
    paradigm: Supervised | Unsupervised,
    kernel: Kernel | str = "auto",
    q: int | Auto = "auto",
    *,
    scale: Scale | Auto = "auto",
    seed: int = 0,
    finish: Callable[[], bool] = never,
    journal: Journal | None = None,
    may_fork: bool = False,
) -> Generator[Trial, None, Choice]:
    """Choose the settings that are "auto": kernel, q, scale, or the width of a kernel.

    `iter_choose` yields a `Trial` for each projection that it scores, and returns the same Choice.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows, not scaled.
    paradigm : Supervised or Unsupervised
        Supervised problems are cross-validated. Clusterings are chosen by consensus among the candidates.
    kernel : Kernel or str, default="auto"
        "auto" tries Gaussians of several widths, for clusterings also a polynomial. ``Gaussian(sigma="auto")``,
        ``Multiquadratic(c="auto")`` and ``Polynomial(gamma="auto")`` leave only the width of that kernel open.
    q : int or "auto", default="auto"
        Number of axes.
    scale : "standard", "whiten", "none" or "auto", default="auto"
        Preprocessing of the rows.
    seed : int, default=0
        Seed of subsamples and folds. The same seed gives the same choice.
    finish : callable, default=never
        Called after each trial. If it returns True, the search ends and keeps the best candidate so far.
    journal : dict, optional
        Scores of an earlier cross-validation with the same arguments, which are not computed again. New ones are added.
    may_fork : bool, default=False
        Whether a forked process of low priority may share the work of a cross-validation, if this machine has a second
        core. The choice is the same with and without it.

    Returns
    -------
    Choice
        All candidates with their scores, the chosen one, and the reason.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ism_core import Supervised, choose
    >>> X, y = load_iris(return_X_y=True)
    >>> choice = choose(X, Supervised(y), q=2)
    >>> choice.criterion, choice.chosen.q
    ('accuracy', 2)
    """
    table = as_table(X)
    paradigm.check(len(table))
    opened = kernel_with_automatic_width(kernel)
    given = as_kernel(kernel) if opened is None else with_width(opened, 1.0)
    chooses_width = opened is not None
    given_q = _checked_q(q, table.shape[1])
    scales: tuple[Scale, ...] = ("standard", "whiten") if scale == "auto" else (_checked_scale(scale),)
    if isinstance(paradigm, Unsupervised):
        return iter_guided_choice(
            table, paradigm, given, chooses_width, kernel == "auto", given_q, scales, seed, finish
        )
    axes = _axes(table, paradigm) if given_q is None else (given_q,)
    control = SearchControl(finish, {} if journal is None else journal, may_fork)
    return _iter_cross_validate(table, paradigm, given, chooses_width, kernel == "auto", axes, scales, seed, control)


choose = drained(iter_choose)


def _iter_cross_validate(
    table: Array,
    paradigm: Supervised,
    kernel: Kernel,
    chooses_width: bool,
    any_kernel: bool,
    axes: tuple[int, ...],
    scales: tuple[Scale, ...],
    seed: int,
    control: SearchControl,
) -> Generator[Trial, None, Choice]:
    rng = np.random.default_rng(seed)
    rows = _sample(paradigm, table, max(SAMPLE, min(ROWS_PER_COLUMN * table.shape[1], LARGEST_SAMPLE)), rng)
    criterion = "r2" if paradigm.codes is None else "accuracy"
    folds = _folds(len(rows))
    kernels = TableKernels(table, paradigm, kernel, chooses_width, seed)
    kinds = {paradigm.neighbors, any_kernel and paradigm.can_have_neighbors and len(table) <= MOST_ROWS_WITH_NEIGHBORS}
    if not _can_be_validated(paradigm.codes, len(table)):
        usual = CandidatePath(scales[0], axes[0], paradigm.neighbors)
        only = Candidate(kernels.at(usual, 0), usual.scale, usual.q, usual.neighbors, np.nan, None, 0.0)
        return Choice(
            criterion, (only,), only, 0, "The table has too few rows for cross-validation; this is the default setting."
        )
    knows_covariance = len(rows) >= FEW_ROWS_PER_COLUMN * table.shape[1]
    tries_linear = any_kernel and (paradigm.codes is None or not knows_covariance)
    halving = SuccessiveHalving(
        table[rows], paradigm.restricted(rows), kernel, chooses_width, len(kinds) > 1, folds, rng, control
    )
    cut_short = False
    try:
        paths = yield from iter_search(halving, axes, scales, kinds, tries_linear)
    except SearchFinished:
        paths, cut_short = halving.scored_paths(), True
    finally:
        halving.close()
    finalists = halving.complete(paths)
    scores = stacked(finalists)
    rule = {"are_values": paradigm.codes is None, "prefer_whitened": knows_covariance}
    place, best = decide(finalists, scores, **rule)
    chosen, reason = finalists[place], "It has the best score."
    if place != best:
        reason = f"It is the simplest candidate within one standard error of the best score, {scores[best].mean():.3f}."
    out_of_fold = _out_of_fold(
        paradigm, rows[halving.order[: scores.shape[1]]], finalists, place, rule, np.random.default_rng(seed)
    )
    candidates = kernels.candidates(paths, len(rows) * (1 - 1 / folds))
    if chosen.neighbors and chooses_width and not cut_short and len(table) >= LARGER_TABLE * len(rows):
        many = _sample(paradigm, table, NARROWED_ROWS, rng)
        larger = SuccessiveHalving(
            table[many],
            paradigm.restricted(many),
            kernel,
            chooses_width,
            False,
            NARROWED_FOLDS,
            rng,
            control,
            ascent_delta=FINE_ASCENT_DELTA,
        )
        path = yield from larger.narrowed(chosen)
        candidates |= kernels.candidates([path], len(many) * (1 - 1 / NARROWED_FOLDS))
        chosen = max(path.points, key=lambda point: point.score)
        reason = f"It has the best score of the candidates that were tried on {len(many):,} rows."
        cut_short = control.finish()
    if cut_short:
        reason = f"The search was finished early. Of the {len(finalists)} candidates that were compared: {reason}"
    found = tuple(candidates.values()), candidates[chosen]
    return Choice(criterion, *found, len(rows), reason, out_of_fold, cut_short)


def _out_of_fold(
    paradigm: Supervised,
    rows: Ints,
    finalists: list[ScoredKernel],
    place: int,
    rule: dict[str, bool],
    rng: np.random.Generator,
) -> OutOfFold:
    """Return the predictions of the chosen candidate, with its score and the one that is corrected for the rule."""
    predictions = np.stack([np.concatenate(point.predictions) for point in finalists])
    if paradigm.codes is not None:
        losses, variances = (predictions != paradigm.codes[rows]).astype(float), np.ones(len(rows))
    else:
        assert paradigm.values is not None
        truth = paradigm.values[rows]
        spread = np.where(truth.std(axis=0) > 0, truth.std(axis=0), 1.0)
        losses = (((predictions - truth) / spread) ** 2).mean(axis=2)
        variances = (((truth - truth.mean(axis=0)) / spread) ** 2).mean(axis=1)
    corrected = corrected_score(finalists, stacked(finalists), losses, variances, rng, **rule)
    ends = np.cumsum([len(fold) for fold in finalists[place].scores])[:-1]
    folds = zip(np.split(losses[place], ends), np.split(variances, ends), strict=True)
    own = tuple(float(1 - loss.mean() / variance.mean()) for loss, variance in folds)
    order = np.argsort(rows)
    return OutOfFold(rows[order], predictions[place][order], own, corrected.score, corrected.error)


def _sample(paradigm: Supervised, table: Array, count: int, rng: np.random.Generator) -> Ints:
    """Draw a stratified subsample of `count` rows; all rows if there are no more."""
    if len(table) <= count:
        return np.arange(len(table))
    if paradigm.codes is not None:
        return LabelGamma.of(paradigm.codes).sample(count, rng)
    return np.sort(rng.choice(len(table), count, replace=False))


def _folds(rows: int) -> int:
    return 5 if rows <= FIVE_FOLD_ROWS else 3


def _can_be_validated(codes: Ints | None, n: int) -> bool:
    """Tell whether there are enough rows, and two classes of two or more rows."""
    return n >= FEWEST_ROWS and (codes is None or int((np.bincount(codes) > 1).sum()) > 1)


def _axes(table: Array, paradigm: Supervised) -> tuple[int, ...]:
    """Return the values of q that "auto" tries."""
    d, codes = table.shape[1], paradigm.codes
    most = MOST_AXES_FOR_VALUES if codes is None else max(MOST_AXES_FOR_TWO_CLASSES, int(codes.max()) + 1)
    return tuple(each for each in AXES if each <= min(d, most))


def _checked_q(q: int | str, d: int) -> int | None:
    """Return q as a number, or None for "auto"."""
    if q == "auto":
        return None
    if not is_whole(q) or not 1 <= int(q) <= d:
        raise InvalidInput("q", f'q is {q!r}; it must be "auto" or a whole number from 1 to the {d} feature(s) of X.')
    return int(q)


def _checked_scale(scale: str) -> Scale:
    for each in SCALES:
        if scale == each:
            return each
    raise InvalidInput("scale", f'scale is {scale!r}; it must be "standard", "whiten", "none" or "auto".')
