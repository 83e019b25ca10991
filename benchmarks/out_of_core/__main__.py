"""Measure tables that exceed the memory: `python -m benchmarks.out_of_core FOLDER --rows 50000000 [sections…]`.

The rows are made once: 30 columns in single precision and 5 classes, in 60 Parquet files (6 GB for 50,000,000 rows).
Each solve is a process of its own with limited memory; q = 3. Results are written to benchmarks/results/out_of_core.
"""

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.measuring import Row, claim, run_part
from benchmarks.out_of_core import files, passes
from benchmarks.report import save
from ism_core.linalg import largest_angle

GROWTH_FILES = (6, 19, 60)
SOME_FILES = 10  # of random features, and of comparisons that hold all rows in memory
CASES = {"polynomial": files.FILES, "gaussian": SOME_FILES, "random features": SOME_FILES}
WORKERS, WORKER_LIMIT = 2, "1.5GiB"
SAMPLE_ROWS = 1_000_000
SAME_ANGLE = 1e-6  # between the W of processes and of workers
PREDICTION_FACTOR = 2.0  # of the angle that sampling predicts
UPDATE_ROWS, UPDATE_FILES = 10_000, 12  # 1,000 updates if there are 50,000,000 rows
UPDATE_ANGLE = 1e-8  # to a fit on all rows
PAIR_ROWS = 100_000

solved = partial(run_part, "out_of_core.solves")


