"""Whether the target, the scores or the clustering of a job can be read as it asks, as far as descriptions tell."""

from collections.abc import Sequence

from ism_jobs.checks.columns import FEW_VALUES, Kind, given_field
from ism_jobs.checks.features import LARGEST_STANDARDIZED, too_large, varies
from ism_jobs.errors import FieldError
from ism_jobs.sentences import counted, figure, listed, named
from ism_jobs.spec.paradigms import AlternativeSpec, JobSpec, SupervisedSpec
from ism_jobs.tables import Column

MOST_CLASSES = 1_000


def given_errors(spec: JobSpec, given: Sequence[Column], kind: Kind | None, rows: int) -> list[FieldError]:
    """Every problem of the columns that say something about each row besides its features."""
    if not given:
        return []
    field = given_field(spec)
    empty = [column.name for column in given if column.missing >= rows]
    if empty:
        have = "has" if len(empty) == 1 else "have"
        return [FieldError(field, f"{listed(empty, quoted=True)} {have} no values at all; name another column.")]
    errors = _gaps(given, rows, spec) if isinstance(spec, SupervisedSpec) else []
    if kind == "values":
        if isinstance(spec, SupervisedSpec):
            asked = [name for name in ("balance", "neighbors") if getattr(spec, name)]
            sentence = "is for classes, and the target holds values; leave it out."
            errors += [FieldError(name, f"{name} {sentence}") for name in asked]
        return errors + _value_errors(field, given)
    if len(given) > 1:
        sentence = (
            f"{field} names {len(given)} columns, and classes are one column; name one, or leave out target_kind."
        )
        return [*errors, FieldError(field, sentence)]
    return errors + _class_errors(field, given[0], rows, measured_too=not isinstance(spec, AlternativeSpec))


def reference_errors(column: Column, rows: int) -> list[FieldError]:
    """Whether clusters can be compared with this column."""
    if column.missing >= rows:
        return [FieldError("reference", f"{named(column.name)} has no values at all; name another column.")]
    return _measured("reference", column)


def _gaps(given: Sequence[Column], rows: int, spec: SupervisedSpec) -> list[FieldError]:
    gaps = [column for column in given if column.missing]
    if not gaps or spec.missing == "drop":
        return []
    counts = listed([f"{named(column.name)} in {column.missing:,}" for column in gaps])
    why = "A target is never filled in; set" if spec.missing == "mean" else "Set"
    sentence = (
        f'The target is missing in some of the {rows:,} rows: {counts}. {why} missing to "drop" to leave them out.'
    )
    return [FieldError("target", sentence)]


def _value_errors(field: str, given: Sequence[Column]) -> list[FieldError]:
    texts = [column.name for column in given if column.kind == "text"]
    if texts:
        several = " Several columns must all hold numbers; name one column of classes, or only numbers."
        advice = several if len(given) > 1 else ' Set target_kind to "classes" or "auto", or name a column of numbers.'
        have = "holds" if len(texts) == 1 else "hold"
        return [FieldError(field, f"{listed(texts, quoted=True)} {have} text, which cannot be read as values.{advice}")]
    large = [column.name for column in given if too_large(column, LARGEST_STANDARDIZED)]
    if large:
        sentence = f"{listed(large, quoted=True)}: values beyond ±{figure(LARGEST_STANDARDIZED)} are too large"
        return [FieldError(field, f"{sentence} to compute with; rescale.")]
    if not any(varies(column) for column in given):
        sentence = f"{field} is the same in all rows ({listed([c.name for c in given], quoted=True)}); it must vary."
        return [FieldError(field, sentence)]
    return []


def _class_errors(field: str, column: Column, rows: int, measured_too: bool) -> list[FieldError]:
    name = named(column.name)
    if column.distinct is not None and column.distinct < 2:
        came = f"{name} has {counted(column.distinct, 'class', 'classes')} in {counted(rows, 'row')}"
        return [FieldError(field, f"{came}; at least 2 are needed. Name another column.")]
    if column.distinct is None or column.distinct > MOST_CLASSES:
        advice = (
            'set target_kind to "values"' if field == "target" and column.kind == "number" else "name another column"
        )
        sentence = f"{name} has more than {MOST_CLASSES:,} different values, too many to be classes; {advice}."
        return [FieldError(field, sentence)]
    return [] if measured_too else _measured(field, column)


def _measured(field: str, column: Column) -> list[FieldError]:
    many = column.distinct is None or column.distinct > FEW_VALUES
    if column.kind == "number" and not column.whole and many:
        sentence = (
            f"{named(column.name)} holds measurements; {field} must be a column of classes, as text or whole numbers."
        )
        return [FieldError(field, sentence)]
    return []
