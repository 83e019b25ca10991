"""The role of each column in a job, and whether the columns that a job names exist.

The guidance of a job is its target, its scores or its known clustering.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ism_jobs.checks.column_use import column_use
from ism_jobs.errors import FieldError
from ism_jobs.sentences import did_you_mean, listed, named, nearest
from ism_jobs.spec import AlternativeSpec, JobSpec, SemiSupervisedSpec, SupervisedSpec
from ism_jobs.tables import Column, Description

TargetKind = Literal["classes", "values"]

# Whole numbers with more distinct values are values, not classes. The library differs: ism_core.paradigms reads an
# array of integers as classes, however many distinct values it has.
MOST_CLASSES_OF_NUMBERS = 20
MOST_SUGGESTIONS = 20  # unknown names that get a suggestion: each search takes 0.1 s in a table of 20,000 columns
NO_FEATURE = {
    "target": "the target, which the job explains",
    "scores": "the scores, which guide the clusters",
    "clustering": "the clustering, which the job avoids",
}


@dataclass(frozen=True)
class ColumnRoles:
    """The names of the columns that a job reads."""

    features: tuple[str, ...]
    guidance: tuple[str, ...]
    reference: tuple[str, ...]
    guidance_kind: TargetKind | None  # None if there is no guidance
    left_out: tuple[tuple[str, str], ...] = ()  # other columns, each with the reason why it is no feature


def column_roles(spec: JobSpec, description: Description) -> ColumnRoles:
    """Return the role of each column. The columns that the spec names need not exist."""
    guidance = guidance_columns(spec)
    reference = () if isinstance(spec, SupervisedSpec) or spec.reference is None else (spec.reference,)
    kind = _kind(spec, guidance, description)
    if isinstance(spec.features, list):
        return ColumnRoles(tuple(spec.features), guidance, reference, kind)
    taken = {*guidance, *reference}
    free = [column for column in description.columns if column.name not in taken]
    if spec.features == "all":
        return ColumnRoles(tuple(column.name for column in free), guidance, reference, kind)
    uses = {column.name: column_use(column, description.rows, spec.categorical, spec.dates) for column in free}
    features = tuple(name for name, use in uses.items() if use.reason is None)
    left_out = tuple((name, use.reason) for name, use in uses.items() if use.reason is not None)
    return ColumnRoles(features, guidance, reference, kind, left_out)


def guidance_field(spec: JobSpec) -> str:
    """Return the field of the spec that names the guidance."""
    if isinstance(spec, SupervisedSpec):
        return "target"
    return "scores" if isinstance(spec, SemiSupervisedSpec) else "clustering"


def guidance_columns(spec: JobSpec) -> tuple[str, ...]:
    """Return the columns of the target, the scores or the clustering."""
    names = getattr(spec, guidance_field(spec), ()) or ()
    return (names,) if isinstance(names, str) else tuple(names)


def _kind(spec: JobSpec, guidance: tuple[str, ...], description: Description) -> TargetKind | None:
    if not guidance:
        return None
    if isinstance(spec, AlternativeSpec):
        return "classes"
    if isinstance(spec, SupervisedSpec) and spec.target_kind != "auto":
        return spec.target_kind
    if len(guidance) > 1:
        return "values"
    try:
        return "values" if _holds_values(description.column(guidance[0])) else "classes"
    except KeyError:
        return None


def _holds_values(column: Column) -> bool:
    few = column.distinct is not None and column.distinct <= MOST_CLASSES_OF_NUMBERS
    return column.kind == "number" and not (column.whole and few)


class ColumnNames:
    """The columns of a data set, and errors about names that are not among them."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = columns
        self._suggestions: dict[str, str | None] = {}

    def suggestion(self, name: str) -> str | None:
        """Return the column that was probably meant. Only the first names get a suggestion."""
        if name not in self._suggestions and len(self._suggestions) < MOST_SUGGESTIONS:
            self._suggestions[name] = nearest(name, self._columns)
        return self._suggestions.get(name)

    def unknown(self, spec: JobSpec, roles: ColumnRoles) -> list[FieldError]:
        """Return an error for each name that is not a column."""
        errors = []
        missing = [name for name in roles.features if name not in self._columns]
        if len(missing) > MOST_SUGGESTIONS:
            sentence = f"There are no columns {listed(missing, quoted=True)}; the columns are {self._listed()}."
            errors.append(FieldError("features", sentence))
        else:
            errors += [self._unknown(element_path(spec, "features", name), name) for name in missing]
        for field, names in ((guidance_field(spec), roles.guidance), ("reference", roles.reference)):
            missing = [name for name in names if name not in self._columns]
            errors += [self._unknown(element_path(spec, field, name), name) for name in missing]
        return errors

    def _unknown(self, field: str, name: str) -> FieldError:
        problem = f"There is no column {named(name)}"
        return FieldError(field, did_you_mean(problem, self.suggestion(name), f"the columns are {self._listed()}."))

    def _listed(self) -> str:
        return listed(list(self._columns))


def overlaps(spec: JobSpec, roles: ColumnRoles) -> list[FieldError]:
    """Return an error for each column that is named as a feature and in another role."""
    taken = dict.fromkeys(roles.reference, "the reference, with which the clusters are compared")
    taken |= dict.fromkeys(roles.guidance, NO_FEATURE[guidance_field(spec)])
    return [
        FieldError(
            element_path(spec, "features", name),
            f"{named(name)} is {taken[name]}; it cannot be a feature too. Leave it out of features.",
        )
        for name in roles.features
        if name in taken
    ]


def element_path(spec: JobSpec, field: str, name: str) -> str:
    """Return the path of a name in the spec: the field, with the position if the field holds a list."""
    value = getattr(spec, field)
    return f"{field}.{value.index(name)}" if isinstance(value, list) else field