class Measurements:
    """The sections, on the files of one folder; `W` of earlier solves are in its results."""

    def __init__(self, folder: str, out: Path) -> None:
        self.folder = folder
        self._known = out / "W.json"

    def process(self) -> Row:
        """Solve in one process; time and memory as the rows grow."""
        growth = [self._in_process("polynomial", count) for count in GROWTH_FILES]
        others = [self._in_process(case, count) for case, count in CASES.items() if case != "polynomial"]
        exponents = {
            unit: float(np.polyfit(np.log(GROWTH_FILES), np.log([row[unit] for row in growth]), 1)[0])
            for unit in ("s", "CPU s")
        }
        memory = growth[-1]["peak GiB"] / growth[0]["peak GiB"]
        text = f"polynomial, {GROWTH_FILES[0]} to {GROWTH_FILES[-1]} files"
        return {
            "claims": [
                claim(f"{text}: CPU time ~ n^p, p", exponents["CPU s"], "≤", 1.05),
                claim(f"{text}: CPU time ~ n^p, p", exponents["CPU s"], "≥", 0.95),
                claim(f"{text}: peak memory of the last over that of the first", memory, "≤", 1.05),
            ],
            "tables": {"One process of 2 GiB": [*growth, *others]},
            "notes": [f"Elapsed time ~ n^{exponents['s']:.3f}."],
        }

    def passes(self) -> Row:
        """Compare a pass with reading the files once by pyarrow plus the same sums in memory."""
        rows = [passes.compared(self.folder, SOME_FILES, case) for case in CASES]
        return {"claims": passes.claims(rows), "tables": {"Passes": rows}}

    def workers(self) -> Row:
        """Solve on Dask workers."""
        rows, claims = [], []
        for case, count in CASES.items():
            row = self._on_workers(case, count, WORKERS)
            rows.append(row)
            angle = largest_angle(np.array(row["W"]), self._axes(case, count))
            claims.append(claim(f"{case}, {count} files: angle of W to that of one process", angle, "≤", SAME_ANGLE))
        return {"claims": claims, "tables": {f"{WORKERS} Dask workers of {WORKER_LIMIT}": rows}}

    def speedup(self) -> Row:
        """Solve on 1, 2 and 4 workers."""
        rows = [self._on_workers("polynomial", SOME_FILES, workers) for workers in (1, 2, 4)]
        return {"claims": [], "tables": {f"Workers, polynomial, {SOME_FILES} files, {os.cpu_count()} cores": rows}}

    def lost(self) -> Row:
        """Kill a worker in the middle of a solve."""
        whole = self._on_workers("polynomial", SOME_FILES, WORKERS)
        row = self._on_workers("polynomial", SOME_FILES, WORKERS, lost_after=whole["s"] / 2)
        angle = largest_angle(np.array(row["W"]), np.array(whole["W"]))
        return {
            "claims": [claim("angle of W after a worker was killed", angle, "≤", SAME_ANGLE)],
            "tables": {"One of two workers is killed": [whole, row]},
        }

    def sample(self) -> Row:
        """Compare with the solve of a sample in memory."""
        rows, claims = [], []
        for case, count in CASES.items():
            W = self._axes(case, count).tolist()
            row = solved("of_sample", folder=self.folder, count=count, case=case, rows=SAMPLE_ROWS, W=W)
            rows.append({"kernel": case, **row})
            ratio = row["angle"] / row["predicted angle"]
            claims.append(claim(f"{case}: angle of a sample over the predicted one", ratio, "≤", PREDICTION_FACTOR))
        return {"claims": claims, "tables": {f"A sample of {SAMPLE_ROWS:,} rows in memory": rows}}

    def updates(self) -> Row:
        """Add rows in many updates."""
        row = run_part("out_of_core.updates", "updated", folder=self.folder, count=UPDATE_FILES, rows=UPDATE_ROWS)
        text = f"{row['updates']:,} updates: angle to a fit on all rows"
        return {
            "claims": [claim(text, row["angle to a fit on all rows"], "≤", UPDATE_ANGLE)],
            "tables": {f"Updates of {UPDATE_ROWS:,} rows": [row]},
        }

    def peers(self) -> Row:
        """Read the same files with PCA of other libraries."""
        ours = self._in_process("polynomial", SOME_FILES)
        rows = [{"peer": "this package, polynomial", **ours}]
        for name in ("incremental_pca", "dask_pca"):
            rows.append(run_part("out_of_core.peers", name, folder=self.folder, count=SOME_FILES))
        return {"claims": [], "tables": {f"The first {SOME_FILES} files": rows}}

    def pairs(self) -> Row:
        """Compare exact sums over all pairs of rows with KeOps."""
        row = run_part("out_of_core.peers", "pair_sums", rows=PAIR_ROWS)
        return {"claims": [], "tables": {"All pairs of rows": [row]}}

    def _in_process(self, case: str, count: int) -> Row:
        row = {"kernel": case, **solved("in_process", folder=self.folder, count=count, case=case)}
        known = json.loads(self._known.read_text()) if self._known.exists() else {}
        self._known.parent.mkdir(parents=True, exist_ok=True)
        self._known.write_text(json.dumps({**known, f"{case}, {count}": row["W"]}))
        return row

    def _on_workers(self, case: str, count: int, processes: int, **options: float) -> Row:
        given = {"folder": self.folder, "count": count, "case": case, "processes": processes, "limit": WORKER_LIMIT}
        return {"kernel": case, **solved("on_workers", **given, **options)}

    def _axes(self, case: str, count: int) -> np.ndarray:
        return np.array(json.loads(self._known.read_text())[f"{case}, {count}"])


SECTIONS = ("process", "passes", "workers", "speedup", "lost", "sample", "updates", "peers", "pairs")


def main() -> int:
    parser = ArgumentParser("python -m benchmarks.out_of_core", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="of the Parquet files")
    parser.add_argument("sections", nargs="*", metavar="section", help=f"one of {', '.join(SECTIONS)}; all by default")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "results" / "out_of_core")
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # others reserve memory, which the limits would count
    files.make(given.folder, given.rows)
    measurements = Measurements(str(given.folder), given.out)
    met = True
    for name in given.sections or SECTIONS:
        measure: Callable[[], Row] = getattr(measurements, name)
        results = save(given.out, name, {"seconds": 0.0, **measure()}, SECTIONS)
        met = met and all(each["met"] for each in results["sections"][name]["claims"])
    print((given.out / "results.md").read_text())
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
