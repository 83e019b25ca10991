"""Jobs are posted, or refused with reasons."""

from typing import Any

import numpy as np
import pytest

from tests.support.api import Api, problem


def spec(dataset: str, **fields: Any) -> dict[str, Any]:
    return {"dataset": dataset, "paradigm": "supervised", "target": "class", "kernel": "linear", "folds": 0, **fields}


@pytest.fixture(scope="module")
def small_id(api: Api) -> str:
    """Two numbers, a text column with a missing value, a number column with a missing value, and classes."""
    rows = ["1,4,red,7,a", "2,3,blue,,a", "3,9,red,9,b", "4,1,,3,b", "5,5,green,8,a", "6,2,blue,1,b"]
    return api.upload("\n".join(["x,y,color,gap,class", *rows]).encode(), "small.csv")["id"]


def test_a_posted_job_is_queued_and_says_where_to_look(api: Api, wine_id: str, features: list[str]) -> None:
    answer = api.post("/jobs", json=spec(wine_id, features=features, label="L", metadata={"a": "b"}))
    assert answer.status_code == 202
    view = answer.json()
    assert answer.headers["location"] == f"/jobs/{view['id']}" == view["links"]["self"]
    assert int(answer.headers["retry-after"]) >= 1
    assert (view["state"], view["label"], view["metadata"], view["dataset"]) == ("queued", "L", {"a": "b"}, wine_id)
    assert view["spec"]["q"] == 2
    assert view["spec"]["kernel"] == "linear"
    view = api.succeeded(view["id"])
    assert view["created"] <= view["started"] <= view["finished"]
    assert view["created"].endswith("Z")
    assert (view["attempt"], view["position"], view["error"]) == (1, None, None)
    assert view["metrics"]["converged"] == 1.0
    for name, link in view["links"].items():
        if name not in ("project", "transform", "events"):
            assert api.get(link).status_code == 200, name


def test_only_the_features_asked_for_are_learnt_from(api: Api, wine_id: str) -> None:
    job = api.submit(**spec(wine_id, features=["ash", "alcohol"], q=1))
    api.succeeded(job)
    result = api.get(f"/jobs/{job}/result").json()
    assert result["features"] == ["ash", "alcohol"]
    assert np.shape(result["W"]) == (2, 1)
    assert sum(result["importance"]) == pytest.approx(1)


def test_missing_values_are_refused_filled_or_dropped(api: Api, small_id: str) -> None:
    columns = ["x", "y", "gap"]
    document = problem(api.post("/jobs", json=spec(small_id, features=columns, missing="refuse")), 422)
    assert '"gap"' in document["detail"]
    assert '"auto"' in document["detail"]
    auto, drop = (api.submit(**spec(small_id, features=columns, **way)) for way in ({}, {"missing": "drop"}))
    api.succeeded(auto)
    api.succeeded(drop)
    filled = api.get(f"/jobs/{auto}/result").json()
    assert filled["rows"] == 6
    assert any('"gap" (1 value, with the median)' in warning for warning in filled["warnings"])
    result = api.get(f"/jobs/{drop}/result").json()
    assert result["rows"] == 5
    assert any("1 of 6 rows" in warning for warning in result["warnings"])
    rows = api.get(f"/jobs/{drop}/embedding").json()["rows"]
    assert [row[0] for row in rows] == [0, 2, 3, 4, 5]


def test_text_columns_become_readable_features(api: Api, small_id: str) -> None:
    document = problem(api.post("/jobs", json=spec(small_id, features=["x", "color"], categorical="refuse")), 422)
    assert "onehot" in document["detail"]
    job = api.submit(**spec(small_id, features=["x", "color"], missing="drop"))
    api.succeeded(job)
    names = ["x", "color=blue", "color=green", "color=red"]
    assert api.get(f"/jobs/{job}/result").json()["features"] == names
    assert [row[0] for row in api.get(f"/jobs/{job}/W").json()["rows"]] == names


