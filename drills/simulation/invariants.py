"""What must hold after every call to the store, whatever fails."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ism_jobs.schema_versions import JOB
from ism_jobs.store import keys

SNAPSHOT = """
local jobs = {}
for i = 2, #ARGV do
  local id = ARGV[i]
  local fields = redis.call(
    'HMGET', KEYS[1] .. id, 'state', 'attempt', 'owner', 'place', 'progress', 'summary', 'error')
  local owner = fields[3] or ''
  fields[8] = redis.call('ZSCORE', KEYS[2], id)
  fields[9] = redis.call('ZSCORE', KEYS[3], id)
  fields[10] = redis.call('ZSCORE', KEYS[4] .. owner, id)
  fields[11] = redis.call('SISMEMBER', KEYS[5] .. owner, id)
  jobs[i - 1] = fields
end
return {jobs, redis.call('ZRANGE', KEYS[6], 0, -1, 'WITHSCORES')}
"""
ENDS = ("succeeded", "failed", "cancelled")


class Violation(BaseException):
    """A promise of the store was broken. No code of ours may catch it."""


@dataclass(frozen=True)
class Seen:
    """A job as it is stored."""

    state: str
    attempt: int
    owner: str
    place: int
    progress: bytes
    summary: bytes
    error: bytes  # with the number of its attempt, unless the store has failed the job
    indexes: tuple[bool, bool, bool, bool]  # whether it is among the queued, the running, the waiting, the open jobs


INDEXES = {"queued": (True, False, True, True), "running": (False, True, False, True)}


class Invariants:
    """Compares the store before and after each call."""

    def __init__(self, server: Any, most_running: int) -> None:
        self.ids: list[str] = []  # of all jobs that were posted
        self.retried: set[str] = set()  # jobs that may leave their end
        self.deleted: set[str] = set()  # jobs that may be gone
        self.ends = 0
        self.seen: dict[str, Seen] = {}
        self._served: dict[str, float] = {}
        self._snapshot = server.register_script(SNAPSHOT)
        self._most_running = most_running

    def check(self) -> None:
        """Look at the store once more; raise Violation if it may not follow from what was seen before."""
        names = [keys.job(""), keys.queued(JOB), keys.running(JOB), keys.waiting("", JOB), keys.open_jobs("")]
        jobs, served = self._snapshot(keys=[*names, keys.SERVED], args=["", *self.ids])
        now = {id: seen for id, raw in zip(self.ids, jobs, strict=True) if (seen := _seen(raw)) is not None}
        for id, seen in now.items():
            self._check_job(id, seen)
            before = self.seen.get(id)
            if before is not None:
                self._check_change(id, before, seen)
        if gone := [id for id in self.seen if id not in now and id not in self.deleted]:
            raise Violation(f"{gone[0]} is gone")
        running = Counter(seen.owner for seen in now.values() if seen.state == "running")
        if over := [owner for owner, count in running.items() if count > self._most_running]:
            raise Violation(f"{over[0]} runs more than {self._most_running} jobs")
        self.seen = now
        self._served = {owner.decode(): float(turn) for owner, turn in zip(served[::2], served[1::2], strict=True)}

    def _check_job(self, id: str, seen: Seen) -> None:
        if seen.indexes != INDEXES.get(seen.state, (False,) * 4):
            raise Violation(f"{id} is {seen.state}, but its indexes are {seen.indexes}")
        if seen.state == "succeeded" and seen.summary != b'{"attempt": %d}' % seen.attempt:
            raise Violation(f"{id} has the result {seen.summary!r}, but attempt {seen.attempt} was the last")

        if seen.error.startswith(b'{"attempt"') and seen.error != b'{"attempt": %d}' % seen.attempt:
            raise Violation(f"{id} has the error {seen.error!r}, but attempt {seen.attempt} was the last")

    def _check_change(self, id: str, before: Seen, after: Seen) -> None:
        if before.state in ENDS and after.state != before.state:
            if after.state != "queued" or id not in self.retried:
                raise Violation(f"{id} was {before.state} and is {after.state}")
            self.retried.discard(id)
        if before.state not in ENDS and after.state in ENDS:
            self.ends += 1
        if after.attempt < before.attempt:
            raise Violation(f"{id} went from attempt {before.attempt} back to {after.attempt}")
        if after.progress != before.progress and after.progress not in (b"", b'{"attempt": %d}' % after.attempt):
            raise Violation(f"{id} is in attempt {after.attempt}, but {after.progress!r} was reported")
        if after.attempt > before.attempt:
            self._check_fairness(id, before)

    def _check_fairness(self, id: str, started: Seen) -> None:
        """Check that a job which has just started was the one whose turn it was."""
        running = Counter(seen.owner for seen in self.seen.values() if seen.state == "running")
        first: dict[str, int] = {}
        for seen in self.seen.values():
            if seen.state == "queued" and running[seen.owner] < self._most_running:
                first[seen.owner] = min(seen.place, first.get(seen.owner, seen.place))
        if started.owner not in first:
            raise Violation(f"{started.owner} runs more than {self._most_running} jobs with {id}")
        turn = min((running[owner], self._served.get(owner, 0.0), owner) for owner in first)
        if started.owner != turn[2] or started.place != first[turn[2]]:
            raise Violation(f"{id} of {started.owner} has started, but it was the turn of {turn[2]}: {first}")


def _seen(raw: list[Any]) -> Seen | None:
    state, attempt, owner, place, progress, summary, error, *indexes = raw
    if state is None:
        return None
    if owner is None:
        raise Violation(f"A part of a job is {state.decode()}: it was written after the job was deleted")
    found = (indexes[0] is not None, indexes[1] is not None, indexes[2] is not None, bool(indexes[3]))
    return Seen(
        state.decode(),
        int(attempt or 0),
        owner.decode(),
        int(place or 0),
        progress or b"",
        summary or b"",
        error or b"",
        found,
    )
