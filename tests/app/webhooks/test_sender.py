"""Messages to webhooks, from the end of a job to a real receiver that fails, hangs or redirects."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.webhooks import Sender, sender, url_refusal
from app.webhooks.addresses import ForbiddenAddress, allowed_address
from ism_jobs.settings import Settings
from ism_jobs.store import Store
from tests.support.receiver import Receiver, running_receiver

HOUR = 3_600.0


class Clock:
    """A clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.time = 1_800_000_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as running:
        yield running


@pytest.fixture
def private(redis_url: str) -> Settings:
    return Settings(redis_url=redis_url, webhook_private=True)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def deliver(store: Store, settings: Settings, clock: Clock, until: Callable[[], bool], longest: float) -> None:
    """Run the sender, and move the clock to the next try whenever all tries have ended."""

    async def run() -> None:
        loop = Sender(store, settings, clock)
        end = clock.time + longest
        while not until() and clock.time <= end:
            await loop.step()
            await loop.settle()
            if not store.webhooks.due(clock.time):
                _, later = (store.redis.zrange("ism:webhooks:due", 0, 0, withscores=True) or [(b"", end + 1)])[0]
                clock.time = max(clock.time, later)
        await loop.close()

    asyncio.run(run())


def posted(store: Store, *ids: str, url: str, batch: str | None = None, notify: str | None = None) -> None:
    """Create jobs with a URL to notify, and end them."""
    spec: dict[str, Any] = {"dataset": "d", "paradigm": "supervised", "target": "y", "label": "L"}
    spec["notify"] = {"url": url} if url else None
    store.redis.hset("ism:dataset:d", "name", "d")
    store.jobs.create([(id, spec) for id in ids], batch, notify=notify)
    for id in ids:
        store.jobs.cancel(id)


def test_a_receiver_that_was_down_for_an_hour_gets_everything_signed_and_in_order(
    store: Store, private: Settings, receiver: Receiver, clock: Clock
) -> None:
    began = clock.time
    receiver.answer = lambda path: (503 if clock.time < began + HOUR else 200, {})
    for _ in range(3):  # the same job ends several times, as after a retry
        posted(store, "a", "b", url=f"{receiver.url}/ism")
        store.webhooks.collect(clock.time)
        for id in ("a", "b"):
            store.jobs.delete(id)
    deliver(store, private, clock, lambda: False, longest=96 * HOUR)
    assert receiver.are_signed(store.webhooks.secret(""))
    accepted = [
        (headers["webhook-id"], message["data"])
        for (_, headers, _), message in zip(receiver.requests, receiver.messages(), strict=True)
        if int(headers["webhook-timestamp"]) >= began + HOUR
    ]
    assert len({id for id, _ in accepted}) == len(accepted) == 6, "each exactly once after the outage"
    for job in ("a", "b"):
        times = [data["ended"] for _, data in accepted if data["id"] == job]
        assert times == sorted(times)
        assert len(times) == 3
    log = store.of("").webhooks.page(10, None)[0]
    assert {one.state for one in log} == {"delivered"}
    assert max(one.tries for one in log) > 1


def test_a_batch_is_told_of_once_when_its_last_job_has_ended(
    store: Store, private: Settings, receiver: Receiver, clock: Clock
) -> None:
    spec = {"dataset": "d", "paradigm": "supervised", "target": "y"}
    store.redis.hset("ism:dataset:d", "name", "d")
    store.jobs.create([("a", spec), ("b", spec)], "both", label="night", notify=f"{receiver.url}/batch")
    store.jobs.cancel("a")
    deliver(store, private, clock, lambda: False, longest=10)
    assert receiver.requests == []
    store.jobs.cancel("b")
    deliver(store, private, clock, lambda: False, longest=10)
    (message,) = receiver.messages()
    assert message["type"] == "batch.ended"
    assert (message["data"]["label"], message["data"]["states"]) == ("night", {"cancelled": 2})


