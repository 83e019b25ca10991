"""Data sets by reference: their rows stay in files, and jobs read them part by part."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from ism_cli.main import main
from ism_client import Client
from tests.service.references.places import FAULTY, Places
from tests.support.api import Api, problem
from tests.support.tables import write_rows

JOB = {"paradigm": "supervised", "target": "class", "kernel": "polynomial", "q": 2, "folds": 3, "delta": 1e-7}


def register(api: Api, uri: str) -> Any:
    answer = api.post("/datasets", json={"uri": uri})
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def test_a_folder_of_parquet_files_is_described_and_solved_where_it_is(api: Api, places: Places) -> None:
    whole = write_rows(places.tables / "folder")
    dataset = register(api, str(places.tables / "folder"))
    assert (dataset["rows"], dataset["format"], dataset["uri"]) == (6_000, "parquet", str(places.tables / "folder"))
    assert [column["name"] for column in dataset["columns"]] == whole.column_names
    assert register(api, f"file://{places.tables}/folder/")["id"] == dataset["id"]
    output = str(places.outputs / "new" / "folder.parquet")
    job = api.submit(dataset=dataset["id"], output=output, **JOB)
    api.succeeded(job)
    result = api.get(f"/jobs/{job}/result").json()
    assert (result["rows"], result["output"]) == (6_000, {"uri": output, "rows": 6_000})
    written = pq.read_table(output)
    assert written.column("row").to_pylist() == list(range(6_000))
    assert written.column("group").to_pylist() == whole.column("class").to_pylist()
    X = whole.select(result["encoding"]["columns"])
    uploaded = api.upload(whole.to_pandas().to_csv(index=False).encode())
    same = api.submit(dataset=uploaded["id"], **JOB)
    api.succeeded(same)
    expected = np.array(api.get(f"/jobs/{same}/result").json()["W"])
    np.testing.assert_allclose(np.array(result["W"]), expected, atol=1e-6)
    embedding = api.get(f"/jobs/{same}/embedding").json()["rows"]
    np.testing.assert_allclose(written.column("axis1"), [row[1] for row in embedding], atol=1e-5)
    assert X.num_columns == 6


def test_the_client_and_the_command_line_say_where_a_table_is(service: str, places: Places) -> None:
    write_rows(places.tables / "named", files=1)
    uri = f"file://{places.tables}/named"
    with Client(service) as client:
        dataset = client.upload_uri(uri, name="my rows")
        assert (dataset.name, dataset.rows, dataset.uri) == ("my rows", 2_000, str(places.tables / "named"))
        result = client.submit(dataset, **JOB).wait().result()
        assert len(result.embedding) == result.document["sample_rows"] == 2_000
    ran = CliRunner().invoke(main, ["upload", uri, "--url", service, "--json"])
    assert json.loads(ran.stdout)[0]["id"] == dataset.id


def test_a_bucket_is_read_and_written_although_requests_fail(api: Api, places: Places) -> None:
    write_rows(places.buckets / "tables" / "rows", files=6)
    assert places.store_port
    places.faulty = FAULTY
    try:
        dataset = register(api, "s3://tables/rows/")
        job = api.submit(dataset=dataset["id"], output="s3://outputs/rows.parquet", **{**JOB, "folds": 0})
        api.succeeded(job)
    finally:
        places.faulty = 0.0
    assert api.get(f"/jobs/{job}/result").json()["output"] == {"uri": "s3://outputs/rows.parquet", "rows": 12_000}
    assert pq.read_table(places.buckets / "outputs" / "rows.parquet").num_rows == 12_000
    assert [path.name for path in (places.buckets / "outputs").iterdir()] == ["rows.parquet"]


def test_a_file_of_a_web_server_is_read_in_ranges(api: Api, places: Places) -> None:
    write_rows(places.web, files=1)
    places.serve_web()
    dataset = register(api, f"{places.web_url}/part-0.parquet")
    api.succeeded(api.submit(dataset=dataset["id"], **{**JOB, "folds": 0}))


def test_csv_files_are_read_with_missing_values_and_text(api: Api, places: Places) -> None:
    folder = places.tables / "csv"
    folder.mkdir()
    table = write_rows(places.tables / "whole", files=1).to_pandas()
    table.loc[::50, "x0"] = np.nan
    table.loc[:9, "class"] = None
    for number in range(2):
        table[number::2].to_csv(folder / f"{number}.csv", index=False)
    dataset = register(api, f"{folder}/*.csv")
    assert dataset["format"] == "csv"
    assert dataset["rows"] == pytest.approx(2_000, rel=0.02)
    job = api.submit(dataset=dataset["id"], kernel="auto", **{name: JOB[name] for name in ("paradigm", "target")})
    api.succeeded(job)
    result = api.get(f"/jobs/{job}/result").json()
    assert result["rows"] == 1_990
    assert any('"x0" (39 values' in warning for warning in result["warnings"])


@pytest.mark.parametrize(
    ("uri", "sentence"),
    [
        ("/etc", "is not inside a place that ISM_TABLE_ROOTS allows"),
        ("{tables}/../etc", "empty part, . or .."),
        ("{tables}/link", "is not inside a place"),
        ("{tables}/linked", "is not inside a place"),
        ("{tables}/none", "does not exist"),
        ("http://127.0.0.1:1/rows.parquet", "is not inside a place"),
        ("http://169.254.169.254/latest/x.parquet", "is not inside a place"),
        ("https://user:word@example.org/x.parquet", "has a user or a password"),
        ("https://example.org/x.parquet?signature=1", "has a query"),
        ("s3://nowhere/rows/", "does not exist"),
        ("s3://tables/nothing/", "does not exist"),
        ("ftp://example.org/x.csv", "it must be one of"),
        ("{tables}/mixed", "has no column"),
        ("{tables}/kinds", "and text in"),
        ("{tables}/broken", "is damaged"),
        ("{tables}/both", "has both Parquet and CSV files"),
    ],
)
def test_a_place_that_cannot_be_read_is_refused_with_a_sentence(
    api: Api, places: Places, wrong_places: None, uri: str, sentence: str
) -> None:
    assert places.store_port
    answer = api.post("/datasets", json={"uri": uri.format(tables=places.tables)})
    assert sentence in problem(answer, 422)["detail"]


@pytest.fixture(scope="module")
def wrong_places(places: Places) -> None:
    tables, outside = places.tables, places.tables.parent / "outside"
    write_rows(outside, files=1)
    (tables / "link").symlink_to(outside)
    (tables / "linked").mkdir()
    (tables / "linked" / "part.parquet").symlink_to(outside / "part-0.parquet")
    write_rows(tables / "mixed", files=2)
    pq.write_table(pa.table({"x0": [1.0, 2.0]}), tables / "mixed" / "part-9.parquet")
    write_rows(tables / "kinds", files=1)
    other = pq.read_table(tables / "kinds" / "part-0.parquet")
    changed = other.set_column(0, "x0", pa.array(["text"] * len(other)))
    pq.write_table(changed, tables / "kinds" / "part-1.parquet")
    write_rows(tables / "broken", files=1)
    (tables / "broken" / "part-0.parquet").write_bytes(b"PAR1 and something else, but no footer")
    write_rows(tables / "both", files=1)
    (tables / "both" / "more.csv").write_text("a,b\n1,2\n")


def test_files_that_change_or_vanish_fail_the_job_with_a_sentence(api: Api, places: Places) -> None:
    folder = places.tables / "changing"
    write_rows(folder)
    dataset = register(api, str(folder))
    output = places.outputs / "changing.parquet"
    (folder / "part-1.parquet").rename(folder / "_part-1.parquet")
    view = api.ended(api.submit(dataset=dataset["id"], output=str(output), **JOB))
    assert "part-1.parquet has vanished" in view["error"]["detail"]
    (folder / "_part-1.parquet").rename(folder / "part-1.parquet")
    write_rows(folder, files=2, seed=1)
    view = api.ended(api.submit(dataset=dataset["id"], **JOB))
    assert "part-0.parquet and 1 other file have changed" in view["error"]["detail"]
    assert not output.exists()


def test_a_damaged_row_group_fails_the_job_and_nothing_is_half_written(api: Api, places: Places) -> None:
    folder = places.tables / "damaged"
    write_rows(folder)
    path = folder / "part-2.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 4_000] = b"\xff" * 4_000
    path.write_bytes(content)
    dataset = api.post("/datasets", json={"uri": str(folder)})
    if dataset.status_code == 422:  # the sample has met the damage
        assert "part-2.parquet is damaged" in dataset.json()["detail"]
        return
    output = places.outputs / "damaged.parquet"
    view = api.ended(api.submit(dataset=dataset.json()["id"], output=str(output), **JOB))
    assert "part-2.parquet is damaged" in view["error"]["detail"]
    assert not output.exists()


def test_what_parts_cannot_do_is_refused_when_the_job_is_posted(api: Api, places: Places) -> None:
    write_rows(places.tables / "checks")
    dataset = register(api, str(places.tables / "checks"))["id"]
    for change, sentence in (
        ({"paradigm": "unsupervised", "clusters": 2, "target": None}, "Only supervised jobs"),
        ({"kernel": "multiquadratic"}, "compares all pairs of rows"),
        ({"kernel": "relative_gaussian"}, "compares all pairs of rows"),
        ({"kernel": "gaussian", "neighbors": True}, "compares all pairs of rows"),
        ({"features_per_axis": 2}, "leave it out"),
        ({"output": "/etc/x.parquet"}, "ISM_OUTPUT_ROOTS"),
        ({"output": f"{places.tables}/checks/x.parquet"}, "ISM_OUTPUT_ROOTS"),
        ({"output": "relative.parquet"}, "no URI"),
    ):
        spec = {name: value for name, value in {**JOB, "dataset": dataset, **change}.items() if value is not None}
        assert sentence in problem(api.post("/jobs", json=spec), 422)["detail"], change
    plan = api.post("/jobs", params={"validate_only": "true"}, json={**JOB, "dataset": dataset}).json()["jobs"][0]
    assert (plan["rows"], plan["features"]) == (6_000, 6)
    assert "stay at" in problem(api.get(f"/datasets/{dataset}/rows"), 409)["detail"]
    uploaded = api.upload(b"a,b,class\n1,2,x\n2,3,y\n3,4,x\n4,1,y\n")["id"]
    refused = api.post("/jobs", json={**JOB, "dataset": uploaded, "output": f"{places.outputs}/x.parquet"})
    assert "by reference" in problem(refused, 422)["detail"]


def test_a_file_of_somebody_else_is_not_replaced(api: Api, places: Places) -> None:
    write_rows(places.tables / "twice", files=1)
    dataset = register(api, str(places.tables / "twice"))["id"]
    output = places.outputs / "other.parquet"
    output.write_text("precious")
    view = api.ended(api.submit(dataset=dataset, output=str(output), **JOB))
    assert "There is a file" in view["error"]["detail"]
    assert output.read_text() == "precious"
    assert [path.name for path in places.outputs.iterdir() if path.name.startswith(".ism-")] == []
