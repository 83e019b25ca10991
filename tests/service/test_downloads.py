"""What a job found, in every format: the same numbers, cacheable, in parts, and as pictures and models."""

import hashlib
import io
import json
import xml.etree.ElementTree as ET
from typing import Any
from uuid import uuid4

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from ism_jobs.data import Model
from tests.service.test_posting import spec
from tests.support.api import Api, problem

TYPES = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "npy": "application/x-npy",
    "npz": "application/x-npz",
    "parquet": "application/vnd.apache.parquet",
}
TABLES = ["W", "embedding", "trace", "metrics"]


def table_of(body: bytes, format: str) -> Any:
    if format == "json":
        document = pd.read_json(io.BytesIO(body), typ="series")
        return pd.DataFrame(document["rows"], columns=document["columns"])
    if format == "npz":
        return npz_table(body)
    return pd.read_csv(io.BytesIO(body)) if format == "csv" else pd.read_parquet(io.BytesIO(body))


def npz_table(body: bytes) -> pd.DataFrame:
    with np.load(io.BytesIO(body), allow_pickle=False) as file:
        header = json.loads(file["header"].tobytes())
        columns = {name: file[f"column{place}"] for place, name in enumerate(header["columns"])}
    for name, levels in header["levels"].items():
        columns[name] = np.array([*levels, None], dtype=object)[columns[name]]
    return pd.DataFrame(columns)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("format", TYPES)
def test_a_table_is_the_same_in_every_format_by_parameter_and_by_accept(
    api: Api, done: str, table: str, format: str
) -> None:
    path = f"/jobs/{done}/{table}"
    answer = api.get(path, params={"format": format})
    if (table, format) == ("metrics", "npy"):
        assert "json, csv, npz, parquet" in problem(answer, 422)["detail"]
        return
    assert answer.status_code == 200
    assert answer.headers["content-type"] == TYPES[format]
    assert f'filename="{table}-{done}.{format}"' in answer.headers["content-disposition"]
    accepted = api.get(path, headers={"Accept": TYPES[format].split(";")[0]})
    assert accepted.content == answer.content
    assert accepted.headers["content-type"] == TYPES[format]
    expected = table_of(api.get(path, params={"format": "parquet"}).content, "parquet")
    if format == "npy":
        labels = [name for name in ("feature", "row", "group", "stage") if name in expected]
        np.testing.assert_array_equal(np.load(io.BytesIO(answer.content)), expected.drop(columns=labels))
    elif (table, format) == ("metrics", "json"):
        assert answer.json() == dict(zip(expected["metric"], expected["value"], strict=True))
    else:
        pd.testing.assert_frame_equal(table_of(answer.content, format), expected, check_dtype=False, rtol=1e-15)


@pytest.mark.parametrize("format", TYPES)
def test_the_labels_of_a_clustering_come_in_every_format(api: Api, clustered: str, done: str, format: str) -> None:
    answer = api.get(f"/jobs/{clustered}/labels", params={"format": format})
    sizes = api.get(f"/jobs/{clustered}/result").json()["cluster_sizes"]
    if format == "npy":
        labels = np.load(io.BytesIO(answer.content))
    else:
        labels = table_of(answer.content, format)["cluster"].to_numpy()
    assert labels.dtype.kind == "i"
    assert np.bincount(labels).tolist() == sizes
    problem(api.get(f"/jobs/{done}/labels"), 404)


def test_one_axis_is_an_array_of_one_dimension(api: Api, clustered: str) -> None:
    assert np.load(io.BytesIO(api.get(f"/jobs/{clustered}/embedding?format=npy").content)).shape == (178,)


def test_the_tables_have_the_promised_columns(api: Api, done: str) -> None:
    columns = {table: api.get(f"/jobs/{done}/{table}").json()["columns"] for table in ("W", "embedding", "trace")}
    assert columns["W"] == ["feature", "axis1", "axis2"]
    assert columns["embedding"][:3] == ["row", "axis1", "axis2"]
    assert columns["trace"] == [
        *("iteration", "round", "stage", "objective", "change", "angle", "gradient"),
        *("eigenvalue1", "eigenvalue2"),
    ]


