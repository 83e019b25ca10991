import json

from ism_jobs.spec import kernel_catalogue, paradigm_catalogue
from ism_jobs.spec.kernels import KERNEL_NAMES
from ism_jobs.spec.paradigms import PARADIGM_NAMES, SPECS, read_spec


def test_every_kernel_and_combination_is_listed_with_an_example_that_works() -> None:
    entries = kernel_catalogue()
    assert [entry.name for entry in entries] == ["auto", *KERNEL_NAMES, "sum", "aligned"]
    for entry in entries:
        read_spec({"dataset": "wine", "paradigm": "supervised", "target": "class", "kernel": entry.example})
        assert entry.title
        assert entry.formula.startswith("f = ")
        assert entry.description.endswith(".")


def test_parameters_come_with_type_default_and_range() -> None:
    (polynomial,) = [entry for entry in kernel_catalogue() if entry.name == "polynomial"]
    degree, c, gamma = polynomial.parameters
    assert (degree.name, degree.type, degree.default, degree.minimum, degree.maximum) == ("degree", "integer", 3, 1, 20)
    assert (c.type, c.minimum, c.required) == ("number", 0, False)
    assert (gamma.type, gamma.types, gamma.default, gamma.choices) == (
        "number",
        ["string", "number"],
        "1/d",
        ["1/d", "auto"],
    )


def test_every_paradigm_is_listed_with_all_its_fields() -> None:
    entries = paradigm_catalogue()
    assert tuple(entry.name for entry in entries) == PARADIGM_NAMES
    for entry in entries:
        assert {parameter.name for parameter in entry.parameters} == set(SPECS[entry.name].model_fields) - {"paradigm"}
        assert all(parameter.description for parameter in entry.parameters)
        assert [parameter.common for parameter in entry.parameters] == sorted(p.common for p in entry.parameters)
        assert read_spec(entry.example).paradigm == entry.name


def test_the_numbers_of_the_computation_are_listed_for_every_paradigm() -> None:
    for entry in paradigm_catalogue():
        listed = {parameter.name: parameter for parameter in entry.parameters}
        assert listed["precision"].choices == ["double", "single"]
        assert listed["engine"].choices == ["local", "dask"]
        tolerance, approximation = listed["tolerance"], listed["approximation"]
        assert (tolerance.type, tolerance.types) == ("number", ["number", "null"])
        assert (tolerance.minimum, tolerance.maximum, tolerance.default) == (0, 0.01, None)
        assert (approximation.types, approximation.default) == (["object", "null"], None)


def test_required_parameters_are_marked() -> None:
    required = {entry.name: {p.name for p in entry.parameters if p.required} for entry in paradigm_catalogue()}
    assert required == {
        "supervised": {"dataset", "target"},
        "unsupervised": {"dataset", "clusters"},
        "semi_supervised": {"dataset", "clusters"},
        "alternative": {"dataset", "clusters", "clustering"},
    }


def test_the_catalogue_is_json() -> None:
    for entry in [*kernel_catalogue(), *paradigm_catalogue()]:
        json.dumps(entry.model_dump(mode="json"), allow_nan=False)
