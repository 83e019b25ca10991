"""Results, downloads, transforms, batches and the bar."""

import io
import pickle
from dataclasses import replace

import httpx
import numpy as np
import pandas as pd
import pytest

from ism_client import Client
from ism_client.events import Event
from ism_client.progress import ProgressBar
from tests.support.scripted_service import EMBEDDING, RESULT, TRACE, Stream, W, batch, job, upload_of


@pytest.fixture
def done(client):
    return client.job("j1")


def test_a_result_holds_what_the_service_said(done):
    result = done.result()
    np.testing.assert_array_equal(result.W, W)
    assert result.features == ("a", "b", "c")
    assert result.axes == ("axis1", "axis2")
    assert list(result.eigenvalues) == [3.0, 2.0]
    assert (result.objective, result.converged, result.stop) == (12.5, True, "Converged: all has settled.")
    assert result.metrics == {"accuracy": 0.975, "nmi": None}
    assert result.warnings == ("One class has two rows only.",)
    assert list(result.importance) == [0.18, 0.32, 0.5]
    assert (result.method, result.error) == ("features", {"kind": "bound", "objective": 6e-6, "gradient": 1e-5})
    assert result.document == RESULT
    assert (result.choice, result.errors, result.missed, result.baseline) == (None, None, None, None)


def test_a_result_knows_what_was_chosen_and_how_sure_the_loadings_are(done, service):
    choice = {"criterion": "accuracy", "reason": "It has the best score.", "spec": {"q": 2}, "candidates": []}
    errors = [[0.1, 0.2], [0.0, 0.1], [0.3, 0.0]]
    told = {"missed": {"p_value": 0.5}, "baseline": {"verdict": "keeps"}}
    found = RESULT | {"choice": choice, "stability": {"errors": errors}} | told
    service.on("GET", "/jobs/j1/result", lambda request: httpx.Response(200, json=found))
    result = done.result()
    assert result.choice == choice
    np.testing.assert_array_equal(result.errors, errors)
    assert {"missed": result.missed, "baseline": result.baseline} == told


def test_what_is_large_is_downloaded_once_and_only_when_asked(done, service):
    result = done.result()
    assert not service.called("GET", "/jobs/j1/embedding")
    np.testing.assert_array_equal(result.embedding, EMBEDDING)
    assert result.embedding is result.embedding
    assert len(service.called("GET", "/jobs/j1/embedding")) == 1


def test_one_axis_is_still_a_column(done, service):
    service.on("GET", "/jobs/j1/embedding", lambda request: _npy(np.arange(4.0)))
    assert done.result().embedding.shape == (4, 1)


def test_labels_are_there_for_clusterings_only(client, service, done):
    assert done.result().labels is None
    service.result = RESULT | {"links": {"labels": "/jobs/j1/labels"}}
    labels = client.job("j1").result().labels
    assert labels.dtype == np.int64
    assert list(labels) == [1, 0]


def test_the_trace_is_columns_with_nan_where_nothing_is(done, service):
    trace = done.result().trace
    assert list(trace) == TRACE["columns"]
    assert trace["iteration"].dtype == np.int64
    assert list(trace["stage"]) == ["ascent", "ascent"]
    np.testing.assert_array_equal(trace["change"], [np.nan, 0.01])


def test_frames_are_indexed_by_feature_and_row(done):
    result = done.result()
    assert result.W_frame().loc["b", "axis1"] == 0.8
    frame = result.frame()
    assert frame.index.name == "row"
    np.testing.assert_array_equal(frame.to_numpy(), EMBEDDING)
    assert isinstance(result.trace_frame(), pd.DataFrame)


@pytest.mark.parametrize(("arguments", "file", "content"), [
    (("W", "out/W.npy"), "out/W.npy", "W npy"),
    (("W.parquet",), "W.parquet", "W parquet"),
    (("metrics", "m.json"), "m.json", "metrics json"),
    (("model", "m.onnx"), "m.onnx", "model onnx"),
    (("model.npz",), "model.npz", "model npz"),
    (("embedding", "figure.svg"), "figure.svg", "plots/embedding.svg json"),
    (("loadings.png",), "loadings.png", "plots/loadings.png json"),
    (("trace.csv", "t.csv"), "t.csv", "trace csv"),
])  # fmt: skip
def test_a_download_has_the_format_of_its_suffix(done, tmp_path, monkeypatch, arguments, file, content):
    monkeypatch.chdir(tmp_path)
    assert str(done.download(*arguments)) == file
    assert (tmp_path / file).read_text() == content


@pytest.mark.parametrize("arguments", [("W", "W.svg"), ("W",), ("model", "model.csv"), ("nothing", "nothing.csv")])
def test_what_there_is_not_is_refused_with_what_there_is(done, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"There is no .* There are W, embedding"):
        done.download(*arguments)
    assert not list(tmp_path.iterdir())


