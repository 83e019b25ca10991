import difflib
from typing import Any

import pytest

from ism_jobs.errors import FieldError, InvalidSpec
from ism_jobs.spec.grid import GRID_FIELDS, MAX_BATCH, POSTED_JOBS, expand, read_one
from ism_jobs.spec.kernels import KERNELS
from ism_jobs.spec.paradigms import PARADIGM_NAMES, SPECS, read_spec


def body(**fields: Any) -> dict[str, Any]:
    return {"dataset": "wine", "paradigm": "supervised", "target": "class"} | fields


def errors_of(wrong: Any) -> dict[str, str]:
    with pytest.raises(InvalidSpec) as caught:
        expand(wrong)
    return {error.field: error.message for error in caught.value.errors}


def test_a_single_job_is_one_object_without_lists_of_values() -> None:
    assert read_one(body(q=3)) == read_spec(body(q=3))
    assert read_one(body(target=["a", "b"], features=["c", "d"])).target == ["a", "b"], "a list of columns is a value"
    for several, field in (([body()], ""), (body(q=[2, 3]), "q"), (body(dataset=["a", "b"]), "dataset")):
        with pytest.raises(InvalidSpec, match="post it to /batches") as caught:
            read_one(several)
        assert [error.field for error in caught.value.errors] == [field]


def test_a_list_is_a_batch_in_its_order() -> None:
    assert [spec.q for spec in expand([body(q=3), body(q=1)]).specs] == [3, 1]
    assert len(expand(body()).specs) == len(expand([body()]).specs) == 1


def test_a_grid_is_the_product_in_the_order_given() -> None:
    specs = expand(body(q=[2, 3], kernel=["linear", {"name": "polynomial"}], seed=[0, 1])).specs
    assert [(spec.q, isinstance(spec.kernel, KERNELS["polynomial"]), spec.seed) for spec in specs] == [
        (q, polynomial, seed) for q in (2, 3) for polynomial in (False, True) for seed in (0, 1)
    ]


def test_the_field_given_last_varies_fastest() -> None:
    assert [(s.q, s.seed) for s in expand(body(seed=[0, 1], q=[2, 3])).specs] == [(2, 0), (3, 0), (2, 1), (3, 1)]


def test_a_grid_goes_over_data_sets_and_may_be_part_of_a_list() -> None:
    batch = expand({"label": "night", "jobs": [body(dataset=["a", "b"], q=[1, 2]), body(dataset="c", q=3)]})
    assert [(spec.dataset, spec.q) for spec in batch.specs] == [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 3)]
    assert batch.label == "night"
    located = [place.locate(FieldError("q", "")).field for place in batch.places]
    assert located == ["jobs.0.q.0", "jobs.0.q.1", "jobs.0.q.0", "jobs.0.q.1", "jobs.1.q"]


@pytest.mark.parametrize("field", GRID_FIELDS)
def test_every_grid_field_can_be_listed(field: str) -> None:
    paradigm = "supervised" if field in SPECS["supervised"].model_fields else "semi_supervised"
    example: dict[str, Any] = {"dataset": "wine", "paradigm": paradigm, "target": "class"}
    if paradigm != "supervised":
        example = {"dataset": "wine", "paradigm": paradigm, "scores": "s", "clusters": 2}
    default = {"clusters": 2, "dataset": "wine"}.get(field, SPECS[paradigm].model_fields[field].default)
    assert len(expand(example | {field: [default, default]}).specs) == 2


def test_ways_to_compute_can_be_compared_in_a_grid() -> None:
    specs = expand(body(precision=["double", "single"], approximation=[None, {"features": 64}])).specs
    assert [(spec.precision, spec.approximation and spec.approximation.features) for spec in specs] == [
        ("double", None),
        ("double", 64),
        ("single", None),
        ("single", 64),
    ]
    wrong = body(kernel=["gaussian", "linear"], approximation=[None, {"features": 64}])
    assert set(errors_of(wrong)) == {"approximation.1"}
    POSTED_JOBS.validate_python(body(kernel=["gaussian", "linear"], approximation={"features": 64}))


