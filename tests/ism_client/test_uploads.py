"""What can be uploaded, and what of it arrives."""

import io
import json
import os
import threading

import httpx
import numpy as np
import pandas as pd
import pytest

from ism_client import Dataset
from tests.support.scripted_service import upload_of

CSV = b"a;class\n1;x\n2;y\n"


@pytest.fixture
def arrived(service):
    return lambda: upload_of(service.calls[-1])


def test_a_file_arrives_as_it_is_and_is_described(client, arrived, tmp_path):
    path = tmp_path / "wine.csv"
    path.write_bytes(CSV)
    dataset = client.upload(path)
    assert arrived() == ("wine.csv", "text/csv", CSV)
    assert isinstance(dataset, Dataset)
    assert (dataset.id, dataset.rows, dataset.notes) == ("d1", 4, ('Read with ";" as separator.',))
    assert [column.name for column in dataset.columns] == ["a", "class"]
    assert dataset.column("class").levels == ("x", "y")
    assert dataset.created.year == 2026
    with pytest.raises(KeyError):
        dataset.column("b")


def test_a_file_object_is_read_from_its_start_and_left_open(client, arrived):
    file = io.BytesIO()
    file.write(CSV)
    client.upload(file, name="wine.csv")
    assert arrived() == ("wine.csv", "text/csv", CSV)
    assert not file.closed


def test_text_files_are_sent_as_bytes(client, arrived, tmp_path):
    (tmp_path / "größe.csv").write_bytes(CSV)
    with open(tmp_path / "größe.csv") as file:
        client.upload(file)
    assert arrived()[2] == CSV
    client.upload(io.StringIO("a\n1\n"))
    assert arrived()[2] == b"a\n1\n"


def test_a_pipe_is_streamed_and_not_tried_again(client, service, arrived):
    read, write = os.pipe()
    threading.Thread(target=lambda: (os.write(write, CSV), os.close(write))).start()
    with os.fdopen(read, "rb") as pipe:
        client.upload(pipe)
    assert arrived()[2] == CSV
    assert service.calls[0].headers["Transfer-Encoding"] == "chunked"


def test_a_lost_upload_is_sent_again_in_full(client, service, arrived, tmp_path):
    path = tmp_path / "wine.csv"
    path.write_bytes(CSV)
    service.on("POST", "/datasets", httpx.ReadError("reset"), lambda request: service._contract(request))
    client.upload(path)
    assert len(service.calls) == 2
    assert arrived()[2] == CSV


def test_an_array_arrives_as_npy(client, arrived):
    array = np.array([[1.0, np.nan], [3.0, 4.0]])
    client.upload(array)
    name, media_type, content = arrived()
    assert (name, media_type) == ("table.npy", "application/x-npy")
    np.testing.assert_array_equal(np.load(io.BytesIO(content)), array)


def test_an_array_with_names_arrives_as_npz_of_columns(client, arrived):
    array = np.array([[0.1 + 0.2, np.nan, 1], [1e-300, -5.0, 2]])
    names = ["size, in m/s", "größe", "file"]
    client.upload(array, names=names, name="people")
    name, media_type, content = arrived()
    assert (name, media_type) == ("people.npz", "application/x-npz")
    columns = np.load(io.BytesIO(content))
    assert columns.files == names
    np.testing.assert_array_equal(np.column_stack([columns[name] for name in names]), array)


def test_text_in_an_array_arrives_as_text(client, arrived):
    client.upload(np.array([["x", "1"], ["y", "2"]]))
    assert arrived()[2] == b"x1,x2\nx,1\ny,2\n"


def test_a_frame_arrives_with_its_types_and_without_its_index(client, arrived):
    frame = pd.DataFrame({"a": [1.5, None], "code": ["01", "02"], 3: [True, False]}, index=[7, 8])
    client.upload(frame, name="people")
    name, media_type, content = arrived()
    assert (name, media_type) == ("people.parquet", "application/vnd.apache.parquet")
    back = pd.read_parquet(io.BytesIO(content))
    assert list(back.columns) == ["a", "code", "3"]
    assert list(back["code"]) == ["01", "02"]


def test_a_frame_that_parquet_cannot_hold_arrives_as_csv(client, arrived):
    client.upload(pd.DataFrame({"mixed": [1, "x"]}))
    assert arrived() == ("table.csv", "text/csv", b"mixed\n1\nx\n")


def test_rows_as_dicts_arrive_as_json_without_nan(client, arrived):
    client.upload([{"a": np.float64(1), "b": float("nan")}, {"a": 2, "b": "x"}])
    assert json.loads(arrived()[2]) == [{"a": 1.0, "b": None}, {"a": 2, "b": "x"}]


def test_name_and_header_are_said_in_the_query(client, service, tmp_path):
    path = tmp_path / "wine.csv"
    path.write_bytes(CSV)
    client.upload(path, name="My wine", header=False)
    assert dict(service.calls[-1].url.params) == {"name": "My wine", "header": "false"}
    client.upload(path)
    assert dict(service.calls[-1].url.params) == {}


@pytest.mark.parametrize(("source", "names", "error"), [
    (3, None, "A int is not a table"),
    (b"a\n1\n", None, "A bytes is not a table"),
    (np.zeros((2, 2, 2)), None, "3-dimensional"),
    (np.zeros((2, 2), complex), None, "complex"),
    (np.zeros((2, 2)), ["a"], "1 names for 2 columns"),
    (np.zeros((2, 2)), ["a", "a"], "same name"),
    (pd.DataFrame({"a": [1]}), ["a"], "names are for arrays"),
])  # fmt: skip
def test_what_is_no_table_is_refused_before_it_is_sent(client, service, source, names, error):
    with pytest.raises((TypeError, ValueError), match=error):
        client.upload(source, names=names)
    assert not service.calls
