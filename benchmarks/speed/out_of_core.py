"""Solve a folder of Parquet files in a process of 2 GiB, on two Dask workers, and beside the same sums in memory.

    python -m benchmarks.speed.out_of_core FOLDER --rows 50000000

The rows are made once: 30 columns in single precision and 5 classes, in 60 files (6 GB for 50,000,000 rows). Each solve
is a process of its own, and its memory is limited before it starts (RLIMIT_DATA: memory of its own, without mapped
files). Passes over the files are compared with the time to read the files once by pyarrow plus the time of the same
sums over rows in memory. Polynomial and Gaussian, q = 3.
"""

import json
import os
import resource
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.dataset
import pyarrow.parquet

from ism_core import Gaussian, Polynomial, Supervised, partitions, solve
from ism_core.engines import Threads
from ism_core.linalg import largest_angle
from ism_core.objective import ArrayPartitions

COLUMNS, CLASSES, FILES, Q = 30, 5, 60, 3
GROUP_ROWS = 2**17  # rows of a row group, and of the arrays that are made at a time
LIMIT = 2**31  # bytes of the process
WORKER_LIMIT = "1.5GiB"
KERNELS = {"polynomial": Polynomial(), "gaussian": Gaussian()}


def make(folder: Path, rows: int) -> None:
    """Write the files, unless they are there."""
    if len(list(folder.glob("*.parquet"))) == FILES:
        return
    folder.mkdir(parents=True, exist_ok=True)
    centers = 0.7 * np.random.default_rng(0).standard_normal((CLASSES, COLUMNS))
    for number, count in enumerate(np.diff(np.linspace(0, rows, FILES + 1).astype(int))):
        rng, path = np.random.default_rng(number), folder / f"rows-{number:02}.parquet"
        names = [*(f"x{column}" for column in range(COLUMNS)), "class"]
        schema = pyarrow.schema([(name, pyarrow.int8() if name == "class" else pyarrow.float32()) for name in names])
        with pyarrow.parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as file:
            for start in range(0, count, GROUP_ROWS):
                y = rng.integers(0, CLASSES, min(GROUP_ROWS, count - start)).astype(np.int8)
                X = (rng.standard_normal((len(y), COLUMNS)) + centers[y]).astype(np.float32)
                file.write_table(pyarrow.table([*(pyarrow.array(column) for column in X.T), y], schema=schema))


class Timed(Threads):
    """Threads that note how long each pass takes."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def total(self, work: Callable[..., Any], items: int, *args: Any) -> Any:
        began = time.perf_counter()
        try:
            return super().total(work, items, *args)
        finally:
            self.seconds.append(time.perf_counter() - began)


def solved(table: Any, kernel: str, engine: Any) -> dict[str, Any]:
    """Solve and return what the comparison needs."""
    began = time.perf_counter()
    found = solve(table, Supervised(), KERNELS[kernel], Q, delta=1e-4, engine=engine)
    passes = engine.seconds if isinstance(engine, Timed) else []
    return {
        "seconds": time.perf_counter() - began,
        "passes": len(passes),
        "seconds per pass": float(np.mean(passes)) if passes else None,
        "resident MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "W": found.W.tolist(),
        "stop": found.stop.value,
        "error": found.error.gradient,
    }


def from_files(folder: Path, kernel: str) -> dict[str, Any]:
    """Solve the files in this process, with its memory limited."""
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    return solved(partitions(pyarrow.dataset.dataset(folder), "class"), kernel, Timed())


def on_workers(folder: Path, kernel: str) -> dict[str, Any]:
    """Solve the files on two Dask workers of one thread each."""
    from distributed import LocalCluster

    from ism_core.engines import Dask

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, memory_limit=WORKER_LIMIT, dashboard_address=None) as cluster,
        Dask(cluster.scheduler_address) as engine,
    ):
        return solved(partitions(pyarrow.dataset.dataset(folder), "class"), kernel, engine)


def in_memory(folder: Path, kernel: str) -> dict[str, Any]:
    """Read the files once, then take the same sums over the rows in memory."""
    began = time.perf_counter()
    table = pyarrow.dataset.dataset(folder).to_table()
    reading = time.perf_counter() - began
    X = np.column_stack([table.column(name).to_numpy() for name in table.column_names[:-1]])
    y = table.column("class").to_numpy()
    del table
    return {"reading": reading, **solved(ArrayPartitions(X, y), kernel, Timed())}


PARTS = {"files": from_files, "workers": on_workers, "memory": in_memory}


def in_process(part: str, folder: Path, kernel: str) -> dict[str, Any]:
    """Run a part in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed.out_of_core", str(folder), "--part", part, "--kernel", kernel]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"})
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def main() -> None:
    parser = ArgumentParser("python -m benchmarks.speed.out_of_core", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--kernel", choices=KERNELS, help="one of the kernels; both by default")
    parser.add_argument("--part", choices=PARTS, help="run this part only, in this process, and print JSON")
    given = parser.parse_args()
    if given.part:
        print(json.dumps(PARTS[given.part](given.folder, given.kernel or "polynomial")))
        return
    make(given.folder, given.rows)
    for kernel in [given.kernel] if given.kernel else KERNELS:
        found = {part: in_process(part, given.folder, kernel) for part in PARTS}
        files, memory = found["files"], found["memory"]
        once = memory["reading"] + memory["seconds per pass"]
        print(f"{kernel}, {given.rows:,} rows: {files['stop']}")
        print(f"  {files['seconds']:.1f} s, {files['passes']} passes, {files['resident MiB']:.0f} MiB of {LIMIT >> 20}")
        print(f"  a pass takes {files['seconds per pass']:.3f} s, {files['seconds per pass'] / once:.2f} times reading")
        print(f"  once ({memory['reading']:.3f} s) plus the sums in memory ({memory['seconds per pass']:.3f} s)")
        for part in ("workers", "memory"):
            angle = largest_angle(np.array(files["W"]), np.array(found[part]["W"]))
            print(f"  {part}: {found[part]['seconds']:.1f} s, the angle between the two W is {angle:.1e}")


if __name__ == "__main__":
    main()
