"""New rows in a job's new features: found by name, told what was assumed, refused where nothing can be."""

import gzip
import io
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.support.api import Api, problem


@pytest.fixture(scope="module")
def embedding(api: Api, done: str) -> Any:
    return np.load(io.BytesIO(api.get(f"/jobs/{done}/embedding?format=npy").content))


def sent(api: Api, job: str, frame: Any, **params: str) -> Any:
    return api.post(f"/jobs/{job}/transform", content=frame.to_csv(index=False).encode(), params=params)


def test_columns_are_found_by_name_in_any_order(
    api: Api, done: str, wine: Any, features: list[str], embedding: Any
) -> None:
    shuffled = wine[features[::-1]].iloc[10:20]
    answer = sent(api, done, shuffled).json()
    np.testing.assert_allclose(answer["rows"], embedding[10:20], atol=1e-9)
    assert answer["notes"] == []


def test_other_columns_are_ignored_with_a_note(api: Api, done: str, wine: Any, features: list[str]) -> None:
    answer = sent(api, done, wine[[*features, "strong"]].assign(more=1).iloc[:3]).json()
    assert len(answer["rows"]) == 3
    assert any("strong" in note and "more" in note for note in answer["notes"])


def test_values_outside_the_range_of_the_table_are_noted(api: Api, done: str, wine: Any, features: list[str]) -> None:
    frame = wine[features].iloc[:3].assign(alcohol=[99.0, 13.0, -5.0], hue=[1.0, None, 7.0])
    notes = sent(api, done, frame).json()["notes"]
    outside = next(note for note in notes if "outside" in note)
    assert '"alcohol" in 2 row(s), farthest in row 1 (99); "hue" in 1 row(s), farthest in row 3 (7).' in outside


def test_the_notes_come_with_every_format(api: Api, done: str, wine: Any, features: list[str]) -> None:
    frame = wine[features].assign(größe=1).iloc[:2]
    for format in ("json", "csv", "npy", "parquet"):
        notes = json.loads(sent(api, done, frame, format=format).headers["ism-notes"])
        assert any("größe" in note for note in notes)


@pytest.mark.parametrize("format", ["json", "csv", "npy", "parquet"])
@pytest.mark.parametrize("by", ["parameter", "accept"])
def test_every_format(
    api: Api, done: str, wine: Any, features: list[str], embedding: Any, format: str, by: str
) -> None:
    types = {"json": "application/json", "csv": "text/csv", "npy": "application/x-npy"}
    type = types.get(format, "application/vnd.apache.parquet")
    body = gzip.compress(wine[features].to_csv(index=False).encode())
    asked: dict[str, Any] = {"params": {"format": format}} if by == "parameter" else {"headers": {"Accept": type}}
    answer = api.post(f"/jobs/{done}/transform", content=body, **asked)
    assert answer.headers["content-type"].startswith(type)
    file = io.BytesIO(answer.content)
    rows: Any = {
        "json": lambda: answer.json()["rows"],
        "csv": lambda: pd.read_csv(file)[["axis1", "axis2"]],
        "npy": lambda: np.load(file),
        "parquet": lambda: pd.read_parquet(file)[["axis1", "axis2"]],
    }[format]()
    np.testing.assert_allclose(rows, embedding, atol=1e-9)


def test_an_answer_to_a_post_is_never_a_part(api: Api, done: str, wine: Any, features: list[str]) -> None:
    body = wine[features].iloc[:2].to_csv(index=False).encode()
    assert api.post(f"/jobs/{done}/transform", content=body, headers={"Range": "bytes=0-3"}).status_code == 200


def test_a_missing_column_is_named(api: Api, done: str, wine: Any, features: list[str]) -> None:
    document = problem(sent(api, done, wine[features].drop(columns=["ash", "hue"])), 422)
    assert "ash" in document["detail"]
    assert "hue" in document["detail"]


def test_missing_values_are_filled_in_unless_the_job_refused_them(
    api: Api, done: str, wine: Any, features: list[str]
) -> None:
    holed = wine[features].iloc[:4].copy()
    holed.loc[2, "ash"] = None
    filled = holed.assign(ash=holed["ash"].fillna(wine["ash"].median()))
    np.testing.assert_allclose(sent(api, done, holed).json()["rows"], sent(api, done, filled).json()["rows"])
    dataset = api.get(f"/jobs/{done}").json()["dataset"]
    spec = {"paradigm": "supervised", "target": "class", "kernel": "linear", "folds": 0, "missing": "refuse"}
    strict = api.submit(dataset=dataset, features=features, **spec)
    api.succeeded(strict)
    assert "ash" in problem(sent(api, strict, holed), 422)["detail"]


