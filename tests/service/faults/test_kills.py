"""The whole service, killed in parts and altogether: what was acknowledged is done, once."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from ism_cli.embedded import find_executable
from tests.support.api import Api
from tools.local_service import running_service

SECONDS = 90
VARIABLES = {"ISM_LEASE_SECONDS": "2", "ISM_WORKER_THREADS": "1"}
JOB = {
    "paradigm": "supervised",
    "kernel": "gaussian",
    "target": "y",
    "target_kind": "values",
    "q": 2,
    "folds": 0,
    "delta": 1e-6,
}


def table() -> bytes:
    rows = (",".join(str((row * prime) % 101) for prime in (3, 7, 11, 13, 17, 19)) for row in range(400))
    return ("a,b,c,d,e,y\n" + "\n".join(rows)).encode()


def children(pid: int) -> list[int]:
    """All processes below this one."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *children(child)]
    return found


def named(pid: int, word: str) -> list[int]:
    """Those below it with this word in their command line."""
    found = []
    for child in children(pid):
        with suppress(OSError):
            if word in Path(f"/proc/{child}/cmdline").read_text().replace("\0", " "):
                found.append(child)
    return found


def until(what: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        with suppress(httpx.HTTPError, OSError):
            if found := what():
                return found
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def ended(api: Api, job: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        answer = api.get(f"/jobs/{job}")
        return answer.json() if answer.status_code == 200 and answer.json()["finished"] else None

    return until(look)


@pytest.mark.thorough
def test_nothing_that_was_acknowledged_is_lost_whatever_is_killed(tmp_path: Path) -> None:
    jobs: list[str] = []
    with running_service(tmp_path, workers=1, **VARIABLES) as (url, process), Api(base_url=url, timeout=30) as api:
        dataset = api.upload(table())["id"]
        for word in (Path(find_executable()).name, "ism_cli.main api", "ism_cli.main worker"):
            jobs.append(api.submit(dataset=dataset, **JOB))
            (victim, *_) = until(lambda word=word: named(process.pid, word))
            os.kill(victim, signal.SIGKILL)
            until(lambda word=word, victim=victim: set(named(process.pid, word)) - {victim})
            until(lambda: api.get("/readyz").status_code == 200)
        jobs += [api.submit(dataset=dataset, **JOB) for _ in range(3)]
        for pid in [process.pid, *children(process.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
    with running_service(tmp_path, workers=1, **VARIABLES) as (url, _), Api(base_url=url, timeout=30) as api:
        records = [ended(api, job) for job in jobs]
        listed = [item["id"] for item in api.get("/jobs").json()["items"]]
        results = [api.get(f"/jobs/{job}/W?format=csv").text for job in jobs]
        metrics = api.get("/metrics").text
    assert [record["state"] for record in records] == ["succeeded"] * len(jobs)
    assert sorted(listed) == sorted(jobs)
    assert len(set(results)) == 1, "all are the same job"
    assert f'ism_jobs_ended_total{{state="succeeded"}} {len(jobs)}.0' in metrics
