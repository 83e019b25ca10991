import math
from typing import Any

import pytest

from ism_jobs.errors import InvalidSpec
from ism_jobs.spec.kernels import AlignedKernel, SumKernel, kernel_object
from ism_jobs.spec.paradigms import read_spec

OWN: dict[str, dict[str, Any]] = {
    "supervised": {"target": "class"},
    "unsupervised": {"clusters": 3},
    "semi_supervised": {"scores": "severity", "clusters": 3},
    "alternative": {"clustering": "species", "clusters": 2},
}


def body(paradigm: str = "supervised", **fields: Any) -> dict[str, Any]:
    return {"dataset": "wine", "paradigm": paradigm} | OWN.get(paradigm, {}) | fields


def refusal_of(wrong: Any) -> InvalidSpec:
    with pytest.raises(InvalidSpec) as caught:
        read_spec(wrong)
    return caught.value


def errors_of(wrong: Any) -> dict[str, str]:
    return {error.field: error.message for error in refusal_of(wrong).errors}


def without(spec: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in spec.items() if name != field}


WRONG_BODIES: list[tuple[Any, str, str]] = [
    (5, "", "A job must be an object such as"),
    (None, "", "not null."),
    (without(body(), "dataset"), "dataset", "is missing: the id of an uploaded data set"),
    (without(body(), "paradigm"), "paradigm", 'must be "supervised", "unsupervised", "semi_supervised" or'),
    (without(body(), "target"), "target", "is missing: the column with the classes"),
    (without(body("unsupervised"), "clusters"), "clusters", "is missing: the number of clusters"),
    (body("superviced"), "paradigm", 'did you mean "supervised"?'),
    (body("semi-supervised"), "paradigm", 'did you mean "semi_supervised"?'),
    (body() | {"paradigm": ["supervised"]}, "paradigm", 'is ["supervised"]; it must be'),
    (body() | {"paradigm": None}, "paradigm", "is null"),
    (body(dataset=7), "dataset", "is 7; it must be text"),
    (body(dataset=""), "dataset", "is empty"),
    (body(datset="x"), "datset", 'did you mean "dataset"?'),
    (body(n_components=3), "n_components", 'did you mean "q"?'),
    (body(random_state=3), "random_state", 'did you mean "seed"?'),
    (body("unsupervised", k=3), "k", 'did you mean "clusters"?'),
    (body(whatever=3), "whatever", "the fields are dataset, kernel, q"),
    (body(clusters=3), "clusters", "is for unsupervised and semi_supervised and alternative jobs"),
    (body("unsupervised", mu=3), "mu", "this one is unsupervised; leave it out"),
    (body(**{"<kernel sum>": 1}), "<kernel sum>", "There is no field"),
    (body(sigma=3), "sigma", 'write it inside, as in {"name": "gaussian", "sigma": …}'),
    (body(q=0), "q", 'q is 0; it must be "auto" or a whole number from 1 to 20,000, or null for the default.'),
    (body(q="2"), "q", 'is "2"; it must be "auto" or a whole number'),
    (body(q=True), "q", 'is true; it must be "auto" or a whole number'),
    (body(q=2.5), "q", 'is 2.5; it must be "auto" or a whole number'),
    (body(q=10**5000), "q", "is a whole number of about 5,000 digits"),
    (body(balance="yes"), "balance", 'is "yes"; it must be true or false'),
    (body("unsupervised", clusters=3, balance=True), "balance", "is for supervised jobs"),
    (body(kernel="polynomial", neighbors=True), "neighbors", "is for Gaussian kernels"),
    (body(balance=True, neighbors=True), "neighbors", "cannot be combined with balance; leave out one"),
    (
        body(kernel="gaussian", approximation={"features": 64}, neighbors=True),
        "neighbors",
        "cannot be combined with approximation; leave out one",
    ),
    (body(kernel="linear", starts="path"), "starts", "has no width to follow"),
    (body("unsupervised", starts="path"), "starts", "is for supervised jobs"),
    (
        body(starts="road"),
        "starts",
        'is "road"; it must be "path", "interactions" or a whole number from 1 to 1,000, or null',
    ),
    (body(delta=0), "delta", "must be a number above 0 and at most 1"),
    (body(delta=1.5), "delta", "is 1.5"),
    (body(delta=math.nan), "delta", "is NaN"),
    (body(delta=-math.inf), "delta", "is -Infinity"),
    (body(delta="0.1"), "delta", 'is "0.1"'),
    (body(delta=False), "delta", "is false"),
    (body(max_iter=100_001), "max_iter", "from 1 to 100,000"),
    (body(starts=0), "starts", "from 1 to 1,000, or null for the default"),
    (body(seed=-1), "seed", "from 0 to 4,294,967,295"),
    (body(seed=2**32), "seed", "from 0 to 4,294,967,295"),
    (body(precision="float32"), "precision", 'is "float32"; it must be "double" or "single".'),
    (body(precision=32), "precision", "is 32"),
    (body(dtype="single"), "dtype", 'did you mean "precision"?'),
    (body(tolerance=-1e-9), "tolerance", "is -1e-09; it must be a number from 0 to 0.01, or null for the default."),
    (body(tolerance=0.02), "tolerance", "is 0.02"),
    (body(tolerance="1e-6"), "tolerance", 'is "1e-6"'),
    (body(tolerance=True), "tolerance", "is true"),
    (body(resamples=1), "resamples", "is 1; it must be"),
    (body(features_per_axis=0), "features_per_axis", "is 0; it must be a whole number from 1 to 20,000"),
    (body(features_per_axis="all"), "features_per_axis", "must be a whole number"),
    (body(approximation=2048), "approximation", 'must be an object such as {"features": 2048}, or null for none.'),
    (body(approximation={}), "approximation.features", "is missing"),
    (body(approximation={"features": 15}), "approximation.features", "from 16 to 65,536"),
    (body(approximation={"features": 65_537}), "approximation.features", "from 16 to 65,536"),
    (body(approximation={"features": 99.5}), "approximation.features", "is 99.5; it must be a whole number"),
    (body(approximation={"features": 64, "seed": 1}), "approximation.seed", 'approximation has no field "seed"'),
    (body(engine="spark"), "engine", 'is "spark"; it must be "local" or "dask".'),
    (body(engine=None), "engine", "is null"),
    (body(folds=1), "folds", "must be 0 or a whole number from 2 to 20"),
    (body(folds=21), "folds", "is 21"),
    (body(scale="standart"), "scale", 'did you mean "standard"? It must be "standard", "whiten", "none" or "auto".'),
    (body(missing=3), "missing", 'is 3; it must be "auto", "refuse", "mean", "median" or "drop"'),
    (body(categorical="one-hot"), "categorical", 'did you mean "onehot"?'),
    (body(target_kind="labels"), "target_kind", 'must be "auto", "classes" or "values"'),
    (body(label="x" * 201), "label", "has 201 characters; it must have at most 200"),
    (body(label=5), "label", "must be text"),
    (body(metadata={"run": 3}), "metadata.run", "is 3; it must be text, in quotes"),
    (body(metadata={"run": "x" * 501}), "metadata.run", "at most 500"),
    (body(metadata={str(i): "" for i in range(21)}), "metadata", "has 21 entries; it must have at most 20"),
    (body(metadata={"": "x"}), "metadata", 'has the name ""; it must have at least 1 character'),
    (body(metadata=[]), "metadata", "must be an object"),
    (body(features="ash"), "features", 'is "ash"; it must be "auto", "all" or a list of 1 to 20,000 column names'),
    (body(features=[]), "features", "is an empty list"),
    (body(features=["ash", 3]), "features", "or a list of"),
    (body(features=["ash", "ash"]), "features", 'The column "ash" is named twice'),
    (body(target=[]), "target", "must be the name of a column, or a list"),
    (body(target=["a", "b", "a"]), "target", '"a" is named twice'),
    (body(target="\ud800"), "target", "must be the name of a column"),
    (body(label="\ud800"), "label", "must be text that can be written"),
    (body("unsupervised", clusters=0), "clusters", "from 1 to 1,000"),
    (body("unsupervised", reference=3), "reference", "must be text"),
    (body("semi_supervised", mu=-1), "mu", "from 0 to 1,000,000"),
    (body("alternative", mu="20"), "mu", "must be a number"),
    (body("alternative", clustering=["a"]), "clustering", "must be text"),
]

