"""Measure uploads, accepted jobs per second, latency and two workers: `python -m benchmarks.service`.

Each figure is compared with a bare route, a solve in process or one worker, in the same run.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
from fastapi import FastAPI
from pydantic import BaseModel
from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer
from sklearn.datasets import load_breast_cancer, load_wine

from ism_cli.embedded import RedisServer
from ism_jobs.spec import JOB_SPEC
from ism_jobs.tables import read_table
from tools.local_service import free_port, running_service
from worker.pipeline import iter_run

POSTS, CLIENTS = 400, 8  # requests of one round, and threads that send them
ROUNDS = 5  # the median of the rounds counts
WINE_RUNS = 20  # jobs for the median latency
LATENCY_GOAL = 1.5  # POST to result over the pipeline in process
RATE_GOAL = 0.8  # accepted jobs per second over those of a bare route
JOBS = 40  # jobs that one and two workers share
CSV_MEGABYTES = 200  # size of the large upload


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        large_upload(Path(folder))
        acceptance(Path(folder))
        wine(Path(folder))
        two_workers(Path(folder))


def large_upload(folder: Path) -> None:
    """Measure the latency of GET /healthz and the memory of the API during a large upload."""
    table = folder / "large.csv"
    write_large(table)
    with service(folder / "large", 2) as url:
        api = api_process(url)
        upload(url, wine_csv())  # imports on first use do not count
        idle = latencies(url, threading.Event(), seconds=5)
        before, done = memory(api), threading.Event()
        with ThreadPoolExecutor(1) as pool:
            began = time.perf_counter()
            answered = pool.submit(latencies, url, done)
            size = table.stat().st_size
            with table.open("rb") as file:
                answer = httpx.post(f"{url}/datasets", files={"file": ("large.csv", file)}, timeout=600)
            seconds = time.perf_counter() - began
            done.set()
            busy = answered.result()
        assert answer.status_code == 201, answer.text
        print(f"CSV of {size / 1e6:.0f} MB ({answer.json()['rows']:,} rows) uploaded and described in {seconds:.1f} s")
        print(f"  GET /healthz meanwhile: {percentiles(busy)}; idle: {percentiles(idle)}")
        print(f"  memory of the API process: {before / 1e6:.0f} MB before, at most {peak(api) / 1e6:.0f} MB so far")


def acceptance(folder: Path) -> None:
    """Measure accepted jobs per second, in turns with a bare route that only enqueues."""
    with RedisServer(folder / "acceptance") as redis:
        environment = {**os.environ, "ISM_REDIS_URL": redis.url, "ISM_LOG_LEVEL": "warning"}
        ours, bare = free_port(), free_port()
        commands = [
            [sys.executable, "-m", "ism_cli.main", "api", "--port", str(ours)],
            [
                sys.executable,
                "-m",
                "uvicorn",
                "benchmarks.service:bare_app",
                "--factory",
                "--port",
                str(bare),
                "--no-access-log",
            ],
        ]
        processes = [subprocess.Popen(command, env=environment) for command in commands]
        try:
            url, bare_url = f"http://127.0.0.1:{ours}", f"http://127.0.0.1:{bare}"
            for path in (f"{url}/healthz", f"{bare_url}/docs"):
                await_answer(path)
            dataset = upload(url, wine_csv())
            spec = {"dataset": dataset, "paradigm": "supervised", "target": "class", "kernel": "gaussian", "q": 2}
            for target, body in ((url, spec), (bare_url, {"dataset": dataset, "q": 2})):
                posts_per_second(target, body, 50)
            rates = [
                (posts_per_second(url, spec, POSTS), posts_per_second(bare_url, {"dataset": dataset, "q": 2}, POSTS))
                for _ in range(ROUNDS)
            ]
        finally:
            for process in processes:
                process.terminate()
                process.wait()
    ours_rate, bare_rate = (statistics.median(side) for side in zip(*rates, strict=True))
    print(f"POST /jobs: {ours_rate:.0f} accepted per second with {CLIENTS} clients")
    print(f"  a bare route that only enqueues: {bare_rate:.0f}")
    print(f"  ratio {ours_rate / bare_rate:.2f}; goal: at least {RATE_GOAL}")


class BareJob(BaseModel):
    dataset: str
    q: int


def bare_app() -> FastAPI:
    """Return an application with one route that does nothing but enqueue an RQ job."""
    app = FastAPI()
    queue = Queue("bare", connection=Redis.from_url(os.environ["ISM_REDIS_URL"]), serializer=JSONSerializer)

    @app.post("/jobs", status_code=202)
    def post_job(job: BareJob) -> dict[str, str]:
        return {"id": queue.enqueue("time.sleep", job.q).id}

    return app


def wine(folder: Path) -> None:
    """Measure the time from POST to result for Wine with given settings, and of the same pipeline in process."""
    path = folder / "wine.csv"
    path.write_bytes(wine_csv())
    table, description = read_table(path)
    given = {"paradigm": "supervised", "target": "class", "kernel": "gaussian", "q": 2, "scale": "standard"}
    spec = JOB_SPEC.validate_python({**given, "dataset": "wine"})
    with service(folder / "wine", 1) as url, httpx.Client(base_url=url, timeout=60) as client:
        posted = {**given, "dataset": upload(url, wine_csv())}
        times = []
        for _ in range(WINE_RUNS + 1):
            through = run(client, posted)
            began = time.perf_counter()
            deque(iter_run(table, spec, description), maxlen=0)
            times.append((through, time.perf_counter() - began))
    through, inside = (1000 * statistics.median(side) for side in zip(*times[1:], strict=True))  # the first warms up
    print(f"Wine, POST to result: {through:.0f} ms; the same solve and validation in process: {inside:.0f} ms")
    print(f"  ratio {through / inside:.2f}; goal: at most {LATENCY_GOAL}")


def two_workers(folder: Path) -> None:
    """Measure the speed-up of two workers over one on many jobs."""
    seconds = {}
    for workers in (1, 2):
        with service(folder / f"workers{workers}", workers) as url, httpx.Client(base_url=url, timeout=600) as client:
            dataset = upload(url, cancer_csv())
            spec = {"dataset": dataset, "paradigm": "supervised", "target": "class", "kernel": "gaussian", "q": 2}
            run(client, {**spec, "folds": 0})
            began = time.perf_counter()
            batch = client.post("/batches", json=[{**spec, "seed": seed} for seed in range(JOBS)]).json()
            while client.get(f"/batches/{batch['id']}").json()["states"].get("succeeded") != JOBS:
                time.sleep(0.05)
            seconds[workers] = time.perf_counter() - began
    print(f"{JOBS} jobs (WDBC, 5 folds): 1 worker {seconds[1]:.1f} s, 2 workers {seconds[2]:.1f} s")
    print(f"  speed-up {seconds[1] / seconds[2]:.2f}")


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


def run(client: httpx.Client, spec: dict[str, object]) -> float:
    """Return the seconds from POST to the downloaded result."""
    began = time.perf_counter()
    job = client.post("/jobs", json=spec).json()["id"]
    state = client.get(f"/jobs/{job}", params={"wait": 60}).json()["state"]
    assert state == "succeeded"
    client.get(f"/jobs/{job}/result").raise_for_status()
    return time.perf_counter() - began


def posts_per_second(url: str, body: dict[str, object], posts: int) -> float:
    def post(_: int) -> None:
        assert client.post(f"{url}/jobs", json=body).status_code == 202

    with httpx.Client(timeout=60) as client, ThreadPoolExecutor(CLIENTS) as pool:
        began = time.perf_counter()
        list(pool.map(post, range(posts)))
        return posts / (time.perf_counter() - began)


def latencies(url: str, done: threading.Event, seconds: float = 600) -> list[float]:
    """Measure the latencies of GET /healthz, up to a hundred per second."""
    taken, deadline = [], time.monotonic() + seconds
    with httpx.Client() as client:
        while not done.is_set() and time.monotonic() < deadline:
            began = time.perf_counter()
            client.get(f"{url}/healthz").raise_for_status()
            taken.append(time.perf_counter() - began)
            time.sleep(0.01)
    return taken


def percentiles(taken: list[float]) -> str:
    p50, p99 = (1000 * float(np.percentile(taken, percent)) for percent in (50, 99))
    return f"median {p50:.1f} ms, 99th percentile {p99:.1f} ms ({len(taken)} requests)"


def api_process(url: str) -> int:
    """Return the id of the API process, which has the service's port in its environment."""
    port = url.rsplit(":", 1)[1]
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            arguments = (path.parent / "cmdline").read_bytes().split(b"\0")
            if b"api" in arguments and f"ISM_PORT={port}".encode() in path.read_bytes().split(b"\0"):
                return int(path.parent.name)
        except OSError:
            continue
    raise AssertionError(f"No API process has the port {port}.")


