"""What the parts of a service are told: their share of the cores and of the memory."""

import os

import pytest

from ism_cli.serve import _environment, _memory_plan, _worker_parts, memory_sentence
from ism_jobs.settings import Settings

MACHINE = 2**34  # bytes
MEMORY = ("ISM_JOB_MEMORY", "ISM_REDIS_MEMORY", "ISM_SANDBOX_MEMORY", "ISM_CHILD_MEMORY", "ISM_REDIS_URL")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("ism_cli.serve", "ism_jobs.settings"):
        monkeypatch.setattr(f"{module}.memory_of_machine", lambda: MACHINE)
    for name in MEMORY:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("workers", "threads", "memory"), [(1, 8, 2**33), (2, 4, 2**32), (16, 1, 2**29)])
def test_workers_are_told_their_share_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, machine: None, workers: int, threads: int, memory: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.delenv("ISM_WORKER_THREADS", raising=False)
    settings = Settings(workers=workers)
    parts = _worker_parts(settings, _environment(settings, "redis://here", _memory_plan(settings)))
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
    settings = Settings(workers=4)
    environment = _environment(settings, "redis://here", _memory_plan(settings))
    assert {name: environment[name] for name in given} == given | {"ISM_JOB_MEMORY": str(3 * 2**30)}


@pytest.mark.parametrize("workers", [0, 1, 2, 7])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"redis_url": "redis://elsewhere"},
        {"redis_memory": "3GiB"},
        {"child_memory": "5GiB"},
        {"sandbox_memory": "1GiB", "child_memory": "5GiB"},
        {"job_memory": "1GiB", "redis_memory": "2GiB", "sandbox_memory": "1GiB"},
    ],
    ids=lambda given: "+".join(given) or "defaults",
)
def test_what_all_parts_may_use_adds_up_to_no_more_than_the_machine(
    machine: None, capsys: pytest.CaptureFixture[str], workers: int, given: dict[str, str]
) -> None:
    settings = Settings(workers=workers, **given)
    plan = _memory_plan(settings)
    told = _environment(settings, "redis://here", plan)
    used = int(told["ISM_JOB_MEMORY"]) * workers + plan.get("redis", 0) + int(told["ISM_SANDBOX_MEMORY"])
    assert used + plan["rest"] <= MACHINE
    assert plan["rest"] > MACHINE // 16
    assert Settings(**given | {"sandbox_memory": told["ISM_SANDBOX_MEMORY"]}).memory_per_child <= plan["sandbox"]
    assert ("redis" in plan) == (settings.redis_url is None)
    assert capsys.readouterr().err == ""


def test_more_memory_than_there_is_is_told_at_the_start(machine: None, capsys: pytest.CaptureFixture[str]) -> None:
    plan = _memory_plan(Settings(workers=4, job_memory="6GiB"))
    assert min(plan.values()) >= 2**26, "Redis has no limit if it is 0"
    said = capsys.readouterr().err
    assert "may use 24.2 GiB of memory together, but there are only 16.0 GiB; lower ISM_JOB_MEMORY" in said


def test_the_greeting_says_what_each_part_may_use(machine: None) -> None:
    said = memory_sentence(_memory_plan(Settings(workers=2)), 2)
    assert said.endswith(
        "4.0 GiB for each job, 4.0 GiB for Redis, 2.0 GiB for sandbox processes, 2.0 GiB for the rest."
    )
