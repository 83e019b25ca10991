"""Count the modules that one `solve` passes through, and check the house rules: `python -m benchmarks.walk`.

The exit code is 1 if a limit is missed.
"""

import sys
import threading
from types import FrameType
from typing import Any

import numpy as np

from ism_core import Gaussian, Supervised, solve
from tools import house

MAX_MODULES = 30  # modules of ism_core whose functions one solve calls
ROWS, COLUMNS = 1_000, 20
PACKAGE = "ism_core"


class CalledModules:
    """A profile function for `sys.setprofile` that collects the modules whose functions are called while it is on.

    It is installed before the first thread starts, because threads take the profile function when they start.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.on = False
        threading.setprofile(self)
        sys.setprofile(self)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if self.on and event == "call":
            module = frame.f_globals.get("__name__", "")
            if module.split(".")[0] == PACKAGE:
                self.names.add(module)

    def close(self) -> None:
        """Stop profiling; threads that run keep the function, which does nothing any more."""
        self.on = False
        sys.setprofile(None)
        threading.setprofile(None)


def called_modules() -> set[str]:
    """Return the modules that a supervised solve with a Gaussian kernel passes through."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, COLUMNS))
    y = (np.sin(X[:, 0]) + X[:, 1] * X[:, 2] > 0).astype(int)
    called = CalledModules()
    try:
        solve(X, Supervised(y), Gaussian(), q=3)  # modules imported on first use do not count as called
        called.on = True
        solve(X, Supervised(y), Gaussian(), q=3)
    finally:
        called.close()
    return called.names


def table(modules: int) -> list[tuple[str, int, int]]:
    """Return the rows (what is counted, its limit, its value)."""
    core = house.ROOT / PACKAGE
    rows = [
        (f"modules of {PACKAGE} in one solve of {ROWS:,} × {COLUMNS}", MAX_MODULES, modules),
        (f"lines of {PACKAGE}", house.MAX_CORE_LINES, sum(map(house.lines, house.modules(PACKAGE)))),
        (f"folders of {PACKAGE}", house.MAX_CORE_FOLDERS, len(house.folders(core))),
        (f"files of {PACKAGE} itself", house.MAX_CORE_FILES, len(house.files(core))),
    ]
    rows += [(f"layers: {contract}", house.MAX_LAYERS, count) for contract, count in house.layers().items()]
    for package in house.PACKAGES:
        crowded, long = house.crowded_folders(package), house.long_modules(package)
        rows += [(f"files in {folder}", house.MAX_FILES, count) for folder, count in crowded.items()]
        rows += [(f"lines of {path}", house.MAX_MODULE_LINES, count) for path, count in long.items()]
    short = [path for package in house.PACKAGES for path in house.short_modules(package)]
    rows.append((f"modules under {house.MIN_MODULE_LINES} lines: {', '.join(short) or 'none'}", 0, len(short)))
    return rows


def main() -> None:
    """Print the modules on the way and the table; exit with 1 if a limit is missed."""
    modules = called_modules()
    print("\n".join(sorted(modules)), end="\n\n")
    missed = False
    print("  limit   value")
    for label, limit, value in table(len(modules)):
        missed |= value > limit
        print(f"{limit:7,} {value:7,}  {label}{'  (missed)' if value > limit else ''}")
    sys.exit(missed)


if __name__ == "__main__":
    main()
