"""What is asked again because the answer was lost happens once; and what a full Redis still does."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from redis.connection import AbstractConnection
from redis.exceptions import ConnectionError as NotReachable
from redis.exceptions import RedisError

from ism_jobs.errors import StoreFull
from ism_jobs.settings import Settings
from ism_jobs.store import QUEUE_NAMES, Attempt, LostAttempt, State, Store, keys
from ism_jobs.store.redis import is_full

pytestmark = pytest.mark.usefixtures("wine")

SPEC = {"dataset": "wine", "paradigm": "unsupervised", "clusters": 3}
QUEUE = f"rq:queue:{QUEUE_NAMES[-1]}"


@pytest.fixture
def patient(settings: Settings) -> Iterator[Store]:
    """The store as a job's process has it."""
    store = Store.open_patiently(settings)
    yield store
    store.redis.close()


def begun(store: Store) -> Attempt:
    store.jobs.create([("a", SPEC)])
    store.redis.delete(QUEUE)
    attempt = store.jobs.claim("a", "w1")
    assert attempt is not None
    return attempt


def events(store: Store, kind: str) -> int:
    return [entry[b"kind"] for _, entry in store.redis.xrange(keys.events("a"))].count(kind.encode())


def lose_answer(monkeypatch: pytest.MonkeyPatch, number: int) -> list[int]:
    """Redis does what it is asked, but the answer with this number is cut off; gives how many have come."""
    real, seen = AbstractConnection.read_response, [0]

    def read(connection: Any, *rest: Any, **more: Any) -> Any:
        answer = real(connection, *rest, **more)
        seen[0] += 1
        if seen[0] == number + 1:
            raise NotReachable("the answer was lost")
        return answer

    monkeypatch.setattr(AbstractConnection, "read_response", read)
    return seen


