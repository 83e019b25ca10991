"""The report on the scores of automatic choices: mean error, root mean square error and coverage."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ism_core.arrays import Array

WITHIN = 2.0  # standard errors


@dataclass(frozen=True)
class Half:
    """The scores that a choice reports from one half of a table, and the score on the other half."""

    table: str
    seed: int
    has_classes: bool
    rows: int  # of the half
    columns: int
    searched: int  # rows of the half that the choice used
    q: int
    truth: float
    truth_error: float  # standard error of the truth, since the other half is a sample too
    corrected: float
    corrected_error: float
    chosen: float
    best: float
    nested: float | None
    seconds: float  # of the choice and the fit


def as_markdown(halves: Sequence[Half]) -> str:
    """Return the table of all scores, and one of the tables."""
    lines = [
        "| score | tables, halves | mean error ± standard error | RMSE | truth within 2 errors | 2 joint errors |",
        "|---|---|---|---|---|---|",
    ]
    for has_classes, measure, unit, factor in ((True, "accuracy", "points", 100), (False, "R²", "", 1)):
        some = [half for half in halves if half.has_classes == has_classes]
        with_nested = [half for half in some if half.nested is not None]
        for name in ("corrected", "chosen", "best"):
            lines += [_line(f"{measure}, {name}", some, name, factor, unit)] if some else []
        for name in ("nested", "corrected"):
            title = f"{measure}, {name} (tables with nested folds)"
            lines += [_line(title, with_nested, name, factor, unit)] if with_nested else []
    return "\n".join([*lines, "", *_tables(halves)])


def _line(title: str, halves: Sequence[Half], name: str, factor: float, unit: str) -> str:
    """Return the row of one score. The standard error is that over tables, because halves of a table overlap."""
    errors = errors_of(halves, name)
    tables = [half.table for half in halves]
    means = np.array([errors[[table == each for each in tables]].mean() for table in dict.fromkeys(tables)])
    spread = means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
    own, joint = "–", "–"
    if name == "corrected":
        error = np.array([half.corrected_error for half in halves])
        both = np.hypot(error, [half.truth_error for half in halves])
        own, joint = (f"{np.mean(np.abs(errors) <= WITHIN * each):.0%}" for each in (error, both))
    digits = 2 if factor > 1 else 3
    mean = f"{factor * means.mean():+.{digits}f} ± {factor * spread:.{digits}f} {unit}".rstrip()
    rmse = f"{factor * np.sqrt(np.mean(errors**2)):.{digits}f}"
    return f"| {title} | {len(means)}, {len(halves)} | {mean} | {rmse} | {own} | {joint} |"


def errors_of(halves: Sequence[Half], name: str) -> Array:
    """Return the score of each half minus the truth; positive if the score is optimistic."""
    return np.array([getattr(half, name) - half.truth for half in halves])


def _tables(halves: Sequence[Half]) -> list[str]:
    """Return a table of the means over the halves of each table."""
    lines = [
        "| table | rows of a half | columns | rows searched | truth | corrected | chosen | best | seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(half.table for half in halves):
        some = [half for half in halves if half.table == name]
        truth, corrected, chosen, best = (
            f"{np.mean([getattr(half, each) for half in some]):.3f}"
            for each in ("truth", "corrected", "chosen", "best")
        )
        first, seconds = some[0], np.mean([half.seconds for half in some])
        lines.append(
            f"| {name} | {first.rows:,} | {first.columns:,} | {first.searched:,} | {truth} | {corrected} | {chosen} "
            f"| {best} | {seconds:.1f} |"
        )
    return lines