def test_errors_name_the_place_in_the_list() -> None:
    errors = errors_of(body(q=[1, 0, "x"], kernel=["linear", {"name": "gaussian", "sigma": 0}], target=4))
    assert set(errors) == {"q.1", "q.2", "kernel.1.sigma", "target"}
    errors = errors_of([body(), body(q=0), 5, {}])
    assert set(errors) == {"1.q", "2", "3.dataset", "3.paradigm"}


@pytest.mark.parametrize(
    ("wrong", "field", "fragment"),
    [
        ([], "", "is empty; post at least one job"),
        (body(q=[]), "q", "is an empty list; list the values to try"),
        ([body(), body(q=[1, 0])], "1.q.1", "q is 0"),
        ({"jobs": [body(q=0)]}, "jobs.0.q", "q is 0"),
        ({"jobs": body(), "labl": "x"}, "labl", "A batch has no field"),
        ({"jobs": body(), "label": 5}, "label", "label is 5; it must be text"),
        ([body(q=[1] * 600), body(q=[1] * 600)], "", "The list makes 1,200 jobs; post at most 1,000 at once"),
        ([body()] * 1001, "", "The list makes 1,001 jobs; post at most 1,000 at once"),
        (body(q=[1] * 101, seed=[0] * 10), "", "makes 1,010 jobs (101 values of q × 10 values of seed)"),
        (body(q=[[1, 2]]), "q.0", 'is [1, 2]; it must be "auto" or a whole number'),
        (body(dataset=["a", 5]), "dataset.1", "is 5; it must be text"),
        (body(clusters=[1, 2]), "clusters.0", "is for unsupervised"),
        ("supervised", "", "A job must be an object"),
    ],
)
def test_a_wrong_batch_is_told(wrong: Any, field: str, fragment: str) -> None:
    assert fragment in errors_of(wrong)[field]


def test_a_grid_may_hold_as_many_jobs_as_a_batch() -> None:
    assert len(expand(body(seed=list(range(100)), q=list(range(1, 11)))).specs) == MAX_BATCH


def test_a_very_large_product_is_refused_before_it_is_made() -> None:
    assert (
        "post at most" in errors_of(body(**{name: list(range(1000)) for name in ("q", "seed", "folds", "starts")}))[""]
    )


def test_one_answer_lists_a_hundred_errors_at_most() -> None:
    with pytest.raises(InvalidSpec) as caught:
        expand([body(q=0)] * 500)
    assert len(caught.value.errors) == 100
    assert "500 problems" in caught.value.detail


def test_the_schema_takes_a_grid_a_list_or_both_with_a_label() -> None:
    schema = POSTED_JOBS.json_schema()
    grids = {name for name in schema["$defs"] if name.endswith("Grid")}
    assert len(grids) == len(PARADIGM_NAMES)
    for name in grids:
        model = schema["$defs"][name]
        (example,) = model["examples"]
        assert len(expand(example).specs) > 1
        POSTED_JOBS.validate_python(example)
        for field, about in model["properties"].items():
            listed = any(option.get("maxItems") == MAX_BATCH for option in about.get("anyOf", []))
            assert listed is (field in GRID_FIELDS)
            assert about["description"]
    for posted in (
        body(),
        [body(), body(q=[1, 2])],
        {"jobs": [body()], "label": "x"},
        body(q=[1, 2], kernel=["linear", {"sum": [{"kernel": "linear"}]}]),
    ):
        POSTED_JOBS.validate_python(posted)


@pytest.mark.parametrize("posted", [[{f"u{job}x{place}": 1 for place in range(20)} for job in range(50)], None])
def test_suggestions_are_searched_only_for_errors_that_are_reported(
    posted: list[dict[str, int]] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    plain = difflib.get_close_matches
    monkeypatch.setattr(
        difflib, "get_close_matches", lambda name, *more, **how: looked.append(name) or plain(name, *more, **how)
    )
    unknown = {f"v{place}": 1 for place in range(20)}
    bodies: Any = [body(**more) for more in posted] if posted else body(**unknown, q=list(range(1, 51)))
    with pytest.raises(InvalidSpec) as caught:
        expand(bodies)
    assert all(error.message for error in caught.value.errors)
    assert ("1,000" if posted else "20") + " problems" in caught.value.detail
    assert 0 < len(looked) <= (100 if posted else 20)
