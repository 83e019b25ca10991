"""Whether a job fits its data set: everything that its description can tell is told when the job is posted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ism_jobs.checks.columns import Roles, given_columns, given_field, roles
from ism_jobs.checks.features import Survey, survey
from ism_jobs.checks.guidance import given_errors, reference_errors
from ism_jobs.errors import FieldError
from ism_jobs.sentences import asked, counted, listed, named, nearest
from ism_jobs.spec.messages import refusal
from ism_jobs.spec.paradigms import JobSpec, SupervisedSpec
from ism_jobs.tables import Column, Description

__all__ = ["MOST_SUGGESTIONS", "Roles", "check", "check_all", "problems", "roles"]

MOST_SUGGESTIONS = 20  # names that are looked for among the columns: each takes 0.1 s where there are 20,000
NO_CLUSTER = 'There is no Dask cluster here (ISM_DASK_SCHEDULER is not set); leave engine out, or set it to "local".'
NEVER_LEARNT = {
    "target": "the target, which is to be explained",
    "scores": "the scores, which guide the clusters",
    "clustering": "the clustering that is to be avoided",
}


def check(spec: JobSpec, description: Description, *, cluster: bool = False) -> None:
    """Raise InvalidSpec with every problem found; `cluster` says whether there is one for jobs that ask for it."""
    errors = problems(spec, description, cluster=cluster)
    if errors:
        raise refusal(errors, "The job")


def check_all(specs: Sequence[JobSpec], descriptions: Mapping[str, Description], *, cluster: bool = False) -> None:
    """The same for a batch, with the descriptions by data set: what is wrong in all jobs is told once.

    Other problems are told for the first job that has them, whose place stands before the field: "3.q".
    """
    found: dict[FieldError, list[int]] = {}
    checkers = {name: _Checker(description, cluster) for name, description in descriptions.items()}
    for place, spec in enumerate(specs):
        for error in checkers[spec.dataset].problems(spec):
            found.setdefault(error, []).append(place)
    if found:
        raise refusal([_placed(error, places, len(specs)) for error, places in found.items()], "The batch")


def problems(spec: JobSpec, description: Description, *, cluster: bool = False) -> list[FieldError]:
    """Every problem of a spec with its data set."""
    return _Checker(description, cluster).problems(spec)


def _placed(error: FieldError, places: list[int], jobs: int) -> FieldError:
    if len(places) == jobs:
        return error
    others = f" (And so in {counted(len(places) - 1, 'other job')}.)" if len(places) > 1 else ""
    return FieldError(f"{places[0]}.{error.field}", error.message + others)


class _Checker:
    """The checks of one data set; what the specs of a batch share is looked at once."""

    def __init__(self, description: Description, cluster: bool) -> None:
        self._description = description
        self._cluster = cluster
        self._rows = description.rows
        self._columns = {column.name: column for column in description.columns}
        self._roles: dict[tuple[object, ...], Roles] = {}
        self._surveys: dict[tuple[object, ...], Survey] = {}
        self._nearest: dict[str, str | None] = {}

    def problems(self, spec: JobSpec) -> list[FieldError]:
        if self._rows < 2:
            sentence = f"The data set has {counted(self._rows, 'row')}; at least 2 are needed."
            return [FieldError("dataset", sentence)]
        parts = self._parts(spec)
        errors = self._unknown_features(spec, parts) + _overlaps(spec, parts)
        if spec.engine == "dask" and not self._cluster:
            errors.append(FieldError("engine", NO_CLUSTER))
        for field, names in ((given_field(spec), parts.given), ("reference", parts.reference)):
            errors += [self._unknown(_element(spec, field, name), name) for name in names if name not in self._columns]
        given = [self._columns[name] for name in parts.given if name in self._columns]
        if len(given) == len(parts.given):
            errors += given_errors(spec, given, parts.kind, self._rows)
        for name in parts.reference:
            errors += reference_errors(self._columns[name], self._rows) if name in self._columns else []
        features = self._survey(spec, parts)
        return [*errors, *features.errors, *_counts(spec, features, given, self._rows)]

    def _parts(self, spec: JobSpec) -> Roles:
        features = None if spec.features is None else tuple(spec.features)
        kind = spec.target_kind if isinstance(spec, SupervisedSpec) else spec.reference
        key = (spec.paradigm, features, given_columns(spec), kind)
        if key not in self._roles:
            self._roles[key] = roles(spec, self._description)
        return self._roles[key]

    def _survey(self, spec: JobSpec, parts: Roles) -> Survey:
        key = (id(parts), spec.categorical, spec.missing, spec.scale)  # parts are kept, so their ids stay theirs
        if key not in self._surveys:
            self._surveys[key] = self._surveyed(spec, parts)
        return self._surveys[key]

    def _surveyed(self, spec: JobSpec, parts: Roles) -> Survey:
        """Of the features that are certain: nothing is said of a column that may have been meant for something else."""
        others = parts.given + parts.reference
        lost = [name for name in others if name not in self._columns] if spec.features is None else []
        meant = {self._meant(name) for name in lost}
        certain = [
            self._columns[name]
            for name in parts.features
            if name in self._columns and name not in meant and name not in others
        ]
        if None in meant or (parts.features and not certain):
            return Survey((), None, self._rows)
        found = survey(certain, self._rows, spec)
        return found if len(certain) == len(parts.features) else replace(found, encoded=None)

    def _unknown_features(self, spec: JobSpec, parts: Roles) -> list[FieldError]:
        if spec.features is None:
            return []
        unknown = [name for name in parts.features if name not in self._columns]
        if len(unknown) > MOST_SUGGESTIONS:
            sentence = f"There are no columns {listed(unknown, quoted=True)}; the columns are {self._names()}."
            return [FieldError("features", sentence)]
        return [self._unknown(_element(spec, "features", name), name) for name in unknown]

    def _unknown(self, field: str, name: str) -> FieldError:
        came = f"There is no column {named(name)}"
        return FieldError(field, asked(came, self._meant(name), f"the columns are {self._names()}."))

    def _meant(self, name: str) -> str | None:
        if name not in self._nearest and len(self._nearest) < MOST_SUGGESTIONS:
            self._nearest[name] = nearest(name, self._columns)
        return self._nearest.get(name)

    def _names(self) -> str:
        return listed(list(self._columns))


def _element(spec: JobSpec, field: str, name: str) -> str:
    """The path of a name: the field, and its place where the field holds a list."""
    value = getattr(spec, field)
    return f"{field}.{value.index(name)}" if isinstance(value, list) else field


def _overlaps(spec: JobSpec, parts: Roles) -> list[FieldError]:
    """Columns that are named as features and for something else."""
    if spec.features is None:
        return []
    taken = dict.fromkeys(parts.reference, "the reference, which the clusters are compared with")
    taken |= dict.fromkeys(parts.given, NEVER_LEARNT[given_field(spec)])
    return [
        FieldError(
            _element(spec, "features", name),
            f"{named(name)} is {taken[name]}; a job cannot learn from it. Leave it out.",
        )
        for name in parts.features
        if name in taken
    ]


def _counts(spec: JobSpec, features: Survey, given: Sequence[Column], rows: int) -> list[FieldError]:
    """Whether there are rows and features enough."""
    errors = []
    if features.encoded is not None and isinstance(spec.q, int) and spec.q > features.encoded:
        fewer = f"{features.encoded:,} or fewer" if features.encoded > 1 else "1"
        sentence = f"q = {spec.q} is more than the {counted(features.encoded, 'feature')} of this job; ask for {fewer}."
        errors.append(FieldError("q", sentence))
    left, told = rows, counted(rows, "row")
    if spec.missing == "drop":
        lacking = max((column.missing for column in given), default=0) if isinstance(spec, SupervisedSpec) else 0
        left = min(features.complete, rows - lacking)
        if 0 < left < 2 or (left == 0 and not features.errors):
            sentence = (
                f'"drop" leaves {counted(left, "row")} of {rows:,}, and at least 2 are needed;'
                ' set missing to "mean", or leave out the features that miss most.'
            )
            return [*errors, FieldError("missing", sentence)]
        told = f"{counted(left, 'row')} that are left without missing values" if left < rows else told
    if not isinstance(spec, SupervisedSpec) and spec.clusters > left > 0:
        sentence = f"clusters = {spec.clusters} is more than the {told}; ask for {left:,} or fewer."
        errors.append(FieldError("clusters", sentence))
    return errors
