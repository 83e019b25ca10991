"""Check that the tests find faults: break one line at a time in a copy of the checkout, and run the tests of that part.

    python -m drills.mutations [NUMBER ...]

Each fault must make a test fail that `make test` runs. The drill fails if more than one fault is missed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
MOST_MISSED = 1
LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", "dist", "*.egg-info", ".pytest_cache", ".mypy_cache", ".ruff_cache")


class Fault(NamedTuple):
    """A line to break, and the tests that are to find it."""

    file: str
    old: str  # occurs once in the file
    new: str
    tests: str  # arguments of pytest, separated by spaces


LUA = "ism_jobs/store/lua"
STORE, CHECKS, SPEC = "tests/ism_jobs/store", "tests/ism_jobs/checks", "tests/ism_jobs/spec"
ASCENT = "tests/ism_core/solver/ascent tests/ism_core/solver/test_neighbors.py tests/ism_core/solver/test_optima.py"
TILES = "tests/ism_core/objective/test_conformance.py tests/ism_core/objective/test_tiles.py"
RULE = "tests/ism_core/selection/test_rule.py tests/ism_core/selection/test_choose.py"
AUTH = "tests/app/auth"
TABLES = "tests/ism_jobs/tables"

FAULTS = [
    # store
    Fault(f"{LUA}/claim.lua", "if state == 'queued' then", "if state then", STORE),
    Fault(f"{LUA}/claim.lua", "if fewest == 0 then break end", "if fewest then break end", STORE),
    Fault(f"{LUA}/end.lua", "redis.call('SREM', KEYS[6], ARGV[1])\n", "", STORE),
    Fault(
        "ism_jobs/store/attempts.py",
        "if (state, claim) != (State.RUNNING.encode(), self._claim_token.encode()):",
        "if state != State.RUNNING.encode():",
        STORE,
    ),
    # checks of a spec
    Fault("ism_jobs/checks/features.py", "encoded * rows > MOST_CELLS", "encoded > MOST_CELLS", CHECKS),
    Fault("ism_jobs/checks/features.py", "if 0 < column.missing < rows]", "if 1 < column.missing < rows]", CHECKS),
    Fault(
        "ism_jobs/spec/common.py",
        "Integer(2, 20, also=0, optional=True)",
        "Integer(1, 20, also=0, optional=True)",
        SPEC,
    ),
    # ascent
    Fault(
        "ism_core/solver/ascent/spectral.py",
        "dominant(here.phi + shift * (here.W @ here.W.T)",
        "dominant(here.phi - shift * (here.W @ here.W.T)",
        ASCENT,
    ),
    Fault(
        "ism_core/solver/ascent/lbfgs.py",
        "direction = direction - alpha * fall",
        "direction = direction + alpha * fall",
        ASCENT,
    ),
    Fault(
        "ism_core/solver/ascent/loop.py",
        "self.change < delta and is_stationary(self.point, delta)",
        "self.change < delta",
        ASCENT,
    ),
    # tiles
    Fault(
        "ism_core/objective/pairs.py",
        "mirrored += tile.T @ factor[rows]",
        "mirrored += tile.T @ factor[columns]",
        TILES,
    ),
    Fault(
        "ism_core/objective/tiles.py",
        "phi += 2 * engine.total(_diagonal_share",
        "phi += engine.total(_diagonal_share",
        TILES,
    ),
    # choice of settings
    Fault("ism_core/selection/rule.py", "scores.std() / np.sqrt(len(scores))", "scores.std() / len(scores)", RULE),
    Fault("ism_core/selection/rule.py", '.scale != "whiten"', '.scale == "whiten"', RULE),
    Fault(
        "ism_core/selection/rule.py",
        "np.bincount(drawn, minlength=n) == 0",
        "np.bincount(drawn, minlength=n) > 0",
        RULE,
    ),
    # auth
    Fault(
        "app/auth/access.py",
        "return path in _PUBLIC_PATHS or",
        'return path.endswith("/events") or path in _PUBLIC_PATHS or',
        f"{AUTH} tests/service/security/test_access.py",
    ),
    Fault(
        "app/auth/api_keys.py",
        "self.enabled = self.enabled or self._stored is not None",
        "self.enabled = bool(self._stored)",
        AUTH,
    ),
    # tables
    Fault("ism_jobs/tables/csv/sniff.py", 'and _has_decimal_commas(rows) else "."', 'and not rows else "."', TABLES),
    Fault(
        "ism_jobs/tables/numpy/npy.py",
        "if layout.bytes > available - start:",
        "if layout.bytes > available + start:",
        TABLES,
    ),
    # page
    Fault(
        "app/web/key.js",
        "sessionStorage.setItem(STORAGE_NAME, given)",
        "localStorage.setItem(STORAGE_NAME, given)",
        "tests/page/test_access.py",
    ),
    Fault(
        "app/web/form/errors.js",
        "field.showError(message);",
        "messages.push(message);",
        "tests/page/test_form_errors.py",
    ),
]


def is_caught(fault: Fault, checkout: Path) -> bool:
    """Return whether a test fails in a checkout with this fault. The checkout is restored."""
    path = checkout / fault.file
    text = path.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        raise SystemExit(f"{fault.file} has {text.count(fault.old)} times {fault.old!r}; mend the table of faults.")
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-m", "not thorough", *fault.tests.split()]
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    finally:
        path.write_text(text, encoding="utf-8")
    if done.returncode not in (0, 1):
        raise SystemExit(f"The tests of {fault.file} did not run:\n{done.stdout}{done.stderr}")
    return done.returncode == 1


def main(numbers: list[str]) -> None:
    """Try the faults with these numbers, or all of them."""
    chosen = [int(number) for number in numbers] or range(1, len(FAULTS) + 1)
    missed = 0
    with tempfile.TemporaryDirectory(prefix="ism-mutations-") as folder:
        checkout = Path(folder) / "checkout"
        shutil.copytree(ROOT, checkout, ignore=LEFT_OUT)  # with the times of files, by which numba finds its cache
        for number in chosen:
            fault, began = FAULTS[number - 1], time.monotonic()
            caught = is_caught(fault, checkout)
            missed += not caught
            seconds = time.monotonic() - began
            print(f"{number:2} {'caught' if caught else 'MISSED'} {seconds:4.0f} s  {fault.file}: {fault.new.strip()}")
    print(f"{len(chosen) - missed} of {len(chosen)} faults were caught.")
    sys.exit(missed > MOST_MISSED)


if __name__ == "__main__":
    main(sys.argv[1:])
