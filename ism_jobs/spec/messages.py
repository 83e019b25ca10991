"""Error messages of specs, made from pydantic's errors: the field, the given value, what is allowed, what to change."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ism_jobs.errors import FieldError, InvalidSpec
from ism_jobs.sentences import alternatives, counted, did_you_mean, listed, named, nearest, shown
from ism_jobs.spec.kernels import ALIGNED, KERNEL_NAMES, KERNELS, NAME, OBJECT, SUM

MOST_ERRORS = 100  # that one response lists

# Names from other libraries, and their names here
SYNONYMS = {
    "n_components": "q",
    "dimensions": "q",
    "k": "clusters",
    "n_clusters": "clusters",
    "y": "target",
    "labels": "target",
    "class": "target",
    "kind": "target_kind",
    "random_state": "seed",
    "tol": "delta",
    "max_iterations": "max_iter",
    "data": "dataset",
    "columns": "features",
    "name": "label",
    "given": "clustering",
    "weight": "mu",
    "cv": "folds",
    "dtype": "precision",
    "n_init": "starts",
    "scaling": "scale",
    "rbf": "gaussian",
    "poly": "polynomial",
    "multiquadric": "multiquadratic",
    "n_neighbors": "neighbors",
    "coef0": "c",
    "bandwidth": "sigma",
}
A_KERNEL = (
    f"a name ({', '.join(KERNEL_NAMES)}) or an object with a name and parameters,"
    ' such as {"name": "polynomial", "degree": 3}'
)
COMBINED = ', {"sum": [{"weight": 1, "kernel": …}, …]} or {"aligned": [kernel, …]}'


def refusal(errors: Sequence[FieldError], what: str = "The job spec") -> InvalidSpec:
    """Return one InvalidSpec for all errors. A single error is its own message."""
    if len(errors) == 1:
        return InvalidSpec(errors[0].message, list(errors))
    fields = list(dict.fromkeys(error.field for error in errors if error.field))
    where = f", in {listed(fields)}" if fields else ""
    return InvalidSpec(f"{what} has {counted(len(errors), 'problem')}{where}.", list(errors[:MOST_ERRORS]))


def field_errors(
    error: ValidationError, model: type[BaseModel], owners: Mapping[str, Sequence[str]], most: int = MOST_ERRORS
) -> list[FieldError]:
    """Return a sentence for each of pydantic's errors; `owners` are the paradigms that have a field.

    Errors after the first `most` get no sentence: nobody reads them, and the search for suggestions is slow.
    """
    found = error.errors(include_url=False)
    described = [_field_error(details, model, owners) for details in found[:most]]
    return described + [FieldError(".".join(_path(details["loc"])), "") for details in found[most:]]


def suggested(name: Any, names: Iterable[str]) -> str | None:
    """Return the name that was probably meant."""
    if not isinstance(name, str):
        return None
    synonym = SYNONYMS.get(name.lower())
    return synonym if synonym in (known := tuple(names)) else _nearest(name, known)


@lru_cache(maxsize=1_000)  # the combinations of a grid repeat the same wrong names
def _nearest(name: str, names: tuple[str, ...]) -> str | None:
    return nearest(name, names)


def _field_error(details: ErrorDetails, model: type[BaseModel], owners: Mapping[str, Sequence[str]]) -> FieldError:
    kind, given, context = details["type"], details["input"], details.get("ctx", {})
    path = _path(details["loc"])
    if kind == "extra_forbidden":  # the client wrote this name, even if it equals one of the tags
        path = [*_path(details["loc"][:-1]), str(details["loc"][-1])]
    field = ".".join(path)
    if kind == "sentence":
        return FieldError(field, context["sentence"])
    if details["loc"][-1:] == ("[key]",):
        return FieldError(path[0], f"{path[0]} has the name {shown(given)}; it must {_demand(kind, context)}.")
    if kind == "extra_forbidden":
        return FieldError(field, _unknown_field(details["loc"], path, model, owners))
    if kind == "missing":
        return FieldError(field, _missing_field(path, model))
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _wrong_kernel(path, given)
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", context["expected"])
        allowed = f"it must be {alternatives(choices)}."
        return FieldError(field, did_you_mean(f"{field} is {shown(given)}", suggested(given, choices), allowed))
    return FieldError(field, f"{_subject(field, kind, given)}; it must {_demand(kind, context)}.")


def _subject(field: str, kind: str, given: Any) -> str:
    if kind in ("too_short", "too_long") and given:
        return f"{field} has {counted(len(given), 'entry', 'entries')}"
    if kind == "string_too_long":
        return f"{field} has {len(given):,} characters"
    if kind == "string_too_short":
        return f"{field} is empty"
    return f"{field} is {shown(given)}"


def _demand(kind: str, context: Mapping[str, Any]) -> str:
    """Return what the field must be, after the word "must"."""
    if kind == "allowed":
        return f"be {context['allowed']}"
    of_text = ("character", "characters") if kind.startswith("string") else ("entry", "entries")
    if kind in ("too_short", "string_too_short"):
        return f"have at least {counted(context['min_length'], *of_text)}"
    if kind in ("too_long", "string_too_long"):
        return f"have at most {counted(context['max_length'], *of_text)}"
    return {
        "string_type": "be text, in quotes",
        "string_unicode": "be text that can be written in UTF-8",
        "list_type": "be a list",
        "dict_type": "be an object whose values are text",
        "model_type": "be an object",
        "model_attributes_type": "be an object",
    }.get(kind, "be valid: see the schema of this field")


def _path(location: tuple[int | str, ...]) -> list[str]:
    """Return the location as the client would write it, without the tags of the unions."""
    path: list[str] = []
    parts = iter(location)
    for part in parts:
        if part == OBJECT:
            next(parts, None)  # the kernel's name, which is a tag too
        elif part not in (NAME, SUM, ALIGNED, "[key]"):
            path.append(str(part))
    return path


def _unknown_field(
    location: tuple[int | str, ...], path: list[str], model: type[BaseModel], owners: Mapping[str, Sequence[str]]
) -> str:
    name, inside = path[-1], location[:-1]
    if OBJECT in inside:
        return _unknown_parameter(name, str(inside[-1]))
    if inside:
        return f"{'.'.join(path[:-1])} has no field {named(name)}; leave it out."
    if name in owners:
        return f"{name} is for {' and '.join(owners[name])} jobs, and this one is {_paradigm_of(model)}; leave it out."
    for kernel, simple in KERNELS.items():
        if name in simple.model_fields and name != "name":
            return f'{name} belongs to the kernel: write it inside, as in {{"name": "{kernel}", "{name}": …}}.'
    names = list(model.model_fields)
    return did_you_mean(
        f"There is no field {named(name)}", suggested(name, names), f"the fields are {', '.join(names)}."
    )


def _unknown_parameter(name: str, kernel: str) -> str:
    names = [field for field in KERNELS[kernel].model_fields if field != "name"]
    have = (
        f"its parameters are {listed(names)}." if len(names) > 1 else f"its parameter is {names[0]}." if names else ""
    )
    allowed = have or "it has no parameters; leave it out."
    return did_you_mean(f"The {kernel} kernel has no parameter {named(name)}", suggested(name, names), allowed)


def _missing_field(path: list[str], model: type[BaseModel]) -> str:
    field = model.model_fields.get(path[0]) if len(path) == 1 else None
    if field is None or field.description is None:
        return f"{'.'.join(path)} is missing, and there is no default for it."
    return f"{path[0]} is missing: {field.description[0].lower()}{field.description[1:]}"


def _wrong_kernel(path: list[str], given: Any) -> FieldError:
    where = ".".join(path)
    if isinstance(given, dict) and not isinstance(given.get("name", ""), str):
        sentence = f"{where}.name is {shown(given['name'])}; it must be {alternatives(KERNEL_NAMES)}."
        return FieldError(f"{where}.name", sentence)
    if isinstance(given, dict) and "name" in given:
        problem = f"There is no kernel {shown(given['name'])}"
        suggestion = suggested(given["name"], KERNEL_NAMES)
        return FieldError(
            f"{where}.name", did_you_mean(problem, suggestion, f"the kernels are {', '.join(KERNEL_NAMES)}.")
        )
    combined = COMBINED if path == ["kernel"] else ""
    return FieldError(where, f"{where} is {shown(given)}; it must be {A_KERNEL}{combined}.")


def _paradigm_of(model: type[BaseModel]) -> str:
    field = model.model_fields.get("paradigm")
    return "another" if field is None else str(field.annotation).split("'")[1]
