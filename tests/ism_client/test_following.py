"""Following a job: events resumed after a break, polling where none come, and an end to waiting."""

import httpx
import pytest

from ism_client import ApiError, JobFailed, Unreachable
from tests.support.scripted_service import PROBLEM, events, job, sse

STEP = {"iteration": 1, "round": 0, "stage": "ascent", "objective": 1.0, "eigenvalues": [1.0], "change": None}
BROKEN = httpx.ReadError("connection reset")


@pytest.fixture
def queued(service, client):
    service.on("GET", "/jobs/j1", httpx.Response(200, json=job("queued")), httpx.Response(200, json=job("succeeded")))
    return client.job("j1")


def last_ids(service):
    return [call.headers.get("Last-Event-ID") for call in service.called("GET", "/jobs/j1/events")]


def test_events_come_until_the_last_state(service, queued):
    service.on(
        "GET", "/jobs/j1/events", events(sse(("state", job("running")), ("step", STEP), ("state", job("succeeded"))))
    )
    seen = list(queued.events())
    assert [event.type for event in seen] == ["state", "step", "state"]
    assert [event.id for event in seen] == ["1", "2", "3"]
    assert seen[1].data == STEP
    assert queued.state == "succeeded"


def test_nothing_is_read_after_the_last_state(service, queued):
    service.on("GET", "/jobs/j1/events", events(sse(("state", job("succeeded"))), AssertionError("read on")))
    assert len(list(queued.events())) == 1


def test_a_broken_stream_is_resumed_after_the_last_event_seen(service, queued):
    service.on(
        "GET", "/jobs/j1/events",
        events(sse(("state", job("running")), ("step", STEP)), b"id: 3\nevent: step\ndata: {", BROKEN),
        httpx.ConnectError("refused"),
        events(sse(("step", STEP | {"iteration": 2}), first_id=3)),
        events(sse(("state", job("succeeded")), first_id=4)),
    )  # fmt: skip
    assert [event.id for event in queued.events()] == ["1", "2", "3", "4"]
    assert last_ids(service) == [None, "2", "2", "3"]


def test_a_resumption_from_outside_starts_after_the_given_id(service, queued):
    service.on("GET", "/jobs/j1/events", events(sse(("state", job("succeeded")), first_id=9)))
    list(queued.events("8"))
    assert last_ids(service) == ["8"]


def test_the_delay_that_the_service_asks_for_is_kept_and_bounded(service, queued, sleeps):
    service.on(
        "GET", "/jobs/j1/events",
        events(b"retry: 2000\n\n", sse(("step", STEP))),
        events(b"retry: 99000000\n\n", sse(("step", STEP))),
        events(sse(("state", job("succeeded")))),
    )  # fmt: skip
    list(queued.events())
    assert sleeps == [2.0, 10.0]


@pytest.mark.parametrize("status", [404, 405, 406, 501])
def test_where_there_is_no_stream_the_job_is_polled(service, queued, status):
    service.on("GET", "/jobs/j1/events", httpx.Response(status, json={"detail": "no"}))
    assert [event.data["state"] for event in queued.events()] == ["succeeded"]
    assert service.calls[-1].url.params["wait"] == "30"


def test_an_answer_that_is_no_stream_leads_to_polling(service, queued):
    service.on("GET", "/jobs/j1/events", httpx.Response(200, text="<html>"))
    assert queued.wait(progress=True).state == "succeeded"


def test_streams_that_stay_silent_lead_to_polling(service, queued):
    service.on("GET", "/jobs/j1/events", lambda request: events(b": ping\n\n", BROKEN))
    assert [event.data["state"] for event in queued.events()] == ["succeeded"]
    assert len(service.called("GET", "/jobs/j1/events")) == 3


def test_a_refused_stream_is_an_error(service, queued):
    service.on("GET", "/jobs/j1/events", httpx.Response(401, json={"detail": "Give the key."}))
    with pytest.raises(ApiError, match="Give the key"):
        list(queued.events())


def test_without_a_bar_a_wait_is_one_held_request(service, queued):
    queued.wait(progress=False)
    assert not service.called("GET", "/jobs/j1/events")
    assert [dict(call.url.params) for call in service.called("GET", "/jobs/j1")] == [{}, {"wait": "30"}]


def test_polling_for_every_change_sends_the_tag_of_what_is_known(service, client):
    service.on(
        "GET", "/jobs/j1",
        httpx.Response(200, json=job("queued")),
        httpx.Response(200, json=job("running"), headers={"ETag": '"1"'}),
        httpx.Response(304),
        httpx.Response(200, json=job("succeeded"), headers={"ETag": '"2"'}),
    )  # fmt: skip
    service.on("GET", "/jobs/j1/events", httpx.Response(404, json={}))
    states = [event.data["state"] for event in client.job("j1").events()]
    assert states == ["running", "succeeded"]
    tags = [call.headers.get("If-None-Match") for call in service.called("GET", "/jobs/j1")]
    assert tags == [None, None, '"1"', '"1"']


@pytest.mark.parametrize("progress", [True, False])
def test_a_failed_job_raises_its_sentence(service, queued, progress):
    failed = job("failed", error=PROBLEM)
    service._scripts.clear()
    service.on("GET", "/jobs/j1/events", events(sse(("state", failed))))
    service.on("GET", "/jobs/j1", httpx.Response(200, json=failed))
    with pytest.raises(JobFailed) as raised:
        queued.wait(progress=progress)
    assert str(raised.value).startswith("The job does not fit its data set.\ntarget: There is no column")
    assert raised.value.job is queued
    assert raised.value.problem == PROBLEM


def test_a_cancelled_job_raises_that(service, queued):
    service.on("GET", "/jobs/j1/events", events(sse(("state", job("cancelled")))))
    with pytest.raises(JobFailed, match="Job j1 was cancelled"):
        queued.wait(progress=True)


@pytest.mark.parametrize("progress", [True, False])
def test_waiting_ends_at_the_timeout(service, client, progress):
    service.on("GET", "/jobs/j1", httpx.Response(200, json=job("running")))
    service.on("GET", "/jobs/j1/events", lambda request: events(sse(("state", job("running")))))
    with pytest.raises(TimeoutError, match="continues"):
        client.job("j1").wait(progress=progress, timeout=0.05)


def test_a_service_that_stays_away_ends_the_wait(service, queued, sleeps):
    service.on("GET", "/jobs/j1/events", events(sse(("state", job("running"))), BROKEN), httpx.ConnectError("refused"))
    with pytest.raises(Unreachable, match=r"No ISM service answers at http://ism\.test"):
        list(queued.events())
    assert 40 < sum(sleeps) < 90, "about a minute of patience"
