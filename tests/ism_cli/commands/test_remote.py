"""The commands that call a service: what they send, write, and exit with."""

import json
import socket

import httpx
import numpy as np
import pytest

from ism_client import PLOTS
from tests.support.scripted_service import EMBEDDING, PROBLEM, RESULT, batch, job


def posted(ism, path="/jobs"):
    return json.loads(ism.service.called("POST", path)[-1].content)


def test_upload_writes_ids_to_stdout_and_notes_to_stderr(ism, wine):
    result = ism.run("upload", wine, wine)
    assert result.exit_code == 0
    assert result.stdout == "d1\nd1\n"
    assert 'wine.csv: 4 rows, 2 columns\n  Read with ";" as separator.' in result.stderr


def test_upload_reads_stdin(ism):
    result = ism.run("upload", "-", "--name", "piped.csv", "--json", input=b"a\n1\n")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)[0]["columns"] == ["a", "class"]
    assert ism.service.calls[0].url.params["name"] == "piped.csv"


def test_submit_uploads_a_file_first(ism, wine):
    result = ism.run("submit", wine, "--target", "class", "-q", "2")
    assert result.exit_code == 0
    assert result.stdout == "j1\n"
    assert "`ism watch j1`" in result.stderr
    assert posted(ism) == {"dataset": "d1", "paradigm": "supervised", "target": "class", "q": 2}


def test_submit_takes_an_id_or_a_spec_that_has_one(ism, tmp_path):
    ism.run("submit", "d7", "--clusters", "3")
    assert posted(ism)["dataset"] == "d7"
    (tmp_path / "spec.json").write_text(json.dumps({"dataset": "d8", "clusters": 3}))
    ism.run("submit", "--spec", str(tmp_path / "spec.json"))
    assert posted(ism)["dataset"] == "d8"
    assert not ism.service.called("POST", "/datasets")


def test_submit_of_a_grid_is_a_batch(ism):
    result = ism.run("submit", "d1", "--target", "class", "--kernel", "gaussian", "--kernel", "linear", "-q", "2")
    assert result.stdout == "b1\n"
    assert "`ism compare b1`" in result.stderr
    assert posted(ism, "/batches")["jobs"][0]["kernel"] == ["gaussian", "linear"]


def test_submit_and_wait_shows_what_was_found(ism):
    result = ism.run("submit", "d1", "--target", "class", "--wait")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Converged: all has settled.")
    assert json.loads(ism.run("submit", "d1", "--target", "class", "--wait", "--json").stdout) == RESULT


def test_a_batch_waited_for_is_compared_and_fails_with_its_jobs(ism):
    arguments = ("submit", "d1", "--target", "class", "-q", "2", "-q", "3", "--wait")
    result = ism.run(*arguments)
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows == [["job", "state", "kernel", "q", "accuracy"], ["j2", "succeeded", "gaussian", "3", "0.9"],
                    ["j1", "succeeded", "linear", "2", "0.8"]]  # fmt: skip
    ism.service.on("GET", "/batches/b1", httpx.Response(200, json=batch(succeeded=1, failed=1)))
    result = ism.run(*arguments)
    assert result.exit_code == 1
    assert "1 of 2 jobs did not succeed" in result.stderr


def test_compare_lists_a_batch_best_first(ism):
    assert [line.split()[0] for line in ism.run("compare", "b1").stdout.splitlines()] == ["job", "j2", "j1"]
    assert json.loads(ism.run("compare", "b1", "--wait", "--json").stdout) == batch(succeeded=2)


def test_a_refusal_is_its_sentence_and_exit_code_1(ism):
    ism.service.on("POST", "/jobs", httpx.Response(422, json=PROBLEM))
    result = ism.run("submit", "d1", "--target", "klass")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert (
        result.stderr
        == 'The job does not fit its data set.\ntarget: There is no column "klass"; did you mean "class"?\n'
    )


def test_watch_of_a_failed_job_is_its_sentence_and_exit_code_1(ism):
    ism.service.on(
        "GET", "/jobs/j1", httpx.Response(200, json=job("failed", error={"detail": "Out of memory; drop rows."}))
    )
    result = ism.run("watch", "j1")
    assert (result.exit_code, result.stderr) == (1, "Out of memory; drop rows.\n")


def test_watch_shows_a_bar_only_when_asked(ism):
    assert "Succeeded" not in ism.run("watch", "j1").stderr
    shown = ism.run("watch", "j1", "--progress")
    assert "Succeeded: 100%" in shown.stderr
    assert "Succeeded" not in shown.stdout


