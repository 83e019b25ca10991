"""The store as a whole: data sets, jobs and rate limits in one Redis."""

import time
from collections.abc import Callable
from copy import copy
from typing import Self

from ism_jobs.settings import Settings
from ism_jobs.store.batches import Batches
from ism_jobs.store.datasets import Datasets
from ism_jobs.store.jobs import Jobs
from ism_jobs.store.quotas import Quotas
from ism_jobs.store.rate_limits import RateLimits
from ism_jobs.store.redis import WORK_TIMEOUT, Connection, connection, patient_connection
from ism_jobs.store.webhooks import Webhooks


class Store:
    """Everything that the service stores."""

    def __init__(self, redis: Connection, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self.redis = redis
        self.datasets = Datasets(redis, settings)
        self.jobs = Jobs(redis, settings, clock)
        self.batches = Batches(redis, self.jobs)
        self.webhooks = Webhooks(redis, settings, self.jobs, self.batches)
        self.rate_limits = RateLimits(redis, settings.requests_per_minute)
        self.quotas = Quotas(redis, settings)
        self.owner: str | None = None
        self._views: dict[str, Self] = {}  # of each owner; all views share it

    def of(self, owner: str) -> Self:
        """Return the store as one owner sees it, without the data sets and jobs of others. Workers see all."""
        view = self._views.get(owner)
        if view is None:
            view = copy(self)
            view.owner, view.datasets, view.jobs = owner, self.datasets.of(owner), self.jobs.of(owner)
            view.batches, view.webhooks = self.batches.of(owner), self.webhooks.of(owner)
            self._views[owner] = view
        return view

    @classmethod
    def open(cls, settings: Settings, timeout: float = WORK_TIMEOUT) -> Self:
        """Open the store in the Redis of the settings; a call fails after `timeout` seconds without an answer."""
        return cls(connection(settings.required_redis_url, timeout), settings)

    @classmethod
    def open_patiently(cls, settings: Settings) -> Self:
        """Open the store for a running job: its calls wait while Redis is unreachable."""
        return cls(patient_connection(settings.required_redis_url), settings)

    def memory(self) -> int:
        """Return the number of bytes that Redis uses."""
        return int(self.redis.info("memory")["used_memory"])
