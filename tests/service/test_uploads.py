"""Uploading: every format becomes the same data set, awkward tables are read, and refusals say why."""

import gzip
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tests.support.api import Api, problem
from tools.table_files import feather, spss, stata, xlsx, zipped


@pytest.fixture(scope="module")
def frame() -> Any:
    return pd.DataFrame({"size": [1.5, 2.25, None, -4.0], "color": ["red", "blue", "red", None], "n": [1, 2, 3, 4]})


def as_json(frame: Any) -> bytes:
    return frame.to_json(orient="records").encode()


def as_parquet(frame: Any) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


def as_npz(frame: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **{name: frame[name].fillna("").to_numpy(str) if name == "color" else frame[name] for name in frame})
    return file.getvalue()


def csv_of(frame: Any, **options: Any) -> bytes:
    return frame.to_csv(index=False, **options).encode()


FORMATS: dict[str, Callable[[Any], bytes]] = {
    "table.csv": csv_of,
    "table.tsv": lambda frame: csv_of(frame, sep="\t"),
    "table.json": as_json,
    "table.parquet": as_parquet,
    "table.npz": as_npz,
    "table.csv.gz": lambda frame: gzip.compress(csv_of(frame)),
    "table.parquet.gz": lambda frame: gzip.compress(as_parquet(frame)),
    "table.feather": lambda frame: feather(pa.table(frame)),
    "table.xlsx": lambda frame: xlsx(Sheet1=[list(frame), *frame.replace({np.nan: None}).values.tolist()]),
    "table.dta": lambda frame: stata(frame.fillna({"color": ""})),
    "table.sav": lambda frame: spss(frame.fillna({"color": ""})),
    "table.zip": lambda frame: zipped({"table.csv": csv_of(frame)}),
    "european.csv": lambda frame: csv_of(frame, sep=";", decimal=","),
    "bom.csv": lambda frame: b"\xef\xbb\xbf" + csv_of(frame),
    "windows.csv": lambda frame: csv_of(frame, lineterminator="\r\n"),
}


@pytest.fixture(scope="module")
def first(api: Api, frame: Any) -> dict[str, Any]:
    return api.upload(csv_of(frame), "first.csv")


@pytest.mark.parametrize("filename", FORMATS)
def test_the_same_table_in_another_format_is_the_same_data_set(
    api: Api, frame: Any, first: dict[str, Any], filename: str
) -> None:
    answer = api.post("/datasets", files={"file": (filename, FORMATS[filename](frame))})
    assert answer.status_code == 200, answer.text
    assert answer.json() == first
    assert answer.headers["location"] == f"/datasets/{first['id']}"


@pytest.mark.parametrize("filename", ["table.csv", "table.json", "table.parquet", "table.npz", "table.csv.gz"])
def test_a_raw_body_is_read_like_a_form(api: Api, frame: Any, first: dict[str, Any], filename: str) -> None:
    answer = api.post("/datasets", content=FORMATS[filename](frame))
    assert (answer.status_code, answer.json()) == (200, first)


def test_an_upload_is_described(api: Api) -> None:
    body = b"size,color,same\n1.5,red,7\n,blue,7\n-4,red,7\n"
    answer = api.post("/datasets", params={"name": "Things"}, files={"file": ("things.csv", body)})
    assert answer.status_code == 201
    view = answer.json()
    assert view == api.get(f"/datasets/{view['id']}").json()
    assert (view["name"], view["rows"], view["format"], view["bytes"]) == ("Things", 3, "csv", len(body))
    size, color, same = view["columns"]
    assert (size["kind"], size["missing"], size["minimum"], size["maximum"]) == ("number", 1, -4.0, 1.5)
    assert (size["mean"], size["whole"]) == (-1.25, False)
    assert (color["kind"], color["distinct"], color["levels"]) == ("text", 2, ["red", "blue"])
    assert (same["constant"], same["whole"]) == (True, True)
    assert view["preview"] == [[1.5, "red", 7.0], [None, "blue", 7.0], [-4.0, "red", 7.0]]
    assert view["links"] == {"self": f"/datasets/{view['id']}", "jobs": f"/jobs?dataset={view['id']}"}


def test_an_array_has_numbered_columns(api: Api) -> None:
    file = io.BytesIO()
    np.save(file, np.arange(12, dtype=np.float32).reshape(4, 3))
    view = api.upload(file.getvalue(), "a.npy")
    assert [column["name"] for column in view["columns"]] == ["x1", "x2", "x3"]
    assert (view["rows"], view["format"]) == (4, "npy")


