"""The scaling of a table in partitions, as `Scaling.learned` finds it for rows in memory."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.engines import Engine, Placed
from ism_core.errors import InvalidInput
from ism_core.linalg import (
    MAX_QUANTILE_ROWS,
    SCALES,
    Scale,
    Scaling,
    Whitening,
    enough_kept,
    far_limits,
    is_constant_between,
)
from ism_core.objective import Block, Partitions, Place, Rows, ScaledPartitions, Summary, pass_over, pick
from ism_core.paradigms import ClassBlocks, Describing, Supervised, TargetSummary, class_blocks
from ism_core.solver.options import as_engine


class LearnedScaling(NamedTuple):
    """A scaling, the rows that its quantiles come from, and the number of gross cells in each column."""

    scaling: Scaling
    rows: Rows
    gross: Ints


def learned_scaling(table: Partitions, how: Scale, paradigm: Supervised, engine: Engine | str) -> LearnedScaling:
    """Return the scaling of all rows; "whiten" whitens within classes if the targets are classes."""
    if how not in SCALES:
        raise InvalidInput("scale", f'scale is {how!r}; it must be "standard", "whiten" or "none".')
    engine = as_engine(engine)
    placed = engine.place(table)
    summary = pass_over(placed, Describing(paradigm.kind), engine)[0]
    summary.check()
    numbers = np.arange(0, summary.rows, -(-summary.rows // MAX_QUANTILE_ROWS))
    rows = pick(placed, summary, numbers, engine)[0]
    d, gross = table.columns, np.zeros(table.columns, dtype=np.intp)
    if how == "none":
        return LearnedScaling(Scaling(np.zeros(d), np.ones(d)), rows, gross)
    limits = None
    low, high = far_limits(rows.X)
    if ((summary.low < low) | (summary.high > high)).any():
        kept = pass_over(placed, _Keeping(low, high), engine)
        used = enough_kept(kept.counts, summary.rows) & (kept.counts < summary.rows)
        if used.any():
            limits = np.where(used, [kept.low, kept.high], [[-np.inf], [np.inf]])
            gross = np.where(used, summary.rows - kept.counts, 0).astype(np.intp)
            clipped = ScaledPartitions(table, Scaling(np.zeros(d), np.ones(d), None, limits))
            summary = pass_over(clipped, Describing(paradigm.kind), engine)[0]
    constant = is_constant_between(summary.low, summary.high)
    scale = np.sqrt(summary.scatter.diagonal() / summary.rows)
    scaling = Scaling(
        np.where(constant, summary.low, summary.mean), np.where(constant | (scale == 0), 1.0, scale), None, limits
    )
    if how == "whiten":
        scaling = _whitening(table, scaling, paradigm, engine)
    return LearnedScaling(scaling, rows, gross)


@dataclass
class _Kept:
    """The number of cells of each column that are not gross, and the smallest and largest of them."""

    counts: Array
    low: Array
    high: Array

    def __iadd__(self, other: "_Kept") -> "_Kept":
        self.counts = self.counts + other.counts
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return self


@dataclass(frozen=True)
class _Keeping:
    low: Array
    high: Array

    def __call__(self, block: Block, place: Place) -> _Kept:
        X = np.asarray(block[0], dtype=np.float64)
        kept = (self.low <= X) & (self.high >= X)
        lowest, highest = np.where(kept, X, np.inf).min(axis=0), np.where(kept, X, -np.inf).max(axis=0)
        return _Kept(kept.sum(axis=0).astype(np.float64), lowest, highest)


def _whitening(table: Partitions, scaling: Scaling, paradigm: Supervised, engine: Engine) -> Scaling:
    """Return the scaling with a whitening of the standardized rows."""
    standardized: Placed[Partitions] = engine.place(ScaledPartitions(table, scaling))
    summary, targets = pass_over(standardized, Describing(paradigm.kind), engine)
    n, within = summary.rows, summary.scatter
    classes = _class_means(summary, targets, paradigm)
    if classes is None:
        fourth = pass_over(standardized, _Fourth(None, summary.mean[None]), engine)
        return Scaling(scaling.mean, scaling.scale, Whitening.of_moments(n, within, float(fourth[0])), scaling.limits)
    blocks, means = classes
    apart = (means - summary.mean) * np.sqrt(blocks.counts)[:, None]
    within = within - apart.T @ apart
    fourth = pass_over(standardized, _Fourth(blocks, means), engine)
    whitening = Whitening.of_moments(n, within, float(fourth[0]), blocks.counts, means - summary.mean)
    return Scaling(scaling.mean, scaling.scale, whitening, scaling.limits)


def _class_means(summary: Summary, targets: TargetSummary, paradigm: Supervised) -> tuple[ClassBlocks, Array] | None:
    """Return the classes and their means; None if the targets are values."""
    blocks = class_blocks(paradigm, targets, summary)
    if blocks is None:
        return None
    assert targets.classes is not None
    return blocks, np.array([targets.classes[label][1] for label in blocks.labels.tolist()])


@dataclass(frozen=True)
class _Fourth:
    """Sums ‖x − mean‖⁴, with the mean of the row's class if there are classes."""

    blocks: ClassBlocks | None
    means: Array

    def __call__(self, block: Block, place: Place) -> Array:
        X, y = block
        assert y is not None or self.blocks is None
        codes = np.zeros(len(X), dtype=np.intp) if self.blocks is None or y is None else self.blocks.codes(y)
        away = X - self.means[codes]
        lengths = np.einsum("ij,ij->i", away, away)
        return np.array([lengths @ lengths])
