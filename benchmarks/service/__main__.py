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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
from fastapi import FastAPI
from pydantic import BaseModel
from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer

from benchmarks.service.jobs import cancellations, steady_posts, tiny_jobs, two_workers, wine
from benchmarks.service.local import api_process, memory, peak, percentiles, service, upload, wine_csv
from ism_cli.embedded import RedisServer
from tools.local_service import free_port

POSTS, CLIENTS = 400, 8  # requests of one round, and threads that send them
ROUNDS = 5  # the median of the rounds counts
RATE_GOAL = 0.8  # accepted jobs per second over those of a bare route
CSV_MEGABYTES = 200  # size of the large upload


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        large_upload(Path(folder))
        acceptance(Path(folder))
        wine(Path(folder))
        two_workers(Path(folder))
        tiny_jobs(Path(folder))
        steady_posts(Path(folder))
        cancellations(Path(folder))


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
                "benchmarks.service.__main__:bare_app",
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


if __name__ == "__main__":
    main()