@pytest.mark.parametrize(
    ("accept", "type"),
    [
        ("*/*", "application/json"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/json"),
        ("application/x-npy, text/csv", "application/x-npy"),
        ("text/csv;q=0.5, application/x-npy;q=0.9", "application/x-npy"),
        ("application/json;q=0, text/csv", "text/csv; charset=utf-8"),
        ("text/*", "text/csv; charset=utf-8"),
        ("TEXT/CSV", "text/csv; charset=utf-8"),
        ("application/*", "application/json"),
        ("", "application/json"),
    ],
)
def test_accept_is_weighed(api: Api, done: str, accept: str, type: str) -> None:
    answer = api.get(f"/jobs/{done}/W", headers={"Accept": accept})
    assert (answer.status_code, answer.headers["content-type"]) == (200, type)


def test_what_is_not_there_in_that_format_is_not_acceptable(api: Api, done: str) -> None:
    for path in ("W", "embedding", "model", "trace"):
        problem(api.get(f"/jobs/{done}/{path}?format=xml"), 422)
        problem(api.get(f"/jobs/{done}/{path}", headers={"Accept": "image/png"}), 406)
    problem(api.get(f"/jobs/{done}/model?format=csv"), 422)
    problem(api.get(f"/jobs/{done}/W", headers={"Accept": "application/json;q=0"}), 406)


def test_what_is_no_table_or_picture_is_refused(api: Api, done: str) -> None:
    for path in ("V", "plots/V.svg", "plots/trace.gif", "plots/trace"):
        answer = api.get(f"/jobs/{done}/{path}")
        assert answer.status_code in (404, 422)
        problem(answer, answer.status_code)


@pytest.mark.parametrize("path", ["W?format=csv", "embedding?format=npy", "model", "metrics"])
def test_parts_and_versions(api: Api, done: str, path: str) -> None:
    whole = api.get(f"/jobs/{done}/{path}")
    body, etag, size = whole.content, whole.headers["etag"], len(whole.content)
    assert whole.headers["accept-ranges"] == "bytes"

    def part(given: str, **headers: str) -> Any:
        return api.get(f"/jobs/{done}/{path}", headers={"Range": given, **headers})

    for given, expected, where in (
        ("bytes=0-9", body[:10], f"bytes 0-9/{size}"),
        ("bytes=10-", body[10:], f"bytes 10-{size - 1}/{size}"),
        ("bytes=-7", body[-7:], f"bytes {size - 7}-{size - 1}/{size}"),
        (f"bytes=5-{size + 99}", body[5:], f"bytes 5-{size - 1}/{size}"),
        (f"bytes=-{size + 99}", body, f"bytes 0-{size - 1}/{size}"),
    ):
        answer = part(given)
        assert (answer.status_code, answer.headers["content-range"]) == (206, where)
        assert answer.content == expected
        assert answer.headers["etag"] == etag
    for given in (f"bytes={size}-", "bytes=-0", "bytes=99999999999-"):
        answer = part(given)
        problem(answer, 416)
        assert answer.headers["content-range"] == f"bytes */{size}"
    for given in ("bytes=-", "bytes=a-b", "lines=1-2", "bytes=0-1,4-5", "bytes=0-" + "9" * 5000):
        assert part(given).content == body
    assert part("bytes=0-9", **{"If-Range": etag}).status_code == 206
    assert part("bytes=0-9", **{"If-Range": '"other"'}).content == body
    answer = api.get(f"/jobs/{done}/{path}", headers={"If-None-Match": etag})
    assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", etag)


@pytest.mark.parametrize("path", ["model?format=onnx", "plots/trace.svg"])
def test_what_is_made_when_asked_for_comes_in_parts_too(api: Api, done: str, path: str) -> None:
    whole = api.get(f"/jobs/{done}/{path}")
    etag, size = whole.headers["etag"], len(whole.content)
    answer = api.get(f"/jobs/{done}/{path}", headers={"Range": f"bytes=10-{size}", "If-Range": etag})
    assert (answer.status_code, answer.content) == (206, whole.content[10:])
    assert api.get(f"/jobs/{done}/{path}", headers={"If-None-Match": etag}).status_code == 304


def test_another_job_with_the_id_of_a_deleted_one_has_tags_of_its_own(api: Api, wine_id: str) -> None:
    """An idempotency key gives both the same id, and the attempt has the same number."""
    headers = {"Idempotency-Key": uuid4().hex}
    answers = []
    for features in (["ash", "alcohol"], ["ash", "hue"]):
        job = api.post("/jobs", json=spec(wine_id, features=features), headers=headers).json()["id"]
        api.succeeded(job)
        known = {"If-None-Match": answers[0].headers["etag"]} if answers else {}
        answers.append(api.get(f"/jobs/{job}/W", headers=known))
        assert api.delete(f"/jobs/{job}").status_code == 204
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].url == answers[1].url


