"""Lists of jobs, page by page."""

import pytest

from ism_jobs.settings import Settings
from ism_jobs.store import JobFilter, Record, State, Store, keys
from tests.ism_jobs.store.test_jobs import all_pages, made

pytestmark = pytest.mark.usefixtures("wine")


@pytest.mark.parametrize("limit", [1, 4, 25, 100])
def test_pages_of_jobs_made_at_the_same_moment_hold_each_once(store: Store, limit: int) -> None:
    ids = made(store, *(f"{number:03}" for number in range(25)), batch="all")
    made(store, "newest")
    assert all_pages(store, limit) == ["newest", *reversed(ids)]


def test_pages_leave_out_what_expired_and_what_is_not_wanted(store: Store) -> None:
    made(store, *(f"{number:03}" for number in range(40)), batch="all")
    gone = {f"{number:03}" for number in range(5, 30)}
    store.redis.delete(*(keys.job(id) for id in gone))
    store.jobs.cancel("002")
    left = [f"{number:03}" for number in reversed(range(40)) if f"{number:03}" not in gone]
    assert all_pages(store, 3, states=frozenset({State.QUEUED})) == [id for id in left if id != "002"]
    assert all_pages(store, 3, states=frozenset({State.CANCELLED})) == ["002"]
    assert store.redis.zcard(keys.jobs("")) == len(left), "the index forgets them too"
    assert {record.id for record in store.batches.records(store.batches.get("all"))} == set(left)
    assert all_pages(store, 3, batch="all") == left


def test_a_cursor_stays_where_it_is_when_jobs_come_and_go(store: Store) -> None:
    made(store, *(f"{number:03}" for number in range(9)), batch="all")
    first, place = store.jobs.page(3, None)
    made(store, "newer")
    store.jobs.cancel("006")
    store.jobs.delete("006")  # the one the cursor stands on
    second, place = store.jobs.page(3, place)
    third, place = store.jobs.page(3, place)
    assert [record.id for record in [*first, *second, *third]] == [f"{number:03}" for number in reversed(range(9))]


def test_a_job_that_comes_while_a_page_is_read_makes_no_other_appear_twice(store: Store) -> None:
    made(store, *(f"{number:03}" for number in range(12)), batch="all")
    looks = []

    class Wanted(JobFilter):
        def matches(self, record: Record) -> bool:
            looks.append(record.id)
            if len(looks) == 3:
                made(store, "newer1", "newer2")
            return record.id < "004"

    found, _ = store.jobs.page(2, None, Wanted())
    assert [record.id for record in found] == ["003", "002"]
    assert len(looks) == len(set(looks))


def test_pages_of_jobs_in_some_states_hold_each_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ism_jobs.store.records.STATES_PER_CALL", 15)  # more than there are jobs of one time
    states = ["succeeded", "failed", "cancelled"]
    now = 0.0
    store = Store(store.redis, Settings(), clock=lambda: now)
    for moment in range(6):
        now = float(moment)
        made(store, *(f"{moment}{number:02}" for number in range(12)))
    ids = [f"{moment}{number:02}" for moment in range(6) for number in range(12)]
    for index, id in enumerate(ids):
        store.redis.hset(keys.job(id), "state", states[index % 7 % 3])
    store.redis.delete(keys.job("303"))
    for wanted in (["failed"], ["failed", "cancelled"], ["queued", "succeeded"]):
        expected = [id for index, id in enumerate(ids) if states[index % 7 % 3] in wanted and id != "303"]
        for limit in (1, 4, 100):
            found = all_pages(store, limit, states=frozenset(map(State, wanted)))
            assert found == sorted(expected, reverse=True)
    newer = JobFilter(states=frozenset([State.FAILED]), created_after=3.0)
    assert {record.id[0] for record in store.jobs.page(100, None, newer)[0]} == {"4", "5"}
