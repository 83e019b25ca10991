"""What can be posted: one spec, a list of specs, or a grid, which is a spec with lists of values to try."""

import itertools
import math
from typing import Annotated, Any, Union

from pydantic import Field, TypeAdapter, create_model
from pydantic.fields import FieldInfo

from ism_jobs.errors import FieldError
from ism_jobs.sentences import counted
from ism_jobs.spec.common import CommonSpec
from ism_jobs.spec.messages import MOST_ERRORS, refusal
from ism_jobs.spec.paradigms import SPECS, JobSpec, validate

MAX_BATCH = 1_000  # jobs in one request

# In these fields a list holds values to try. In any other field it is a value, or an error.
GRID_FIELDS = (
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


def expand(body: Any) -> tuple[list[JobSpec], bool]:
    """Return the specs that were posted, and whether they are a batch; raise InvalidSpec with every problem."""
    if isinstance(body, list):
        return _listed(body), True
    if isinstance(body, dict) and any(isinstance(body.get(name), list) for name in GRID_FIELDS):
        return _product(body), True
    spec, errors = validate(body)
    if spec is None:
        raise refusal(errors)
    return [spec], False


def _listed(bodies: list[Any]) -> list[JobSpec]:
    _check_count(len(bodies), "The list", "")
    specs: list[JobSpec] = []
    problems: list[FieldError] = []
    for position, body in enumerate(bodies):
        varied = [name for name in GRID_FIELDS if isinstance(body, dict) and isinstance(body.get(name), list)]
        if varied:
            sentence = (
                f"{varied[0]} is a list, which makes job {position} a grid; a grid cannot be part of a list of jobs."
                " Post it by itself."
            )
            problems.append(FieldError(f"{position}.{varied[0]}", sentence))
            continue
        spec, errors = validate(body, max(0, MOST_ERRORS - len(problems)))
        problems += [FieldError(f"{position}.{error.field}".rstrip("."), error.message) for error in errors]
        if spec is not None:
            specs.append(spec)
    if problems:
        raise refusal(problems, "The list of jobs")
    return specs


def _product(body: dict[str, Any]) -> list[JobSpec]:
    """Return every combination; the field that was given last varies fastest."""
    varied = {name: values for name, values in body.items() if name in GRID_FIELDS and isinstance(values, list)}
    empty = [
        FieldError(name, f"{name} is an empty list; list the values to try.") for name in varied if not varied[name]
    ]
    if empty:
        raise refusal(empty, "The grid")
    sizes = " × ".join(f"{len(values)} values of {name}" for name, values in varied.items())
    _check_count(math.prod(len(values) for values in varied.values()), "The grid", f" ({sizes})")
    specs: list[JobSpec] = []
    problems: dict[FieldError, None] = {}
    for positions in itertools.product(*(range(len(values)) for values in varied.values())):
        chosen = dict(zip(varied, positions, strict=True))
        spec, errors = validate(body | {name: varied[name][position] for name, position in chosen.items()})
        problems |= dict.fromkeys(_located(error, chosen) for error in errors)
        if spec is not None:
            specs.append(spec)
    if problems:
        raise refusal(list(problems), "The grid")
    return specs


def _located(error: FieldError, chosen: dict[str, int]) -> FieldError:
    """Return the error with the position of its value in the list of the grid: "q" becomes "q.1"."""
    name, *rest = error.field.split(".")
    return FieldError(".".join([name, str(chosen[name]), *rest]), error.message) if name in chosen else error


def _check_count(count: int, what: str, how: str) -> None:
    if count == 0:
        raise refusal([FieldError("", f"{what} is empty; post at least one job.")])
    if count > MAX_BATCH:
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

# For the OpenAPI document only: `expand` parses requests, with better messages than those of a union.
JobGrid: Any = Annotated[Union[tuple(_GRIDS)], Field(discriminator="paradigm")]  # noqa: UP007
PostedJobs: Any = Union[JobSpec, Annotated[list[JobSpec], Field(min_length=1, max_length=MAX_BATCH)], JobGrid]  # noqa: UP007
POSTED_JOBS: TypeAdapter[Any] = TypeAdapter(PostedJobs)
