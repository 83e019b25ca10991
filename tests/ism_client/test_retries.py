"""What is tried again, how often, and that nothing is done twice."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from ism_client import ApiError, Unreachable
from ism_client.transport import retry_after
from tests.support.scripted_service import job

REFUSED = httpx.ConnectError("refused")


@pytest.mark.parametrize("failure", [REFUSED, httpx.ReadError("reset"), httpx.ReadTimeout("slow"),
                                     httpx.RemoteProtocolError("gone")])  # fmt: skip
def test_a_broken_connection_is_tried_again(service, client, failure):
    service.on("GET", "/jobs/j1", failure, failure, httpx.Response(200, json=job("running")))
    assert client.job("j1").state == "running"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_service_is_asked_again_when_it_says(service, client, sleeps, status):
    busy = httpx.Response(status, headers={"Retry-After": "7"}, json={"detail": "Busy."})
    service.on("GET", "/jobs/j1", busy, httpx.Response(200, json=job("running")))
    assert client.job("j1").state == "running"
    assert sleeps == [7.0]


def test_tries_are_bounded(service, client, sleeps):
    service.on("GET", "/jobs/j1", REFUSED)
    with pytest.raises(Unreachable, match=r"No ISM service answers at http://ism\.test: the connection was refused"):
        client.job("j1")
    assert len(service.calls) == 5
    assert sum(sleeps) < 3


def test_a_service_that_stays_busy_is_an_error_with_its_sentence(service, client):
    service.on("GET", "/jobs/j1", httpx.Response(503, json={"detail": "Redis does not answer."}))
    with pytest.raises(ApiError, match="Redis does not answer") as raised:
        client.job("j1")
    assert raised.value.status == 503
    assert len(service.calls) == 5


def test_a_long_retry_after_is_the_callers_to_decide(service, client, sleeps):
    service.on("GET", "/jobs/j1", httpx.Response(429, headers={"Retry-After": "3600"}, json={"detail": "Later."}))
    with pytest.raises(ApiError, match="Later"):
        client.job("j1")
    assert sleeps == []


@pytest.mark.parametrize("status", [400, 401, 404, 409, 413, 422, 500, 507])
def test_a_refusal_is_not_tried_again(service, client, status):
    service.on("GET", "/jobs/j1", httpx.Response(status, json={"detail": "No."}))
    with pytest.raises(ApiError, match="No") as raised:
        client.job("j1")
    assert raised.value.status == status
    assert len(service.calls) == 1


def test_a_job_posted_again_carries_the_same_key_and_body(service, client):
    service.on("POST", "/jobs", httpx.ReadError("reset"), httpx.Response(503), httpx.Response(202, json=job()))
    client.submit("d1", paradigm="supervised", target="class")
    keys = [call.headers["Idempotency-Key"] for call in service.calls]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert len({call.content for call in service.calls}) == 1


def test_each_submission_has_its_own_key_unless_given(service, client):
    for key in (None, None, "mine"):
        client.submit("d1", paradigm="supervised", target="class", idempotency_key=key)
    first, second, third = (call.headers["Idempotency-Key"] for call in service.calls)
    assert len({first, second, third}) == 3
    assert third == "mine"


def test_a_job_is_finished_and_one_that_has_ended_is_not(service, client):
    best = {"number": 2, "score": 0.95, "q": 2, "kernel": "linear", "scale": "whiten", "picture": "/jobs/j1/picture"}
    ended = httpx.Response(409, json={"detail": "It has ended."})
    service.on("GET", "/jobs/j1", httpx.Response(200, json=job("running")))
    service.on("POST", "/jobs/j1/finish", httpx.Response(202, json=job("running") | {"best": best}), ended)
    found = client.job("j1")
    assert found.finish().best == best
    with pytest.raises(ApiError, match="It has ended"):
        found.finish()


def test_cancelling_a_job_that_has_ended_is_refused(service, client):
    service.on("POST", "/jobs/j1/cancel", httpx.Response(409, json={"detail": "It has ended."}))
    with pytest.raises(ApiError, match="It has ended"):
        client.job("j1").cancel()


def test_retry_after_is_read_as_seconds_or_date():
    def of(value):
        return retry_after(httpx.Response(503, headers={"Retry-After": value}))

    assert of("2.5") == 2.5
    assert of("-1") == 0
    assert of("soon") is None
    assert retry_after(httpx.Response(503)) is None
    assert 50 < of(format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)) <= 60
    assert of(format_datetime(datetime.now(UTC) - timedelta(seconds=60), usegmt=True)) == 0
