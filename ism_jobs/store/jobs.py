"""Jobs in Redis: create, cancel, finish, requeue, retry, delete; `claims.py` starts them."""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from redis.exceptions import ConnectionError as NotReachable

from ism_jobs import schema_versions, telemetry
from ism_jobs.errors import Conflict, NotFound, Problem, TooMany
from ism_jobs.sentences import counted
from ism_jobs.settings import Settings
from ism_jobs.store import keys
from ism_jobs.store.attempts import end_arguments, end_keys
from ism_jobs.store.claims import Claims
from ism_jobs.store.datasets import extend_expiry
from ism_jobs.store.queue import SCHEMAS, Recovery, Setback, add_to_queue, place_of, worker_name
from ism_jobs.store.quotas import USAGE_SECONDS, Quotas
from ism_jobs.store.records import Record, State
from ism_jobs.store.redis import Connection, commands_of, get_chunks, script


class Jobs(Claims):
    """All jobs, by id."""

    def __init__(self, redis: Connection, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        super().__init__(redis, settings)
        self._create = script(redis, "create")
        self._end_job = script(redis, "end")
        self._quotas = Quotas(redis, settings)
        self._clock = clock  # seconds since 1970
        self._request_cancel = script(redis, "request_cancel")
        self._request_finish = script(redis, "request_finish")
        self._recovery = Recovery(redis, settings, self.tickets, self._announce, self._end)
        self._delete_job = script(redis, "delete_job")

    def create(
        self,
        specs: Sequence[tuple[str, dict[str, Any]]],
        batch: str | None = None,
        *,
        label: str | None = None,
        notify: str | None = None,
        posted: str | None = None,
        ids_are_random: bool = False,
    ) -> list[Record]:
        """Queue jobs, given as ids and specs: all of them, or none if something fails.

        If one of the ids is taken, no job is created and the existing jobs are returned. Random ids are not checked.
        `label` and `notify` (a URL) are those of the batch. `posted` is a hash of the request that made the ids.
        """
        now, owner = self._clock(), self._owner or ""
        new_keys = [] if ids_are_random else [keys.job(id) for id, _ in specs]
        if new_keys and self._redis.exists(*new_keys):
            return [self.get(id) for id, _ in specs]
        self._quotas.check_bytes(owner, longest_age=USAGE_SECONDS)
        trace = span.traceparent if (span := telemetry.current.get()) else None
        records = [
            Record(id, State.QUEUED, spec, now, posted=posted, batch=batch, trace=trace, owner=owner, place=place)
            for index, (id, spec) in enumerate(specs)
            for place in [place_of(now, index, spec.get("priority", 0))]
        ]
        datasets = sorted({record.dataset for record in records})
        with self._redis.pipeline() as pipe:
            for record in records:
                self._write(pipe, record)
            if batch is not None:
                ids = json.dumps([record.id for record in records])
                named = {name: text for name, text in (("label", label), ("notify", notify)) if text is not None}
                pipe.hset(keys.batch(batch), mapping={"owner": owner, "created": now, "jobs": ids, **named})
                pipe.expire(keys.batch(batch), self._settings.job_seconds)
                pipe.zadd(keys.batches(owner), {batch: now})
            for id in datasets:
                extend_expiry(pipe, id, self._settings.dataset_seconds)
            words = commands_of(pipe)
        names = [keys.open_jobs(owner), *map(keys.dataset, datasets), *new_keys]
        arguments = [self._settings.max_open_jobs, len(records), len(datasets), *words]
        try:
            answer = self._create(keys=names, args=arguments)
        except NotReachable:  # it may have taken effect
            if ids_are_random:
                raise
            answer = self._create(keys=names, args=arguments)
        if answer == b"exists":
            return [self.get(record.id) for record in records]
        if answer == b"too many":
            raise self._too_many()
        if answer != b"created":
            id = json.dumps(datasets[answer])
            raise NotFound(f"The data set {id} has just been deleted; upload the table again.")
        return records

    def check_room(self, owner: str, more: int) -> None:
        """Raise TooMany if so many more queued jobs would exceed the owner's limit of open jobs."""
        if self._redis.scard(keys.open_jobs(owner)) + more > self._settings.max_open_jobs:
            raise self._too_many()

    def _too_many(self) -> TooMany:
        most = counted(self._settings.max_open_jobs, "job")
        return TooMany(f"At most {most} may be queued or running at once; try again when some have ended.")

    def _write(self, pipe: Connection, record: Record) -> None:
        fields: dict[str, str | float] = {
            "schema": record.schema,
            "state": record.state,
            "owner": record.owner,
            "spec": json.dumps(record.spec),
            "created": record.created,
            "place": record.place,
            "ticket": self.tickets.write(pipe, record.id, record.schema),
        }
        if record.spec.get("notify"):
            fields["notify"] = 1  # so that the script that ends the job need not parse the spec
        fields |= {name: text for name in ("batch", "posted", "trace") if (text := getattr(record, name)) is not None}
        pipe.hset(keys.job(record.id), mapping=fields)
        pipe.zadd(keys.jobs(record.owner), {record.id: record.created})
        pipe.sadd(keys.open_jobs(record.owner), record.id)
        if record.owner:
            pipe.sadd(keys.OWNERS, record.owner)
        add_to_queue(pipe, record.id, record.owner, record.schema, record.created, record.place)
        pipe.sadd(keys.dataset_jobs(record.dataset), record.id)
        self._announce(pipe, record.id)

    def cancel(self, id: str) -> Record:
        """Cancel a queued job, or ask a running one to stop at its next step. A cancelled job stays as it is."""
        while True:
            record = self.get(id)
            if record.state is State.CANCELLED:
                return record
            if record.state.ended:
                raise Conflict(f"The job has already ended ({record.state}); there is nothing to cancel.")
            if record.state is State.RUNNING:
                done = self._request_cancel(keys=[keys.job(id)])
            else:
                done = self._end(record, State.CANCELLED)
                if done:
                    self.tickets.trim(record.schema)
            if done:
                return self.get(id)

    def request_finish(self, id: str) -> Record:
        """Ask a queued or running job to end soon, with the best result so far."""
        if not self._request_finish(keys=[keys.job(id)]):
            raise Conflict(f"The job has already ended ({self.get(id).state}); there is nothing to finish.")
        return self.get(id)

    def picture(self, id: str) -> bytes:
        """Return the latest picture of a job."""
        if (value := get_chunks(self._redis, keys.picture(id))) is None:
            raise NotFound("This job has no picture yet.")
        return value

    def delete(self, id: str) -> None:
        """Delete an ended job and its artifacts."""
        record = self.get(id)
        if not record.state.ended:
            raise Conflict(f"The job is {record.state}; cancel it first.")
        if not self._delete_job(keys=[*keys.of_job(id), keys.artifact_keys(id), keys.jobs(record.owner)], args=[id]):
            raise Conflict("The job has just been created again; cancel it first.")
        if record.batch is not None:
            self._delete_if_empty(record.batch, record.owner)

    def _delete_if_empty(self, batch: str, owner: str) -> None:
        """Delete a batch if its last job has been deleted."""
        ids = self._redis.hget(keys.batch(batch), "jobs")
        if ids and not self._redis.exists(*(keys.job(id) for id in json.loads(ids))):
            self._redis.delete(keys.batch(batch))
            self._redis.zrem(keys.batches(owner), batch)

    def workers(self) -> int:
        """Return the number of workers that are alive."""
        return self.tickets.workers(2 * self._settings.lease_seconds)

    def note_waiting_worker(self, host: str, pid: int) -> None:
        """Let a worker count as alive that waits because Redis is full."""
        self.tickets.note_waiting_worker(worker_name(host, pid), 2 * self._settings.lease_seconds)

    def counts(self) -> dict[str, float]:
        """Return how many jobs are queued and running, and totals over all ended jobs."""
        with self._redis.pipeline(transaction=False) as pipe:
            for schema in SCHEMAS:
                pipe.zcard(keys.queued(schema))
                pipe.zcard(keys.running(schema))
            pipe.hgetall(keys.TOTALS)
            *lengths, totals = pipe.execute()
        counts = {name.decode(): float(value) for name, value in totals.items()}
        return counts | {"queued": sum(lengths[::2]), "running": sum(lengths[1::2])}

    def artifact(self, record: Record, name: str) -> bytes:
        """Return one output of a job that succeeded."""
        key = keys.artifact(record.id, record.attempt, name)
        if name not in record.artifacts or (value := get_chunks(self._redis, key)) is None:
            raise NotFound(f"This job has no {name}.")
        return value

    def result(self, record: Record) -> dict[str, Any]:
        """Return the result document of a job that succeeded."""
        document: dict[str, Any] = json.loads(self.artifact(record, "result"))
        schema_versions.check_readable("result", document.get("schema", 1), schema_versions.RESULT)
        return document

    def requeue(self, record: Record, *, crashed: bool) -> bool:
        """Queue a running job again, before all jobs created later.

        A job that is to be cancelled ends instead. Return False if it has ended or another attempt has begun.
        """
        return self._recovery.requeue(record, Setback.CRASH if crashed else None)

    def recover(self, worker: str, *, crashed: bool = True, problem: Problem | None = None) -> None:
        """Requeue the job of a worker process that has ended, unless the job has ended too.

        The job fails instead if the process was killed because of a `problem`.
        """
        record = self.held_by(worker)
        if record is None:
            return
        if problem is not None:
            self._end(record, State.FAILED, error=json.dumps(problem.document()))
        else:
            self._recovery.requeue_or_fail(record, Setback.CRASH if crashed else None)

    def retry(self, id: str) -> Record:
        """Queue a job that has failed or was cancelled once more. It begins anew."""
        record = self.get(id)
        self.check_room(record.owner, 1)
        if not self._recovery.retry(record):
            state = self.get(id).state
            raise Conflict(f"The job is {state}; only one that has failed or was cancelled can be retried.")
        return self.get(id)

    def sweep_if_due(self) -> None:
        """Sweep, unless another worker has just done so."""
        self._recovery.sweep_if_due()

    def sweep(self) -> None:
        """Requeue jobs whose lease has expired, write lost tickets again, remove ids of expired entries."""
        self._recovery.sweep()

    def _end(self, record: Record, state: State, **fields: str) -> bool:
        arguments = end_arguments(record.id, record.state, record.attempt, state, self._settings, fields)
        return bool(self._end_job(keys=end_keys(record), args=arguments))

    def _announce(self, pipe: Connection, id: str) -> None:
        event = {"schema": schema_versions.EVENT, "kind": "state", "data": ""}
        pipe.xadd(keys.events(id), event, maxlen=self._settings.events_kept, approximate=True)