def test_drop_that_leaves_too_little_is_refused_when_posted(api: Api) -> None:
    one_class = api.upload(b"x,y,class\n1,,a\n2,3,b\n3,4,b\n4,7,b\n")["id"]
    document = problem(api.post("/jobs", json=spec(one_class, missing="drop")), 422)
    assert document["errors"][0]["field"] == "missing"
    crossed = api.upload(b"x,y,z\n1,,1\n,3,2\n3,,3\n,7,4\n5,6,5\n")["id"]
    asked = {"dataset": crossed, "paradigm": "unsupervised", "clusters": 2, "missing": "drop"}
    assert problem(api.post("/jobs", json=asked), 422)["errors"][0]["field"] in ("missing", "clusters")


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "no such column": ({"target": "clas"}, "target", '"class"'),
    "no such kernel": ({"kernel": "gausian"}, "kernel", "gaussian"),
    "a parameter of no kernel": ({"kernel": {"name": "gaussian", "sigm": 1}}, "kernel.sigm", "sigma"),
    "a parameter out of range": ({"kernel": {"name": "gaussian", "sigma": -1}}, "kernel.sigma", "-1"),
    "no such field": ({"gamma": 3}, "gamma", "gamma"),
    "q too large": ({"q": 200, "features": ["ash", "alcohol"]}, "q", "200"),
    "q no number": ({"q": "two"}, "q", "two"),
    "delta out of range": ({"delta": 0}, "delta", "0"),
    "target among the features": ({"features": ["class", "ash"]}, "features.0", "class"),
    "no such paradigm": ({"paradigm": "supervise"}, "paradigm", "supervised"),
    "no such precision": ({"precision": "half"}, "precision", '"single"'),
    "tolerance out of range": ({"tolerance": 0.5}, "tolerance", "from 0 to 0.01"),
    "too few random features": ({"approximation": {"features": 4}}, "approximation.features", "from 16"),
    "an approximation of nothing": (
        {"kernel": "relative_gaussian", "approximation": {"features": 64}},
        "approximation",
        "no random features",
    ),
    "no cluster": ({"engine": "dask"}, "engine", "ISM_DASK_SCHEDULER is not set"),
    "text as values": ({"target": "strong", "target_kind": "values"}, "target", "strong"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_spec_is_refused_with_field_and_sentence(api: Api, wine_id: str, kind: str) -> None:
    fields, field, word = WRONG[kind]
    document = problem(api.post("/jobs", json=spec(wine_id, **fields)), 422)
    messages = {error["field"]: error["message"] for error in document["errors"]}
    assert word in messages[field]


def test_every_problem_is_told_at_once(api: Api, wine_id: str) -> None:
    document = problem(api.post("/jobs", json=spec(wine_id, q=0, delta=7, kernel="cubic")), 422)
    assert {error["field"] for error in document["errors"]} == {"q", "delta", "kernel"}


def test_an_unknown_data_set_is_named(api: Api, wine_id: str) -> None:
    document = problem(api.post("/jobs", json=spec("0123456789")), 422)
    assert document["errors"][0]["field"] == "dataset"
    assert "0123456789" in document["detail"]
    document = problem(api.post("/batches", json=[spec(wine_id), spec("0123456789")]), 422)
    assert document["errors"][0]["field"] == "1.dataset"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"dataset=x&paradigm=supervised",
        b'{"q": NaN}',
        b"NaN",
        b"Infinity",
        b"null",
        b'"text"',
        b"5",
        b"[]",
        b"[5]",
        b"{}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"kernel":' * 900 + b"1" + b"}" * 900,
        b'{"sum": [' * 400 + b"1" + b"]}" * 400,
        b'{"q": ' + b"9" * 5_000 + b"}",
        b'{"q": 1e999, "paradigm": "supervised"}',
        b'{"dataset": "\\ud800", "paradigm": "unsupervised", "clusters": 2}',
        b'{"\\ud800": 1}',
        b'{"dataset": "\\u0000", "paradigm": "unsupervised", "clusters": 2}',
    ],
    ids=lambda body: body[:20],
)
def test_a_body_that_is_no_spec_is_refused(api: Api, body: bytes) -> None:
    assert problem(api.post("/jobs", content=body), 422)["errors"]
