"""Metrics for Prometheus: requests are counted in this process, jobs of all workers in the store."""

from collections.abc import Iterator

from prometheus_client import Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from ism_jobs.store import State, Store

REQUESTS = Counter("ism_requests_total", "Number of requests.", ["method", "route", "status"])
LATENCY = Histogram("ism_request_seconds", "Time to the first byte of the response.", ["method", "route"])


class StoreCollector(Collector):
    """Collects the job metrics from the store at the time of the request."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def collect(self) -> Iterator[Metric]:
        counts = self._store.jobs.counts()
        yield GaugeMetricFamily("ism_jobs_queued", "Jobs in the queue.", counts["queued"])
        yield GaugeMetricFamily("ism_jobs_running", "Running jobs.", counts["running"])
        yield GaugeMetricFamily("ism_workers", "Running workers.", self._store.jobs.workers())
        ended = CounterMetricFamily("ism_jobs_ended", "Jobs that have ended, by state.", labels=["state"])
        for state in State:
            if state.ended:
                ended.add_metric([state.value], counts.get(state.value, 0))
        yield ended
        started = int(counts.get("started", 0))
        for name, about in (("waiting", "Time from submission to start."), ("running", "Time from start to end.")):
            yield SummaryMetricFamily(f"ism_job_{name}_seconds", about, started, counts.get(f"{name}_seconds", 0.0))
        yield CounterMetricFamily("ism_iterations", "Iterations of all jobs.", counts.get("steps", 0))
        yield GaugeMetricFamily("ism_redis_memory_bytes", "Memory used by Redis.", self._store.memory())
