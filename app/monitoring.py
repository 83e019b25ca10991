"""Metrics for Prometheus: of requests, counted here, and of jobs, kept in the store by all workers together."""

from collections.abc import Iterator

from prometheus_client import Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from ism_jobs.store import State, Store

REQUESTS = Counter("ism_requests_total", "Requests answered.", ["method", "route", "status"])
LATENCY = Histogram("ism_request_seconds", "Time to the first byte of the answer.", ["method", "route"])


class StoreCollector(Collector):
    """What the store knows at this moment."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def collect(self) -> Iterator[Metric]:
        counts = self._store.jobs.counts()
        yield GaugeMetricFamily("ism_jobs_queued", "Jobs that wait.", counts["queued"])
        yield GaugeMetricFamily("ism_jobs_running", "Jobs that run.", counts["running"])
        yield GaugeMetricFamily("ism_workers", "Workers there are.", self._store.jobs.workers())
        ended = CounterMetricFamily("ism_jobs_ended", "Jobs that have ended, by state.", labels=["state"])
        for state in State:
            if state.ended:
                ended.add_metric([state.value], counts.get(state.value, 0))
        yield ended
        started = int(counts.get("started", 0))
        for name, about in (("waiting", "Time from post to start."), ("running", "Time from start to end.")):
            yield SummaryMetricFamily(f"ism_job_{name}_seconds", about, started, counts.get(f"{name}_seconds", 0.0))
        yield CounterMetricFamily("ism_iterations", "Steps of all jobs.", counts.get("steps", 0))
        yield GaugeMetricFamily("ism_redis_memory_bytes", "Memory that Redis uses.", self._store.memory())
