"""Whether the features of a job can become a table of numbers, as far as the data set's description tells."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from ism_jobs.errors import FieldError
from ism_jobs.sentences import counted, figure, listed, named
from ism_jobs.spec.paradigms import JobSpec, SupervisedSpec
from ism_jobs.tables import Column

MOST_LEVELS = 1_000  # of a text column that becomes one feature for each
MOST_CELLS = 500_000_000  # of the encoded table: 4 GB
LARGEST, SMALLEST = 1e20, 1e-20  # of the values that the solver takes as they are
LARGEST_STANDARDIZED, SMALLEST_SPREAD = 1e150, 1e-150  # whose squares are still numbers


@dataclass(frozen=True)
class Survey:
    """What the features come to."""

    errors: tuple[FieldError, ...]
    encoded: int | None  # how many numbers a row becomes; None where that cannot be told
    complete: int  # rows that may have a value in every feature; fewer have, if gaps lie in different rows


def survey(features: Sequence[Column], rows: int, spec: JobSpec) -> Survey:
    """Every problem of the features themselves."""
    complete = rows - max((column.missing for column in features), default=0)
    if not features:
        sentence = "No features are left to learn from; name at least one other column in features."
        return Survey((FieldError("features", sentence),), None, rows)
    texts = [column for column in features if column.kind == "text"]
    encoded = len(features) - len(texts)
    errors = _gaps(features, rows, spec)
    if texts and spec.categorical == "refuse":
        errors.append(_text(texts, len(features), spec))
        return Survey((*errors, *_sizes(features, spec)), None, complete)
    levels = [column for column in texts if column.distinct is None or column.distinct > MOST_LEVELS]
    if levels:
        errors.append(_levels(levels))
        return Survey((*errors, *_sizes(features, spec)), None, complete)
    encoded += sum(column.distinct or 0 for column in texts)
    if texts and encoded * rows > MOST_CELLS:
        sentence = (
            f"One-hot encoding makes {encoded:,} features of {rows:,} rows, more than the {MOST_CELLS:,} values"
            " that one job may hold; leave out the text columns with most levels."
        )
        errors.append(FieldError("categorical", sentence))
    if not any(varies(column) for column in features) and any(column.missing < rows for column in features):
        came = f"All {len(features)} features are" if len(features) > 1 else f"The feature {named(features[0].name)} is"
        errors.append(FieldError("features", f"{came} constant; name at least one column that varies in features."))
    return Survey((*errors, *_sizes(features, spec)), encoded, complete)


def varies(column: Column) -> bool:
    """Whether a column differs by more than the rounding of its values, as in ism_core.scaling."""
    if column.minimum is None or column.maximum is None:
        return column.kind == "text" and not column.constant
    size = max(abs(column.maximum), abs(column.minimum))
    return column.maximum / 2 - column.minimum / 2 > 5 * sys.float_info.epsilon * size  # halves do not overflow


def too_large(column: Column, limit: float) -> bool:
    """Whether a column of numbers holds one beyond the limit."""
    return _size(column) > limit


def _gaps(features: Sequence[Column], rows: int, spec: JobSpec) -> list[FieldError]:
    errors = []
    empty = [column.name for column in features if column.missing >= rows]
    if empty:
        have = "has no values at all" if len(empty) == 1 else "have no values at all"
        sentence = f"{listed(empty, quoted=True)} {have}; leave {'it' if len(empty) == 1 else 'them'} out of features."
        errors.append(FieldError("features", sentence))
    gaps = [column for column in features if 0 < column.missing < rows]
    if gaps and spec.missing == "refuse":
        most = sorted(gaps, key=lambda column: -column.missing)
        counts = listed([f"{named(column.name)} ({column.missing:,})" for column in most])
        sentence = (
            f"{counted(len(gaps), 'feature has', 'features have')} missing values in {counted(rows, 'row')}: {counts}."
            ' Set missing to "mean" to fill in the column\'s mean, or to "drop" to leave out those rows.'
        )
        errors.append(FieldError("missing", sentence))
    return errors


def _text(texts: Sequence[Column], features: int, spec: JobSpec) -> FieldError:
    names = listed([column.name for column in texts], quoted=True)
    have = "feature holds" if len(texts) == 1 else "features hold"
    numbers = ", or name only columns of numbers in features" if len(texts) < features else ""
    sentence = (
        f"{len(texts):,} {have} text: {names}."
        f' Set categorical to "onehot" to make a 0/1 feature of each level{numbers}.'
    )
    if len(texts) == 1 and not isinstance(spec, SupervisedSpec) and spec.reference is None:
        sentence += " If it holds known classes, name it in reference: then the clusters are only compared with it."
    return FieldError("categorical", sentence)


def _levels(columns: Sequence[Column]) -> FieldError:
    names = listed([column.name for column in columns], quoted=True)
    have = "has" if len(columns) == 1 else "have"
    sentence = f"{names} {have} too many levels to encode, more than {MOST_LEVELS:,}; leave out what is no category."
    return FieldError("features", sentence)


def _sizes(features: Sequence[Column], spec: JobSpec) -> list[FieldError]:
    """Numbers so large or so small that their squares are lost."""
    numbers = [column for column in features if column.kind == "number"]
    if spec.scale == "none":
        advice = 'set scale to "standard", or rescale'
        large = _sized(numbers, LARGEST, f"too large to compute with; {advice}.")
        sizes = [_size(column) for column in numbers]
        if len(numbers) == len(features) and 0 < max(sizes) < SMALLEST:
            sentence = f"No feature holds a value beyond ±{figure(SMALLEST)}: too small to compute with; {advice}."
            return [FieldError("features", sentence)]
        return large
    flat = [column.name for column in numbers if varies(column) and _spread(column) < SMALLEST_SPREAD]
    if flat:
        sentence = f"{listed(flat, quoted=True)}: a spread below {figure(SMALLEST_SPREAD)} is too little to standardize"
        return [FieldError("features", f"{sentence}; rescale.")]
    return _sized(numbers, LARGEST_STANDARDIZED, "too large to standardize; rescale.")


def _sized(numbers: Sequence[Column], limit: float, advice: str) -> list[FieldError]:
    large = [column.name for column in numbers if too_large(column, limit)]
    sentence = f"{listed(large, quoted=True)}: values beyond ±{figure(limit)} are {advice}"
    return [FieldError("features", sentence)] if large else []


def _size(column: Column) -> float:
    return max(abs(column.maximum or 0.0), abs(column.minimum or 0.0))


def _spread(column: Column) -> float:
    return (column.maximum or 0.0) - (column.minimum or 0.0)