def memory(process: int) -> float:
    return _kilobytes(process, "VmRSS:")


def peak(process: int) -> float:
    return _kilobytes(process, "VmHWM:")


def _kilobytes(process: int, name: str) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(1024 * float(line.split()[1]) for line in lines if line.startswith(name))


def await_answer(url: str) -> None:
    for _ in range(600):
        try:
            httpx.get(url, timeout=5)
        except httpx.HTTPError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"No answer from {url}.")


def write_large(path: Path) -> None:
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        file.write(",".join(f"x{column}" for column in range(50)) + ",class\n")
        while file.tell() < CSV_MEGABYTES * 10**6:
            block = rng.normal(size=(2000, 50))
            file.writelines(",".join(f"{value:.6g}" for value in row) + f",{'ab'[int(row[0] > 0)]}\n" for row in block)


def wine_csv() -> bytes:
    return _csv(load_wine())


def cancer_csv() -> bytes:
    return _csv(load_breast_cancer())


def _csv(table: object) -> bytes:
    names = [*table.feature_names, "class"]  # type: ignore[attr-defined]
    rows = zip(table.data.tolist(), table.target, strict=True)  # type: ignore[attr-defined]
    lines = [",".join(names), *(",".join(map(repr, row)) + f",{table.target_names[y]}" for row, y in rows)]  # type: ignore[attr-defined]
    return "\n".join(lines).encode()


if __name__ == "__main__":
    main()
