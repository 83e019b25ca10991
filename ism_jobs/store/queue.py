"""The queue between the app and the workers: RQ, which carries the ids of jobs and nothing else.

A ticket is a job of RQ. It tells a worker that one of our jobs waits. Our job's state is in its record in the store,
so an extra ticket is ignored, and a lost one is written again.
"""

from collections.abc import Sequence
from uuid import uuid4

from rq import Queue, Worker
from rq.job import Job as Ticket
from rq.serializers import JSONSerializer
from rq.utils import now

from ism_jobs.store.redis import Connection, script_text

QUEUE_NAME = "ism"  # of RQ's only queue; the workers listen to it
FUNCTION = "worker.jobs.run"  # stored in every ticket, so this path must not change
FAILED_TICKET_SECONDS = 60  # how long RQ keeps a ticket whose function raised an error


class Tickets:
    """Writes tickets, removes them, and finds their positions in the queue."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis
        self._queue = Queue(QUEUE_NAME, connection=redis, serializer=JSONSerializer)

    def workers(self, longest_silence: float) -> int:
        """Return the number of workers whose last heartbeat is at most `longest_silence` seconds old."""
        seen = [worker.last_heartbeat for worker in Worker.all(queue=self._queue, serializer=JSONSerializer)]
        return sum(last is not None and (now() - last).total_seconds() <= longest_silence for last in seen)

    def write(self, pipe: Connection, job: str, *, at_front: bool = False, behind: str | None = None) -> str:
        """Queue a job when the pipeline is executed, and return the ticket's id.

        The ticket goes to the end of the queue, to its front, or right behind another ticket if that is still there.
        """
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
        self._queue.enqueue_many([data], pipeline=pipe)
        if behind is not None:
            pipe.eval(script_text("insert_behind"), 1, self._queue.key, behind, ticket)
        return ticket

    def remove(self, ticket: str) -> None:
        """Remove a ticket from the queue, unless a worker has just taken it."""
        if self._redis.lrem(self._queue.key, 1, ticket):
            self._redis.delete(Ticket.key_for(ticket))

    def position(self, ticket: str) -> int | None:
        """Return how many tickets are before this one, or None if it has left the queue."""
        return self.positions([ticket])[0]

    def positions(self, tickets: Sequence[str]) -> list[int | None]:
        """Return the positions of several tickets."""
        with self._redis.pipeline(transaction=False) as pipe:
            for ticket in tickets:
                pipe.lpos(self._queue.key, ticket)
            found: list[int | None] = pipe.execute()
        return found
