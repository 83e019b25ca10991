"""Which part each column of a data set plays in a job, and how what is given for each row is read."""

from dataclasses import dataclass
from typing import Literal

from ism_jobs.spec.paradigms import AlternativeSpec, JobSpec, SemiSupervisedSpec, SupervisedSpec
from ism_jobs.tables import Column, Description

Kind = Literal["classes", "values"]

FEW_VALUES = 20  # whole numbers with more different values are measurements, as in ism_core.paradigms.targets


@dataclass(frozen=True)
class Roles:
    """The names of the columns that a job reads."""

    features: tuple[str, ...]
    given: tuple[str, ...]  # target, scores or clustering
    reference: tuple[str, ...]
    kind: Kind | None  # how `given` is read; None where nothing is given


def roles(spec: JobSpec, description: Description) -> Roles:
    """The parts of a job; columns that the spec names are not checked here."""
    given = given_columns(spec)
    reference = () if isinstance(spec, SupervisedSpec) or spec.reference is None else (spec.reference,)
    if spec.features is None:
        taken = {*given, *reference}
        features = tuple(column.name for column in description.columns if column.name not in taken)
    else:
        features = tuple(spec.features)
    return Roles(features, given, reference, _kind(spec, given, description))


def given_field(spec: JobSpec) -> str:
    """The field that names what is given for each row."""
    if isinstance(spec, SupervisedSpec):
        return "target"
    return "scores" if isinstance(spec, SemiSupervisedSpec) else "clustering"


def given_columns(spec: JobSpec) -> tuple[str, ...]:
    """The columns of the target, the scores or the clustering."""
    named = getattr(spec, given_field(spec), ())
    return (named,) if isinstance(named, str) else tuple(named)


def is_measured(column: Column) -> bool:
    """Whether a column holds measurements rather than classes: numbers that are fractions, or many."""
    few = column.distinct is not None and column.distinct <= FEW_VALUES
    return column.kind == "number" and not (column.whole and few)


def _kind(spec: JobSpec, given: tuple[str, ...], description: Description) -> Kind | None:
    if not given:
        return None
    if isinstance(spec, AlternativeSpec):
        return "classes"
    if isinstance(spec, SupervisedSpec) and spec.target_kind != "auto":
        return spec.target_kind
    if len(given) > 1:
        return "values"
    try:
        return "values" if is_measured(description.column(given[0])) else "classes"
    except KeyError:
        return None
