"""The process that runs jobs: it stays for small jobs that end well, and is replaced after all others."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import worker.horse
from worker.horse import Horse

SECONDS = 60.0  # for anything


@pytest.fixture
def horse(tmp_path: Path) -> Iterator[Callable[[], Horse]]:
    made: list[Horse] = []

    def make() -> Horse:
        made.append(Horse(lambda: None, lambda deed: do(deed, tmp_path / "pids")))
        return made[-1]

    yield make
    for each in made:
        each.dismiss()


def do(deed: str, pids: Path) -> bool:
    with pids.open("a") as file:
        file.write(f"{os.getpid()}\n")
    match deed:
        case "fail":
            return False
        case "raise":
            raise ValueError("a fault of the program")
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "grow":
            global grown
            grown = bytearray(os.urandom(2**20)) * 80
        case "sleep":
            time.sleep(SECONDS)
    return True


grown = bytearray()


def run(horse: Horse, deed: str) -> bool | None:
    horse.start(deed)
    return horse.wait(SECONDS)


def test_small_jobs_share_a_process(horse: Callable[[], Horse], tmp_path: Path) -> None:
    one = horse()
    for _ in range(5):
        assert run(one, "succeed")
        assert one.is_ready()
    assert set((tmp_path / "pids").read_text().split()) == {str(one.pid)}
    assert one.pid != os.getpid()


@pytest.mark.parametrize("deed", ["fail", "grow"])
def test_a_process_ends_after_a_job_that_failed_or_was_large(horse: Callable[[], Horse], deed: str) -> None:
    one = horse()
    assert run(one, deed)
    assert not one.is_ready()


@pytest.mark.parametrize("deed", ["die", "raise"])
def test_the_end_of_a_process_is_noticed(horse: Callable[[], Horse], deed: str) -> None:
    one = horse()
    assert run(one, "succeed")
    assert run(one, deed) is False
    assert not one.is_ready()


def test_a_process_that_dies_between_two_jobs_is_not_ready(horse: Callable[[], Horse]) -> None:
    one = horse()
    os.kill(one.pid, signal.SIGKILL)
    os.waitid(os.P_PID, one.pid, os.WEXITED | os.WNOWAIT)
    assert not one.is_ready()


def test_the_worker_may_look_after_other_things_while_a_job_runs(horse: Callable[[], Horse]) -> None:
    one = horse()
    one.start("sleep")
    assert one.wait(0.01) is None
    one.dismiss()
    assert not one.is_ready()


def test_a_process_ends_after_many_jobs_and_after_a_long_one(
    horse: Callable[[], Horse], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.horse, "MOST_JOBS", 2)
    one = horse()
    assert run(one, "succeed")
    assert one.is_ready()
    assert run(one, "succeed")
    assert not one.is_ready()
    monkeypatch.setattr(worker.horse, "SMALL_SECONDS", 0.0)
    other = horse()
    assert run(other, "succeed")
    assert not other.is_ready()


ORPHAN = """
import os, sys, time
from ism_jobs.processes import die_with_parent

parent = os.getpid()
if os.fork():
    os._exit(0)
while os.getppid() == parent:
    time.sleep(0.01)
die_with_parent(parent)
print("lives")
"""


def test_a_process_whose_parent_is_dead_before_it_can_ask_for_a_signal_ends() -> None:
    done = subprocess.run([sys.executable, "-c", ORPHAN], capture_output=True, text=True, timeout=SECONDS, check=True)
    assert done.stdout == done.stderr == ""


def test_a_process_ends_with_its_orders(tmp_path: Path) -> None:
    one = Horse(lambda: None, lambda deed: do(deed, tmp_path / "pids"))
    os.close(one._orders)
    assert os.waitpid(one.pid, 0)[1] == 0
