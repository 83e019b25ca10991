"""The paper's experiments: `make paper`, at most 40 minutes on 2 cores; FAST=1 on small data, at most 3.

    python -m benchmarks.paper [--fast] [--force] [--only supervised scalability …] [--out folder]

Writes docs/paper.md and docs/images/paper/; with --fast or --out, into a folder of its own. What was computed before
and has not changed since is not computed again: rows are kept in benchmarks/results/paper/.
"""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from benchmarks.paper import cells, differences, report
from benchmarks.paper.cells import ROOT, Part
from benchmarks.paper.experiments import (
    alternative,
    kernel_table,
    scalability,
    semisupervised,
    supervised,
    unsupervised,
)

EXPERIMENTS: dict[str, ModuleType] = {  # in the order of the report
    "supervised": supervised,
    "unsupervised": unsupervised,
    "kernels": kernel_table,
    "alternative": alternative,
    "scalability": scalability,
    "semisupervised": semisupervised,
    "differences": differences,
}
RESULTS = ROOT / "benchmarks" / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parsed(arguments)
    began = time.perf_counter()
    folder, page = _places(chosen)
    parts = [part for name in chosen.only or EXPERIMENTS for part in EXPERIMENTS[name].parts(chosen.fast)]
    todo = cells.pending(parts, folder, chosen.force)
    about = sum(part.seconds for part in todo)
    print(f"{len(todo)} of {len(parts)} parts to compute, about {about / 60:.0f} min.", file=sys.stderr, flush=True)
    rows = cells.run(parts, folder, chosen.force)
    print("Writing the report …", file=sys.stderr, flush=True)
    report.write(page, EXPERIMENTS, folder, chosen.fast, _stale(folder, chosen))
    failed = {name: row["failed"] for name, row in rows.items() if "failed" in row}
    for name, why in failed.items():
        print(f"FAILED {name}: {why}", file=sys.stderr)
    print(
        f"{len(todo) - len(failed)} parts computed, {len(parts) - len(todo)} skipped since nothing has changed,"
        f" {len(failed)} failed; {_minutes(time.perf_counter() - began)}. The report is {page}."
    )
    return int(bool(failed))


def _parsed(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser("python -m benchmarks.paper", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="small data, few folds, limits of a second")
    parser.add_argument("--force", action="store_true", help="compute everything again")
    parser.add_argument(
        "--only", nargs="+", choices=list(EXPERIMENTS), metavar="experiment", help=", ".join(EXPERIMENTS)
    )
    parser.add_argument("--out", type=Path, help="where rows and report go, in place of results and docs")
    return parser.parse_args(arguments)


def _places(chosen: Namespace) -> tuple[Path, Path]:
    """Return the folder of the rows, and the path of the report."""
    if chosen.out:
        return chosen.out / "rows", chosen.out / "paper.md"
    if chosen.fast:
        return RESULTS / "paper-fast" / "rows", RESULTS / "paper-fast" / "paper.md"
    return RESULTS / "paper", ROOT / "docs" / "paper.md"


def _stale(folder: Path, chosen: Namespace) -> list[str]:
    """Return the experiments that were not selected and whose rows come from other code."""
    others = [name for name in EXPERIMENTS if chosen.only and name not in chosen.only]
    found = []
    for name in others:
        parts: list[Part] = EXPERIMENTS[name].parts(chosen.fast)
        known = [part for part in parts if cells.stored(part, folder) is not None]
        if len(known) == len(parts) and cells.pending(parts, folder):
            found.append(name)
    return found


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} min" if seconds > 90 else f"{seconds:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
