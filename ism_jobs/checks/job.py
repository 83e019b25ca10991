"""Check a job against the description of its data set, so that errors show when the job is posted, not when it runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from ism_jobs.checks.columns import ColumnNames, ColumnRoles, column_roles, guidance_columns, overlaps
from ism_jobs.checks.features import FeatureReport, check_features
from ism_jobs.checks.guidance import guidance_errors, reference_errors
from ism_jobs.checks.parts import parts_errors
from ism_jobs.errors import FieldError
from ism_jobs.sentences import counted, listed, named
from ism_jobs.spec import JobSpec, Place, SemiSupervisedSpec, SupervisedSpec, refusal
from ism_jobs.tables import Column, Description

NO_DASK = 'This service has no Dask cluster (ISM_DASK_SCHEDULER is not set); leave engine out, or set it to "local".'
T = TypeVar("T")

KEPT, KEPT_COLUMNS = 64, 1_000  # descriptions for which results of checks are kept, and the most columns of one
KEPT_RESULTS = 100  # of each kind, for one description


def check(spec: JobSpec, description: Description, *, has_dask: bool = False) -> None:
    """Raise InvalidSpec with every problem of a job; `has_dask` says whether the service has a Dask cluster."""
    errors = problems(spec, description, has_dask=has_dask)
    if errors:
        raise refusal(errors, "The job")


def check_all(
    specs: Sequence[JobSpec],
    descriptions: Mapping[str, Description],
    places: Sequence[Place] | None = None,
    *,
    has_dask: bool = False,
) -> None:
    """Raise InvalidSpec with every problem of a batch; `descriptions` maps the ids of data sets to their descriptions.

    A problem is reported once, with the place of the first job that has it. Without `places`, the jobs are a list.
    """
    places = places or [Place(f"{position}.") for position in range(len(specs))]
    found: dict[FieldError, list[int]] = {}
    checkers = {name: _Checker(description, has_dask) for name, description in descriptions.items()}
    for position, spec in enumerate(specs):
        for error in checkers[spec.dataset].problems(spec):
            found.setdefault(error, []).append(position)
    if found:
        located = [
            _located(places[positions[0]].locate(error), positions, places) for error, positions in found.items()
        ]
        raise refusal(list(dict.fromkeys(located)), "The batch" if len(specs) > 1 else "The job")


def problems(spec: JobSpec, description: Description, *, has_dask: bool = False) -> list[FieldError]:
    """Return every problem of a spec with its data set."""
    return _Checker(description, has_dask).problems(spec)


def _located(error: FieldError, positions: list[int], places: Sequence[Place]) -> FieldError:
    """Say how many jobs elsewhere in the request have the same problem; those of one grid share its place."""
    elsewhere = sum(places[position].prefix != places[positions[0]].prefix for position in positions)
    others = f" ({counted(elsewhere, 'other job has', 'other jobs have')} the same problem.)" if elsewhere else ""
    return FieldError(error.field, error.message + others)


class _Known:
    """What jobs on one data set share: its columns, and results that depend on nothing else but the spec."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self.columns = {column.name: column for column in description.columns}
        self.roles: dict[tuple[object, ...], ColumnRoles] = {}
        self.reports: dict[tuple[object, ...], FeatureReport] = {}


class _Same:
    """A description as a key: equal to itself only."""

    def __init__(self, description: Description) -> None:
        self.description = description

    def __hash__(self) -> int:
        return id(self.description)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.description is self.description


@lru_cache(KEPT)
def _kept(same: _Same) -> _Known:
    return _Known(same.description)