@pytest.mark.parametrize(("format", "metrics"), [("csv", "csv"), ("npy", "json"), ("parquet", "parquet")])
def test_get_writes_all_that_there_is(ism, tmp_path, format, metrics):
    result = ism.run("get", "j1", "--out", str(tmp_path / "out"), "--format", format)
    assert result.exit_code == 0, result.output
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == sorted([
        f"W.{format}", f"embedding.{format}", f"trace.{format}", f"metrics.{metrics}", "model.npz", "model.onnx",
        "result.json", *(f"{plot}.{kind}" for plot in PLOTS for kind in ("svg", "png")),
    ])  # fmt: skip
    assert json.loads((tmp_path / "out/result.json").read_text()) == RESULT


def test_get_of_an_open_job_writes_nothing(ism, tmp_path):
    ism.service.on("GET", "/jobs/j1/result", httpx.Response(409, json={"detail": "The job is running."}))
    result = ism.run("get", "j1", "--out", str(tmp_path / "out"))
    assert (result.exit_code, result.stderr) == (1, "The job is running.\n")
    assert not list((tmp_path / "out").iterdir())


def test_jobs_are_listed_with_table_target_and_score(ism):
    wine = {"id": "d1", "name": "wine.csv", "rows": 178, "columns": 14}
    ism.service.on("GET", "/datasets", httpx.Response(200, json={"items": [wine], "next": None}))
    done = job("succeeded", label="first", metrics={"accuracy": 0.975})
    ism.service.on("GET", "/jobs", httpx.Response(200, json={"items": [done], "next": None}))
    result = ism.run("jobs", "--state", "succeeded")
    assert result.stdout.splitlines()[1].split() == [
        "j1", "succeeded", "wine.csv", "class", "accuracy", "0.975", "2026-01-02", "03:04", "first",
    ]  # fmt: skip
    assert ism.service.calls[-2].url.params["state"] == "succeeded"
    assert json.loads(ism.run("jobs", "--json").stdout)[0]["id"] == "j1"
    assert ism.run("jobs", "--state", "lost").exit_code == 2


def test_cancel_says_what_happened(ism):
    ism.service.on("GET", "/jobs/j1", httpx.Response(200, json=job("running")))
    assert ism.run("cancel", "j1").stdout == "j1: cancelled\n"
    ism.service.on("POST", "/jobs/j1/cancel", httpx.Response(202, json=job("running")))
    assert ism.run("cancel", "j1").stdout == "j1: running, stops after its current iteration\n"


def test_transform_writes_csv_or_a_file(ism, wine, tmp_path):
    assert ism.run("transform", "j1", wine).stdout.startswith("axis1,axis2\n0.0,1.0\n")
    assert json.loads(ism.run("transform", "j1", wine, "--json").stdout)["columns"] == ["axis1", "axis2"]
    assert ism.run("transform", "j1", wine, "--out", str(tmp_path / "new.npy")).exit_code == 0
    np.testing.assert_array_equal(np.load(tmp_path / "new.npy"), EMBEDDING)
    result = ism.run("transform", "j1", wine, "--out", str(tmp_path / "new.xlsx"))
    assert result.exit_code == 2
    assert "use .csv, .npy, .parquet or .json" in result.stderr


def test_where_no_service_answers_it_says_how_to_start_one(ism):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    result = ism.run("jobs", "--url", f"http://127.0.0.1:{port}")
    assert result.exit_code == 1
    assert result.stderr == (
        f"No ISM service answers at http://127.0.0.1:{port}; start one with `ism serve`, or set --url.\n"
    )


def test_the_key_is_sent_and_never_echoed(ism):
    result = ism.run("jobs", env={"ISM_API_KEY": "s3cret"})
    assert ism.service.calls[-1].headers["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in result.output + ism.run("jobs", "--help", env={"ISM_API_KEY": "s3cret"}).output


@pytest.mark.parametrize("arguments", [
    ["upload"], ["upload", "nowhere.csv"], ["upload", "--name", "x", __file__, __file__], ["submit", "--clusters", "3"],
    ["submit", "nowhere.csv", "--clusters", "3"], ["submit", "d1"], ["get", "j1"], ["jobs", "--url", "here"],
])  # fmt: skip
def test_wrong_usage_is_exit_code_2_and_calls_nothing(ism, arguments):
    result = ism.run(*arguments)
    assert result.exit_code == 2
    assert "Usage:" in result.stderr
    assert not ism.service.calls