@pytest.mark.parametrize("path", ["", "/W", "/embedding?format=parquet", "/model", "/plots/trace.svg", "/report.html"])
def test_a_tag_names_the_bytes(api: Api, done: str, path: str) -> None:
    answer = api.get(f"/jobs/{done}{path}")
    assert answer.headers["etag"] == f'"{hashlib.sha256(answer.content).hexdigest()[:32]}"'


def test_the_tag_of_a_job_changes_with_its_links(api: Api, done: str) -> None:
    answer = api.get(f"/jobs/{done}")
    behind_proxy = api.get(f"/jobs/{done}", headers={"X-Forwarded-Prefix": "/ism"})
    assert answer.content != behind_proxy.content
    assert answer.headers["etag"] != behind_proxy.headers["etag"]


def test_each_format_has_a_version_of_its_own(api: Api, done: str) -> None:
    etags = [api.get(f"/jobs/{done}/{table}?format=csv").headers["etag"] for table in TABLES]
    etags += [api.get(f"/jobs/{done}/W?format={format}").headers["etag"] for format in ("json", "npy", "parquet")]
    assert len(set(etags)) == len(etags)


@pytest.mark.parametrize("plot", ["embedding", "importance", "loadings", "trace"])
def test_pictures_are_well_formed(api: Api, done: str, plot: str) -> None:
    svg, png = (api.get(f"/jobs/{done}/plots/{plot}.{format}") for format in ("svg", "png"))
    assert svg.headers["content-type"] == "image/svg+xml"
    assert ET.fromstring(svg.content).tag == "{http://www.w3.org/2000/svg}svg"
    assert b"<script" not in svg.content
    assert png.headers["content-type"] == "image/png"
    assert png.content.startswith(b"\x89PNG\r\n\x1a\n")
    assert png.content.endswith(b"IEND\xaeB`\x82")


def test_the_report_is_a_pdf_of_a_few_pages(api: Api, done: str) -> None:
    answer = api.get(f"/jobs/{done}/report.pdf")
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.content.startswith(b"%PDF-")
    assert 2 <= answer.content.count(b"/Type /Page ") <= 4
    assert len(answer.content) < 1_500_000
    assert api.get(f"/jobs/{done}").json()["links"]["report_pdf"] == f"/jobs/{done}/report.pdf"


def test_names_that_mean_something_to_others_are_only_names(api: Api) -> None:
    """To TeX, to XML, to format strings, to spreadsheets."""
    names = ["$x_{$", "\\frac{1}", '<b>&"', "🎈", "%s", "{x}", "=1+2"]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((8, 7)).round(2), columns=names).assign(group=["$a$", "<i>"] * 4)
    dataset = api.upload(frame.to_csv(index=False).encode())["id"]
    spec = {"dataset": dataset, "paradigm": "supervised", "target": "group", "kernel": "linear", "folds": 0}
    job = api.submit(**spec, label='$\\frac{ 🎈 <b>&"\n {x} %s')
    api.succeeded(job)
    for plot in ("loadings.svg", "embedding.svg", "embedding.png"):
        answer = api.get(f"/jobs/{job}/plots/{plot}")
        assert answer.status_code == 200, answer.text
        if plot.endswith("svg"):
            ET.fromstring(answer.content)
    for format in ("json", "csv", "parquet"):
        table = table_of(api.get(f"/jobs/{job}/W?format={format}").content, format)
        written = [name if format != "csv" else name.replace("=1+2", "'=1+2") for name in names]  # a formula is none
        assert table["feature"].tolist() == written


