"""One attempt of a worker at a job. The worker writes through it until the job ends or another attempt begins."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from ism_jobs.settings import Settings
from ism_jobs.store import keys
from ism_jobs.store.records import Record, State
from ism_jobs.store.redis import CHUNK_BYTES, Connection, get_chunks, put_chunks, script, transaction


class LostAttempt(Exception):
    """The job has ended, or another attempt has begun: this attempt must stop and write nothing more."""


class CancelRequested(Exception):
    """A client has requested that the job be cancelled."""


class Attempt:
    """One attempt of a worker at a job, from `Jobs.claim` or `Jobs.claim_next`."""

    def __init__(self, redis: Connection, settings: Settings, record: Record, number: int, claim_token: str) -> None:
        self.job = record.id
        self.number = number
        self._claim_token = claim_token  # unique, even if the job is deleted and another job gets its id
        self._reports = 0
        self.finish_requested = False  # whether a client has asked to finish early, with the best result so far
        self.record = record
        self._redis = redis
        self._settings = settings
        self._report = script(redis, "report")
        self._end_job = script(redis, "end")

    def report(self, progress: Mapping[str, Any], kind: str = "", data: Mapping[str, Any] | None = None) -> None:
        """Store the progress, and an event if `kind` is given; raise if the job must stop.

        The data of an event "picture" also become the job's best candidate so far.
        """
        self._reports += 1
        answer = self._report(
            keys=[keys.job(self.job), keys.running(self.record.schema), keys.events(self.job), keys.TOTALS],
            args=[
                self.job,
                self._claim_token,
                self._settings.lease_seconds,
                self._settings.events_kept,
                json.dumps(progress),
                kind,
                json.dumps(data or {}),
                f"{self.number}.{self._reports}",
            ],
        )
        if answer == -1:
            raise LostAttempt(self.job)
        self.finish_requested = answer >= 2
        if answer % 2:
            raise CancelRequested(self.job)

    def save_checkpoint(self, value: bytes, progressed: int = 0) -> None:
        """Store what the next attempt needs to resume from here, and how far this is."""

        def put(pipe: Connection) -> None:
            put_chunks(pipe, keys.checkpoint(self.job), value, self._settings.job_seconds)
            pipe.hset(keys.job(self.job), "progressed", progressed)

        self._save(put)

    def save_picture(self, value: bytes) -> None:
        """Store the picture of the best result so far in place of the previous one."""
        self._save(lambda pipe: put_chunks(pipe, keys.picture(self.job), value, self._settings.job_seconds))

    def checkpoint(self) -> bytes | None:
        """Return the checkpoint of an earlier attempt, or None."""
        return get_chunks(self._redis, keys.checkpoint(self.job))

    def save_artifacts(self, artifacts: Mapping[str, bytes]) -> None:
        """Store the outputs. They become visible when this attempt succeeds.

        Small ones share a transaction, since each transaction may wait for Redis's disk.
        """
        large = {name: value for name, value in artifacts.items() if len(value) > CHUNK_BYTES}
        small = {name: value for name, value in artifacts.items() if name not in large}
        for group in ({name: value} for name, value in large.items()):
            self._save_group(group)
        if small:
            self._save_group(small)

    def _save_group(self, artifacts: Mapping[str, bytes]) -> None:
        saved, seconds = keys.artifact_keys(self.job), self._settings.job_seconds

        def put(pipe: Connection) -> None:
            for name, value in artifacts.items():
                key = keys.artifact(self.job, self.number, name)
                put_chunks(pipe, key, value, seconds)
                pipe.sadd(saved, key)
            pipe.expire(saved, seconds)

        self._save(put)

    def succeed(self, summary: Mapping[str, Any], artifacts: list[str]) -> None:
        """End the job with its results."""
        self._end(State.SUCCEEDED, summary=json.dumps(summary), artifacts=json.dumps(artifacts))

    def fail(self, problem: Mapping[str, Any]) -> None:
        """End the job with a problem document."""
        self._end(State.FAILED, error=json.dumps(problem))

    def cancel(self) -> None:
        """End the job as a client has requested."""
        self._end(State.CANCELLED)

    def _end(self, state: State, **fields: str) -> None:
        ended = self._end_job(
            keys=end_keys(self.record),
            args=end_arguments(self.job, State.RUNNING, self._claim_token, state, self._settings, fields),
        )
        if not ended:
            raise LostAttempt(self.job)

    def _save(self, put: Callable[[Connection], None]) -> None:
        """Execute the commands of `put` if this attempt still holds the job."""

        def change(pipe: Connection) -> None:
            state, claim = pipe.hmget(keys.job(self.job), "state", "claim")
            if (state, claim) != (State.RUNNING.encode(), self._claim_token.encode()):
                raise LostAttempt(self.job)
            pipe.multi()
            put(pipe)

        transaction(self._redis, change, keys.job(self.job))


def end_keys(record: Record) -> list[str]:
    """Return the keys of lua/end.lua."""
    return [
        keys.job(record.id),
        keys.queued(record.schema),
        keys.running(record.schema),
        keys.events(record.id),
        keys.checkpoint(record.id),
        keys.dataset_jobs(record.dataset),
        keys.TOTALS,
        keys.batch(record.batch or ""),
        keys.open_jobs(record.owner),
        keys.WEBHOOK_NOTICES,
        keys.waiting(record.owner, record.schema),
        keys.picture(record.id),
        keys.artifact_keys(record.id),
    ]


def end_arguments(
    job: str, expected: State, attempt: int | str, state: State, settings: Settings, fields: Mapping[str, str]
) -> list[str | int]:
    """Return the arguments of lua/end.lua."""
    pairs = [text for pair in fields.items() for text in pair]
    return [job, expected, attempt, state, settings.job_seconds, settings.events_kept, *pairs]