def test_new_rows_are_read_filled_and_encoded_as_in_training(api: Api) -> None:
    prices = ["" if row % 7 == 0 else f"${1 + row % 9}.5" for row in range(42)]
    weights = [("5 kg", "7 kg", "large")[row % 3] for row in range(42)]
    others = [f"{'fm'[row % 2]},{('red', 'blue', '')[row // 3 % 3]},{'ab'[row // 2 % 2]}" for row in range(42)]
    rows = [",".join(map(str, cells)) for cells in zip(range(42), prices, weights, others, strict=True)]
    table = "\n".join(["id,price,weight,sex,color,class", *rows])
    job = api.submit(
        dataset=api.upload(table.encode())["id"], paradigm="supervised", target="class", kernel="linear", folds=0
    )
    api.succeeded(job)
    result = api.get(f"/jobs/{job}/result").json()
    assert result["features"] == [
        *("price", "weight=5 kg", "weight=7 kg", "weight=large", "sex=m"),
        *("color=blue", "color=missing", "color=red"),
    ]
    assert any('"id" (' in warning for warning in result["warnings"])
    embedding = api.get(f"/jobs/{job}/embedding").json()["rows"]
    for part in (slice(0, 42), slice(0, 1), slice(3, 4), slice(7, 8)):  # one row has one weight only: "5 kg"
        new = "\n".join(["id,price,weight,sex,color,class", *rows[part]])
        answer = api.post(f"/jobs/{job}/transform", content=new.encode()).json()
        np.testing.assert_allclose(answer["rows"], [row[1:3] for row in embedding[part]], atol=1e-9)


def test_text_in_a_column_of_numbers_is_refused(api: Api, done: str, wine: Any, features: list[str]) -> None:
    frame = wine[features].iloc[:4].astype({"ash": object})
    frame.loc[1, "ash"] = "much"
    assert "ash" in problem(sent(api, done, frame), 422)["detail"]


def test_a_table_without_names_is_not_guessed(api: Api, done: str, wine: Any, features: list[str]) -> None:
    file = io.BytesIO()
    np.save(file, wine[features].to_numpy())
    problem(api.post(f"/jobs/{done}/transform", content=file.getvalue()), 422)


@pytest.fixture(scope="module")
def mixed(api: Api) -> str:
    """A job with levels, which fills in what is missing."""
    rows = ["1,red,a", "2,blue,a", "4,red,b", ",green,b", "5,green,a", "6,blue,b", "3,red,b"]
    dataset = api.upload("\n".join(["x,color,class", *rows]).encode())["id"]
    spec = {"paradigm": "supervised", "target": "class", "kernel": "linear", "q": 2, "folds": 0}
    job = api.submit(dataset=dataset, **spec, missing="mean", categorical="onehot")
    api.succeeded(job)
    return job


def test_a_new_level_counts_as_none_of_the_known_with_a_note(api: Api, mixed: str) -> None:
    answer = api.post(f"/jobs/{mixed}/transform", content=b"x,color\n1,red\n2,mauve\n").json()
    assert np.isfinite(answer["rows"]).all()
    assert any("mauve" in note for note in answer["notes"])


def test_missing_values_are_filled_where_the_job_filled_them(api: Api, mixed: str) -> None:
    answer = api.post(f"/jobs/{mixed}/transform", content=b"x,color\n,red\n3.5,red\n2,\n").json()
    np.testing.assert_allclose(answer["rows"][0], answer["rows"][1], atol=1e-12)  # 3.5 is the mean
    assert np.isfinite(answer["rows"]).all()


@pytest.mark.parametrize(("body", "status"), [(b"", 422), (b"\x00junk\xff" * 9, 415), (b"PAR1oops", 422)])
def test_what_is_no_table_is_refused(api: Api, done: str, body: bytes, status: int) -> None:
    problem(api.post(f"/jobs/{done}/transform", content=body), status)
    problem(api.post(f"/jobs/{done}/transform", files={"other": ("t.csv", b"a\n1\n")}), 422)


def test_the_rows_of_a_job_are_projected_onto_any_axes(api: Api, done: str, embedding: Any) -> None:
    W = np.array(api.get(f"/jobs/{done}/result").json()["W"])
    other = np.column_stack([W[:, 0] + W[:, 1], W[:, 1]])
    answer = api.post(f"/jobs/{done}/project", json={"W": other.tolist()}, params={"format": "npy"})
    assert answer.status_code == 200, answer.text
    projected = np.load(io.BytesIO(answer.content))
    expected = np.column_stack([embedding.sum(axis=1), embedding[:, 1]])
    np.testing.assert_allclose(projected[:, -2:], expected, atol=1e-9)


def test_axes_that_do_not_fit_the_features_are_refused(api: Api, done: str) -> None:
    answer = api.post(f"/jobs/{done}/project", json={"W": [[1.0], [0.0]]})
    assert answer.status_code == 422
    assert "W has 2 rows" in answer.json()["detail"]
