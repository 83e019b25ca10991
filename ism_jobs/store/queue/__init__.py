"""The queue: its order, the tickets that tell workers of it, and jobs that come back into it after a failure."""

from ism_jobs.store.queue.order import add_to_queue, place_of
from ism_jobs.store.queue.recovery import LOSSES_PER_CRASH, SWEEP_LIMIT, Recovery, Setback
from ism_jobs.store.queue.tickets import QUEUE_NAMES, SCHEMAS, Tickets, queue_name, worker_name

__all__ = [
    "LOSSES_PER_CRASH",
    "QUEUE_NAMES",
    "SCHEMAS",
    "SWEEP_LIMIT",
    "Recovery",
    "Setback",
    "Tickets",
    "add_to_queue",
    "place_of",
    "queue_name",
    "worker_name",
]
