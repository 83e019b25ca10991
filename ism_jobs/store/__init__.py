"""The store of data sets, jobs and artifacts. No other package knows Redis and its keys."""

from ism_jobs.store import keys
from ism_jobs.store.arrow import LABEL_COLUMNS, pack, unpack
from ism_jobs.store.attempts import Attempt, CancelRequested, LostAttempt
from ism_jobs.store.batches import Batch
from ism_jobs.store.datasets import Dataset
from ism_jobs.store.events import LONGEST_WAIT, START, Event, Events
from ism_jobs.store.ownership import Position
from ism_jobs.store.queue import QUEUE_NAMES
from ism_jobs.store.records import JobFilter, Record, State
from ism_jobs.store.redis import REQUEST_TIMEOUT, is_full, problem_of, redis_time, refusal_of
from ism_jobs.store.store import Store
from ism_jobs.store.webhooks import Delivery, Webhooks, backoff_seconds

__all__ = [
    "LABEL_COLUMNS",
    "LONGEST_WAIT",
    "QUEUE_NAMES",
    "REQUEST_TIMEOUT",
    "START",
    "Attempt",
    "Batch",
    "CancelRequested",
    "Dataset",
    "Delivery",
    "Event",
    "Events",
    "JobFilter",
    "LostAttempt",
    "Position",
    "Record",
    "State",
    "Store",
    "Webhooks",
    "backoff_seconds",
    "is_full",
    "keys",
    "pack",
    "problem_of",
    "redis_time",
    "refusal_of",
    "unpack",
]