def test_a_receiver_that_hangs_delays_no_other(
    store: Store, private: Settings, receiver: Receiver, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "TRY_SECONDS", 0.3)
    with running_receiver() as other:
        posted(store, *(f"h{number}" for number in range(20)), url=f"{receiver.url}/hang")
        posted(store, "quick", url=f"{other.url}/ism")
        deliver(store, private, clock, lambda: len(other.requests) == 1, longest=0)
        assert [message["data"]["id"] for message in other.messages()] == ["quick"]
        assert len(receiver.requests) <= sender.MOST_TRIES_PER_HOST, "few tries at once for each host"
        hung = [one for one in store.of("").webhooks.page(50, None)[0] if one.tries]
        assert {one.error for one in hung if one.subject != "job:quick"} == {"The receiver did not answer within 0 s."}


def test_a_redirect_is_not_followed(store: Store, private: Settings, receiver: Receiver, clock: Clock) -> None:
    with running_receiver() as inner:
        receiver.answer = lambda path: (307, {"Location": f"{inner.url}/private"})
        posted(store, "a", url=f"{receiver.url}/ism")
        deliver(store, private, clock, lambda: bool(receiver.requests), longest=0)
        assert inner.requests == []
    (delivery,) = store.of("").webhooks.page(10, None)[0]
    assert (delivery.state, delivery.status, delivery.tries) == ("pending", 307, 1)
    assert "redirects are not followed" in (delivery.error or "")


def test_after_the_last_try_the_next_message_has_its_turn(
    store: Store, private: Settings, receiver: Receiver, clock: Clock
) -> None:
    began = clock.time
    receiver.answer = lambda path: (500, {})
    posted(store, "a", url=f"{receiver.url}/ism")
    deliver(store, private, clock, lambda: False, longest=200 * HOUR)
    (delivery,) = store.of("").webhooks.page(10, None)[0]
    assert (delivery.state, delivery.next_try) == ("failed", None)
    assert delivery.tries == len(receiver.requests) == 13
    assert int(receiver.requests[-1][1]["webhook-timestamp"]) - began > 72 * HOUR, "tried for days"


def test_a_private_address_is_refused_when_it_is_called(store: Store, settings: Settings, clock: Clock) -> None:
    posted(store, "a", url="https://localhost/ism")
    deliver(store, settings, clock, lambda: False, longest=0)
    (delivery,) = store.of("").webhooks.page(10, None)[0]
    assert delivery.tries == 1
    assert "private address" in (delivery.error or "")


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "::1", "fd00::1",
     "fe80::1", "::ffff:10.0.0.1", "2002:7f00:1::"],
)  # fmt: skip
def test_addresses_of_inner_networks_are_not_called(settings: Settings, address: str) -> None:
    with pytest.raises(ForbiddenAddress, match="private address"):
        asyncio.run(allowed_address(address, 443, settings))
    assert asyncio.run(allowed_address("93.184.215.14", 443, settings)) == "93.184.215.14"


def test_only_https_and_allowed_hosts_may_be_notified(redis_url: str, settings: Settings) -> None:
    some = Settings(redis_url=redis_url, webhook_hosts="hooks.example.org, b.example.org")
    assert url_refusal("https://Hooks.example.org/x", some) is None
    assert "ISM_WEBHOOK_HOSTS" in (url_refusal("https://example.org/x", some) or "")
    assert url_refusal("https://example.org/x", settings) is None
    assert "https://" in (url_refusal("http://example.org/x", settings) or "")
    assert "not a URL" in (url_refusal("https://[x/", settings) or "")


def test_one_process_sends_until_its_lease_ends(store: Store) -> None:
    assert store.webhooks.acquire_lease("first", 10)
    assert not store.webhooks.acquire_lease("second", 10)
    assert store.webhooks.acquire_lease("first", 10)
    store.webhooks.release("second")
    assert not store.webhooks.acquire_lease("second", 10), "only the leader gives the lease back"
    store.webhooks.release("first")
    assert store.webhooks.acquire_lease("second", 10)
    assert not store.webhooks.acquire_lease("first", 10)


def test_each_owner_has_a_secret_and_a_log_of_its_own(store: Store, clock: Clock) -> None:
    alice, bob = store.of("alice"), store.of("bob")
    assert alice.webhooks.secret("alice") == alice.webhooks.secret("alice") != bob.webhooks.secret("bob")
    delivery = alice.webhooks.test("https://example.org", clock.time)
    assert [one.id for one in alice.webhooks.page(10, None)[0]] == [delivery.id]
    assert bob.webhooks.page(10, None) == ([], None)