def test_a_download_that_breaks_off_leaves_nothing_half_written(done, service, tmp_path):
    broken = httpx.Response(200, stream=Stream([b"half", httpx.ReadError("reset")]))
    service.on("GET", "/jobs/j1/W", broken, httpx.Response(200, content=b"whole"))
    assert done.download("W", tmp_path / "W.csv").read_bytes() == b"whole"
    service.on("GET", "/jobs/j1/trace", httpx.Response(404, json={"detail": "gone"}))
    with pytest.raises(Exception, match="gone"):
        done.download("trace", tmp_path / "trace.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["W.csv"]


def test_new_rows_are_projected(done, service):
    np.testing.assert_array_equal(done.transform([{"a": 1.0, "b": 2.0, "c": 3.0}]), EMBEDDING)
    assert upload_of(service.calls[-1])[0] == "table.json"
    assert done.project(np.zeros((1, 3))).notes == ("Ignored: class.",)
    assert done.transformed(np.zeros((1, 3)), "csv", names=["a", "b", "c"]).startswith(b"axis1,axis2\n")


def test_a_batch_is_waited_for_and_compared(client, service, sleeps):
    history = ({"queued": 2}, {"running": 1, "failed": 1}, {"failed": 1, "succeeded": 1})
    service.on(
        "GET", "/batches/b1",
        *(httpx.Response(200, json=batch(**states)) for states in history),
    )  # fmt: skip
    found = client.batch("b1")
    assert not found.ended
    assert found.wait().ended
    assert len(sleeps) == 1
    table = found.table()
    assert [(row["id"], row["accuracy"]) for row in table] == [("j2", 0.9), ("j1", 0.8)]
    assert found.best().id == "j2"
    assert [job.id for job in found.jobs()] == ["j2", "j1"]
    assert list(found.frame()["q"]) == [3, 2]


def test_a_batch_ends_only_when_it_has_jobs_that_did(client, service):
    service.on("GET", "/batches/b1", httpx.Response(200, json=batch(running=1)))
    with pytest.raises(TimeoutError):
        client.batch("b1").wait(timeout=0.0)
    empty = batch(running=1) | {"jobs": []}
    service.on("GET", "/batches/b1", httpx.Response(200, json=empty))
    with pytest.raises(LookupError, match="No job of batch b1"):
        client.batch("b1").best()


def test_the_bar_tells_what_happens_on_stderr(capsys):
    step = {"stage": "ascent", "iteration": 12, "objective": 3.25, "change": 0.001, "remaining_seconds": 4.2}
    with ProgressBar(True) as bar:
        bar.show_event(Event("state", job("queued", position=2)))
        bar.show_event(Event("state", job("running", progress=step | {"max_iter": 300})))
        bar.show_event(Event("step", step | {"iteration": 13}))
        tried = {"scale": "whiten", "q": 3, "tried": 17, "best": 0.975}
        bar.show_event(Event("trial", {"fold": 3, "folds": 7, **tried}))
        choosing = {"stage": "choosing", "fold": 4, "folds": 7, "trying": tried}
        bar.show_event(Event("state", job("running", progress=choosing)))
        bar.show_event(Event("validation", {"fold": 2, "folds": 5}))
        bar.show_event(Event("step", "no object"))
        bar.show_event(Event("state", job("succeeded")))
    out, err = capsys.readouterr()
    assert out == ""
    for said in (
        "Queued, 2 ahead",
        "Iterating",
        "13/300",
        "objective 3.25",
        "about 4 s left",
        "2/5",
        "Succeeded: 100%",
        "Choosing settings",
        "3/7",
        "whiten, q 3, 17 tried, best 0.975",
        "4/7",
    ):
        assert said in err


def test_the_bar_is_quiet_unless_asked_or_on_a_terminal(capsys, monkeypatch, done):
    done.wait()
    assert capsys.readouterr().err == ""
    assert ProgressBar(True).is_shown
    assert not ProgressBar(None).is_shown
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert ProgressBar(None).is_shown
    assert not ProgressBar(False).is_shown


def _npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return httpx.Response(200, content=buffer.getvalue())


def test_results_and_jobs_show_themselves_in_notebooks(client):
    job = client.job("j1")
    result = job.result()
    assert result.plot()._repr_svg_() == job.plot("embedding", "svg").content.decode()
    assert result.plot("importance", "png")._repr_png_()
    shown = result._repr_html_()
    assert "<td>c</td><td>50.0%</td>" in shown
    assert "3 features, 2 axes" in shown
    assert "<td>j1</td>" in job._repr_html_()


def test_batches_show_their_jobs_in_notebooks(client):
    shown = client.batch("b1")._repr_html_()
    for each in client.batch("b1").document["jobs"]:
        assert f"<td>{each['id']}</td><td>{each['state']}</td>" in shown
    listed = replace(
        client.batch("b1"), states={"queued": 3, "running": 1}, document={}
    )  # a list has the states, but not the jobs
    assert "<td>b1</td><td>3</td><td>1</td>" in listed._repr_html_()


def test_results_and_jobs_survive_pickling_without_the_key(service):
    with Client("http://ism.test", transport=service, api_key="secret-key") as client:
        for given in (client.job("j1"), client.job("j1").result(), client.batch("b1")):
            kept = pickle.dumps(given)
            assert b"secret-key" not in kept
            again = pickle.loads(kept)
            assert again.document == given.document
            assert again._http.url == "http://ism.test"
