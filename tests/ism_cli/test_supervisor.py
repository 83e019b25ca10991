"""The supervisor keeps its parts running, and stops them all in bounded time."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ism_cli.supervisor import SUPERVISED, Part, Supervisor

SECONDS = 30

PARTS = {
    "sleeps": "time.sleep(600)",
    "stubborn": "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
    "follows": "from ism_cli.supervisor import stop_with_supervisor; stop_with_supervisor(); time.sleep(600)",
    "dies": "sys.exit(3)",
    "ends": "sys.exit(0)",
    "is killed": "os.kill(os.getpid(), signal.SIGKILL)",
}
PROGRAM = """
import sys
from ism_cli import supervisor
from ism_cli.supervisor import Part, Supervisor
from tests.ism_cli.test_supervisor import started

supervisor.RESTART_SECONDS = 0.1
Part.start = started
parts = [Part(name, [name, sys.argv[1]], {}, essential=name == sys.argv[2]) for name in sys.argv[3:]]
sys.exit(Supervisor(parts, 1.0).run())
"""


def started(part: Part, stdin: int) -> "subprocess.Popen[bytes]":
    """A part that writes down its process and does what its name says."""
    name, folder = part.arguments
    log = Path(folder) / name
    code = f"import os, signal, sys, time; open({str(log)!r}, 'a').write(f'{{os.getpid()}}\\n'); {PARTS[name]}"
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=stdin, env=os.environ | {SUPERVISED: "1"}, start_new_session=True
    )


def supervised(folder: Path, *parts: str, essential: str = "") -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder), essential, *parts])


def pids(folder: Path, name: str, least: int = 1) -> list[int]:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        found = (folder / name).read_text().split() if (folder / name).exists() else []
        if len(found) >= least:
            return [int(pid) for pid in found]
        time.sleep(0.02)
    raise AssertionError(f"{name} was started {len(found)} times")


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def is_running(pid: int) -> bool:
    """Alive, and not a process that has ended and waits to be asked how."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_part_that_dies_is_started_again_and_a_signal_stops_all(tmp_path: Path, signum: signal.Signals) -> None:
    process = supervised(tmp_path, "sleeps", "stubborn", "dies", essential="sleeps")
    try:
        assert len(set(pids(tmp_path, "dies", 3))) >= 3
        alive = pids(tmp_path, "sleeps") + pids(tmp_path, "stubborn")
        assert len(alive) == 2, "the others are left alone"
        assert all(map(is_alive, alive))
        process.send_signal(signum)
        assert process.wait(SECONDS) == 0
        assert not any(map(is_alive, alive))
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(("part", "code"), [("dies", 3), ("ends", 1)])
def test_when_an_essential_part_ends_all_end_with_its_exit_code(tmp_path: Path, part: str, code: int) -> None:
    process = supervised(tmp_path, "sleeps", part, essential=part)
    try:
        assert process.wait(SECONDS) == code
        assert not any(map(is_alive, pids(tmp_path, "sleeps")))
        assert len(pids(tmp_path, part)) == 1
    finally:
        process.kill()
        process.wait()


def test_an_essential_part_that_is_killed_is_started_again(tmp_path: Path) -> None:
    process = supervised(tmp_path, "is killed", essential="is killed")
    try:
        assert len(pids(tmp_path, "is killed", 2)) >= 2
        process.terminate()
        assert process.wait(SECONDS) == 0
    finally:
        process.kill()
        process.wait()


def test_parts_stop_when_their_supervisor_is_killed(tmp_path: Path) -> None:
    """Else they would hold the port and the jobs, and the next service could not start."""
    process = supervised(tmp_path, "follows", "dies")
    pids(tmp_path, "dies", 2)
    (part,) = pids(tmp_path, "follows")
    process.kill()
    process.wait()
    deadline = time.monotonic() + SECONDS
    while is_running(part) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(part)


def test_a_process_that_nobody_supervises_does_not_follow_its_stdin() -> None:
    code = "from ism_cli.supervisor import stop_with_supervisor; stop_with_supervisor(); import time; time.sleep(0.5)"
    assert subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, timeout=SECONDS).returncode == 0


def test_a_part_runs_an_ism_command_in_a_session_of_its_own() -> None:
    process = Part("version", ["--version"], os.environ | {"PYTHONPATH": os.getcwd()}).start(subprocess.DEVNULL)
    assert os.getsid(process.pid) == process.pid
    assert process.wait(SECONDS) == 0


def test_without_parts_it_waits_to_be_stopped() -> None:
    supervisor = Supervisor([], 1.0)
    supervisor._stop.set()
    handlers = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}
    try:
        assert supervisor.run() == 0
    finally:
        for name, handler in handlers.items():
            signal.signal(name, handler)
