"""What the parts of a service are told: their share of the cores and of the memory."""

import os

import pytest

from ism_cli.serve import _environment, _worker_parts
from ism_jobs.settings import Settings


@pytest.mark.parametrize(("workers", "threads", "memory"), [(1, 8, 2**34), (2, 4, 2**33), (16, 1, 2**30)])
def test_workers_are_told_their_share_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, workers: int, threads: int, memory: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr("ism_jobs.settings._memory", lambda: 2**34)
    for name in ("ISM_WORKER_THREADS", "ISM_JOB_MEMORY"):
        monkeypatch.delenv(name, raising=False)
    settings = Settings(workers=workers)
    parts = _worker_parts(settings, _environment(settings, "redis://here"))
    assert len(parts) == workers
    for part in parts:
        for name, value in part.environment.items():
            monkeypatch.setenv(name, value)
        told = Settings(workers=1)  # as `ism worker` reads them
        assert (told.threads_per_worker, told.memory_per_job) == (threads, memory)


def test_what_is_set_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"ISM_JOB_MEMORY": "3GiB", "ISM_WORKER_THREADS": "5", "ISM_DASK_SCHEDULER": "tcp://scheduler:8786"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    environment = _environment(Settings(workers=4), "redis://here")
    assert {name: environment[name] for name in given} == given | {"ISM_JOB_MEMORY": str(3 * 2**30)}
