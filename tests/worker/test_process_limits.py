"""A worker keeps to its share of the machine: of the cores, whatever makes threads there, and of the memory."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from ism_jobs.store import State, Store
from tests.worker.test_rq_worker import (
    ENDLESS,
    LONG,
    SECONDS,
    at_iteration,
    dataset,
    ended,
    horse_of,
    kept,
    own_redis,
    worker,
)
from worker.process_limits import ProcessWatchdog

__all__ = ["dataset", "kept", "own_redis"]  # fixtures

CAPPED = """
import json, os, sys, types
from click.testing import CliRunner
from ism_cli.main import main

found = {}

def look(settings):
    import numpy, pyarrow, scipy.linalg, sklearn.svm
    from threadpoolctl import threadpool_info
    from ism_core.engines.base import own_threads
    from worker import jobs
    found["libraries"] = {library["filepath"]: library["num_threads"] for library in threadpool_info()}
    with own_threads() as threads:
        found["ours"] = threads
    found["arrow"] = pyarrow.cpu_count()
    found["numba"] = int(os.environ["NUMBA_NUM_THREADS"])

assert "numpy" not in sys.modules
sys.modules["worker.rq_worker"] = types.ModuleType("worker.rq_worker")
sys.modules["worker.rq_worker"].work = look
done = CliRunner().invoke(main, ["worker"], catch_exceptions=False)
assert done.exit_code == 0, done.output
print(json.dumps(found))
"""


@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_all_that_makes_threads_is_held_to_those_of_the_worker(
    threads: int, own_redis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISM_REDIS_URL", own_redis)
    monkeypatch.setenv("ISM_WORKER_THREADS", str(threads))
    done = subprocess.run([sys.executable, "-c", CAPPED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["libraries"]
    assert all(allowed <= threads for allowed in found["libraries"].values()), found
    assert 1 <= found["ours"] <= threads
    assert found["arrow"] <= threads
    assert found["numba"] == threads


def ticks(process: int) -> dict[str, int]:
    """Return the CPU time of each thread of a process, in clock ticks."""
    fields = {task.name: (task / "stat").read_text().rpartition(")")[2].split() for task in tasks(process)}
    return {task: int(values[11]) + int(values[12]) for task, values in fields.items()}


def tasks(process: int) -> list[Path]:
    return list(Path(f"/proc/{process}/task").iterdir())


def test_a_job_limited_to_one_thread_works_in_one_thread(
    own_redis: str, kept: Store, dataset: str, tmp_path: Path
) -> None:
    with worker(own_redis, tmp_path / "worker.log", ISM_WORKER_THREADS="1") as process:
        kept.jobs.create([("capped", {"dataset": dataset} | ENDLESS)])
        at_iteration(kept, "capped", 1)
        horse = horse_of(process)
        enough = max(ticks(horse).values()) + 20
        seen, worked = set(), [0]
        while worked[-1] < enough:
            seen.add(len(tasks(horse)))
            worked = sorted(ticks(horse).values())
        assert kept.jobs.get("capped").state is State.RUNNING
        kept.jobs.cancel("capped")
        ended(kept, "capped")
    assert len(seen) == 1, "threads come and go"
    assert sum(worked[:-1]) <= 1


def test_a_job_that_would_need_too_much_memory_fails_with_a_sentence(
    own_redis: str, kept: Store, dataset: str, tmp_path: Path
) -> None:
    with worker(own_redis, tmp_path / "worker.log", ISM_JOB_MEMORY="1MiB"):
        kept.jobs.create([("toolarge", {"dataset": dataset} | LONG)])
        record = ended(kept, "toolarge")
    assert record.state is State.FAILED
    assert record.error["type"] == "urn:ism:problem:out-of-memory"
    assert record.error["title"] == "The job needs too much memory"
    assert record.error["detail"].endswith(".")


@pytest.mark.parametrize(
    ("program", "limits", "word"),
    [
        ("import time; time.sleep(600)", (0.3, 2**40, 600), "time limit of 0.3 seconds"),
        ("held = b'x' * 2**28; import time; time.sleep(600)", (600, 2**27, 600), "the limit is 128 MiB"),
        ("import time; time.sleep(600)", (600, 2**17, 600), "even 5% of its rows would not fit"),
    ],
)
def test_the_watchdog_kills_a_process_over_its_limit(program: str, limits: tuple[float, int, float], word: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", program])
    with ProcessWatchdog(process.pid, *limits) as watch:
        assert process.wait(SECONDS) == -signal.SIGKILL
    assert watch.problem is not None
    assert word in watch.problem.detail


def test_a_watch_leaves_alone_what_keeps_to_its_limits() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(0.3)"])
    with ProcessWatchdog(process.pid, 60, 2**40, 60) as watch:
        assert process.wait(SECONDS) == 0
    assert watch.problem is None


HANGS = {
    "dead lock": "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "stopped": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
}


@pytest.mark.parametrize("program", HANGS.values(), ids=HANGS)
def test_the_watchdog_kills_a_process_that_hangs(program: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
    with ProcessWatchdog(process.pid, 600, 2**40, 0.5) as watch:
        assert process.wait(SECONDS) == -signal.SIGKILL
    assert watch.problem is None, "the job did nothing wrong that its owner could mend"


def test_a_pause_of_the_worker_is_no_hang_of_its_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the machine or the container was suspended: both have not computed, and both go on."""
    process = subprocess.Popen([sys.executable, "-c", HANGS["stopped"]], start_new_session=True)
    polls, paused, monotonic = 0, 0.0, time.monotonic

    def clock() -> float:
        nonlocal polls
        polls += 1
        return monotonic() + paused

    monkeypatch.setattr("worker.process_limits.time", SimpleNamespace(monotonic=clock))
    with ProcessWatchdog(process.pid, 6_000, 2**40, 300) as watch:
        for _ in range(3):
            before = polls
            while polls < before + 4:
                assert process.poll() is None
            paused += 600.0
        assert watch.problem is None
    process.kill()
    process.wait()


COMPUTES = "import time\nwhile time.process_time() < 2: pass"
WAITS = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {COMPUTES!r}])"


def test_a_process_that_waits_for_another_of_its_own_does_not_hang() -> None:
    process = subprocess.Popen([sys.executable, "-c", WAITS], start_new_session=True)
    with ProcessWatchdog(process.pid, 600, 2**40, 1.5):
        assert process.wait(SECONDS) == 0
