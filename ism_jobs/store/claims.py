"""How workers get jobs: the next one in the fair order of the queue, which the worker then holds by a lease."""

from uuid import uuid4

from ism_jobs import schema_versions
from ism_jobs.errors import NotFound
from ism_jobs.settings import Settings
from ism_jobs.store import keys
from ism_jobs.store.attempts import Attempt
from ism_jobs.store.queue import SCHEMAS, Tickets
from ism_jobs.store.records import JobReader, Record
from ism_jobs.store.redis import Connection, script


class Claims(JobReader):
    """Starts jobs, and finds those that are queued or running."""

    def __init__(self, redis: Connection, settings: Settings) -> None:
        super().__init__(redis)
        self._settings = settings
        self.tickets = Tickets(redis, settings.most_running_jobs)
        self._claim = script(redis, "claim")
        self._held_by = script(redis, "held_by")
        self._queue_position = script(redis, "queue_position")
        self._renew_lease = script(redis, "renew_lease")

    def claim_next(self, ticket: str, worker: str) -> Attempt | None:
        """Start the next job in the fair order of the queue; return None if no job may start.

        `ticket` is the id on the ticket. That job starts if an earlier release has queued it.
        """
        raw = self._redis.hget(keys.job(ticket), "schema") if keys.is_id(ticket) else None
        schema = int(raw or schema_versions.JOB)
        if schema > schema_versions.JOB:
            return None
        attempt = self._start(ticket, worker, schema, "next")
        if attempt is None:
            self.tickets.trim(schema)
        return attempt

    def claim(self, id: str, worker: str) -> Attempt | None:
        """Start a certain job; return None if it is not queued any more, or if only a newer worker can run it."""
        record = self.get(id)
        return None if record.schema > schema_versions.JOB else self._start(id, worker, record.schema, "exact")

    def _start(self, id: str, worker: str, schema: int, which: str) -> Attempt | None:
        settings, claim_token = self._settings, uuid4().hex
        running = [keys.running(each) for each in SCHEMAS if each != schema]
        limits = [settings.lease_seconds, settings.events_kept, claim_token, settings.dataset_seconds]
        patterns = [keys.job("%s"), keys.events("%s"), *keys.of_dataset("%s"), keys.waiting("%s", schema)]
        found = self._claim(
            keys=[keys.waiting_owners(schema), keys.SERVED, keys.queued(schema), keys.running(schema), *running],
            args=[id, worker, *limits, settings.most_running_jobs, which, *patterns],
        )
        if not found:
            return None
        try:
            record = self.get(found[0].decode())
        except NotFound:  # this worker stood still until its job was put back, cancelled and deleted
            return None
        return Attempt(self._redis, settings, record, found[1], claim_token)

    def let_next_start(self) -> None:
        """Write tickets for jobs that may start because another one of their owner has ended."""
        if self._settings.max_running_jobs is not None:
            for schema in SCHEMAS:
                self.tickets.balance(schema)

    def position(self, record: Record) -> int | None:
        """Return how many jobs would start before this one; None if it is not queued."""
        found = self._queue_position(
            keys=[keys.waiting_owners(record.schema), keys.SERVED],
            args=[record.id, record.owner, keys.waiting("%s", record.schema)],
        )
        return self._redis.zrank(keys.queued(record.schema), record.id) if found is None else int(found)

    def held_by(self, worker: str) -> Record | None:
        """Return the running job of a worker."""
        id = self._held_by(keys=[keys.running(schema) for schema in SCHEMAS], args=[worker, keys.job("%s")])
        raw = self._redis.hgetall(keys.job(id.decode())) if id else None
        return Record.parsed(id.decode(), raw) if raw else None

    def is_cancel_requested(self, id: str) -> bool:
        """Return whether a client has asked a running job to stop."""
        return bool(self._redis.hexists(keys.job(id), "cancel"))

    def renew_lease(self, worker: str) -> None:
        """Renew the lease of the job that a worker runs."""
        record = self.held_by(worker)
        if record is not None:
            arguments = [record.id, worker, self._settings.lease_seconds]
            self._renew_lease(keys=[keys.job(record.id), keys.running(record.schema)], args=arguments)