WRONG_KERNELS: list[tuple[Any, str, str]] = [
    (5, "kernel", "is 5; it must be a name (linear, squared"),
    (None, "kernel", "is null"),
    (["linear"], "kernel", 'is ["linear"]'),
    ({}, "kernel", "is an empty object"),
    ("gausian", "kernel", 'did you mean "gaussian"?'),
    ("rbf", "kernel", 'did you mean "gaussian"?'),
    ({"name": "rbf"}, "kernel.name", 'There is no kernel "rbf"; did you mean "gaussian"?'),
    ({"name": "sinc"}, "kernel.name", "the kernels are linear"),
    ({"name": []}, "kernel.name", "is an empty list"),
    (
        {"name": "gaussian", "sigma": 0},
        "kernel.sigma",
        'is 0; it must be "median", "auto" or a number from 1e-50 to 1e50',
    ),
    ({"name": "gaussian", "sigma": "path"}, "kernel.sigma", 'is "path"'),
    (
        {"aligned": ["linear", {"name": "gaussian", "sigma": "auto"}]},
        "kernel.aligned",
        "not allowed in a sum of kernels",
    ),
    (
        {"sum": [{"kernel": {"name": "polynomial", "gamma": "auto"}}]},
        "kernel.sum.0.kernel",
        'gamma is "auto", which is not allowed in a sum of kernels; give a number',
    ),
    ({"name": "gaussian", "degree": 3}, "kernel.degree", "The gaussian kernel has no parameter"),
    ({"name": "linear", "sigma": 3}, "kernel.sigma", "it has no parameters; leave it out"),
    ({"name": "polynomial", "degree": 0}, "kernel.degree", "from 1 to 20"),
    ({"name": "polynomial", "degree": 2.5}, "kernel.degree", "is 2.5"),
    ({"name": "polynomial", "c": -1}, "kernel.c", "must be 0 or a number from 1e-50 to 1e50"),
    ({"name": "polynomial", "coef0": 1}, "kernel.coef0", 'did you mean "c"?'),
    ({"name": "polynomial", "c": 1e10, "degree": 20}, "kernel", "too large to compute with; lower c or degree"),
    ({"name": "relative_gaussian", "neighbors": 0}, "kernel.neighbors", "from 1 to 1,000"),
    ({"name": "multiquadratic", "c": 0}, "kernel.c", "from 1e-50 to 1e50"),
    ({"sum": []}, "kernel.sum", "is an empty list; it must have at least 1"),
    ({"sum": "linear"}, "kernel.sum", "must be a list"),
    ({"sum": [4]}, "kernel.sum.0", "must be an object"),
    ({"sum": [{"weight": 1}]}, "kernel.sum.0.kernel", "is missing"),
    ({"sum": [{"weight": -1, "kernel": "linear"}]}, "kernel.sum.0.weight", "from 0 to 1e50"),
    ({"sum": [{"weight": 0, "kernel": "linear"}]}, "kernel.sum", "All weights in the sum of kernels are 0"),
    ({"sum": [{"kernel": {"sum": []}}]}, "kernel.sum.0.kernel", "must be a name"),
    ({"sum": [{"kernel": {"name": "gaussian", "sigma": -2}}]}, "kernel.sum.0.kernel.sigma", "is -2"),
    ({"sum": [{"kernel": "linear"}] * 11}, "kernel.sum", "has 11 entries; it must have at most 10"),
    ({"sum": [{"kernel": "linear"}], "aligned": []}, "kernel.aligned", "leave it out"),
    ({"aligned": ["linear"]}, "kernel.aligned", "has 1 entry; it must have at least 2"),
    ({"aligned": ["linear", "gausian"]}, "kernel.aligned.1", 'did you mean "gaussian"?'),
    ({"aligned": ["linear", {"sum": []}]}, "kernel.aligned.1", "must be a name"),
]