def test_a_script_runs_although_redis_restarts_between_its_text_and_its_call(
    patient: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a Redis on a full disk, which dies again and again."""
    attempt = begun(patient)
    load = patient.redis.script_load

    def load_and_restart(text: str) -> Any:
        digest = load(text)
        patient.redis.script_flush()
        return digest

    monkeypatch.setattr(patient.redis, "script_load", load_and_restart)
    patient.redis.script_flush()
    attempt.report({"iteration": 1}, "step", {"iteration": 1})
    assert events(patient, "step") == 1


def test_a_job_waits_for_a_redis_that_closes_each_new_connection(
    patient: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = begun(patient)
    real, seen = AbstractConnection.can_read, [0]

    def can_read(connection: Any, *rest: Any, **more: Any) -> Any:
        seen[0] += 1
        if seen[0] <= 5:
            raise NotReachable("closed by the server")
        return real(connection, *rest, **more)

    monkeypatch.setattr(AbstractConnection, "can_read", can_read)
    attempt.report({"iteration": 1}, "step", {"iteration": 1})
    assert events(patient, "step") == 1
    assert seen[0] > 5


SAID: list[Callable[[Attempt], None]] = [
    lambda attempt: attempt.report({"iteration": 1}, "step", {"iteration": 1}),
    lambda attempt: attempt.save_checkpoint(b"w"),
    lambda attempt: attempt.save_artifacts({"W": b"w"}),
    lambda attempt: attempt.succeed({}, ["W"]),
]


@pytest.mark.parametrize("number", range(8))
def test_a_job_whose_answers_are_lost_is_begun_told_and_ended_once(
    store: Store, patient: Store, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    store.jobs.create([("a", SPEC)])
    store.redis.delete(QUEUE)
    with monkeypatch.context() as patch:
        lose_answer(patch, number)
        attempt = patient.jobs.claim("a", "w1")
    assert attempt is not None
    assert store.jobs.get("a").attempt == attempt.number == 1
    for say in SAID:
        with monkeypatch.context() as patch:
            lose_answer(patch, number)
            say(attempt)
    record = store.jobs.get("a")
    assert (record.state, record.attempt, record.crashes) == (State.SUCCEEDED, 1, 0)
    assert store.jobs.artifact(record, "W") == b"w"
    assert (events(store, "step"), events(store, "state")) == (1, 3)
    counts = store.jobs.counts()
    assert (counts["steps"], counts["succeeded"], counts["running"]) == (1, 1, 0)


@pytest.mark.parametrize("number", range(8))
def test_a_job_is_put_back_once(store: Store, patient: Store, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    begun(store)
    record = store.jobs.get("a")
    with monkeypatch.context() as patch:
        lose_answer(patch, number)
        patient.jobs.requeue(record, crashed=True)
    record = store.jobs.get("a")
    assert (record.state, record.crashes) == (State.QUEUED, 1)
    assert store.redis.llen(QUEUE) == 1


@pytest.mark.parametrize("number", range(4))
def test_jobs_that_are_posted_again_under_their_key_are_made_once(
    store: Store, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    with monkeypatch.context() as patch:
        lose_answer(patch, number)
        with suppress(NotReachable):
            store.jobs.create([("a", SPEC)])
    store.jobs.create([("a", SPEC)])
    assert store.jobs.get("a").state is State.QUEUED
    assert store.redis.llen(QUEUE) == 1


@pytest.mark.parametrize("number", range(8))
def test_jobs_without_a_key_are_not_tried_again_by_us(
    store: Store, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Who posted gets a 503: a second try could set back a job that runs."""
    with monkeypatch.context() as patch:
        seen = lose_answer(patch, number)
        with suppress(NotReachable):
            store.jobs.create([("a", SPEC)], ids_are_random=True)
            assert seen[0] <= number, "the answer that was lost was told"
        assert seen[0] <= number + 1, "and nothing was asked after it"
    assert store.redis.llen(QUEUE) <= 1


def test_an_attempt_at_a_deleted_job_cannot_write_to_a_new_job_with_the_same_id(store: Store) -> None:
    """An idempotency key makes ids that come again: the numbers of the attempts are the same, the claims are not."""
    zombie = begun(store)
    store.jobs.requeue(store.jobs.get("a"), crashed=True)
    store.jobs.cancel("a")
    store.jobs.delete("a")
    successor = begun(store)
    assert zombie.number == successor.number
    for say in SAID:
        with pytest.raises(LostAttempt):
            say(zombie)
    successor.succeed({}, [])
    assert store.jobs.get("a").state is State.SUCCEEDED
    assert events(store, "step") == 0


@pytest.fixture
def full(store: Store) -> Iterator[Callable[[], None]]:
    yield lambda: store.redis.config_set("maxmemory", 1)
    store.redis.config_set("maxmemory", 0)


@pytest.mark.parametrize("end", ["succeed", "fail", "cancel"])
def test_a_job_reports_steps_and_ends_while_redis_is_full(store: Store, full: Callable[[], None], end: str) -> None:
    attempt = begun(store)
    full()
    attempt.report({"iteration": 1}, "step", {"iteration": 1})
    store.jobs.renew_lease("w1")
    for save in SAID[1:3]:
        with pytest.raises(RedisError) as refused:
            save(attempt)
        assert is_full(refused.value)
    {"succeed": lambda: attempt.succeed({}, []), "fail": lambda: attempt.fail({}), "cancel": attempt.cancel}[end]()
    record = store.jobs.get("a")
    assert record.state.ended
    assert events(store, "step") == 1
    store.jobs.delete("a")


def test_a_full_redis_stores_no_part_of_a_refused_job(store: Store, full: Callable[[], None]) -> None:
    before = set(store.redis.scan_iter())
    full()
    for fresh in (True, False):
        with pytest.raises(RedisError) as refused:
            store.jobs.create([("a", SPEC)], ids_are_random=fresh)
        assert is_full(refused.value)
    assert set(store.redis.scan_iter()) == before
    assert StoreFull.status == 507
