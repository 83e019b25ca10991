"""What can be posted: one spec, or a batch, which is a list of specs and grids (specs with lists of values to try)."""

import dataclasses
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Union

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo

from ism_jobs.errors import FieldError
from ism_jobs.sentences import counted, shown
from ism_jobs.spec.common import CommonSpec, Notify
from ism_jobs.spec.kernels import Strict
from ism_jobs.spec.messages import MOST_ERRORS, refusal
from ism_jobs.spec.paradigms import SPECS, JobSpec, read_spec, validate

MAX_BATCH = 1_000  # jobs in one request
LONGEST_LABEL = 200  # characters

# In these fields a list holds values to try. In any other field it is a value, or an error.
GRID_FIELDS = (
    "dataset",
    "kernel",
    "q",
    "features_per_axis",
    "delta",
    "seed",
    "clusters",
    "mu",
    "scale",
    "starts",
    "categorical",
    "missing",
    "max_iter",
    "precision",
    "tolerance",
    "approximation",
    "engine",
    "folds",
)


@dataclass(frozen=True)
class Place:
    """The position of a job in the request: the prefix of its fields, and its index in each list of the grid."""

    prefix: str = ""  # such as "jobs.3."
    chosen: dict[str, int] = dataclasses.field(default_factory=dict)

    def locate(self, error: FieldError) -> FieldError:
        """Return the error with its place in the request: "q" becomes "jobs.3.q.1"."""
        name, *rest = error.field.split(".")
        path = [name, str(self.chosen[name]), *rest] if name in self.chosen else [name, *rest]
        return FieldError((self.prefix + ".".join(path)).rstrip("."), error.message)


@dataclass(frozen=True)
class PostedBatch:
    """The jobs of a batch in the order of the request, each with its place, and what was posted beside them."""

    specs: list[JobSpec]
    places: list[Place]
    label: str | None = None
    notify: str | None = None  # the URL to tell that all jobs have ended


def read_one(body: Any) -> JobSpec:
    """Return the spec of a single job; raise InvalidSpec with every problem."""
    lists = varied_fields(body)
    if isinstance(body, list) or lists:
        what = "The body is a list" if isinstance(body, list) else f"{lists[0]} is a list of values"
        sentence = f"{what}, which makes several jobs; post it to /batches. /jobs takes one job."
        raise refusal([FieldError("" if isinstance(body, list) else lists[0], sentence)])
    return read_spec(body)


def expand(body: Any) -> PostedBatch:
    """Return the jobs of a batch: of a grid, of a list of specs and grids, or of {"jobs": …, "label": …, "notify": …}.

    Raises InvalidSpec with every problem.
    """
    problems: list[FieldError] = []
    label, notify, prefix = None, None, ""
    if isinstance(body, dict) and "jobs" in body:
        label, prefix = body.get("label"), "jobs."
        problems += _envelope_errors(body)
        notify = None if problems or not body.get("notify") else body["notify"]["url"]
        body = body["jobs"]
    entries = (
        [(f"{prefix}{place}.", one) for place, one in enumerate(body)] if isinstance(body, list) else [(prefix, body)]
    )
    _check_count(entries, body)
    jobs: list[tuple[JobSpec, Place]] = []
    for place, one in entries:
        found: dict[FieldError, None] = {}
        for chosen, combination in _combinations(one):
            spec, errors = validate(combination, max(0, MOST_ERRORS - len(problems)))
            located = Place(place, chosen)
            found |= dict.fromkeys(located.locate(error) for error in errors)
            if spec is not None:
                jobs.append((spec, located))
        problems += found
    if problems:
        raise refusal(problems, "The batch")
    return PostedBatch([spec for spec, _ in jobs], [place for _, place in jobs], label, notify)


def varied_fields(body: Any) -> list[str]:
    """Return the fields that make a grid of a spec, in the order of the spec."""
    return (
        [name for name in body if name in GRID_FIELDS and isinstance(body[name], list)]
        if isinstance(body, dict)
        else []
    )


def _combinations(body: Any) -> Iterator[tuple[dict[str, int], Any]]:
    """Yield every combination and the positions of its values; the field that was given last varies fastest."""
    varied = {name: body[name] for name in varied_fields(body)}
    for positions in itertools.product(*(range(len(values)) for values in varied.values())):
        chosen = dict(zip(varied, positions, strict=True))
        yield chosen, body | {name: varied[name][place] for name, place in chosen.items()} if varied else body