@pytest.mark.parametrize(("wrong", "field", "fragment"), WRONG_BODIES)
def test_a_wrong_spec_is_told_by_field(wrong: Any, field: str, fragment: str) -> None:
    assert fragment in errors_of(wrong)[field]


@pytest.mark.parametrize(("kernel", "field", "fragment"), WRONG_KERNELS)
def test_a_wrong_kernel_is_told_by_field(kernel: Any, field: str, fragment: str) -> None:
    assert fragment in errors_of(body(kernel=kernel))[field]


@pytest.mark.parametrize("paradigm", ["unsupervised", "alternative"])
def test_an_aligned_kernel_needs_something_to_agree_with(paradigm: str) -> None:
    aligned = {"aligned": ["linear", "gaussian"]}
    assert "give the weights yourself" in errors_of(body(paradigm, kernel=aligned))["kernel"]
    assert isinstance(read_spec(body("semi_supervised", kernel=aligned)).kernel, AlignedKernel)


@pytest.mark.parametrize(
    ("kernel", "fragment"),
    [
        ("linear", 'is for a kernel with "gaussian" or "multiquadratic" in it'),
        ({"name": "polynomial", "degree": 2}, "Leave approximation out"),
        ({"sum": [{"kernel": "linear"}, {"kernel": "squared"}]}, 'is for a kernel with "gaussian"'),
        ({"sum": [{"kernel": "linear"}, {"weight": 0, "kernel": "gaussian"}]}, 'is for a kernel with "gaussian"'),
        ("relative_gaussian", "The relative_gaussian kernel has no random features"),
        ({"aligned": ["gaussian", "relative_gaussian"]}, "The relative_gaussian kernel has no random features"),
    ],
)
def test_an_approximation_needs_a_kernel_that_has_one(kernel: Any, fragment: str) -> None:
    wrong = body(kernel=kernel, approximation={"features": 64})
    assert fragment in errors_of(wrong)["approximation"]
    assert read_spec(wrong | {"approximation": None}).approximation is None