@pytest.mark.parametrize(("header", "rows"), [("true", 2), ("false", 3), ("auto", 3)])
def test_header_says_whether_the_first_line_names_the_columns(api: Api, header: str, rows: int) -> None:
    answer = api.post("/datasets", content=b"1,2\n3,4\n5,7\n", params={"header": header})
    assert answer.json()["rows"] == rows


AWKWARD = {
    "quotes": (b'"a,b","say ""hi"""\n"x\ny",1\n"z",2\n', ["a,b", 'say "hi"'], 2),
    "unicode": ("größe,色,🎈\n1,2,x\n3,4,y\n".encode(), ["größe", "色", "🎈"], 2),
    "latin-1": ("größe,b\n1,2\n3,4\n".encode("latin-1"), ["größe", "b"], 2),
    "utf-16": ("größe,b\n1,2\n3,4\n".encode("utf-16"), ["größe", "b"], 2),
    "duplicate names": (b"a,a,b,\n1,2,3,4\n5,6,7,8\n", ["a", "a.2", "b", "column4"], 2),
    "one row": (b"a,b\n1,x\n", ["a", "b"], 1),
    "one column": (b"a\n1\n2\n", ["a"], 2),
    "all constant": (b"a,b\n1,x\n1,x\n", ["a", "b"], 2),
    "all missing": (b"a,b\n,1\n,2\n", ["a", "b"], 2),
    "huge numbers": (b"a,b\n1.7e308,1\n1.7e308,2\n", ["a", "b"], 2),
    "formulas": (b'"=1+2",b\n@x,1\n-y,2\n', ["=1+2", "b"], 2),
    "markup": (b"<script>alert(1)</script>,b\n1,2\n3,4\n", ["<script>alert(1)</script>", "b"], 2),
}


@pytest.mark.parametrize("kind", AWKWARD)
def test_awkward_tables_are_read(api: Api, kind: str) -> None:
    body, names, rows = AWKWARD[kind]
    view = api.upload(body, f"{kind}.csv")
    assert [column["name"] for column in view["columns"]] == names
    assert view["rows"] == rows
    assert view == api.get(f"/datasets/{view['id']}").json()


def test_decimal_commas_are_noted(api: Api) -> None:
    view = api.upload(b"a;b\n1,5;2,5\n3,25;4\n")
    assert view["preview"] == [[1.5, 2.5], [3.25, 4.0]]
    assert any('";"' in note and '","' in note for note in view["notes"])


def test_ten_thousand_columns(api: Api) -> None:
    names = [f"gene{place}" for place in range(10_000)]
    rows = [",".join(str(row * place % 7) for place in range(10_000)) for row in range(3)]
    view = api.upload("\n".join([",".join(names), *rows]).encode(), "wide.csv")
    assert len(view["columns"]) == 10_000
    assert len(api.get(f"/datasets/{view['id']}").json()["columns"]) == 10_000


def test_the_name_comes_from_the_file_or_the_caller(api: Api) -> None:
    assert api.upload(b"who,x\na,1\nb,2\n", "who.csv")["name"] == "who.csv"
    assert api.post("/datasets", content=b"who,x\na,1\nb,3\n").json()["name"] == "table"
    assert api.post("/datasets", content=b"who,x\na,1\nb,4\n", params={"name": "Ä B"}).json()["name"] == "Ä B"


def test_a_table_that_is_there_already_keeps_its_name_and_says_so(api: Api) -> None:
    body = b"named,x\na,1\nb,2\n"
    first = api.upload(body, "first.csv")
    again = api.upload(body, "first.csv", name="second")
    assert again["name"] == "first.csv"
    assert [note for note in again["notes"] if note not in first["notes"]] == [
        'This table was uploaded before as "first.csv"; it keeps that name.'
    ]
    for name in ({"name": "first.csv"}, {}):
        assert api.upload(body, "other.csv", **name) == first
    assert api.get(f"/datasets/{first['id']}").json() == first


REFUSED = {
    "nothing": (b"", 422),
    "no table": (b"\x00\x01\x02\x03junk\xff" * 50, 415),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(100), 415),
    "a pickle": (b"\x80\x04\x95\x00", 415),
    "broken parquet": (b"PAR1" + bytes(50), 422),
    "broken gzip": (b"\x1f\x8b\x08" + bytes(20), 422),
    "broken json": (b'[{"a": 1}, {"a": ', 422),
    "nested json": (b'[{"a": {"b": 1}}, {"a": {"b": 2}}]', 422),
    "deep json": (b"[" * 100_000, 422),
    "an array of objects": (b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + b"{'descr': '|O'}".ljust(118), 422),
    "a web page": (b"<html><table><tr><td>1</td></tr></table></html>", 415),
    "ARFF": (b"@relation r\n@attribute a numeric\n@data\n1\n", 415),
    "json without rows": (b'{"a": {"b": [1, 2]}}', 422),
    "two tables in an archive": (zipped({"a.csv": "a\n1\n", "b.csv": "b\n1\n"}), 415),
    "a header and no rows": (b"a,b\n", 422),
    "infinity": (b"a,b\ninf,1\n2,3\n", 422),
    "ragged": (b"a,b\n1,2,3\n4\n", 422),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_table_is_refused_with_a_sentence(api: Api, kind: str) -> None:
    body, status = REFUSED[kind]
    assert problem(api.post("/datasets", content=body), status)["detail"][-1] not in ":, "


