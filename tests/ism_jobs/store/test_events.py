"""What happened to a job, for those who follow it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as NotReachable
from redis.exceptions import ResponseError

from ism_cli.embedded import RedisServer
from ism_jobs.settings import Settings
from ism_jobs.store import START, Event, Events, Store, keys

pytestmark = pytest.mark.usefixtures("wine")

SPEC = {"dataset": "wine", "paradigm": "unsupervised", "clusters": 3}


@pytest.fixture
def followed(settings: Settings) -> Callable[[Callable[[Events], Awaitable[None]]], None]:
    """Runs a coroutine that follows events."""

    def run(follow: Callable[[Events], Awaitable[None]]) -> None:
        async def within() -> None:
            events = Events.open(settings)
            try:
                await follow(events)
            finally:
                await events.close()

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


def connections(store: Store) -> int:
    return int(store.redis.info("clients")["connected_clients"])


def test_many_followers_of_many_jobs_need_few_connections_and_miss_nothing(store: Store, followed) -> None:
    jobs = [f"j{place}" for place in range(20)]
    store.jobs.create([(job, SPEC) for job in jobs])
    attempts = [store.jobs.claim(job, "w1") for job in jobs]
    before = connections(store)

    def work() -> None:
        for iteration in range(30):
            for attempt in attempts:
                attempt.report({}, "step", {"iteration": iteration})
        for attempt in attempts:
            attempt.succeed({}, [])

    async def follow(events: Events) -> None:
        async def seen(job: str) -> list[Event]:
            found = await events.after(job, START, 0)
            while sum(event.kind == "state" for event in found) < 3:
                found += await events.after(job, found[-1].id, 60)
            return found

        async with asyncio.TaskGroup() as group:
            following = [group.create_task(seen(job)) for job in jobs * 25]
            working = group.create_task(asyncio.to_thread(work))
            while not working.done():
                assert connections(store) <= before + 10
                await asyncio.sleep(0.05)
        for job, task in zip(jobs * 25, following, strict=True):
            assert task.result() == await events.after(job, START, 0)
            assert len(task.result()) == 33

    followed(follow)


def test_who_has_seen_less_gets_more(store: Store, followed) -> None:
    store.jobs.create([("a", SPEC)])
    attempt = store.jobs.claim("a", "w1")

    async def follow(events: Events) -> None:
        last = await events.last("a")
        future = f"{int(last.split('-')[0]) + 10**9}-0"
        ahead = asyncio.create_task(events.after("a", future, 60))
        behind = asyncio.create_task(events.after("a", last, 60))
        await asyncio.sleep(0.05)
        await asyncio.to_thread(attempt.report, {}, "step", {"iteration": 0})
        assert [event.kind for event in await behind] == ["step"]
        assert not ahead.done()
        ahead.cancel()

    followed(follow)


def test_what_happens_before_a_follower_is_waited_for_is_not_missed(redis_url: str, store: Store) -> None:
    """Its own look may be answered late, when others have been told of more already."""
    store.jobs.create([("a", SPEC)])
    attempt = store.jobs.claim("a", "w1")

    class LateForOne(Redis):
        first, go_on = True, asyncio.Event()

        async def xread(self, *args: Any, **options: Any) -> Any:
            is_first, self.first = self.first, False
            answer = await super().xread(*args, **options)
            if is_first:
                await self.go_on.wait()
            return answer

    async def follow() -> None:
        async with LateForOne.from_url(redis_url) as redis:
            events = Events(redis)
            late = asyncio.create_task(events.after("a", await events.last("a"), 60))
            await asyncio.sleep(0.3)
            attempt.report({}, "step", {"iteration": 0})
            punctual = asyncio.create_task(events.after("a", await events.last("a"), 60))
            await asyncio.sleep(0.02)
            redis.go_on.set()  # type: ignore[attr-defined]
            await asyncio.sleep(0.02)
            attempt.report({}, "step", {"iteration": 1})
            assert [event.data for event in await punctual] == ['{"iteration": 1}']
            assert next(event.data for event in await late) == '{"iteration": 0}'

    asyncio.run(follow())


def test_an_impossible_place_is_the_asker_s_problem_only(store: Store, followed) -> None:
    store.jobs.create([("a", SPEC)])

    async def follow(events: Events) -> None:
        waiting = asyncio.create_task(events.after("a", await events.last("a"), 60))
        await asyncio.sleep(0.05)
        with pytest.raises(ResponseError):
            await events.after("a", "x", 60)
        await asyncio.to_thread(store.jobs.cancel, "a")
        assert len(await waiting) == 1

    followed(follow)


def test_who_leaves_is_forgotten(store: Store, followed) -> None:
    async def follow(events: Events) -> None:
        waiting = [asyncio.create_task(events.after("a", START, 60)) for _ in range(50)]
        async with asyncio.timeout(30):
            while len(events._followers) < 50:
                await asyncio.sleep(0.01)
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)
        assert events._followers == set()
        assert events._reading is not None
        await asyncio.wait_for(events._reading, 30)

    followed(follow)


def test_when_redis_goes_away_who_waits_is_told_and_can_come_again(tmp_path: Path) -> None:
    async def follow() -> None:
        with RedisServer(tmp_path, fsync="no") as server:
            settings = Settings(redis_url=server.url)
            events = Events.open(settings)
            waiting = [asyncio.create_task(events.after("a", START, 60)) for _ in range(50)]
            await asyncio.sleep(0.05)
        for task in waiting:
            with pytest.raises(NotReachable):
                await task
        with pytest.raises(NotReachable):
            await events.after("a", START, 60)
        with RedisServer(tmp_path, fsync="no"):
            store = Store.open(settings)
            coming = asyncio.create_task(events.after("a", START, 60))
            store.redis.xadd(keys.events("a"), {"kind": "state", "data": ""})
            assert [event.kind for event in await coming] == ["state"]
            store.redis.close()
            await events.close()

    asyncio.run(follow())


def test_every_change_of_state_is_an_event(store: Store) -> None:
    def count() -> int:
        return store.redis.xlen(keys.events("a"))

    store.jobs.create([("a", SPEC)])
    assert count() == 1
    store.jobs.claim("a", "w1")
    assert count() == 2
    store.jobs.requeue(store.jobs.get("a"), crashed=True)
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
