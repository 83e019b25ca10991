"""What stands around the jobs: the catalogue, health, metrics, request ids, and errors that give nothing away."""

import re
import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.service.conftest import SLOW
from tests.support.api import Api, problem


def test_the_kernels_are_listed_with_their_parameters(api: Api) -> None:
    kernels = {entry["name"]: entry for entry in api.get("/kernels").json()["items"]}
    assert {"linear", "squared", "polynomial", "gaussian", "relative_gaussian", "multiquadratic"} <= kernels.keys()
    parameters = {parameter["name"]: parameter for parameter in kernels["polynomial"]["parameters"]}
    assert parameters["degree"]["default"] == 3
    assert parameters["degree"]["minimum"] == 1


def test_the_paradigms_are_listed_with_their_parameters(api: Api) -> None:
    paradigms = {entry["name"]: entry for entry in api.get("/paradigms").json()["items"]}
    assert paradigms.keys() == {"supervised", "unsupervised", "semi_supervised", "alternative"}
    assert "target" in {parameter["name"] for parameter in paradigms["supervised"]["parameters"]}


def test_it_lives_and_is_ready(api: Api) -> None:
    assert api.get("/healthz").json() == {"status": "ok"}
    answer = api.get("/readyz")
    assert (answer.status_code, answer.json()["status"], answer.json()["workers"]) == (200, "ready", 2)


def test_the_documentation_is_there(api: Api) -> None:
    assert api.get("/docs").status_code == 200
    document = api.get("/openapi.json").json()
    assert document["openapi"].startswith("3.")
    references = set(re.findall(r'"#/components/schemas/([^"]+)"', api.get("/openapi.json").text))
    assert references <= document["components"]["schemas"].keys()


def metrics(api: Api) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = api.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    families = list(text_string_to_metric_families(answer.text))
    names = [family.name for family in families]
    assert len(names) == len(set(names))
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def test_the_metrics_move(api: Api, wine_id: str) -> None:
    before = metrics(api)
    job = api.submit(
        dataset=wine_id, paradigm="supervised", target="class", kernel="gaussian", features=["ash", "hue"], folds=0
    )
    api.succeeded(job)
    problem(api.get("/jobs/nothing"), 404)
    after = metrics(api)

    def moved(name: str, **labels: str) -> float:
        key = (name, tuple(sorted(labels.items())))
        return after[key] - before.get(key, 0.0)

    assert moved("ism_requests_total", method="POST", route="/jobs", status="202") >= 1
    assert moved("ism_requests_total", method="GET", route="/jobs/{id}", status="404") >= 1
    assert moved("ism_request_seconds_count", method="POST", route="/jobs") >= 1
    assert moved("ism_jobs_ended_total", state="succeeded") >= 1
    assert moved("ism_iterations_total") >= 1
    assert moved("ism_job_running_seconds_count") >= 1
    assert moved("ism_job_running_seconds_sum") > 0
    assert after["ism_workers", ()] == 2
    assert after["ism_redis_memory_bytes", ()] > 0


def test_the_time_to_an_answer_ends_where_the_answer_begins(api: Api, slow_id: str) -> None:
    """A stream counts while it goes on, and as a request when it has ended, also because its client left."""
    begun = ("ism_request_seconds_count", (("method", "GET"), ("route", "/jobs/{id}/events")))
    ended = ("ism_requests_total", (("method", "GET"), ("route", "/jobs/{id}/events"), ("status", "200")))
    before = metrics(api)
    job = api.submit(dataset=slow_id, **SLOW)
    with api.stream("GET", f"/jobs/{job}/events"):
        while_it_goes_on = metrics(api)
    assert while_it_goes_on[begun] == before.get(begun, 0) + 1
    assert while_it_goes_on.get(ended, 0) == before.get(ended, 0)
    while metrics(api).get(ended, 0) == before.get(ended, 0):
        time.sleep(0.02)
    api.post(f"/jobs/{job}/cancel")
    api.ended(job)


def test_every_answer_has_a_request_id(api: Api) -> None:
    ids = set()
    for path in ("/healthz", "/nothing", "/jobs/nothing", "/jobs?limit=0"):
        ids.add(api.get(path).headers["x-request-id"])
    assert len(ids) == 4
    assert api.get("/healthz", headers={"X-Request-ID": "my-id_1"}).headers["x-request-id"] == "my-id_1"
    for odd in ("a b", "x" * 65, "<script>", ""):
        assert api.get("/healthz", headers={"X-Request-ID": odd}).headers["x-request-id"] != odd


@pytest.mark.parametrize(
    "path", ["/nothing", "/jobs/a/b/c", "/datasets/a/b", "/Jobs", "/%00", "/%ff", "/..%2f..%2fetc"]
)
def test_an_unknown_path_is_a_problem(api: Api, path: str) -> None:
    assert problem(api.get(path), 404)["type"] == "about:blank"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/jobs", {"GET", "POST"}),
        ("PATCH", "/datasets", {"GET", "POST"}),
        ("PUT", "/datasets/a", {"GET", "DELETE"}),
        ("POST", "/jobs/a", {"GET", "DELETE"}),
        ("POST", "/kernels", {"GET"}),
        ("DELETE", "/healthz", {"GET"}),
        ("GET", "/jobs/a/cancel", {"POST"}),
        ("GET", "/jobs/a/transform", {"POST"}),
        ("POST", "/jobs/a/W", {"GET"}),
        ("HEAD", "/jobs/a/cancel", {"POST"}),
        ("HEAD", "/jobs/a/events", {"GET"}),
    ],
)
def test_a_method_that_is_not_possible_is_a_problem(api: Api, method: str, path: str, allowed: set[str]) -> None:
    answer = api.request(method, path)
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == allowed
    if method != "HEAD":
        assert method in problem(answer, 405)["detail"]
        assert all(name in answer.json()["detail"] for name in allowed)


@pytest.mark.parametrize("id", ["%00", "%ff", "a%3Ab", "..", "%2e%2e", "x" * 101, "%0d%0aX-Evil:%201", "💥"])
def test_odd_ids_are_not_found(api: Api, id: str) -> None:
    for path in (f"/jobs/{id}", f"/datasets/{id}", f"/batches/{id}", f"/jobs/{id}/W", f"/jobs/{id}/events"):
        answer = api.get(path)
        assert answer.status_code in (307, 404, 422) or answer.url.path == "/"  # the page, where ".." leads
        assert "x-evil" not in answer.headers


@pytest.mark.parametrize("id", ["{dataset}:chunks", "{dataset}:jobs"])
def test_no_id_reaches_other_keys_of_a_data_set(api: Api, wine_id: str, id: str) -> None:
    id = id.format(dataset=wine_id)
    problem(api.get(f"/datasets/{id}"), 404)
    problem(api.delete(f"/datasets/{id}"), 404)
    posted = {"dataset": id, "paradigm": "unsupervised", "clusters": 2}
    assert problem(api.post("/jobs", json=posted), 422)["errors"][0]["field"] == "dataset"


@pytest.mark.parametrize("id", ["{job}:events", "{job}:1:W"])
def test_no_id_reaches_other_keys_of_a_job(api: Api, done: str, id: str) -> None:
    for path in ("", "/result", "/events"):
        problem(api.get(f"/jobs/{id.format(job=done)}{path}"), 404)
    problem(api.delete(f"/jobs/{id.format(job=done)}"), 404)