class _Checker:
    """The checks of one data set. Jobs share the results of checks on the same columns."""

    def __init__(self, description: Description, has_dask: bool) -> None:
        is_kept = len(description.columns) <= KEPT_COLUMNS
        self._known = known = _kept(_Same(description)) if is_kept else _Known(description)
        self._description = description
        self._has_dask = has_dask
        self._rows = description.rows
        self._columns = known.columns
        self._names = ColumnNames(self._columns)
        self._reports: dict[tuple[object, ...], FeatureReport] = {}  # of misspelled names; they depend on the request

    def problems(self, spec: JobSpec) -> list[FieldError]:
        if self._rows < 2:
            sentence = f"The data set has {counted(self._rows, 'row')}; at least 2 are needed."
            return [FieldError("dataset", sentence)]
        roles = self._roles_of(spec)
        errors = self._names.unknown(spec, roles) + overlaps(spec, roles)
        if spec.engine == "dask" and not self._has_dask:
            errors.append(FieldError("engine", NO_DASK))
        guidance = [self._columns[name] for name in roles.guidance if name in self._columns]
        if len(guidance) == len(roles.guidance):
            errors += guidance_errors(spec, guidance, roles.guidance_kind, self._rows)
        for name in roles.reference:
            errors += reference_errors(self._columns[name], self._rows) if name in self._columns else []
        report = self._report_of(spec, roles)
        errors += [*parts_errors(spec, self._description), *_pair_errors(spec, self._rows)]
        return [*errors, *report.errors, *_count_errors(spec, report, guidance, self._rows)]

    def _roles_of(self, spec: JobSpec) -> ColumnRoles:
        return _remembered(self._known.roles, _key(spec), lambda: column_roles(spec, self._description))

    def _report_of(self, spec: JobSpec, roles: ColumnRoles) -> FeatureReport:
        key = (*_key(spec), spec.categorical, spec.missing, spec.scale)
        are_known = all(name in self._columns for name in roles.guidance + roles.reference)
        return _remembered(self._known.reports if are_known else self._reports, key, lambda: self._report(spec, roles))

    def _report(self, spec: JobSpec, roles: ColumnRoles) -> FeatureReport:
        """Check the features.

        Skip columns whose name was probably misspelled as the target, scores, clustering or reference.
        """
        others = roles.guidance + roles.reference
        misspelled = [] if isinstance(spec.features, list) else [name for name in others if name not in self._columns]
        meant = {self._names.suggestion(name) for name in misspelled}
        certain = [
            self._columns[name]
            for name in roles.features
            if name in self._columns and name not in meant and name not in others
        ]
        if None in meant or (roles.features and not certain):
            return FeatureReport((), None, self._rows)
        if not certain and roles.left_out:
            return FeatureReport((_left_out_error(roles),), None, self._rows)
        report = check_features(certain, self._rows, spec, in_parts=self._description.uri is not None)
        return report if len(certain) == len(roles.features) else replace(report, encoded=None)


def _key(spec: JobSpec) -> tuple[object, ...]:
    """Return all that the roles of the columns depend on."""
    features = tuple(spec.features) if isinstance(spec.features, list) else (spec.features, spec.categorical)
    kind = spec.target_kind if isinstance(spec, SupervisedSpec) else spec.reference
    return (spec.paradigm, type(spec.features), features, spec.dates, guidance_columns(spec), kind)


def _remembered(known: dict[tuple[object, ...], T], key: tuple[object, ...], compute: Callable[[], T]) -> T:
    """Return the known result, or compute it; forget all if there are too many."""
    found = known.get(key)
    if found is None:
        if len(known) >= KEPT_RESULTS:
            known.clear()
        found = known[key] = compute()
    return found


def _left_out_error(roles: ColumnRoles) -> FieldError:
    reasons = listed([f"{named(name)} ({reason})" for name, reason in roles.left_out])
    sentence = f"No features are left to learn from. Left out: {reasons}. Name those that you want to use in features."
    return FieldError("features", sentence)


def _pair_errors(spec: JobSpec, rows: int) -> list[FieldError]:
    """Return an error for each list of pairs with a row that does not exist."""
    if not isinstance(spec, SemiSupervisedSpec):
        return []
    errors = []
    for field, pairs in (("must_link", spec.must_link), ("cannot_link", spec.cannot_link)):
        for pair in [pair for pair in pairs or [] if max(pair) >= rows][:1]:
            sentence = f"The pair {pair} names a row that does not exist; the rows are numbered from 0 to {rows - 1:,}."
            errors.append(FieldError(field, sentence))
    return errors


def _count_errors(spec: JobSpec, report: FeatureReport, guidance: Sequence[Column], rows: int) -> list[FieldError]:
    """Return errors if there are too few rows or features."""
    errors = []
    if report.encoded is not None and isinstance(spec.q, int) and spec.q > report.encoded:
        fewer = f"{report.encoded:,} or fewer" if report.encoded > 1 else "1"
        sentence = f"q = {spec.q} is more than the {counted(report.encoded, 'feature')} of this job; ask for {fewer}."
        errors.append(FieldError("q", sentence))
    left, available = rows, counted(rows, "row")
    lacking = max((column.missing for column in guidance), default=0) if isinstance(spec, SupervisedSpec) else 0
    if spec.missing == "drop":
        left = min(report.complete, rows - lacking)
        if 0 < left < 2 or (left == 0 and not report.errors):
            sentence = (
                f'"drop" leaves {counted(left, "row")} of {rows:,}, and at least 2 are needed;'
                ' set missing to "auto", or leave out the features with the most missing values.'
            )
            return [*errors, FieldError("missing", sentence)]
        available = f"{counted(left, 'row')} that are left without missing values" if left < rows else available
    if not isinstance(spec, SupervisedSpec) and spec.clusters > left > 0:
        sentence = f"clusters = {spec.clusters} is more than the {available}; ask for {left:,} or fewer."
        errors.append(FieldError("clusters", sentence))
    return errors
