"""Following a job: every step once and in order, from the beginning or from where one left off."""

import asyncio
import itertools
import time
from typing import Any

import httpx
import pytest

from tests.service.conftest import SLOW
from tests.support.api import Api, problem


def test_there_is_a_step_for_each_iteration_and_the_stream_ends_with_the_job(
    api: Api, wine_id: str, features: list[str]
) -> None:
    job = api.submit(
        dataset=wine_id,
        paradigm="supervised",
        target="class",
        features=features,
        kernel="polynomial",
        delta=1e-6,
        folds=2,
    )
    events = api.events(job)
    steps = [data for _, kind, data in events if kind == "step"]
    ascent = [step for step in steps if step["stage"] == "ascent"]
    trace = api.get(f"/jobs/{job}/trace").json()
    assert [step["iteration"] for step in ascent] == [row[0] for row in trace["rows"]]
    objective = trace["columns"].index("objective")
    assert [step["objective"] for step in ascent] == [row[objective] for row in trace["rows"]]
    for step in steps:
        assert len(step["eigenvalues"]) == 2
        assert step.keys() >= {"iteration", "round", "objective", "change", "angle", "gradient", "elapsed_seconds"}
    assert all(step["change"] is not None and step["angle"] is not None for step in ascent[1:])
    assert [data["fold"] for _, kind, data in events if kind == "validation"] == [0, 1, 2]
    kinds = [kind for _, kind, _ in events]
    assert kinds[-1] == "state"
    last = events[-1][2]
    assert last["state"] == "succeeded"
    assert last == api.get(f"/jobs/{job}").json()
    assert sum(kind == "state" and data["state"] == "succeeded" for _, kind, data in events) == 1


def test_an_ended_job_can_be_followed_from_anywhere_without_gap_or_repeat(api: Api, done: str) -> None:
    events = api.events(done)
    happened = [event for event in events if event[1] != "state"]
    assert len(happened) > 3
    assert len({id for id, _, _ in happened}) == len(happened)
    for place, (id, _, _) in enumerate(happened):
        rest = api.events(done, last=id)
        assert [event for event in rest if event[1] != "state"] == happened[place + 1 :]
        assert rest[-1] == events[-1]
    assert api.events(done, last=events[-1][0]) == [events[-1]]
    assert api.events(done, last="9999999999999999999-0")[-1][2]["state"] == "succeeded"


def test_a_stream_that_breaks_off_goes_on_where_it_was(api: Api, slow_id: str) -> None:
    job = api.submit(dataset=slow_id, **SLOW)
    seen: list[tuple[str, str, Any]] = []
    last = None
    for count in (2, 1, 3, 4):
        seen += api.events(job, last=last, until=count)
        last = seen[-1][0]
    api.post(f"/jobs/{job}/cancel")
    seen += api.events(job, last=last)
    assert seen[-1][2]["state"] == "cancelled"
    steps = [event for event in seen if event[1] == "step"]
    assert steps == [event for event in api.events(job) if event[1] == "step"]
    assert [event[1] for event in seen if event[1] == "state" and event[2]["state"] == "cancelled"] == ["state"]


def test_followers_of_one_job_see_the_same(api: Api, wine_id: str, features: list[str]) -> None:
    """Also those who come when it has just ended: a short job may end between two looks of a stream."""
    for seed in range(5):
        job = api.submit(
            dataset=wine_id,
            paradigm="supervised",
            target="class",
            features=features,
            kernel="gaussian",
            seed=seed,
            folds=0,
        )
        live, late = ([event for event in api.events(job) if event[1] not in ("state", "picture")] for _ in range(2))
        assert live == late
        assert live


def test_more_events_than_are_read_at_once_all_come(api: Api) -> None:
    """The store is read 500 events at a time; a job's first state must not end the stream at the first 500."""
    dataset = api.upload(b"x,y,class\n" + b"1,2,a\n" * 10 + b"3,4,b\n" * 10)["id"]
    job = api.submit(
        dataset=dataset,
        paradigm="supervised",
        target="class",
        features=["x", "y"],  # both copy the target, so that the default leaves them out
        kernel="gaussian",
        q=1,
        starts=510,
        folds=0,
    )
    api.succeeded(job)
    events = api.events(job)
    assert len(events) > 510
    trace = api.get(f"/jobs/{job}/trace").json()["rows"]
    ascent = [data["iteration"] for _, kind, data in events if kind == "step" and data["stage"] == "ascent"]
    assert ascent == [row[0] for row in trace]
    assert events[-1][2]["state"] == "succeeded"


def test_hundreds_follow_and_wait_at_once(api: Api, slow_id: str, wine_id: str, features: list[str]) -> None:
    held = [api.submit(dataset=slow_id, **SLOW, seed=seed) for seed in (3, 4)]  # both workers
    job = api.submit(
        dataset=wine_id, paradigm="supervised", target="class", kernel="gaussian", features=features, folds=2
    )
    begun = asyncio.Semaphore(0)

    async def polled(client: httpx.AsyncClient) -> str:
        answer = await client.get(f"/jobs/{job}", params={"wait": 60})
        assert answer.status_code == 200, answer.text
        return answer.json()["state"]

    async def streamed(client: httpx.AsyncClient) -> str:
        async with client.stream("GET", f"/jobs/{job}/events") as answer:
            assert answer.status_code == 200
            pieces = answer.aiter_text()
            first = await anext(pieces)
            begun.release()
            return "".join([first, *[piece async for piece in pieces]])

    async def follow() -> tuple[list[str], list[str]]:
        limits = httpx.Limits(max_connections=None)
        async with (
            httpx.AsyncClient(base_url=str(api.base_url), timeout=90, limits=limits) as client,
            asyncio.TaskGroup() as group,
        ):
            polls = [group.create_task(polled(client)) for _ in range(100)]
            streams = [group.create_task(streamed(client)) for _ in range(100)]
            for _ in streams:
                await begun.acquire()
            for one in held:
                await client.post(f"/jobs/{one}/cancel")
        return [poll.result() for poll in polls], [stream.result() for stream in streams]

    def happened(stream: str) -> list[str]:
        return [event for event in stream.split("\n\n") if "event: step" in event or "event: validation" in event]

    states, streams = asyncio.run(follow())
    assert set(states) == {"succeeded"}
    expected = happened(api.get(f"/jobs/{job}/events").text)
    assert expected
    for stream in streams:
        assert happened(stream) == expected
        assert stream.count('"state":"succeeded"') == 1


@pytest.mark.parametrize(
    "last", ["x", "5", "5-", "-5-1", "99999999999999999999-0", "0-99999999999999999999", "$", "1 -1"]
)
def test_a_last_event_id_that_is_none_of_ours_is_refused(api: Api, done: str, last: str) -> None:
    answer = api.get(f"/jobs/{done}/events", headers={"Last-Event-ID": last})
    assert problem(answer, 422)["errors"][0]["field"] == "last-event-id"


def test_a_job_deleted_while_it_is_followed_ends_the_stream(api: Api, slow_id: str) -> None:
    job = api.submit(dataset=slow_id, **SLOW)
    with api.stream("GET", f"/jobs/{job}/events") as answer:
        lines = answer.iter_lines()
        list(itertools.islice(lines, 3))
        api.post(f"/jobs/{job}/cancel")
        while api.get(f"/jobs/{job}").json()["state"] == "running":
            time.sleep(0.02)
        api.delete(f"/jobs/{job}")
        assert list(lines) is not None
    problem(api.get(f"/jobs/{job}/events"), 404)
