"""Valid specs, whatever comes instead, and what ism_core and the JSON Schema say of the same fields."""

import dataclasses
import inspect
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ism_core import Alternative, InvalidInput, SemiSupervised, SupervisedISM, iter_solve
from ism_core.kernels import KERNELS as CORE_KERNELS
from ism_jobs.errors import InvalidSpec
from ism_jobs.spec.common import CommonSpec
from ism_jobs.spec.kernels import KERNEL_NAMES, KERNELS, kernel_object
from ism_jobs.spec.paradigms import JOB_SPEC, PARADIGM_NAMES, SPECS, SupervisedSpec, read_spec
from tests.ism_jobs.spec.test_paradigms import body

names = st.text(min_size=1, max_size=12).filter(lambda name: name.encode("utf-8", "ignore").decode() == name)
positive = st.floats(1e-50, 1e50)
simple_kernels = st.one_of(
    st.sampled_from(KERNEL_NAMES),
    st.fixed_dictionaries({"name": st.just("gaussian")}, optional={"sigma": st.just("median") | positive}),
    st.fixed_dictionaries(
        {"name": st.just("polynomial")},
        optional={"degree": st.integers(1, 20), "c": st.floats(1e-50, 1e4), "gamma": st.just("1/d") | positive},
    ),
    st.fixed_dictionaries({"name": st.just("relative_gaussian")}, optional={"neighbors": st.integers(1, 1000)}),
    st.fixed_dictionaries({"name": st.just("multiquadratic")}, optional={"c": positive | st.integers(1, 9)}),
)
weighted = st.fixed_dictionaries({"kernel": simple_kernels}, optional={"weight": st.floats(1e-3, 1e50)})
kernel_specs = simple_kernels | st.fixed_dictionaries({"sum": st.lists(weighted, min_size=1, max_size=10)})
common = {
    "kernel": kernel_specs,
    "q": st.integers(1, 20_000),
    "delta": st.floats(0, 1, exclude_min=True),
    "features": st.sampled_from(["auto", "all"]) | st.lists(names, min_size=1, max_size=4, unique=True),
    "categorical": st.sampled_from(["auto", "refuse", "onehot"]),
    "missing": st.sampled_from(["auto", "refuse", "mean", "median", "drop"]),
    "scale": st.sampled_from(["standard", "none"]),
    "max_iter": st.integers(1, 100_000),
    "starts": st.none() | st.integers(1, 1000),
    "seed": st.integers(0, 2**32 - 1),
    "precision": st.sampled_from(["double", "single"]),
    "tolerance": st.none() | st.floats(0, 1e-2),
    "engine": st.sampled_from(["local", "dask"]),
    "folds": st.just(0) | st.integers(2, 20),
    "label": st.none() | names,
    "metadata": st.dictionaries(names, names, max_size=3),
}
some_columns = names | st.lists(names, min_size=1, max_size=3, unique=True)
own: dict[str, dict[str, Any]] = {
    "supervised": {"target": some_columns},
    "unsupervised": {"clusters": st.integers(1, 1000)},
    "semi_supervised": {"scores": some_columns, "clusters": st.integers(1, 1000), "mu": st.floats(0, 1e6)},
    "alternative": {"clustering": names, "clusters": st.integers(1, 9), "reference": st.none() | names},
}
bodies = st.sampled_from(PARADIGM_NAMES).flatmap(
    lambda paradigm: st.fixed_dictionaries(
        {"dataset": names, "paradigm": st.just(paradigm)} | own[paradigm], optional=common
    )
)


@settings(max_examples=80, deadline=None)
@given(bodies)
def test_a_valid_spec_survives_json(valid: dict[str, Any]) -> None:
    spec = read_spec(valid)
    dumped = spec.model_dump(mode="json")
    assert read_spec(json.loads(json.dumps(dumped, allow_nan=False))) == spec
    assert JOB_SPEC.validate_json(spec.model_dump_json()) == spec
    assert all(dumped[name] == value for name, value in valid.items() if name != "kernel")
    kernel = kernel_object(spec.kernel)
    assert kernel_object(kernel) == kernel


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
fields = st.sampled_from(sorted({name for spec in SPECS.values() for name in spec.model_fields}))
odd_kernels = st.fixed_dictionaries({}, optional={"name": anything, "sum": anything, "aligned": anything})


@settings(max_examples=120, deadline=None)
@given(bodies, st.dictionaries(fields, anything | odd_kernels, max_size=3) | st.dictionaries(st.text(), anything))
def test_whatever_comes_is_read_or_told_in_our_own_words(valid: dict[str, Any], other: dict[str, Any]) -> None:
    try:
        read_spec(valid | other)
    except InvalidSpec as refusal:
        for error in refusal.errors:
            assert error.message.encode("utf-8")
            assert error.message.endswith((".", "?"))
            assert "see the schema" not in error.message
            assert "Input should" not in error.message


