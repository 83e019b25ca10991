"""The queue between the app and the workers: RQ, which carries the ids of jobs and nothing else.

A ticket is a job of RQ. It tells a worker that one of our jobs waits. Our job's state is in its record in the store,
so an extra ticket is ignored, and a lost one is written again.
"""

from collections.abc import Sequence
from uuid import uuid4

from rq import Queue, Worker
from rq.job import Job as Ticket
from rq.serializers import JSONSerializer

from ism_jobs import schema_versions
from ism_jobs.store.redis import Connection, redis_time, script_text

FUNCTION = "worker.jobs.run"  # stored in every ticket, so this path must not change
FAILED_TICKET_SECONDS = 60  # how long RQ keeps a ticket whose function raised an error


def queue_name(schema: int) -> str:
    """Return the name of RQ's queue for jobs of one schema version."""
    return f"ism-{schema}" if schema > 1 else "ism"  # the name of version 1 is older than the versions


# A worker listens to these, the oldest first. Jobs of newer versions wait for a newer worker.
QUEUE_NAMES = [queue_name(schema) for schema in range(1, schema_versions.JOB + 1)]


class Tickets:
    """Writes tickets, removes them, and finds their positions in the queue."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis

    def _queue(self, schema: int) -> Queue:
        return Queue(queue_name(schema), connection=self._redis, serializer=JSONSerializer)

    def workers(self, longest_silence: float) -> int:
        """Return the number of workers whose last heartbeat is at most `longest_silence` seconds old.

        Workers of all releases listen to the first queue. A heartbeat from the future is from before the clock was set
        back.
        """
        seen = [worker.last_heartbeat for worker in Worker.all(queue=self._queue(1), serializer=JSONSerializer)]
        now = redis_time(self._redis)
        return sum(last is not None and abs((now - last).total_seconds()) <= longest_silence for last in seen)

    def write(
        self, pipe: Connection, job: str, schema: int, *, at_front: bool = False, behind: str | None = None
    ) -> str:
        """Queue a job when the pipeline is executed, and return the ticket's id.

        The ticket goes to the end of the queue, to its front, or right behind another ticket if that is still there.
        """
        ticket, queue = uuid4().hex, self._queue(schema)
        data = Queue.prepare_data(
            FUNCTION,
            args=(job,),
            job_id=ticket,
            timeout=-1,  # RQ's signal cannot interrupt C code; the worker enforces the time limit itself
            result_ttl=0,  # results are in the store
            failure_ttl=FAILED_TICKET_SECONDS,
            at_front=at_front,
        )
        queue.enqueue_many([data], pipeline=pipe)
        if behind is not None:
            pipe.eval(script_text("insert_behind"), 1, queue.key, behind, ticket)
        return ticket

    def remove(self, ticket: str, schema: int) -> None:
        """Remove a ticket from the queue, unless a worker has just taken it."""
        if self._redis.lrem(self._queue(schema).key, 1, ticket):
            self._redis.delete(Ticket.key_for(ticket))

    def position(self, ticket: str, schema: int) -> int | None:
        """Return how many tickets are before this one, or None if it has left the queue."""
        return self.positions([ticket], schema)[0]

    def positions(self, tickets: Sequence[str], schema: int) -> list[int | None]:
        """Return the positions of several tickets."""
        key = self._queue(schema).key
        with self._redis.pipeline(transaction=False) as pipe:
            for ticket in tickets:
                pipe.lpos(key, ticket)
            found: list[int | None] = pipe.execute()
        return found