@pytest.mark.parametrize(
    "kernel",
    [
        "gaussian",
        {"name": "multiquadratic", "c": 2},
        {"sum": [{"kernel": "linear"}, {"kernel": "gaussian"}]},
        {"sum": [{"kernel": "gaussian"}, {"weight": 0, "kernel": "relative_gaussian"}]},
        {"aligned": ["polynomial", "multiquadratic"]},
    ],
)
def test_an_approximation_of_what_can_be_approximated_is_taken(kernel: Any) -> None:
    spec = read_spec(body(kernel=kernel, approximation={"features": 2048.0}))
    assert spec.approximation is not None
    assert spec.approximation.model_dump() == {"features": 2048}


def test_a_wrong_kernel_is_not_also_told_of_its_approximation() -> None:
    assert set(errors_of(body(kernel="liner", approximation={"features": 64}))) == {"kernel"}


def test_the_numbers_of_the_computation_are_taken() -> None:
    spec = read_spec(body(precision="single", tolerance=0, engine="dask"))
    assert (spec.precision, spec.tolerance, spec.approximation, spec.engine) == ("single", 0.0, None, "dask")
    assert read_spec(body(tolerance=1e-2)).tolerance == 0.01
    assert read_spec(body(tolerance=None)) == read_spec(body())


def test_every_problem_is_told_at_once() -> None:
    wrong = body("unsupervised", q=0, delta=2, kernel={"name": "gaussian", "sigma": -1}, clusters=None, color=1)
    refusal = refusal_of(wrong)
    assert {error.field for error in refusal.errors} == {"q", "delta", "kernel.sigma", "clusters", "color"}
    assert refusal.detail.startswith("The job spec has 5 problems, in kernel.sigma, q, delta")


def test_a_problem_that_stands_alone_is_the_detail() -> None:
    allowed = "0 or a whole number from 2 to 20, or null for the default"
    assert refusal_of(body(folds=1)).detail == f"folds is 1; it must be {allowed}."


def test_a_misspelled_paradigm_does_not_hide_other_problems() -> None:
    assert set(errors_of(without(body("superviced", q=0), "dataset"))) == {"paradigm", "q", "dataset", "target"}
    assert set(errors_of({"q": 0})) == {"paradigm", "q", "dataset"}


def test_whole_numbers_may_be_written_with_a_point() -> None:
    spec = read_spec(body(q=3.0, starts=2.0, kernel={"name": "polynomial", "degree": 2.0}))
    assert (spec.q, spec.starts) == (3, 2)
    assert type(spec.q) is int


def test_a_spec_keeps_what_was_given_and_gives_one_normal_form() -> None:
    assert read_spec(body(kernel="gaussian")).kernel == "gaussian"
    assert kernel_object("gaussian").model_dump() == {"name": "gaussian", "sigma": "median"}
    summed = read_spec(body(kernel={"sum": [{"kernel": "polynomial"}, {"weight": 2, "kernel": {"name": "linear"}}]}))
    normal = kernel_object(summed.kernel)
    assert isinstance(normal, SumKernel)
    assert normal.model_dump()["sum"][0] == {
        "weight": 1.0,
        "kernel": {"name": "polynomial", "degree": 3, "c": 1.0, "gamma": "1/d"},
    }
    aligned = kernel_object(read_spec(body(kernel={"aligned": ["linear", "squared"]})).kernel)
    assert isinstance(aligned, AlignedKernel)
    assert [getattr(part, "name", None) for part in aligned.aligned] == ["linear", "squared"]


def test_a_supervised_job_chooses_what_it_is_not_told() -> None:
    spec = read_spec(body())
    assert (spec.kernel, spec.q, spec.scale, spec.delta) == ("auto", "auto", "auto", None)
    assert spec.has_automatic_settings
    spec = read_spec(body(q=3, scale="standard", delta=0.02))
    assert (spec.kernel, spec.q, spec.scale, spec.delta) == ("auto", 3, "standard", 0.02)


def test_a_job_that_names_its_kernel_chooses_nothing_unless_it_says_so() -> None:
    spec = read_spec(body(kernel="gaussian"))
    assert (spec.q, spec.scale, spec.delta) == (2, "standard", 0.01)
    assert not spec.has_automatic_settings
    spec = read_spec(body(kernel={"name": "gaussian", "sigma": "auto"}))
    assert (spec.q, spec.scale, spec.delta) == (2, "standard", None)
    assert all(read_spec(body(kernel="linear", **{name: "auto"})).has_automatic_settings for name in ("q", "scale"))


def test_a_spec_that_was_filled_in_reads_as_the_same_spec() -> None:
    spec = read_spec(body())
    assert read_spec(spec.model_dump(mode="json")) == spec


def test_the_features_of_a_job_of_an_earlier_version_are_all_columns() -> None:
    assert read_spec(body(features=None)).features == "all"
    assert read_spec(body()).features == "auto"
