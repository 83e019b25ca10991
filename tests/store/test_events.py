"""What happened to a job, for those who follow it."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio import Redis

from ism_jobs.settings import Settings
from ism_jobs.store import START, Event, Events, Store, keys

SPEC = {"dataset": "wine", "paradigm": "unsupervised", "clusters": 3}


@pytest.fixture
def followed(redis_url: str) -> Callable[[Callable[[Events], Awaitable[None]]], None]:
    """Runs a coroutine that follows events."""

    def run(follow: Callable[[Events], Awaitable[None]]) -> None:
        async def within() -> None:
            async with Redis.from_url(redis_url) as redis:
                await follow(Events(redis))

        asyncio.run(within())

    return run


def test_events_tell_all_in_order_from_any_place_on(store: Store, followed) -> None:
    store.jobs.create([("a", SPEC)])
    attempt = store.jobs.claim("a", "w1")
    for iteration in range(3):
        attempt.report({"iteration": iteration}, "step", {"iteration": iteration})
    attempt.report({"iteration": 3})
    attempt.succeed({}, [])

    async def follow(events: Events) -> None:
        found = await events.after("a", START, 0)
        assert [event.kind for event in found] == ["state", "state", "step", "step", "step", "state"]
        assert found[3].data == '{"iteration": 1}'
        assert await events.after("a", found[2].id, 0) == found[3:]
        assert await events.last("a") == found[-1].id
        assert await events.after("a", found[-1].id, 0) == []

    followed(follow)


def test_a_job_without_events_has_none(store: Store, followed) -> None:
    async def follow(events: Events) -> None:
        assert await events.last("a") == START
        assert await events.after("a", START, 0.01) == []

    followed(follow)


def test_who_waits_is_told_at_once(store: Store, followed) -> None:
    store.jobs.create([("a", SPEC)])

    async def follow(events: Events) -> None:
        waiting = asyncio.create_task(events.after("a", await events.last("a"), 60))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await asyncio.to_thread(store.jobs.cancel, "a")
        (event,) = await asyncio.wait_for(waiting, 30)
        assert isinstance(event, Event)
        assert event.kind == "state"

    followed(follow)


def test_every_change_of_state_is_an_event(store: Store) -> None:
    def count() -> int:
        return store.redis.xlen(keys.events("a"))

    store.jobs.create([("a", SPEC)])
    assert count() == 1
    store.jobs.claim("a", "w1")
    assert count() == 2
    store.jobs.put_back(store.jobs.get("a"), crashed=True)
    assert count() == 3
    store.jobs.claim("a", "w2").fail({"detail": "no"})
    assert count() == 5


def test_the_oldest_events_go_when_there_are_too_many(redis_url: str, store: Store, followed) -> None:
    store = Store(store.redis, Settings(redis_url=redis_url, events_kept=50))
    store.jobs.create([("a", SPEC)])
    attempt = store.jobs.claim("a", "w1")
    for iteration in range(600):
        attempt.report({}, "step", {"iteration": iteration})
    attempt.succeed({}, [])
    assert 50 <= store.redis.xlen(keys.events("a")) <= 50 + 100  # Redis trims whole nodes of 100

    async def follow(events: Events) -> None:
        found = await events.after("a", START, 0)
        assert found[-1].kind == "state"
        assert found[-2].data == '{"iteration": 599}'

    followed(follow)
