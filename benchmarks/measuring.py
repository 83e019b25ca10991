"""What every benchmark is measured with: parts in processes of their own, clocks, and lines that tell how it goes."""

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
from typing import Any, get_args

import numpy as np
from tqdm import tqdm

from ism_core import Gaussian
from ism_core.engines.base import LOCAL
from ism_core.gamma import LabelGamma
from ism_core.kernels import Taylor
from ism_core.objective import Precision, features_of, tiles
from ism_core.objective.pairs import COMPILED_ROWS

Row = dict[str, Any]

INDENT = "    "  # of the lines that a part says
FILES = ("save", "saved")  # arguments that nobody need see
QUIET_SECONDS = 30  # without a line, where there is no terminal
COMPARISONS: dict[str, Callable[[float, float], bool]] = {"≤": float.__le__, "≥": float.__ge__}


class PartFailed(RuntimeError):
    """A part ended with an error; the message ends with what it said last."""


def claim(text: str, measured: float, comparison: str, limit: float) -> Row:
    """A line of what is to be shown, and whether it was."""
    met = COMPARISONS[comparison](float(measured), float(limit))
    return {"claim": text, "measured": measured, "limit": f"{comparison} {limit:g}", "met": met}


def run_part(module: str, name: str, **arguments: Any) -> Row:
    """The row that a part gives, run by `python -m benchmarks.<module> --part name` in a process of its own.

    To it are added the whole process's peak memory, in GiB, and its time, in seconds.
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
    """The other end: run the part that the command line names, and print its row."""
    _, _, name, arguments = sys.argv
    (part,) = [part for part in parts if part.__name__ == name]
    row = part(**json.loads(arguments))
    print(json.dumps({**row, "peak GiB": peak_memory() / 2**30}))


def say(line: str) -> None:
    """A line of progress from within a part."""
    print(INDENT + line, file=sys.stderr, flush=True)


def peak_memory() -> float:
    """The most bytes this process ever held.

    Linux's ru_maxrss includes what the parent held when it started this process; VmHWM does not.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * (1 if sys.platform == "darwin" else 1024)
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return 1024 * float(line.split()[1])


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """How many seconds it took, and what it gave."""
    began = time.perf_counter()
    value = work()
    return time.perf_counter() - began, value


def load_compiled() -> None:
    """Load what many rows are computed by; a machine that has never done so compiles it, in some 30 s, and keeps it."""
    P, classes = np.random.default_rng(0).standard_normal((COMPILED_ROWS, 2)), np.arange(COMPILED_ROWS) % 2
    placed = LOCAL.place(P), LOCAL.place(LabelGamma.of(classes)), LOCAL.place(Gaussian(1.0))
    for precision in get_args(Precision):
        tiles.half_gradient(*placed, np.eye(2), precision=precision)
        tiles.kernel_product(P, Gaussian(1.0), P, precision=precision)
    features = features_of(Taylor(2, 3, 1.0), P, rows=10**9)
    features.times(features.gathered(P))


def medians(
    works: dict[str, Callable[[], Any]], repeats: int = 3, enough: float = 10.0, rest: float = 0.0
) -> dict[str, float]:
    """The median seconds of each, taken in turns, until there are `repeats` of each or `enough` seconds are spent.

    Before each there may be some seconds of rest, which are not counted.
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
    """Show that something runs, and for how long: a clock on a terminal, else a line now and then."""
    done, terminal = threading.Event(), sys.stderr.isatty()
    with tqdm(desc=f"  {label}", bar_format="{desc} … {elapsed}", leave=False, disable=not terminal) as clock:

        def tick() -> None:
            while not done.wait(1 if terminal else QUIET_SECONDS):
                clock.refresh()
                if not terminal:
                    print(f"  {label} goes on …", file=sys.stderr, flush=True)

        if not terminal:
            print(f"  {label} …", file=sys.stderr, flush=True)
        ticker = threading.Thread(target=tick, daemon=True)
        ticker.start()
        try:
            yield
        finally:
            done.set()
            ticker.join()
