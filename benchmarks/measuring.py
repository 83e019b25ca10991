"""Shared by all benchmarks: parts that run in their own process, timers, claims and progress lines."""

import json
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ism_core.objective import compile_all, pairs

Row = dict[str, Any]

INDENT = "    "  # starts the progress lines of a part
FILES = ("save", "saved")  # arguments that are file names; progress lines leave them out
QUIET_SECONDS = 30  # between two progress lines without a terminal
COMPARISONS: dict[str, Callable[[float, float], bool]] = {"≤": float.__le__, "≥": float.__ge__}


class PartFailed(RuntimeError):
    """A part ended with an error; the message has the last lines of its output."""


def claim(text: str, measured: float, comparison: str, limit: float) -> Row:
    """Return a claim with its measured value, its limit, and whether it is met."""
    met = COMPARISONS[comparison](float(measured), float(limit))
    return {"claim": text, "measured": measured, "limit": f"{comparison} {limit:g}", "met": met}


def run_part(module: str, name: str, **arguments: Any) -> Row:
    """Run `python -m benchmarks.<module> --part name` in its own process, and return its row.

    The row also has the peak memory of the process in GiB, and its time in seconds.
    """
    command = [sys.executable, "-m", f"benchmarks.{module}", "--part", name, json.dumps(arguments)]
    shown = ", ".join(f"{key} {value}" for key, value in arguments.items() if key not in FILES)
    said: deque[str] = deque(maxlen=20)
    with _ticking(f"{name} {shown}"), subprocess.Popen(command, stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout
        assert process.stderr
        began = time.perf_counter()
        for line in process.stderr:
            said.append(line)
            if line.startswith(INDENT):
                tqdm.write(line.rstrip(), file=sys.stderr)
        answer = process.stdout.read()
    if process.returncode:
        raise PartFailed(f"{name} {shown} ended with {process.returncode}:\n{''.join(said)}")
    row: Row = json.loads(answer.splitlines()[-1])
    row["part seconds"] = time.perf_counter() - began
    results = [f"{key} {value:.4g}" for key, value in row.items() if isinstance(value, float)]
    tqdm.write(f"  {name} {shown}: {', '.join(results)}", file=sys.stderr)
    return row


def serve_parts(*parts: Callable[..., Row]) -> None:
    """Run the part that the command line names, and print its row for `run_part`."""
    _, _, name, arguments = sys.argv
    (part,) = [part for part in parts if part.__name__ == name]
    row = part(**json.loads(arguments))
    print(json.dumps({**row, "peak GiB": peak_memory() / 2**30}))


def say(line: str) -> None:
    """Print a progress line from within a part."""
    print(INDENT + line, file=sys.stderr, flush=True)


def peak_memory() -> float:
    """Return the peak memory of this process in bytes.

    Linux's ru_maxrss includes the memory of the parent at the start of this process; VmHWM does not.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * (1 if sys.platform == "darwin" else 1024)
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return 1024 * float(line.split()[1])


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that `work` took, and its value."""
    began = time.perf_counter()
    value = work()
    return time.perf_counter() - began, value


def load_compiled() -> None:
    """Import the compiled functions for many rows. On a new machine, compile them first, in about 30 s."""
    compile_all()
    for name in ("pairs", "features"):
        pairs.load_compiled(name)


def medians(
    works: dict[str, Callable[[], Any]], repeats: int = 3, enough: float = 10.0, rest: float = 0.0
) -> dict[str, float]:
    """Return the median seconds of each work, measured in turns.

    Stop after `repeats` rounds or `enough` seconds. Before each measurement, sleep for `rest` seconds.
    """
    taken: dict[str, list[float]] = {name: [] for name in works}
    began = time.perf_counter()
    for _ in range(repeats):
        for name, work in works.items():
            time.sleep(rest)
            taken[name].append(timed(work)[0])
        if time.perf_counter() - began > enough:
            break
    return {name: statistics.median(times) for name, times in taken.items()}


@contextmanager
def _ticking(label: str) -> Iterator[None]:
    """Show that a part runs: a clock on a terminal, otherwise a line from time to time."""
    done, terminal = threading.Event(), sys.stderr.isatty()
    with tqdm(desc=f"  {label}", bar_format="{desc} … {elapsed}", leave=False, disable=not terminal) as clock:

        def tick() -> None:
            while not done.wait(1 if terminal else QUIET_SECONDS):
                clock.refresh()
                if not terminal:
                    print(f"  {label} is still running …", file=sys.stderr, flush=True)

        if not terminal:
            print(f"  {label} …", file=sys.stderr, flush=True)
        ticker = threading.Thread(target=tick, daemon=True)
        ticker.start()
        try:
            yield
        finally:
            done.set()
            ticker.join()
