"""Solves of the files, each in a process of its own whose memory is limited before it starts.

The limit is RLIMIT_DATA: the memory that belongs to a process, without mapped files.
"""

import resource
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from benchmarks.measuring import Row, serve_parts
from benchmarks.out_of_core import files, workers
from ism_core import Gaussian, Polynomial, Supervised, solve
from ism_core.engines import Engine, Threads
from ism_core.linalg import largest_angle
from ism_core.objective import ArrayPartitions, Block, Place, pass_over

Q = 3
DELTA = 1e-4  # convergence tolerance
LIMIT = 2**31  # bytes of the single process
LEADER_LIMIT = 2**30  # bytes of the leader of a cluster
FEATURES = 1_024  # random features
START_ROWS = 100_000  # rows that the start and σ of random features come from
GROUPS = 10  # disjoint parts of the sample, whose solves tell how much W varies


class Timed(Threads):
    """Threads that note how long each pass takes, and its CPU time."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.cpu_seconds: list[float] = []

    def total(self, work: Callable[..., Any], items: int, *args: Any) -> Any:
        began, used = time.perf_counter(), time.process_time()
        try:
            return super().total(work, items, *args)
        finally:
            self.seconds.append(time.perf_counter() - began)
            self.cpu_seconds.append(time.process_time() - used)


def settings(folder: str, case: str) -> dict[str, Any]:
    """Return the kernel and the options of a case.

    Random features depend on a reference basis and σ. All processes find them on the same rows.
    """
    if case != "random features":
        return {"kernel": Polynomial() if case == "polynomial" else Gaussian(), "delta": DELTA}
    X, y = files.rows(folder, 1, START_ROWS)
    found = solve(np.float64(X), Supervised(y), Gaussian(), Q, delta=DELTA)
    approximation = {"features": FEATURES}
    return {"kernel": found.kernel, "initial_W": found.W, "approximation": approximation, "delta": DELTA}


def solved(table: Any, engine: Engine, options: dict[str, Any]) -> Row:
    """Solve, and return what the comparison needs."""
    began, used = time.perf_counter(), time.process_time()
    found = solve(table, Supervised(), q=Q, engine=engine, **options)
    return {
        "s": time.perf_counter() - began,
        "CPU s": time.process_time() - used,
        "method": found.method,
        "stop": found.stop.name,
        "steps": len(found.steps),
        "error of gradient": found.error.gradient,
        "W": found.W.tolist(),
        "sigma": getattr(found.kernel, "sigma", None),
    }


def in_process(folder: str, count: int, case: str) -> Row:
    """Solve the first files in this process."""
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    engine = Timed()
    row = solved(files.table(folder, count), engine, settings(folder, case))
    return {**row, **per_pass(engine), "files": count}


def per_pass(engine: Timed) -> Row:
    """Return the number of passes, and the mean time of one."""
    means = {"s a pass": np.mean(engine.seconds), "CPU s a pass": np.mean(engine.cpu_seconds)}
    return {"passes": len(engine.seconds), **{name: float(value) for name, value in means.items()}}


def in_memory(folder: str, count: int, case: str) -> Row:
    """Read the files once by pyarrow; then take the same sums over the rows in memory."""
    began, used = time.perf_counter(), time.process_time()
    for _ in files.batches(folder, count):
        pass
    reading = {"pyarrow s": time.perf_counter() - began, "pyarrow CPU s": time.process_time() - used}
    engine = Timed()
    pass_over(files.table(folder, count), count_rows, engine)
    reading |= {"reading s": engine.seconds[0], "reading CPU s": engine.cpu_seconds[0]}
    X, y = files.rows(folder, count)
    engine = Timed()
    row = solved(ArrayPartitions(X, y), engine, settings(folder, case))
    return {**reading, **row, **per_pass(engine), "files": count}


def count_rows(block: Block, place: Place) -> int:
    """Return the number of rows of a block: a pass that only reads."""
    return len(block[0])


def on_workers(folder: str, count: int, case: str, processes: int, limit: str, lost_after: float | None = None) -> Row:
    """Solve the files on Dask workers of one thread each; kill one of them after some seconds of the solve."""
    options = settings(folder, case)
    with workers.cluster(processes, limit, lost_after) as cluster:
        resource.setrlimit(resource.RLIMIT_DATA, (LEADER_LIMIT, LEADER_LIMIT))
        cluster.begin()
        row = solved(files.table(folder, count), cluster.engine, options)
        return {**row, **cluster.usage(), "files": count, "workers": processes}


def of_sample(folder: str, count: int, case: str, rows: int, W: list[list[float]]) -> Row:
    """Solve a sample of the first files in memory: its angle to W, and the angle that its disjoint parts predict.

    For a sample of m rows out of n, the variance of W is proportional to 1/m − 1/n. So the root mean square of the
    angles between the W of the parts and that of the sample, for rows out of the sample, gives the angle of the sample.
    """
    total = files.dataset(folder, count).count_rows()
    X, y = files.rows(folder, count, rows // count)
    order = np.random.default_rng(0).permutation(len(X))
    X, y, options = np.float64(X[order]), y[order], settings(folder, case)

    @cache
    def of(group: int | None) -> Any:
        some = slice(None) if group is None else slice(group, None, GROUPS)
        return solve(X[some], Supervised(y[some]), q=Q, **options).W

    m, part = len(X), len(X) / GROUPS
    angles = [largest_angle(of(group), of(None)) for group in range(GROUPS)]
    predicted = np.sqrt(np.mean(np.square(angles)) * (1 / m - 1 / total) / (1 / part - 1 / m))
    angle = largest_angle(of(None), np.array(W))
    return {"rows": m, "angle": angle, "predicted angle": float(predicted), "W": of(None).tolist()}


if __name__ == "__main__":
    serve_parts(in_process, in_memory, on_workers, of_sample)
