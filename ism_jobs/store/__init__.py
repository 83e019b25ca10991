"""Where data sets, jobs and artifacts are kept: the only place that knows the keys of Redis."""

from copy import copy
from typing import Self

from ism_jobs.settings import Settings
from ism_jobs.store.attempts import Attempt, CancelAsked, TakenOver
from ism_jobs.store.datasets import Dataset, Datasets
from ism_jobs.store.events import LONGEST_WAIT, START, Event, Events
from ism_jobs.store.jobs import Jobs
from ism_jobs.store.rate_limits import Rates
from ism_jobs.store.records import Record, State
from ism_jobs.store.redis import IN_TIME, Connection, connection, patient_connection

__all__ = [
    "LONGEST_WAIT",
    "START",
    "Attempt",
    "CancelAsked",
    "Dataset",
    "Datasets",
    "Event",
    "Events",
    "Jobs",
    "Rates",
    "Record",
    "State",
    "Store",
    "TakenOver",
]


class Store:
    """Everything that is kept."""

    def __init__(self, redis: Connection, settings: Settings) -> None:
        self.redis = redis
        self.datasets = Datasets(redis, settings)
        self.jobs = Jobs(redis, settings)
        self.rates = Rates(redis, settings.requests_per_minute)
        self.owner: str | None = None

    def of(self, owner: str) -> Self:
        """The store as one owner sees it: what others have is not there. Workers see all of it."""
        seen = copy(self)
        seen.owner, seen.datasets, seen.jobs = owner, self.datasets.of(owner), self.jobs.of(owner)
        return seen

    @classmethod
    def open(cls, settings: Settings, seconds: float = IN_TIME) -> Self:
        """The store in the Redis of the settings, which may be silent for so many seconds."""
        return cls(connection(settings.required_redis_url, seconds), settings)

    @classmethod
    def open_patiently(cls, settings: Settings) -> Self:
        """The same, for a job: it waits while Redis is away."""
        return cls(patient_connection(settings.required_redis_url), settings)

    def memory(self) -> int:
        """Bytes that Redis uses."""
        return int(self.redis.info("memory")["used_memory"])
