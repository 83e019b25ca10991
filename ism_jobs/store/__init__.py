"""Where data sets, jobs and artifacts are kept: the only place that knows the keys of Redis."""

from typing import Self

from redis import Redis

from ism_jobs.settings import Settings
from ism_jobs.store.attempts import Attempt, CancelAsked, TakenOver
from ism_jobs.store.datasets import Dataset, Datasets
from ism_jobs.store.events import LONGEST_WAIT, START, Event, Events
from ism_jobs.store.jobs import Jobs
from ism_jobs.store.records import Record, State

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
    "Record",
    "State",
    "Store",
    "TakenOver",
]


class Store:
    """Everything that is kept."""

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self.redis = redis
        self.datasets = Datasets(redis, settings)
        self.jobs = Jobs(redis, settings)

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """The store in the Redis of the settings."""
        return cls(Redis.from_url(settings.required_redis_url, socket_timeout=10, health_check_interval=30), settings)

    def memory(self) -> int:
        """Bytes that Redis uses."""
        return int(self.redis.info("memory")["used_memory"])
