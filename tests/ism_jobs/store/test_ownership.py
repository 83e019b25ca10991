"""What belongs to whom in the store, and how much of it there may be."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from redis import Redis

from ism_jobs.errors import NotFound, TooMany
from ism_jobs.settings import Settings
from ism_jobs.store import State, Store, keys
from ism_jobs.store.rate_limits import RateLimits
from ism_jobs.tables import open_table

SPEC = {"dataset": "wine", "paradigm": "unsupervised", "clusters": 3}

pytestmark = pytest.mark.usefixtures("wine")


def test_an_owner_sees_only_what_is_its_own_and_a_worker_sees_all(store: Store) -> None:
    alice, bob = store.of("alice"), store.of("bob")
    alice.jobs.create([("a", SPEC), ("b", SPEC)], "batch")
    assert [record.id for record in alice.jobs.page(10, None)[0]] == ["b", "a"]
    for other in (bob, store.of("")):
        assert other.jobs.page(10, None) == ([], None)
        for see in (other.jobs.get, other.jobs.cancel, other.jobs.delete):
            with pytest.raises(NotFound):
                see("a")
        with pytest.raises(NotFound):
            other.batches.get("batch")
    assert len(alice.batches.get("batch").jobs) == 2
    attempt = store.jobs.claim("a", "w1")
    assert attempt is not None
    attempt.succeed({}, [])
    assert alice.jobs.get("a").state is State.SUCCEEDED


def test_what_is_anothers_is_looked_for_like_what_never_was(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is read, or the time would tell."""
    (tmp_path / "table.csv").write_text("a,b\n1,2\n3,4\n")
    dataset, _ = store.of("alice").datasets.add(open_table(tmp_path / "table.csv"), "table", 12)
    store.of("alice").jobs.create([("a", SPEC), ("b", SPEC)], "batch")
    asked: list[str] = []
    plain = Redis.execute_command
    monkeypatch.setattr(
        Redis, "execute_command", lambda self, *words, **more: asked.append(words[0]) or plain(self, *words, **more)
    )
    bob = store.of("bob")
    looks = [(bob.datasets.get, dataset.id), (bob.datasets.delete, dataset.id), (bob.jobs.get, "a")]
    looks += [(bob.jobs.cancel, "a"), (bob.jobs.delete, "a"), (bob.batches.get, "batch"), (bob.batches.cancel, "batch")]
    for look, theirs in looks:
        for id in (theirs, "nothing"):
            with pytest.raises(NotFound):
                look(id)
            assert asked == ["HGET"]
            asked.clear()


def test_the_id_of_a_table_tells_nobody_else_of_it(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    made = {owner: store.of(owner).datasets.add(open_table(path), "table", 12) for owner in ("", "alice", "bob")}
    assert len({dataset.id for dataset, _ in made.values()}) == 3
    assert all(new for _, new in made.values())
    for owner, (dataset, _) in made.items():
        assert [one.id for one in store.of(owner).datasets.page(10, None)[0]] == [dataset.id]
        for other in made.keys() - {owner}:
            with pytest.raises(NotFound):
                store.of(other).datasets.get(dataset.id)
            with pytest.raises(NotFound):
                store.of(other).datasets.delete(dataset.id)
    store.of("alice").datasets.delete(made["alice"][0].id)
    assert store.of("bob").datasets.get(made["bob"][0].id).name == "table"


def test_what_was_made_before_there_were_owners_belongs_to_nobody_in_particular(store: Store) -> None:
    store.jobs.create([("old", SPEC)])
    store.redis.hdel(keys.job("old"), "owner")
    assert store.of("").jobs.get("old").owner == ""
    with pytest.raises(NotFound):
        store.of("alice").jobs.get("old")


def test_the_sweep_forgets_what_expired_of_every_owner(store: Store) -> None:
    for owner in ("alice", "bob", ""):
        store.of(owner).jobs.create([(f"job{owner}", SPEC)])
        store.jobs.cancel(f"job{owner}")
        store.redis.delete(keys.job(f"job{owner}"))
    store.jobs.sweep()
    assert [store.redis.zcard(keys.jobs(owner)) for owner in ("alice", "bob", "")] == [0, 0, 0]


def test_open_jobs_are_limited_also_when_they_come_at_once(store: Store, redis_url: str) -> None:
    few = Store(store.redis, Settings(redis_url=redis_url, max_open_jobs=4)).of("alice")

    def create(place: int) -> bool:
        try:
            few.jobs.create([(f"job{place}", SPEC)], ids_are_random=bool(place % 2))
        except TooMany:
            return False
        return True

    with ThreadPoolExecutor(12) as pool:
        acknowledged = sum(pool.map(create, range(24)))
    open = store.redis.scard(keys.open_jobs("alice"))
    assert acknowledged == open <= 4
    assert len(few.jobs.page(50, None)[0]) == open, "of those refused nothing is left"
    assert store.jobs.counts()["queued"] == open


def test_a_job_is_open_until_it_ends(store: Store) -> None:
    alice = store.of("alice")
    alice.jobs.create([("a", SPEC), ("b", SPEC)])
    attempt = store.jobs.claim("a", "w1")
    assert attempt is not None
    store.jobs.requeue(store.jobs.get("a"), crashed=True)
    assert store.redis.scard(keys.open_jobs("alice")) == 2
    again = store.jobs.claim("a", "w2")
    assert again is not None
    again.fail({"detail": "no"})
    alice.jobs.cancel("b")
    assert not store.redis.exists(keys.open_jobs("alice"))


@pytest.mark.parametrize("limit", [5, 200])
def test_processes_together_allow_no_more_requests_than_one(store: Store, limit: int) -> None:
    processes = [RateLimits(store.redis, limit) for _ in range(3)]

    def allowed(place: int) -> bool:
        rate_limits = processes[place % 3]
        return rate_limits.allow_reserved("alice") or rate_limits.reserve("alice") == 0

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(allowed, range(3 * limit))) == limit
    assert 0 < processes[0].reserve("alice") <= 60
    assert processes[0].reserve("bob") == 0, "another owner has its own"
    store.redis.delete(keys.rate("alice"))  # as when the minute is over
    assert processes[0].reserve("alice") == 0


def test_most_requests_are_allowed_without_asking_redis(store: Store) -> None:
    rate_limits = RateLimits(store.redis, 1_000)
    asked = sum(not rate_limits.allow_reserved("alice") and rate_limits.reserve("alice") == 0 for _ in range(1_000))
    assert asked == 50
