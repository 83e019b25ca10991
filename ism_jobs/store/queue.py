"""The queue between the app and the workers: RQ, carrying nothing but ids.

A ticket in the queue is only a hint that a job waits. What a job's state is, and who may change it, is decided by its
record in the store; a ticket too many is ignored, and one that was lost is written again.
"""

from collections.abc import Sequence
from uuid import uuid4

from rq import Queue, Worker
from rq.job import Job as Ticket
from rq.serializers import JSONSerializer
from rq.utils import now

from ism_jobs.store.redis import Connection

NAME = "ism"
FUNCTION = "worker.jobs.run"
_BEHIND = """
redis.call('LREM', KEYS[1], 1, ARGV[2])
if redis.call('LINSERT', KEYS[1], 'AFTER', ARGV[1], ARGV[2]) < 1 then redis.call('LPUSH', KEYS[1], ARGV[2]) end
"""


class Tickets:
    """Writes tickets, and tells where they are."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis
        self._queue = Queue(NAME, connection=redis, serializer=JSONSerializer)

    def workers(self, silence: float) -> int:
        """How many workers there are; one that has given no sign of life for so many seconds is not counted."""
        seen = [worker.last_heartbeat for worker in Worker.all(queue=self._queue, serializer=JSONSerializer)]
        return sum(last is not None and (now() - last).total_seconds() <= silence for last in seen)

    def write(self, pipe: Connection, job: str, *, at_front: bool = False, behind: str | None = None) -> str:
        """Put a job into the queue when the pipeline is executed; gives the ticket's id.

        At its end, or at its front, there behind another ticket if that is still waiting.
        """
        ticket = uuid4().hex
        data = Queue.prepare_data(
            FUNCTION,
            args=(job,),
            job_id=ticket,
            timeout=-1,  # a worker ends what takes too long, also inside of C code, where RQ's signal is not heard
            result_ttl=0,  # results are the store's business
            failure_ttl=60,
            at_front=at_front,
        )
        self._queue.enqueue_many([data], pipeline=pipe)
        if behind is not None:
            pipe.eval(_BEHIND, 1, self._queue.key, behind, ticket)
        return ticket

    def tear(self, ticket: str) -> None:
        """Take a ticket out of the queue, unless a worker has just taken it."""
        if self._redis.lrem(self._queue.key, 1, ticket):
            self._redis.delete(Ticket.key_for(ticket))

    def position(self, ticket: str) -> int | None:
        """How many are before it; None once it has been taken."""
        return self.positions([ticket])[0]

    def positions(self, tickets: Sequence[str]) -> list[int | None]:
        """The same of several."""
        with self._redis.pipeline(transaction=False) as pipe:
            for ticket in tickets:
                pipe.lpos(self._queue.key, ticket)
            found: list[int | None] = pipe.execute()
        return found
