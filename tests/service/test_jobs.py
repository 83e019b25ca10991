"""Jobs over HTTP: repeated safely, compared, listed, waited for, cancelled, deleted."""

import threading
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.service.conftest import SLOW
from tests.service.test_posting import spec
from tests.support.api import Api, problem


def test_a_key_makes_a_request_safe_to_repeat(api: Api, wine_id: str) -> None:
    headers = {"Idempotency-Key": uuid4().hex}
    posted = spec(wine_id, features=["ash", "alcohol"])
    first = api.post("/jobs", json=posted, headers=headers)
    again = api.post("/jobs", json=dict(reversed(posted.items())), headers=headers)
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["id"] == again.json()["id"]
    assert first.headers["location"] == again.headers["location"]
    for change in ({"q": 1}, {"seed": 0}):  # the second is a default, which another release may change
        other = api.post("/jobs", json=posted | change, headers=headers)
        assert problem(other, 422)["errors"][0]["field"] == "Idempotency-Key"
    assert api.post("/jobs", json=posted).json()["id"] != first.json()["id"]


def test_a_request_is_safe_to_repeat_when_its_data_set_is_gone(api: Api) -> None:
    dataset = api.upload(b"repeated,x,class\n1,2,a\n3,4,b\n5,7,a\n")["id"]
    one, several = spec(dataset, q=1), [spec(dataset, q=1, missing="drop", seed=seed) for seed in (1, 2)]
    headers = [{"Idempotency-Key": uuid4().hex} for _ in range(2)]
    calls = list(zip(("/jobs", "/batches"), (one, several), headers, strict=True))
    first = [api.post(path, json=body, headers=key).json() for path, body, key in calls]
    for job in (first[0], *first[1]["jobs"]):
        api.succeeded(job["id"])
    assert api.delete(f"/datasets/{dataset}").status_code == 204
    again = [api.post(path, json=body, headers=key) for path, body, key in calls]
    assert [answer.status_code for answer in again] == [202, 202]
    assert [answer.json()["id"] for answer in again] == [view["id"] for view in first]
    other = api.post("/jobs", json={**one, "seed": 9}, headers=headers[0])
    assert problem(other, 422)["errors"][0]["field"] == "Idempotency-Key"
    new = api.post("/jobs", json=one, headers={"Idempotency-Key": uuid4().hex})
    assert problem(new, 422)["errors"][0]["field"] == "dataset"
    for params in ({}, {"validate_only": "true"}):
        assert problem(api.post("/jobs", json=one, params=params), 422)["errors"][0]["field"] == "dataset"
    left = {job["id"] for job in api.get("/jobs", params={"dataset": dataset}).json()["items"]}
    assert left == {first[0]["id"], *(job["id"] for job in first[1]["jobs"])}


