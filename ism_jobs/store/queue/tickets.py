"""Tickets: what RQ carries between the app and the workers.

A ticket is a job of RQ. It tells a worker that one of our jobs waits; which one starts is decided when it starts
(`order.py`). A ticket has the id of a job for releases that know no fair share. Our job's state is in its record in the
store, so an extra ticket starts nothing before its turn, and a lost one is written again.
"""

from uuid import uuid4

from rq import Queue, Worker
from rq.job import Job as Ticket
from rq.serializers import JSONSerializer

from ism_jobs import schema_versions
from ism_jobs.store import keys
from ism_jobs.store.redis import Connection, redis_time, script

FUNCTION = "worker.jobs.run"  # stored in every ticket, so this path must not change
SCHEMAS = range(1, schema_versions.JOB + 1)  # the schema versions of jobs that this process can run
FAILED_TICKET_SECONDS = 60  # how long RQ keeps a ticket whose function raised an error


def queue_name(schema: int) -> str:
    """Return the name of RQ's queue for jobs of one schema version."""
    return f"ism-{schema}" if schema > 1 else "ism"  # the name of version 1 is from before versions existed


# A worker listens to these, the oldest first. Jobs of newer versions wait for a newer worker.
QUEUE_NAMES = [queue_name(schema) for schema in SCHEMAS]


def worker_name(host: str | None, pid: int | None) -> str:
    """Return the name of a worker process."""
    return f"{host}:{pid}"


class Tickets:
    """Writes and removes tickets."""

    def __init__(self, redis: Connection, most_running: int) -> None:
        self._redis = redis
        self._most_running = most_running  # jobs of one owner
        self._balance = script(redis, "balance_tickets")
        self._note_waiting_worker = script(redis, "note_waiting_worker")
        self._queues: dict[int, Queue] = {}

    def _queue(self, schema: int) -> Queue:
        if schema not in self._queues:
            self._queues[schema] = Queue(queue_name(schema), connection=self._redis, serializer=JSONSerializer)
        return self._queues[schema]

    def workers(self, longest_silence: float) -> int:
        """Return the number of workers whose last heartbeat is at most `longest_silence` seconds old.

        Workers of all releases listen to the first queue. A heartbeat from the future is from before the clock was set
        back. Those that wait because Redis is full send no heartbeat.
        """
        found = Worker.all(queue=self._queue(1), serializer=JSONSerializer)
        seen = [(worker_name(each.hostname, each.pid), each.last_heartbeat) for each in found]
        now = redis_time(self._redis)
        alive = {name for name, last in seen if last and abs((now - last).total_seconds()) <= longest_silence}
        first, last = now.timestamp() - longest_silence, now.timestamp() + longest_silence
        return len(alive | {name.decode() for name in self._redis.zrangebyscore(keys.WAITING_WORKERS, first, last)})

    def note_waiting_worker(self, name: str, seconds: int) -> None:
        """Let a worker count as alive for a while although Redis is full and it can send no heartbeat."""
        self._note_waiting_worker(keys=[keys.WAITING_WORKERS], args=[name, seconds])

    def write(self, pipe: Connection, job: str, schema: int, *, at_front: bool = False) -> str:
        """Add a ticket to the end or the front of the queue when the pipeline is executed; return its id."""
        ticket = uuid4().hex
        data = Queue.prepare_data(
            FUNCTION,
            args=(job,),
            job_id=ticket,
            timeout=-1,  # RQ's signal cannot interrupt C code; the worker enforces the time limit itself
            result_ttl=0,  # results are in the store
            failure_ttl=FAILED_TICKET_SECONDS,
            at_front=at_front,
        )
        self._queue(schema).enqueue_many([data], pipeline=pipe)
        return ticket

    def trim(self, schema: int, most_checked: int = 0) -> int:
        """Remove tickets if there are more than jobs that may start; return how many are missing.

        A ticket that a worker has just taken counts as missing. Of the oldest `most_checked` ids of queued jobs, those
        that are not queued any more are removed.
        """
        names = [self._queue(schema).key, keys.queued(schema), keys.waiting_owners(schema)]
        patterns = [keys.job("%s"), keys.waiting("%s", schema), Ticket.key_for("")]
        missing: int = self._balance(
            keys=[*names, *(keys.running(each) for each in SCHEMAS)],
            args=[self._most_running, most_checked, *patterns],
        )
        return missing

    def balance(self, schema: int, most_checked: int = 0) -> None:
        """Let there be as many tickets as jobs that may start.

        A ticket that a worker has just taken is not seen and is written again, so there may be a few too many. They
        start no job before its turn.
        """
        if missing := self.trim(schema, most_checked):
            jobs = [id.decode() for id in self._redis.zrange(keys.queued(schema), 0, missing - 1)]
            with self._redis.pipeline() as pipe:
                for job in jobs:  # releases that know no fair share run the job on the ticket
                    self.write(pipe, job, schema, at_front=True)
                pipe.execute()