def _envelope_errors(body: dict[str, Any]) -> list[FieldError]:
    label = body.get("label")
    errors = [
        FieldError(name, f"A batch has no field {shown(name)}; its fields are {', '.join(BatchRequest.model_fields)}.")
        for name in body
        if name not in BatchRequest.model_fields
    ]
    if label is not None and not (isinstance(label, str) and len(label) <= LONGEST_LABEL):
        sentence = f"label is {shown(label)}; it must be text of at most {LONGEST_LABEL} characters."
        errors.append(FieldError("label", sentence))
    try:
        _NOTIFY.validate_python(body.get("notify"))
    except ValidationError:
        sentence = (
            f'notify is {shown(body["notify"])}; it must be an object such as {{"url": "https://example.org/ism"}}.'
        )
        errors.append(FieldError("notify", sentence))
    return errors


def _check_count(entries: list[tuple[str, Any]], body: Any) -> None:
    """Refuse too many jobs before they are made, and empty lists."""
    what = "The list" if isinstance(body, list) else "The grid"
    if not entries:
        raise refusal([FieldError("", f"{what} is empty; post at least one job.")])
    sizes = [{name: len(one[name]) for name in varied_fields(one)} for _, one in entries]
    empty = [
        FieldError(f"{place}{name}", f"{name} is an empty list; list the values to try.")
        for (place, _), lengths in zip(entries, sizes, strict=True)
        for name, length in lengths.items()
        if not length
    ]
    if empty:
        raise refusal(empty, what)
    count = sum(math.prod(lengths.values()) for lengths in sizes)
    if count > MAX_BATCH:
        factors = " × ".join(f"{length} values of {name}" for name, length in sizes[0].items())
        how = f" ({factors})" if len(entries) == 1 else ""
        sentence = f"{what} makes {counted(count, 'job')}{how}; post at most {MAX_BATCH:,} at once."
        raise refusal([FieldError("", sentence)])


def _or_list(field: FieldInfo) -> Any:
    """Return the type of a field that may hold one value or a list of values to try."""
    one: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    return Union[one, Annotated[list[one], Field(min_length=1, max_length=MAX_BATCH)]]  # noqa: UP007


def _grid(name: str, spec: type[CommonSpec], example: dict[str, Any]) -> type[CommonSpec]:
    """Return the model of a grid: a spec whose GRID_FIELDS hold one value or a list of values."""
    varied: dict[str, Any] = {}
    for field_name, field in spec.model_fields.items():
        if field_name in GRID_FIELDS:
            about = f"{field.description} Or a list of the values to try."
            default = ... if field.is_required() else field.default
            varied[field_name] = (_or_list(field), Field(default, description=about))
    about = f"{spec.__doc__} One job for each combination of the values listed."
    grid = create_model(name, __base__=spec, __doc__=about, **varied)
    grid.model_config["json_schema_extra"] = {"examples": [{"dataset": "3f9a1c52e07b4d68"} | example]}
    grid.model_rebuild(force=True)
    return grid


_EXAMPLES: dict[str, dict[str, Any]] = {
    "supervised": {"target": "class", "kernel": ["gaussian", "polynomial"], "q": [2, 3, 5]},
    "unsupervised": {"clusters": [2, 3, 4], "q": [2, 3]},
    "semi_supervised": {"scores": "severity", "clusters": 3, "mu": [1.0, 5.0, 25.0]},
    "alternative": {"clustering": "species", "clusters": 2, "mu": [5.0, 20.0, 80.0]},
}
_GRIDS = [
    _grid(spec.__name__.replace("Spec", "Grid"), spec, {"paradigm": name} | _EXAMPLES[name])
    for name, spec in SPECS.items()
]

# For the OpenAPI document only: `read_one` and `expand` parse requests, with better messages than those of a union.
JobGrid: Any = Annotated[Union[tuple(_GRIDS)], Field(discriminator="paradigm")]  # noqa: UP007
JobGrids: Any = Union[JobGrid, Annotated[list[JobGrid], Field(min_length=1, max_length=MAX_BATCH)]]  # noqa: UP007


class BatchRequest(Strict):
    """Jobs, with what belongs to all of them together."""

    jobs: JobGrids = Field(description="A grid, or a list of jobs and grids.")
    label: Annotated[str, StringConstraints(max_length=LONGEST_LABEL)] | None = Field(
        None, description="A name for the batch."
    )
    notify: Notify | None = Field(None, description="Whom to tell that all jobs of the batch have ended.")


_NOTIFY: TypeAdapter[Any] = TypeAdapter(Notify | None)
POSTED_JOB: TypeAdapter[Any] = TypeAdapter(JobSpec)
POSTED_JOBS: TypeAdapter[Any] = TypeAdapter(Union[JobGrids, BatchRequest])  # noqa: UP007
