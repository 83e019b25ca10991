"""Whether the target, the scores or the clustering can be read as classes or values, judged by the description."""

from collections.abc import Sequence

from ism_jobs.checks.column_use import nearly_all_distinct, varies
from ism_jobs.checks.columns import MOST_CLASSES_OF_NUMBERS, TargetKind, guidance_field
from ism_jobs.checks.features import LARGEST_STANDARDIZED, too_large
from ism_jobs.errors import FieldError
from ism_jobs.sentences import counted, figure, listed, named
from ism_jobs.spec import AlternativeSpec, JobSpec, SupervisedSpec
from ism_jobs.tables import Column

MOST_CLASSES = 1_000  # of a target, or of a known clustering
FEWEST_NAMES = 10  # different texts from which a column can be one of names of rows, not of classes


def guidance_errors(spec: JobSpec, guidance: Sequence[Column], kind: TargetKind | None, rows: int) -> list[FieldError]:
    """Return every problem of the columns of the guidance."""
    if not guidance:
        return []
    field = guidance_field(spec)
    empty = [column.name for column in guidance if column.missing >= rows]
    if empty:
        have = "has" if len(empty) == 1 else "have"
        return [FieldError(field, f"{listed(empty, quoted=True)} {have} no values at all; name another column.")]
    errors = _missing_errors(guidance, rows, spec) if isinstance(spec, SupervisedSpec) else []
    if kind == "values":
        if isinstance(spec, SupervisedSpec) and spec.balance:
            errors.append(FieldError("balance", "balance requires classes, but this target has values; leave it out."))
        return errors + _value_errors(field, guidance)
    if len(guidance) > 1:
        advice = "name one, or leave out target_kind."
        sentence = f"{field} names {len(guidance)} columns, but classes must be one column; {advice}"
        return [*errors, FieldError(field, sentence)]
    return errors + _class_errors(field, guidance[0], rows, may_be_fractions=not isinstance(spec, AlternativeSpec))


def reference_errors(column: Column, rows: int) -> list[FieldError]:
    """Return every problem of the column that the clusters are compared with."""
    if column.missing >= rows:
        return [FieldError("reference", f"{named(column.name)} has no values at all; name another column.")]
    return _value_kind_errors("reference", column)


def _missing_errors(guidance: Sequence[Column], rows: int, spec: SupervisedSpec) -> list[FieldError]:
    gaps = [column for column in guidance if column.missing]
    if not gaps or spec.missing != "refuse":
        return []
    counts = listed([f"{named(column.name)} in {column.missing:,}" for column in gaps])
    advice = 'Set missing to "auto" or "drop" to leave these rows out.'
    return [FieldError("target", f"The target is missing in some of the {rows:,} rows: {counts}. {advice}")]


def _value_errors(field: str, guidance: Sequence[Column]) -> list[FieldError]:
    texts = [column.name for column in guidance if column.kind == "text"]
    if texts:
        several = " Several columns must all hold numbers; name one column of classes, or only numbers."
        advice = (
            several if len(guidance) > 1 else ' Set target_kind to "classes" or "auto", or name a column of numbers.'
        )
        have = "holds" if len(texts) == 1 else "hold"
        return [FieldError(field, f"{listed(texts, quoted=True)} {have} text, which cannot be read as values.{advice}")]
    large = [column.name for column in guidance if too_large(column, LARGEST_STANDARDIZED)]
    if large:
        sentence = f"{listed(large, quoted=True)}: values beyond ±{figure(LARGEST_STANDARDIZED)} are too large"
        return [FieldError(field, f"{sentence} to compute with; rescale.")]
    if not any(varies(column) for column in guidance):
        sentence = f"{field} is the same in all rows ({listed([c.name for c in guidance], quoted=True)}); it must vary."
        return [FieldError(field, sentence)]
    return []


def _class_errors(field: str, column: Column, rows: int, may_be_fractions: bool) -> list[FieldError]:
    name = named(column.name)
    if column.distinct is not None and column.distinct < 2:
        problem = f"{name} has {counted(column.distinct, 'class', 'classes')} in {counted(rows, 'row')}"
        return [FieldError(field, f"{problem}; at least 2 are needed. Name another column.")]
    if column.distinct is None or column.distinct > MOST_CLASSES:
        advice = (
            'set target_kind to "values"' if field == "target" and column.kind == "number" else "name another column"
        )
        sentence = f"{name} has more than {MOST_CLASSES:,} different values, too many to be classes; {advice}."
        return [FieldError(field, sentence)]
    if column.kind == "text" and column.distinct >= FEWEST_NAMES and nearly_all_distinct(column, rows):
        sentence = (
            f"{name} has {column.distinct:,} different texts in {rows - column.missing:,} rows, so it names rows and"
            " does not group them. Name a column whose classes have several rows each. If the texts are numbers,"
            " write them as numbers, such as 1234.5."
        )
        return [FieldError(field, sentence)]
    return [] if may_be_fractions else _value_kind_errors(field, column)


def _value_kind_errors(field: str, column: Column) -> list[FieldError]:
    many = column.distinct is None or column.distinct > MOST_CLASSES_OF_NUMBERS
    if column.kind == "number" and not column.whole and many:
        sentence = (
            f"{named(column.name)} holds values that are not classes; {field} must be a column of text or integers."
        )
        return [FieldError(field, sentence)]
    return []
