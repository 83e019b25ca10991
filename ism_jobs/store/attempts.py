"""A worker's hold on a job: all that it reports goes through its attempt, and nothing once that has been taken over."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from ism_jobs.settings import Settings
from ism_jobs.store import blobs, keys, scripts
from ism_jobs.store.records import Record, State
from ism_jobs.store.redis import Connection
from ism_jobs.store.transactions import transaction


class TakenOver(Exception):
    """The job has ended, or another attempt has begun: this one must stop and report nothing more."""


class CancelAsked(Exception):
    """Somebody has asked for the job to be cancelled."""


class Attempt:
    """The right to run a job, given by Jobs.claim."""

    def __init__(self, redis: Connection, settings: Settings, record: Record, number: int, claim: str) -> None:
        self.job = record.id
        self.number = number
        self._claim = claim  # no other attempt has it, not even one at another job that was given the same id
        self._reports = 0
        self._record = record
        self._redis = redis
        self._settings = settings
        self._report = redis.register_script(scripts.REPORT)
        self._end = redis.register_script(scripts.END)

    def report(self, progress: Mapping[str, Any], kind: str = "", data: Mapping[str, Any] | None = None) -> None:
        """Tell how far it is, with an event if there is a kind; raises where the job must not go on."""
        self._reports += 1
        answer = self._report(
            keys=[keys.job(self.job), keys.RUNNING, keys.events(self.job), keys.TOTALS],
            args=[
                self.job,
                self._claim,
                self._settings.lease_seconds,
                self._settings.events_kept,
                json.dumps(progress),
                kind,
                json.dumps(data or {}),
                f"{self.number}.{self._reports}",
            ],
        )
        if answer == -1:
            raise TakenOver(self.job)
        if answer == 1:
            raise CancelAsked(self.job)

    def save_checkpoint(self, value: bytes) -> None:
        """Keep what the next attempt needs to go on from here."""
        self._save(lambda pipe: blobs.put(pipe, keys.checkpoint(self.job), value, self._settings.job_seconds))

    def checkpoint(self) -> bytes | None:
        """What an earlier attempt has left."""
        return blobs.get(self._redis, keys.checkpoint(self.job))

    def save_artifacts(self, artifacts: Mapping[str, bytes]) -> None:
        """Keep the outputs. They are seen once the job has succeeded at this attempt.

        Small ones go together, since each answer may wait for Redis's disk.
        """
        large = {name: value for name, value in artifacts.items() if len(value) > blobs.CHUNK_BYTES}
        small = {name: value for name, value in artifacts.items() if name not in large}
        for group in ({name: value} for name, value in large.items()):
            self._save_group(group)
        if small:
            self._save_group(small)

    def _save_group(self, artifacts: Mapping[str, bytes]) -> None:
        saved, seconds = keys.saved(self.job), self._settings.job_seconds

        def put(pipe: Connection) -> None:
            for name, value in artifacts.items():
                key = keys.artifact(self.job, self.number, name)
                blobs.put(pipe, key, value, seconds)
                pipe.sadd(saved, key)
            pipe.expire(saved, seconds)

        self._save(put)

    def succeed(self, summary: Mapping[str, Any], artifacts: list[str]) -> None:
        """End the job with what it found."""
        self._finish(State.SUCCEEDED, summary=json.dumps(summary), artifacts=json.dumps(artifacts))

    def fail(self, problem: Mapping[str, Any]) -> None:
        """End the job with what was wrong."""
        self._finish(State.FAILED, error=json.dumps(problem))

    def cancel(self) -> None:
        """End the job as somebody has asked."""
        self._finish(State.CANCELLED)

    def _finish(self, state: State, **fields: str) -> None:
        ended = self._end(
            keys=end_keys(self._record),
            args=end_arguments(self.job, State.RUNNING, self._claim, state, self._settings, fields),
        )
        if not ended:
            raise TakenOver(self.job)

    def _save(self, put: Callable[[Connection], None]) -> None:
        """Write something beside the record, if the job is still this attempt's."""

        def change(pipe: Connection) -> None:
            state, claim = pipe.hmget(keys.job(self.job), "state", "claim")
            if (state, claim) != (State.RUNNING.encode(), self._claim.encode()):
                raise TakenOver(self.job)
            pipe.multi()
            put(pipe)

        transaction(self._redis, change, keys.job(self.job))


def end_keys(record: Record) -> list[str]:
    """The keys of scripts.END."""
    return [
        keys.job(record.id),
        keys.QUEUED,
        keys.RUNNING,
        keys.events(record.id),
        keys.checkpoint(record.id),
        keys.dataset_jobs(record.dataset),
        keys.TOTALS,
        keys.batch(record.batch or ""),
        keys.open_jobs(record.owner),
    ]


def end_arguments(
    job: str, expected: State, attempt: int | str, state: State, settings: Settings, fields: Mapping[str, str]
) -> list[str | int]:
    """The arguments of scripts.END."""
    pairs = [text for pair in fields.items() for text in pair]
    return [job, expected, attempt, state, settings.job_seconds, settings.events_kept, *pairs]
