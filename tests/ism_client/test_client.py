"""Submitting, listing and the client itself."""

import json
import subprocess
import sys

import httpx
import numpy as np
import pytest

import ism_client
from ism_client import ApiError, Batch, Client, Job
from tests.support.scripted_service import PROBLEM, job


def sent(service, path="/jobs"):
    return json.loads(service.called("POST", path)[-1].content)


def test_the_public_names():
    assert sorted(ism_client.__all__) == [
        "ApiError", "AsyncBatch", "AsyncClient", "AsyncDataset", "AsyncJob", "AsyncResult",
        "Batch", "Client", "ClientError", "Column", "Dataset", "DatasetSummary", "Event", "Job",
        "JobFailed", "MODEL_FORMATS", "PLOTS", "PLOT_FORMATS", "Picture", "Progress", "ProgressBar", "Projection",
        "Result", "TABLES", "Unreachable",
    ]  # fmt: skip


def test_importing_it_needs_neither_the_service_nor_pandas():
    unwanted = {"pandas", "pyarrow", "pydantic", "ism_jobs", "ism_core", "app"}
    script = f"import sys, ism_client; sys.exit([name for name in sys.modules if name in {unwanted!r}] or 0)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_job_is_the_data_set_and_the_fields(client, service, tmp_path):
    (tmp_path / "wine.csv").write_text("a\n1\n")
    dataset = client.upload(tmp_path / "wine.csv")
    job = client.submit(dataset, paradigm="supervised", target="class", kernel="gaussian", q=2)
    assert isinstance(job, Job)
    assert sent(service) == {"dataset": "d1", "paradigm": "supervised", "target": "class", "kernel": "gaussian", "q": 2}
    assert (job.id, job.state, job.spec["q"]) == ("j1", "queued", 2)


def test_a_spec_may_be_a_dict(client, service):
    client.submit({"dataset": "d1", "paradigm": "supervised", "target": "class"}, q=3)
    assert sent(service) == {"dataset": "d1", "paradigm": "supervised", "target": "class", "q": 3}


def test_a_list_makes_a_batch(client, service):
    batch = client.submit_batch(
        dataset="d1", paradigm="unsupervised", clusters=np.int64(3), kernel=["gaussian", "linear"], q=range(2, 4)
    )
    assert isinstance(batch, Batch)
    (grid,) = sent(service, "/batches")["jobs"]
    assert (grid["q"], grid["clusters"]) == ([2, 3], 3)
    assert batch.states == {"queued": 2}


def test_many_specs_make_a_batch(client, service):
    batch = client.submit_batch(
        [{"q": 2}, {"q": 3, "target": "b"}], label="night", dataset="d1", paradigm="supervised", target="a"
    )
    assert isinstance(batch, Batch)
    common = {"dataset": "d1", "paradigm": "supervised"}
    jobs = [common | {"target": "a", "q": 2}, common | {"target": "b", "q": 3}]
    assert sent(service, "/batches") == {"jobs": jobs, "label": "night"}


def test_a_refusal_reads_as_its_sentences(client, service):
    service.on("POST", "/jobs", httpx.Response(422, json=PROBLEM))
    with pytest.raises(ApiError) as raised:
        client.submit("d1", paradigm="supervised", target="klass")
    error = raised.value
    assert str(error) == (
        'The job does not fit its data set.\ntarget: There is no column "klass"; did you mean "class"?'
    )
    assert error.status == 422
    assert error.problem == PROBLEM
    assert error.errors == {"target": 'There is no column "klass"; did you mean "class"?'}


@pytest.mark.parametrize("answer", [httpx.Response(500, text="<html>oops"), httpx.Response(500, json=["oops"])])
def test_a_refusal_without_a_problem_is_still_a_sentence(client, service, answer):
    service.on("GET", "/jobs/j1", answer)
    with pytest.raises(ApiError, match=r"http://ism\.test answered 500 Internal Server Error; is this"):
        client.job("j1")


def test_a_field_already_in_the_detail_is_not_said_twice():
    problem = {
        "detail": "q is 0; it must be 1 or more.",
        "errors": [{"field": "q", "message": "q is 0; it must be 1 or more."}],
    }
    assert str(ApiError(422, problem)) == "q is 0; it must be 1 or more."


def test_an_answer_that_is_no_json_is_said_to_be_so(client, service):
    service.on("GET", "/jobs/j1", httpx.Response(200, text="<html>"))
    with pytest.raises(ApiError, match="not JSON; is this the address of an ISM service"):
        client.job("j1")


def test_lists_go_through_all_pages(client, service):
    def page(request):
        second = request.url.params.get("cursor") == "more"
        items = [job(id="j3")] if second else [job(id="j1"), job(id="j2")]
        return httpx.Response(200, json={"items": items, "next": None if second else "more"})

    service.on("GET", "/jobs", page)
    assert [job.id for job in client.jobs(state="queued")] == ["j1", "j2", "j3"]
    assert [call.url.params["state"] for call in service.calls] == ["queued", "queued"]


def test_the_list_of_data_sets_is_of_summaries(client, service):
    item = {"id": "d1", "name": "wine.csv", "rows": 178, "columns": 14, "created": "2026-01-02T03:04:05+00:00"}
    service.on("GET", "/datasets", httpx.Response(200, json={"items": [item], "next": None}))
    (summary,) = client.datasets()
    assert (summary.id, summary.rows, summary.columns) == ("d1", 178, 14)
    client.submit(summary, paradigm="unsupervised", clusters=3)
    assert sent(service)["dataset"] == "d1"


def test_the_key_is_sent_and_never_shown(service):
    with Client("http://ism.test/", "s3cret", transport=service) as client:
        found = client.job("j1")
        assert service.calls[0].headers["Authorization"] == "Bearer s3cret"
        assert "s3cret" not in repr(client) + repr(found) + repr(found.result())


def test_a_url_with_a_path_is_kept_and_ids_are_quoted(service):
    with Client("http://host.test/ism/", transport=service) as client, pytest.raises(ApiError):
        client.job("a/b?c")
    assert service.calls[0].url.raw_path == b"/ism/jobs/a%2Fb%3Fc"


def test_a_url_without_a_scheme_is_refused():
    with pytest.raises(ValueError, match="must start with http"):
        Client("127.0.0.1:8000")


def test_a_job_refreshes_and_is_deleted(client, service):
    progress = {"stage": "ascent", "iteration": 3, "max_iter": 300, "objective": 1.5, "a field to come": 1}
    service.on(
        "GET", "/jobs/j1", httpx.Response(200, json=job()), httpx.Response(200, json=job("running", progress=progress))
    )
    found = client.job("j1")
    assert not found.ended
    assert found.refresh() is found
    assert found.progress.iteration == 3
    found.delete()
    assert service.calls[-1].method == "DELETE"
