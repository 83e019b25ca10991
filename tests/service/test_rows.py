"""The rows of a data set: given back as they were uploaded, and compared in groups."""

import base64
import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.support.api import Api, problem


@pytest.fixture(scope="module")
def small(api: Api) -> str:
    body = "size,color,flat\n1,red,5\n2,red,5\n9,blue,5\n10,blue,5\n,green,5\n"
    return api.upload(body.encode(), "small.csv")["id"]


def test_the_rows_are_those_that_were_uploaded(api: Api, small: str) -> None:
    table = api.get(f"/datasets/{small}/rows").json()
    assert table["columns"] == ["size", "color", "flat"]
    assert table["rows"] == [[1, "red", 5], [2, "red", 5], [9, "blue", 5], [10, "blue", 5], [None, "green", 5]]


def test_columns_come_in_the_order_that_was_asked_for(api: Api, wine_id: str, wine: Any) -> None:
    asked = {"column": ["proline", "class"], "format": "npy"}
    array = np.load(io.BytesIO(api.get(f"/datasets/{wine_id}/rows", params=asked).content))
    assert (array == wine[["proline", "class"]].to_numpy()).all()


def test_parquet_holds_the_same_table(api: Api, wine_id: str, wine: Any) -> None:
    body = api.get(f"/datasets/{wine_id}/rows", params={"format": "parquet"}).content
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(body)), wine, check_dtype=False)


def test_rows_that_are_known_are_not_sent_again(api: Api, small: str) -> None:
    first = api.get(f"/datasets/{small}/rows")
    again = api.get(f"/datasets/{small}/rows", headers={"If-None-Match": first.headers["ETag"]})
    other = api.get(f"/datasets/{small}/rows?column=size", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, other.status_code) == (304, 200)


def test_a_column_that_is_not_there_is_named(api: Api, small: str) -> None:
    found = problem(api.get(f"/datasets/{small}/rows", params={"column": "colr"}), 422)
    assert 'did you mean "color"?' in found["detail"]
    assert problem(api.get(f"/datasets/{small}/rows?column=color&format=npy"), 422)["errors"][0]["field"] == "format"
    problem(api.get("/datasets/nothing/rows"), 404)


def test_groups_are_compared_with_all_rows_outside_them(api: Api, small: str) -> None:
    answer = api.post(f"/datasets/{small}/differences", json={"groups": [[0, 1], [4]]})
    first, second = answer.json()["groups"]
    by_name = {one["column"]: one for one in first["differences"]}
    assert first["rows"] == 2
    assert (by_name["size"]["group"], by_name["size"]["rest"]) == (1.5, 9.5)
    assert by_name["size"]["difference"] == pytest.approx(-8 / np.std([1, 2, 9, 10]))
    assert (by_name["color"]["level"], by_name["color"]["group"], by_name["color"]["rest"]) == ("red", 1, 0)
    assert by_name["flat"]["difference"] is None
    assert [one["column"] for one in first["differences"]] == ["color", "size", "flat"]
    assert next(one for one in second["differences"] if one["column"] == "size")["group"] is None


def test_some_rows_are_selected_by_their_place(api: Api, small: str) -> None:
    def rows(**params: int) -> list[Any]:
        return api.get(f"/datasets/{small}/rows", params=params).json()["rows"]

    assert rows(offset=1, limit=2) == rows()[1:3]
    assert rows(offset=3) == rows()[3:]
    assert rows(offset=99) == []
    answers = [api.get(f"/datasets/{small}/rows", params={"limit": limit}) for limit in (1, 2)]
    assert answers[0].headers["etag"] != answers[1].headers["etag"]
    for name, value in (("limit", 0), ("offset", -1)):
        assert problem(api.get(f"/datasets/{small}/rows", params={name: value}), 422)["errors"][0]["field"] == name


def test_means_agree_with_those_of_the_table(api: Api, wine_id: str, wine: Any) -> None:
    groups = [np.flatnonzero(wine["class"] == place).tolist() for place in range(3)]
    answer = api.post(f"/datasets/{wine_id}/differences", json={"groups": groups, "columns": ["proline", "hue"]})
    for place, group in enumerate(answer.json()["groups"]):
        for one in group["differences"]:
            assert one["group"] == pytest.approx(wine[one["column"]][wine["class"] == place].mean())
            assert one["rest"] == pytest.approx(wine[one["column"]][wine["class"] != place].mean())


@pytest.mark.parametrize("groups", [[], [[]], [[-1]], [[0.5]], [["0"]], [[5]], "all", [[0]] * 101])
def test_groups_that_cannot_be_are_refused(api: Api, small: str, groups: Any) -> None:
    problem(api.post(f"/datasets/{small}/differences", json={"groups": groups}), 422)


def test_a_row_beyond_the_end_is_refused_with_both_numbers(api: Api, small: str) -> None:
    found = problem(api.post(f"/datasets/{small}/differences", json={"groups": [[0, 5]]}), 422)
    assert found["detail"] == "There is no row 5; the table has 5 rows, and the first is row 0."


def mask(rows: list[int], count: int = 5) -> str:
    return base64.b64encode(np.packbits(np.isin(np.arange(count), rows), bitorder="little").tobytes()).decode()


def test_groups_can_be_given_as_bits(api: Api, wine_id: str) -> None:
    groups = [[0, 7, 8, 177], [100]]
    sent = ({"groups": groups}, {"masks": [mask(rows, 178) for rows in groups]})
    by_number, by_mask = (api.post(f"/datasets/{wine_id}/differences", json=body).json() for body in sent)
    assert by_number == by_mask
    assert [group["rows"] for group in by_mask["groups"]] == [4, 1]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"masks": ["?"]}, "Mask 0 is not base64."),
        ({"masks": ["é"]}, "Mask 0 is not base64."),
        ({"masks": [mask([1]), mask([9], 16)]}, "Mask 1 has 2 bytes; a table of 5 rows needs 1."),
        ({"masks": [mask([])]}, "Mask 0 selects no row."),
        ({"masks": [mask([1, 6], 8)]}, "Mask 0 selects row 6, but the table has 5 rows."),
        ({"masks": [mask([1])], "groups": [[1]]}, "Give the rows either as groups or as masks."),
        ({}, "Give the rows either as groups or as masks."),
    ],
)
def test_a_mask_that_does_not_fit_is_refused(api: Api, small: str, body: Any, sentence: str) -> None:
    assert problem(api.post(f"/datasets/{small}/differences", json=body), 422)["detail"] == sentence


@pytest.mark.parametrize("body", [b'{"groups": [[0]], "columns": ["\xe9"]}', b"[" * 100_000, b"{", b""])
def test_a_body_that_is_not_json_is_refused(api: Api, small: str, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    problem(api.post(f"/datasets/{small}/differences", content=body, headers=headers), 422)