# --- what ism_core says of the same things


def test_kernels_have_the_names_and_defaults_of_the_core() -> None:
    assert tuple(CORE_KERNELS) == KERNEL_NAMES == tuple(KERNELS)
    for name, kernel in CORE_KERNELS.items():
        core = {field.name: field.default for field in dataclasses.fields(kernel) if field.repr}
        spec = KERNELS[name].model_validate({"name": name}).model_dump(exclude={"name"})
        assert spec == core


@pytest.mark.parametrize("name", KERNEL_NAMES)
@pytest.mark.parametrize("value", [-1, 0, 1e-51, 1e-50, 0.5, 1, 2, 20, 21, 1e4, 1e50, 1.1e50, math.nan, math.inf, True])
def test_a_kernel_that_is_accepted_here_is_accepted_by_the_core(name: str, value: float) -> None:
    for parameter in set(KERNELS[name].model_fields) - {"name"}:
        try:
            spec = read_spec(body(kernel={"name": name, parameter: value}))
        except InvalidSpec:
            if parameter == "neighbors" and value != 0:  # bounded here, for memory's sake
                continue
            if (parameter, value) in (("degree", 1e4), ("c", 1e50)):
                continue
            with pytest.raises(InvalidInput):
                CORE_KERNELS[name](**{parameter: value})
        else:
            kernel = spec.kernel
            assert not isinstance(kernel, str)
            CORE_KERNELS[name](**kernel.model_dump(exclude={"name"}))


def test_settings_have_the_defaults_of_the_core() -> None:
    iterating = inspect.signature(iter_solve).parameters
    estimating = inspect.signature(SupervisedISM).parameters
    defaults = {name: field.default for name, field in CommonSpec.model_fields.items()}
    assert read_spec(body(kernel="gaussian")).delta == iterating["delta"].default
    for name in ("max_iter", "starts", "seed", "precision", "tolerance", "approximation", "engine"):
        assert defaults[name] == iterating[name].default
    assert defaults["features_per_axis"] is iterating["features_per_axis"].default is None
    for name in ("kernel", "scale", "delta"):
        assert defaults[name] == estimating[name].default
    for kernel in ("auto", "gaussian"):
        assert read_spec(body(kernel=kernel)).q == SupervisedISM(kernel)._q
    assert SupervisedSpec.model_fields["balance"].default is estimating["balance"].default
    for paradigm, core in (("semi_supervised", SemiSupervised), ("alternative", Alternative)):
        assert SPECS[paradigm].model_fields["mu"].default == inspect.signature(core).parameters["mu"].default


# --- the schema


def test_every_field_is_described() -> None:
    schema = JOB_SPEC.json_schema()
    for model in schema["$defs"].values():
        assert model["description"]
        assert model["additionalProperties"] is False
        for name, field in model["properties"].items():
            assert field.get("description"), (model["title"], name)


@pytest.mark.parametrize("paradigm", PARADIGM_NAMES)
def test_the_examples_are_valid(paradigm: str) -> None:
    schema = SPECS[paradigm].model_json_schema()
    for example in schema["examples"]:
        assert read_spec(example).paradigm == paradigm
    for name, field in schema["properties"].items():
        for example in field.get("examples", []):
            read_spec(body(paradigm) | {name: example})


def test_the_schema_tells_ranges_and_defaults() -> None:
    fields = SupervisedSpec.model_json_schema()["properties"]
    assert fields["q"]["anyOf"] == [
        {"type": "integer", "minimum": 1, "maximum": 20_000},
        {"type": "string", "const": "auto"},
        {"type": "null"},
    ]
    assert fields["kernel"]["default"] == "auto"
    assert fields["q"]["default"] is None
    delta = fields["delta"]["anyOf"][0]
    assert (delta["exclusiveMinimum"], delta["maximum"]) == (0, 1)
    assert fields["balance"]["type"] == "boolean"
    assert fields["folds"]["anyOf"][1] == {"type": "integer", "const": 0}
    assert fields["tolerance"]["anyOf"] == [{"type": "number", "minimum": 0, "maximum": 0.01}, {"type": "null"}]
    sigma = KERNELS["gaussian"].model_json_schema()["properties"]["sigma"]
    assert sigma["anyOf"] == [
        {"type": "string", "const": "median"},
        {"type": "string", "const": "auto"},
        {"type": "number", "minimum": 1e-50, "maximum": 1e50},
    ]