def test_requests_with_one_key_at_the_same_moment_make_one_job(api: Api, wine_id: str) -> None:
    headers = {"Idempotency-Key": uuid4().hex}
    answers: list[Any] = []
    posted = spec(wine_id, features=["ash", "alcohol"])
    threads = [
        threading.Thread(target=lambda: answers.append(api.post("/jobs", json=posted, headers=headers)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1


@pytest.mark.parametrize("key", ["", "x" * 201])
def test_a_key_has_a_length(api: Api, wine_id: str, key: str) -> None:
    problem(api.post("/jobs", json=spec(wine_id), headers={"Idempotency-Key": key}), 422)


@pytest.fixture(scope="module")
def several(api: Api, wine_id: str) -> tuple[str, list[str]]:
    label = uuid4().hex
    ids = [api.submit(**spec(wine_id, features=["ash", "alcohol"], seed=seed, label=label)) for seed in range(7)]
    for id in ids:
        api.succeeded(id)
    return label, ids


def test_the_list_of_jobs_goes_through_its_pages(api: Api, several: tuple[str, list[str]]) -> None:
    label, ids = several
    found, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        page = api.get("/jobs", params={"label": label, "limit": 3} | ({"cursor": cursor} if cursor else {})).json()
        found += [job["id"] for job in page["items"]]
        cursor, pages = page["next"], pages + 1
    assert found == ids[::-1]
    assert pages == 3


def test_the_list_of_jobs_is_filtered(api: Api, several: tuple[str, list[str]], wine_id: str) -> None:
    label, ids = several

    def listed(**params: str) -> set[str]:
        return {job["id"] for job in api.get("/jobs", params={"limit": "1000", **params}).json()["items"]}

    assert listed(label=label, state="succeeded") == set(ids)
    assert listed(label=label, state="queued") == set()
    assert listed(label=label, dataset=wine_id) == set(ids)
    assert listed(label=label, dataset="other") == set()
    assert listed(label=label, batch="other") == set()
    assert listed(label=label, state="queued,succeeded") == set(ids)
    assert listed(label=label, state="queued,running") == set()
    times = {job["created"]: job["id"] for job in api.get("/jobs", params={"label": label}).json()["items"]}
    assert listed(label=label, created_after=sorted(times)[2]) == {times[time] for time in sorted(times)[3:]}
    assert set(ids) <= listed()


@pytest.mark.parametrize(
    ("name", "value"),
    [("limit", "0"), ("limit", "1001"), ("limit", "x"), ("state", "queued,lost"), ("created_after", "now")],
)
def test_wrong_filters_are_refused(api: Api, name: str, value: str) -> None:
    assert problem(api.get("/jobs", params={name: value}), 422)["errors"][0]["field"] == name


def test_a_job_that_has_not_changed_is_not_sent_again(api: Api, done: str) -> None:
    answer = api.get(f"/jobs/{done}")
    etag = answer.headers["etag"]
    for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = api.get(f"/jobs/{done}", headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    assert api.get(f"/jobs/{done}", headers={"If-None-Match": '"other"'}).json() == answer.json()
    # an ended job does not change: there is nothing to wait for
    assert api.get(f"/jobs/{done}?wait=60", headers={"If-None-Match": etag}).status_code == 304
    assert api.get(f"/jobs/{done}?wait=60").json()["state"] == "succeeded"


@pytest.mark.parametrize("wait", ["-1", "61", "nan", "inf", "x"])
def test_a_wrong_wait_is_refused(api: Api, done: str, wait: str) -> None:
    assert problem(api.get(f"/jobs/{done}", params={"wait": wait}), 422)["errors"][0]["field"] == "wait"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("GET", "/events"),
        ("GET", "/result"),
        ("GET", "/W"),
        ("GET", "/model"),
        ("GET", "/plots/trace.svg"),
        ("POST", "/cancel"),
        ("POST", "/transform"),
        ("DELETE", ""),
    ],
)
def test_a_job_that_is_not_there_is_not_found(api: Api, method: str, path: str) -> None:
    assert '"nothing"' in problem(api.request(method, f"/jobs/nothing{path}"), 404)["detail"]


@pytest.fixture
def running(api: Api, slow_id: str) -> Iterator[str]:
    """A job that is running, and would for long."""
    job = api.submit(dataset=slow_id, **SLOW)
    while (api.get(f"/jobs/{job}").json()["progress"] or {"stage": "preparing"})["stage"] == "preparing":
        time.sleep(0.02)
    yield job
    api.post(f"/jobs/{job}/cancel")
    api.ended(job)


def test_a_running_job_tells_how_far_it_is_and_stops_when_cancelled(api: Api, running: str, slow_id: str) -> None:
    view = api.get(f"/jobs/{running}").json()
    assert view["state"] == "running"
    assert view["progress"]["max_iter"] == 100_000
    assert view["progress"]["stage"] in ("search", "ascent")
    for path in ("result", "W", "model", "plots/embedding.png", "metrics"):
        assert "running" in problem(api.get(f"/jobs/{running}/{path}"), 409)["detail"]
    problem(api.post(f"/jobs/{running}/transform", content=b"x0\n1\n"), 409)
    assert "cancel" in problem(api.delete(f"/jobs/{running}"), 409)["detail"]
    assert "1 job" in problem(api.delete(f"/datasets/{slow_id}"), 409)["detail"]

    etag = api.get(f"/jobs/{running}").headers["etag"]
    changed = api.get(f"/jobs/{running}?wait=60", headers={"If-None-Match": etag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != etag

    assert api.get(f"/jobs/{running}?wait=0.05").json()["state"] == "running"

    answer = api.post(f"/jobs/{running}/cancel")
    assert answer.status_code == 202
    assert (answer.json()["id"], answer.json()["cancel_requested"]) == (running, answer.json()["state"] == "running")
    view = api.ended(running)
    assert (view["state"], view["error"], view["cancel_requested"]) == ("cancelled", None, False)
    assert view["finished"] is not None
    assert "cancelled" in problem(api.get(f"/jobs/{running}/result"), 409)["detail"]
    assert api.post(f"/jobs/{running}/cancel").json() == view, "a repeated request changes nothing"
    assert [kind for _, kind, _ in api.events(running)][-1] == "state"


def test_a_job_that_waits_is_cancelled_at_once(api: Api, slow_id: str, wine_id: str) -> None:
    first, second = (api.submit(dataset=slow_id, **SLOW, seed=seed) for seed in (1, 2))  # for both workers
    while any(api.get(f"/jobs/{job}").json()["state"] == "queued" for job in (first, second)):
        time.sleep(0.02)
    waiting, next_one = (api.submit(**spec(wine_id, features=["ash", "alcohol"])) for _ in range(2))
    assert [api.get(f"/jobs/{job}").json()["position"] for job in (waiting, next_one)] == [0, 1]
    assert "queued" in problem(api.get(f"/jobs/{waiting}/result"), 409)["detail"]
    etag = api.get(f"/jobs/{next_one}").headers["etag"]
    moved: list[Any] = []
    headers = {"If-None-Match": etag}
    thread = threading.Thread(target=lambda: moved.append(api.get(f"/jobs/{next_one}?wait=60", headers=headers)))
    thread.start()
    view = api.post(f"/jobs/{waiting}/cancel").json()
    assert (view["state"], view["started"], view["attempt"]) == ("cancelled", None, 0)
    assert api.get(f"/jobs/{next_one}").json()["position"] == 0
    thread.join()
    assert (moved[0].status_code, moved[0].json()["state"], moved[0].json()["position"]) == (200, "queued", 0)
    for job in (first, second):
        assert api.post(f"/jobs/{job}/cancel").status_code == 202
    assert api.ended(next_one)["state"] == "succeeded"
    for job in (first, second):
        assert api.ended(job)["state"] == "cancelled"
    assert api.get(f"/jobs/{waiting}").json()["state"] == "cancelled"


def test_a_deleted_job_is_gone_with_all_it_made(api: Api, wine_id: str) -> None:
    job = api.submit(**spec(wine_id, features=["ash", "alcohol"]))
    api.succeeded(job)
    answer = api.delete(f"/jobs/{job}")
    assert (answer.status_code, answer.content) == (204, b"")
    for path in ("", "/result", "/W", "/events"):
        problem(api.get(f"/jobs/{job}{path}"), 404)
    problem(api.delete(f"/jobs/{job}"), 404)
    assert job not in {item["id"] for item in api.get("/jobs").json()["items"]}


def test_a_job_that_fails_says_why(api: Api) -> None:
    """What only the numbers can tell fails the job, with a problem of the same form."""
    dataset = api.upload(b"x,y,class\n1e19,1,a\n-1e19,2,b\n1e18,3,a\n5,4,b\n")["id"]
    kernel = {"name": "polynomial", "degree": 20, "gamma": 1000}
    view = api.ended(api.submit(**spec(dataset, scale="none", kernel=kernel, q=1)))
    assert view["state"] == "failed"
    assert view["error"].keys() == {"type", "title", "status", "detail", "instance", "errors"}
    assert "overflows" in view["error"]["detail"]
    assert view["error"]["detail"] in problem(api.get(f"/jobs/{view['id']}/result"), 409)["detail"]
    assert api.events(view["id"])[-1][2] == view