@pytest.mark.parametrize("kind", ["nothing", "a picture"])
def test_what_is_no_table_is_refused_in_a_form_too(api: Api, kind: str) -> None:
    body, status = REFUSED[kind]
    problem(api.post("/datasets", files={"file": ("file", body)}), status)


def test_a_form_without_a_file_is_refused(api: Api) -> None:
    assert "curl -F file=@" in problem(api.post("/datasets", files={"table": ("t.csv", b"a\n1\n")}), 422)["detail"]
    assert '"file"' in problem(api.post("/datasets", files={"file": (None, b"a\n1\n")}), 422)["detail"]


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/form-data", b"a,b\n1,2\n"),
        ("multipart/form-data; boundary=x", b"no form"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\na',
        ),
    ],
)
def test_a_form_that_is_none_is_refused(api: Api, content_type: str, body: bytes) -> None:
    answer = api.post("/datasets", content=body, headers={"content-type": content_type})
    assert answer.status_code in (400, 422)
    problem(answer, answer.status_code)


def test_the_content_type_of_a_form_may_be_in_capitals(api: Api) -> None:
    request = api.build_request("POST", "/datasets", files={"file": ("t.csv", b"caps,b\n1,2\n3,4\n")})
    request.headers["content-type"] = request.headers["content-type"].replace(
        "multipart/form-data", "Multipart/Form-Data"
    )
    assert [column["name"] for column in api.send(request).json()["columns"]] == ["caps", "b"]


@pytest.mark.parametrize(("field", "value"), [("header", "perhaps"), ("name", "x" * 201)])
def test_wrong_parameters_are_named(api: Api, field: str, value: str) -> None:
    document = problem(api.post("/datasets", content=b"a\n1\n", params={field: value}), 422)
    assert [error["field"] for error in document["errors"]] == [field]


def test_the_list_goes_through_all_pages_newest_first(api: Api) -> None:
    ids = [api.upload(f"page,x\n{place},1\n2,{place}\n".encode())["id"] for place in range(5)]
    listed, cursor = [], None
    for _ in range(1000):
        page = api.get("/datasets", params={"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        assert len(page["items"]) <= 2
        listed += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
    assert [item["id"] for item in listed][:5] == ids[::-1]
    assert len({item["id"] for item in listed}) == len(listed)
    assert listed[0].keys() == {"id", "name", "rows", "columns", "created"}
    assert (listed[0]["rows"], listed[0]["columns"]) == (2, 2)


@pytest.mark.parametrize("cursor", ["x", "NQ", "W1tdLDFd", "W05hTiwiYSJd", "WzEuNSxbXV0", "%00", "é", "bnVsbA"])
@pytest.mark.parametrize("path", ["/datasets", "/jobs"])
def test_an_invalid_cursor_is_an_invalid_parameter(api: Api, path: str, cursor: str) -> None:
    document = problem(api.get(path, params={"cursor": cursor}), 422)
    assert document["type"] == "urn:ism:problem:invalid-parameter"
    assert document["detail"].startswith("Invalid cursor")
    assert document["errors"][0]["field"] == "cursor"


def test_a_data_set_is_deleted(api: Api) -> None:
    id = api.upload(b"gone,x\n1,2\n3,4\n")["id"]
    answer = api.delete(f"/datasets/{id}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert id in problem(api.get(f"/datasets/{id}"), 404)["detail"]
    problem(api.delete(f"/datasets/{id}"), 404)
    assert all(item["id"] != id for item in api.get("/datasets").json()["items"])
    assert api.post("/datasets", content=b"gone,x\n1,2\n3,4\n").status_code == 201


def test_a_preview_can_be_sent_again(api: Api) -> None:
    view = api.upload(b"a,b\n1,x\n2,\n")
    again = [dict(zip(["a", "b"], row, strict=True)) for row in view["preview"]]
    assert api.upload(json.dumps(again).encode(), "again.json")["id"] == view["id"]
