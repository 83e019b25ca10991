"""Jobs from POST to result: latency, two workers, many tiny jobs; and how soon they are cancelled."""

import os
import statistics
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np

from benchmarks.service.local import cancer_csv, percentiles, processes, service, upload, wine_csv
from ism_jobs.spec import JOB_SPEC
from ism_jobs.tables import read_table
from worker.pipeline import iter_run

POSTS, CLIENTS = 400, 8  # requests of one round, and threads that send them
WINE_RUNS = 20  # jobs for the median latency
LATENCY_GOAL = 1.5  # POST to result over the pipeline in process
JOBS = 40  # jobs that one and two workers share
TINY_JOBS = 200  # jobs of 40 rows with all settings given, for two workers
TINY_GOAL = 25.0  # of them per second
CANCELLED_JOBS = 10  # of each kind
CANCELLED_ROWS, CANCELLED_COLUMNS = 10_000, 20  # of their table
CANCEL_GOAL = 1.0  # seconds
STEADY_RATE, STEADY_SECONDS = 50, 20  # posts per second, and for how long, while two workers run the jobs


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


def tiny_jobs(folder: Path) -> None:
    """Measure tiny jobs per second from the first POST to the last result, and the CPU time that workers spend."""
    with service(folder / "tiny", 2) as url, httpx.Client(base_url=url, timeout=600) as client:
        spec = tiny_spec(url)
        for _ in range(4):
            run(client, spec)
        workers = processes(url, b"worker")
        before, began = sum(map(cpu_seconds, workers)), time.perf_counter()
        batch = client.post("/batches", json=[{**spec, "seed": seed} for seed in range(TINY_JOBS)]).json()
        while client.get(f"/batches/{batch['id']}").json()["states"].get("succeeded") != TINY_JOBS:
            time.sleep(0.05)
        seconds = time.perf_counter() - began
        used = (sum(map(cpu_seconds, workers)) - before) / TINY_JOBS
    print(
        f"Tiny jobs, 2 workers: {TINY_JOBS / seconds:.1f} per second; {1000 * used:.0f} ms of CPU each in the workers"
    )
    print(f"  goal: at least {TINY_GOAL:.0f} per second")


def steady_posts(folder: Path) -> None:
    """Measure the latency of POST /jobs at a steady rate while two workers run the jobs."""
    with service(folder / "steady", 2) as url, httpx.Client(base_url=url, timeout=60) as client:
        spec, api = tiny_spec(url), processes(url, b"api")[0]
        run(client, spec)

        def post(place: int) -> float:
            time.sleep(max(0.0, start + place / STEADY_RATE - time.perf_counter()))
            began = time.perf_counter()
            assert client.post("/jobs", json=spec).status_code == 202
            return time.perf_counter() - began

        before, start = cpu_seconds(api), time.perf_counter()
        with ThreadPoolExecutor(4 * CLIENTS) as pool:
            taken = list(pool.map(post, range(STEADY_RATE * STEADY_SECONDS)))
        used = (cpu_seconds(api) - before) / len(taken)
    print(f"POST /jobs at {STEADY_RATE} per second, 2 workers busy: {percentiles(taken)}")
    print(f"  {1000 * used:.1f} ms of CPU each in the API")


def cancellations(folder: Path) -> None:
    """Measure the time from POST cancel to the end of a job, at random moments of a choice and of a long solve."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(CANCELLED_ROWS, CANCELLED_COLUMNS)).round(4)
    names = [f"x{column}" for column in range(CANCELLED_COLUMNS)]
    lines = [",".join(map(str, row)) + f",{'ab'[int(row[0] * row[1] > 0)]}" for row in X.tolist()]
    with service(folder / "cancel", 1) as url, httpx.Client(base_url=url, timeout=60) as client:
        table = "\n".join([",".join([*names, "class"]), *lines]).encode()
        choosing = {"dataset": upload(url, table), "paradigm": "supervised", "target": "class"}
        solving = choosing | {"kernel": "gaussian", "q": 3, "scale": "standard", "tolerance": 0, "delta": 1e-9}
        for kind, spec in (("a choice", choosing), ("a solve by all pairs", solving)):
            taken = [cancelled(client, spec, float(moment)) for moment in rng.uniform(0, 3, CANCELLED_JOBS)]
            middle, longest = statistics.median(taken), max(taken)
            print(f"Cancelled during {kind}: median {middle:.2f} s, longest {longest:.2f} s; goal: {CANCEL_GOAL:.0f} s")


def cancelled(client: httpx.Client, spec: dict[str, object], moment: float) -> float:
    """Cancel a job so many seconds after it started, or earlier if it has ended; return the seconds until its end."""
    job = client.post("/jobs", json=spec).json()["id"]
    while client.get(f"/jobs/{job}").json()["started"] is None:
        time.sleep(0.01)
    time.sleep(moment)
    began = time.perf_counter()
    answer = client.post(f"/jobs/{job}/cancel")
    state = client.get(f"/jobs/{job}", params={"wait": 60}).json()["state"]
    if state == "succeeded":  # before it was cancelled
        return cancelled(client, spec, moment / 2)
    answer.raise_for_status()
    assert state == "cancelled", state
    return time.perf_counter() - began


def tiny_spec(url: str) -> dict[str, object]:
    """Upload a table of 40 rows, and return a job with all settings given."""
    rows = "".join(f"{row % 7},{row % 5},{'ab'[row % 2]}\n" for row in range(40))
    given = {"paradigm": "supervised", "target": "class", "kernel": "linear", "scale": "standard", "q": 1, "folds": 0}
    return {"dataset": upload(url, f"x,y,class\n{rows}".encode()), **given}


def cpu_seconds(process: int) -> float:
    """Return the CPU time of a process and its children, also of those that have ended."""
    text = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    own = sum(map(int, text[11:15])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return own + sum(cpu_seconds(int(child)) for child in children)


def run(client: httpx.Client, spec: dict[str, object]) -> float:
    """Return the seconds from POST to the downloaded result."""
    began = time.perf_counter()
    job = client.post("/jobs", json=spec).json()["id"]
    state = client.get(f"/jobs/{job}", params={"wait": 60}).json()["state"]
    assert state == "succeeded"
    client.get(f"/jobs/{job}/result").raise_for_status()
    return time.perf_counter() - began
