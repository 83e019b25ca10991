"""A local service for the benchmarks: start it, upload tables, and look at its processes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine

from tools.local_service import running_service


@contextmanager
def service(folder: Path, workers: int) -> Iterator[str]:
    """Run `ism serve` with one thread per worker, so that only the number of workers matters."""
    folder.mkdir()
    with running_service(folder, workers=workers, ISM_WORKER_THREADS="1", ISM_LOG_LEVEL="warning") as (url, _):
        yield url


def upload(url: str, content: bytes) -> str:
    answer = httpx.post(f"{url}/datasets", content=content, headers={"content-type": "text/csv"}, timeout=60)
    answer.raise_for_status()
    return str(answer.json()["id"])


def percentiles(taken: list[float]) -> str:
    p50, p99 = (1000 * float(np.percentile(taken, percent)) for percent in (50, 99))
    return f"median {p50:.1f} ms, 99th percentile {p99:.1f} ms ({len(taken)} requests)"


def api_process(url: str) -> int:
    """Return the id of the API process."""
    return processes(url, b"api")[0]


def processes(url: str, part: bytes) -> list[int]:
    """Return the ids of the API or the workers, without their children: they have the service's port as a variable."""
    parents, port = {}, url.rsplit(":", 1)[1]
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            arguments = (path.parent / "cmdline").read_bytes().split(b"\0")
            if part in arguments and f"ISM_PORT={port}".encode() in path.read_bytes().split(b"\0"):
                stat = (path.parent / "stat").read_text().rpartition(")")[2].split()
                parents[int(path.parent.name)] = int(stat[1])
        except OSError:
            continue
    found = [process for process, parent in parents.items() if parent not in parents]
    assert found, f"No process has the port {port}."
    return found


def memory(process: int) -> float:
    return _kilobytes(process, "VmRSS:")


def peak(process: int) -> float:
    return _kilobytes(process, "VmHWM:")


def _kilobytes(process: int, name: str) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(1024 * float(line.split()[1]) for line in lines if line.startswith(name))


def wine_csv() -> bytes:
    return _csv(load_wine())


def cancer_csv() -> bytes:
    return _csv(load_breast_cancer())


def _csv(table: object) -> bytes:
    names = [*table.feature_names, "class"]  # type: ignore[attr-defined]
    rows = zip(table.data.tolist(), table.target, strict=True)  # type: ignore[attr-defined]
    lines = [",".join(names), *(",".join(map(repr, row)) + f",{table.target_names[y]}" for row, y in rows)]  # type: ignore[attr-defined]
    return "\n".join(lines).encode()
