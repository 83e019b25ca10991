"""Whether the features of a job can become a matrix of numbers, judged by the data set's description."""

from collections.abc import Sequence
from dataclasses import dataclass

from ism_jobs.checks.column_use import MAX_ONEHOT_LEVELS, column_use, date_parts, varies
from ism_jobs.errors import FieldError
from ism_jobs.sentences import counted, figure, listed, named
from ism_jobs.spec import JobSpec, SupervisedSpec
from ism_jobs.tables import Column

MOST_CELLS = 500_000_000  # rows × features of the encoded table: 4 GB of float64
MOST_FEATURES_IN_PARTS = 4_000  # of a table by reference: matrices of that size are kept
LARGEST, SMALLEST = 1e20, 1e-20  # absolute values that the solver can compute with if the table is not standardized
LARGEST_STANDARDIZED, SMALLEST_RANGE = 1e150, 1e-150  # values and ranges whose squares do not overflow or underflow


@dataclass(frozen=True)
class FeatureReport:
    """The result of checking the features."""

    errors: tuple[FieldError, ...]
    encoded: int | None  # number of features after encoding; None if it is unknown
    complete: int  # upper bound on the rows without missing values; exact if all missing values are in the same rows


def check_features(features: Sequence[Column], rows: int, spec: JobSpec, *, in_parts: bool = False) -> FeatureReport:
    """Return every problem of the features, and their number after encoding."""
    complete = rows - max((column.missing for column in features), default=0)
    if not features:
        sentence = "No features are left to learn from; name at least one other column in features."
        return FeatureReport((FieldError("features", sentence),), None, rows)
    texts = [column for column in features if column.kind == "text" and column.date_format is None]
    errors = _missing_errors(features, rows, spec)
    if texts and spec.categorical == "refuse":
        errors.append(_text_error(texts, len(features), spec))
        return FeatureReport((*errors, *_magnitude_errors(features, spec)), None, complete)
    levels = [column for column in texts if column.distinct is None or column.distinct > MAX_ONEHOT_LEVELS]
    if levels:
        errors.append(_level_error(levels))
        return FeatureReport((*errors, *_magnitude_errors(features, spec)), None, complete)
    encoded = sum(_width(column, rows, spec) for column in features)
    if texts and encoded * rows > MOST_CELLS and not in_parts:
        sentence = (
            f"Encoding the text gives {encoded:,} features × {rows:,} rows, more than the {MOST_CELLS:,} values"
            " that one job may have; leave out the text columns with the most levels."
        )
        errors.append(FieldError("categorical", sentence))
    if in_parts and encoded > MOST_FEATURES_IN_PARTS:
        sentence = (
            f"The job has {encoded:,} features; a table by reference may have {MOST_FEATURES_IN_PARTS:,}. Name fewer."
        )
        errors.append(FieldError("features", sentence))
    if not any(varies(column) for column in features) and any(column.missing < rows for column in features):
        all_of = (
            f"All {len(features)} features are" if len(features) > 1 else f"The feature {named(features[0].name)} is"
        )
        errors.append(FieldError("features", f"{all_of} constant; add at least one column that varies to features."))
    return FeatureReport((*errors, *_magnitude_errors(features, spec)), encoded, complete)


def too_large(column: Column, limit: float) -> bool:
    """Return whether a column of numbers has an absolute value above the limit."""
    return _largest(column) > limit


def _width(column: Column, rows: int, spec: JobSpec) -> int:
    """Return the number of features that a column becomes."""
    kind = column_use(column, rows, spec.categorical, spec.dates, named=True).kind
    if kind == "date_parts":
        return len(date_parts(column.date_format or ""))
    has_level_for_missing = spec.missing == "auto" and column.missing > 0
    if kind == "onehot" or (kind == "binary" and has_level_for_missing):
        return (column.distinct or 0) + has_level_for_missing
    return 1


def _missing_errors(features: Sequence[Column], rows: int, spec: JobSpec) -> list[FieldError]:
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
            f"{counted(len(gaps), 'feature has', 'features have')} missing values: {counts}."
            f" The table has {counted(rows, 'row')}."
            ' Set missing to "auto" or "median" to fill them in, or to "drop" to leave out those rows.'
        )
        errors.append(FieldError("missing", sentence))
    return errors


def _text_error(texts: Sequence[Column], features: int, spec: JobSpec) -> FieldError:
    names = listed([column.name for column in texts], quoted=True)
    have = "feature holds" if len(texts) == 1 else "features hold"
    numbers = ", or name only columns of numbers in features" if len(texts) < features else ""
    sentence = f'{len(texts):,} {have} text: {names}. Set categorical to "auto" or "onehot" to encode it{numbers}.'
    if len(texts) == 1 and not isinstance(spec, SupervisedSpec) and spec.reference is None:
        sentence += " If it holds known classes, name it in reference: then the clusters are only compared with it."
    return FieldError("categorical", sentence)


def _level_error(columns: Sequence[Column]) -> FieldError:
    names = listed([column.name for column in columns], quoted=True)
    have = "has" if len(columns) == 1 else "have"
    sentence = (
        f"{names} {have} more than {MAX_ONEHOT_LEVELS:,} levels, too many to encode; leave out columns such as ids."
    )
    return FieldError("features", sentence)


def _magnitude_errors(features: Sequence[Column], spec: JobSpec) -> list[FieldError]:
    """Return errors about numbers whose squares overflow or underflow."""
    numbers = [column for column in features if column.kind == "number"]
    if spec.scale == "none":
        advice = 'set scale to "standard", or rescale'
        large = _too_large_errors(numbers, LARGEST, f"too large to compute with; {advice}.")
        sizes = [_largest(column) for column in numbers]
        if len(numbers) == len(features) and 0 < max(sizes) < SMALLEST:
            sentence = f"All values are smaller than ±{figure(SMALLEST)}, too small to compute with; {advice}."
            return [FieldError("features", sentence)]
        return large
    flat = [column.name for column in numbers if varies(column) and _range(column) < SMALLEST_RANGE]
    if flat:
        sentence = f"{listed(flat, quoted=True)}: a range below {figure(SMALLEST_RANGE)} is too small to standardize"
        return [FieldError("features", f"{sentence}; rescale.")]
    return _too_large_errors(numbers, LARGEST_STANDARDIZED, "too large to standardize; rescale.")


def _too_large_errors(numbers: Sequence[Column], limit: float, advice: str) -> list[FieldError]:
    large = [column.name for column in numbers if too_large(column, limit)]
    sentence = f"{listed(large, quoted=True)}: values beyond ±{figure(limit)} are {advice}"
    return [FieldError("features", sentence)] if large else []


def _largest(column: Column) -> float:
    return max(abs(column.maximum or 0.0), abs(column.minimum or 0.0))


def _range(column: Column) -> float:
    return (column.maximum or 0.0) - (column.minimum or 0.0)