def test_the_models_give_the_embedding(api: Api, done: str, wine: Any, wine_csv: bytes, features: list[str]) -> None:
    embedding = np.load(io.BytesIO(api.get(f"/jobs/{done}/embedding?format=npy").content))
    X = wine[features].to_numpy(float)
    npz = Model.from_npz(api.get(f"/jobs/{done}/model").content)
    np.testing.assert_allclose(npz.project(X), embedding, atol=1e-6)
    session = onnxruntime.InferenceSession(api.get(f"/jobs/{done}/model?format=onnx").content)
    np.testing.assert_allclose(session.run(None, {"X": X})[0], embedding, atol=1e-6)
    answer = api.post(f"/jobs/{done}/transform", files={"file": ("wine.csv", wine_csv)})
    assert answer.json()["columns"] == ["axis1", "axis2"]
    np.testing.assert_allclose(answer.json()["rows"], embedding, atol=1e-6)


def test_the_result_tells_everything_small(api: Api, done: str, features: list[str]) -> None:
    result = api.get(f"/jobs/{done}/result").json()
    assert result["features"] == features
    assert result["axes"] == ["axis1", "axis2"]
    assert result["job"]["label"] == "wine, first look"
    assert result["metrics"] == api.get(f"/jobs/{done}/metrics").json()
    assert result["metrics"]["accuracy"] > 0.9
    assert result["certificate"].keys() >= {"gradient", "eigengap", "orthonormality", "curvature", "second_order"}
    assert isinstance(result["certificate"]["second_order"], bool | None)
    assert result["stop"].endswith(".")
    assert len(result["importance"]) == len(features)


@pytest.mark.parametrize(
    "path",
    [
        *("/healthz", "/readyz", "/metrics", "/docs", "/kernels", "/jobs", "/datasets", "/openapi.json"),
        *(
            "/datasets/{dataset}",
            "/jobs/{job}",
            "/jobs/{job}/result",
            "/jobs/{job}/W",
            "/jobs/{job}/embedding?format=npy",
        ),
        *("/jobs/{job}/model", "/jobs/{job}/plots/trace.png"),
    ],
)
def test_head_tells_all_but_the_body(api: Api, done: str, wine_id: str, path: str) -> None:
    path = path.format(job=done, dataset=wine_id)
    head, whole = api.head(path, headers={"Range": "bytes=0-9"}), api.get(path)
    assert (head.status_code, head.content) == (200, b"")
    own = {"date", "x-request-id", "content-length"} if path == "/metrics" else {"date", "x-request-id"}
    assert {(name, value) for name, value in head.headers.items() if name not in own} == {
        (name, value) for name, value in whole.headers.items() if name not in own
    }
    assert api.head(path.replace(done, "nothing").replace(wine_id, "nothing")).status_code in (200, 404)
    if "etag" in whole.headers:
        assert api.head(path, headers={"If-None-Match": whole.headers["etag"]}).status_code == 304


def test_what_accept_chooses_says_so(api: Api, done: str, wine_id: str, wine_csv: bytes) -> None:
    spec = {
        "dataset": wine_id,
        "paradigm": "supervised",
        "target": "class",
        "kernel": "gaussian",
        "features": ["ash"],
        "q": 1,
        "folds": 0,
    }
    batch = api.post("/batches", json=[spec]).json()["id"]
    api.compared(batch)
    for path in (f"/jobs/{done}/W", f"/jobs/{done}/metrics", f"/jobs/{done}/model", f"/batches/{batch}"):
        whole = api.get(path)
        part = api.get(path, headers={"Range": "bytes=0-9"})
        known = api.get(path, headers={"If-None-Match": whole.headers["etag"]})
        assert [answer.status_code for answer in (whole, part, known)] == [200, 206, 304]
        assert all(answer.headers["vary"] == "Accept" for answer in (whole, part, known))
    assert api.post(f"/jobs/{done}/transform", content=wine_csv).headers["vary"] == "Accept"
    assert "vary" not in api.get(f"/jobs/{done}/plots/trace.svg").headers
