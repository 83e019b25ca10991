"""Run the load drill: clients post jobs at a steady rate and many follow events; latency and memory are measured."""

import argparse
import asyncio
import io
import shutil
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from sklearn.datasets import load_wine

from drills import report
from drills.load import memory
from drills.load.crowd import Crowd
from drills.load.memory import Growth, Memory
from drills.load.traffic import Measured, Traffic
from tools.local_service import running_service

WARM_SHARE = 0.25  # share of the run after which memory should not grow any more
SPAN_SHARE = 0.15  # share of the run over which the median of the memory is taken
PROGRESS_SECONDS = 10  # between two lines of progress
# All clients have one address, like those behind a reverse proxy.
SETTINGS = {"ISM_WORKER_THREADS": "1", "ISM_LOG_LEVEL": "warning", "ISM_MAX_ADDRESS_CONNECTIONS": "4000"}


@dataclass(frozen=True)
class Scale:
    """The size of a run."""

    seconds: float = 120.0
    followers: int = 500
    idle: int = 2_000  # connections that wait after a request
    slow: int = 50  # connections that send a byte from time to time
    jobs_per_second: float = 2.0
    rows: int = 4_000  # of the table of the long job
    workers: int = 2


@dataclass(frozen=True, eq=False)
class Load:
    """The measurements of a run."""

    scale: Scale
    measured: Measured
    crowd: Crowd
    growths: list[Growth]
    seconds: float

    @property
    def violations(self) -> list[str]:
        """Return the errors, followers that missed steps, and processes that grew."""
        uneven = [
            f"Followers of {job} received different numbers of steps: {sorted(seen)}."
            for job, seen in self.measured.steps.items()
            if len(seen) > 1
        ]
        grown = [
            f"{one.process} grew from {one.before:,.0f} to {one.after:,.0f} bytes." for one in self.growths if one.grew
        ]
        return [*self.measured.errors, *self.crowd.violations, *uneven, *grown]

    def document(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        return {
            "passed": not self.violations,
            "scale": asdict(self.scale),
            "seconds": self.seconds,
            "jobs_per_second": self.measured.jobs / self.seconds,
            "requests_per_second": sum(map(len, _requests(self.measured).values())) / self.seconds,
            "events_per_second": self.measured.events / self.seconds,
            "most_following_at_once": self.measured.most_following,
            "streams_followed": self.measured.followed,
            "most_open_at_once": dict(self.crowd.most),
            "slow_requests_ended": dict(self.crowd.ended),
            "milliseconds": self.measured.percentiles(),
            "memory": [asdict(one) for one in self.growths],
            "violations": self.violations,
        }

    def as_text(self) -> str:
        """Return the figures as tables."""
        figures = self.document()
        names = ("jobs_per_second", "requests_per_second", "events_per_second")
        rows: list[report.Row] = [
            *((name.replace("_", " "), f"{figures[name]:.1f}") for name in names),
            ("followers at once", self.measured.most_following),
            *((f"{kind} connections at once", count) for kind, count in self.crowd.most.items()),
            ("slow requests that were ended", sum(self.crowd.ended.values())),
            ("errors", len(self.measured.errors)),
        ]
        times: list[report.Row] = [("milliseconds", "count", "p50", "p95", "p99")]
        for call, one in sorted(figures["milliseconds"].items()):
            times.append((call, one["count"], *(f"{one[share]:.0f}" for share in ("p50", "p95", "p99"))))
        title = f"Load: {self.seconds:.0f} s, {self.scale.followers} followers"
        grown = [("process", "after warm-up", "at the end"), *memory.rows(self.growths)]
        tables = [report.table(title, rows), report.table("Latency", times), report.table("Memory", grown)]
        return "\n\n".join([*tables, *self.violations[:20], "FAILED" if self.violations else "PASSED"])


def _requests(measured: Measured) -> dict[str, list[float]]:
    return {call: taken for call, taken in measured.seconds.items() if call not in ("POST to end", "event to follower")}


async def run(scale: Scale, url: str, process: int) -> Load:
    """Load the service at `url`; `process` is the id of its root process."""
    dataset, large = await _upload(url, _wine()), await _upload(url, _noise(scale.rows))
    traffic, watched = Traffic(url, dataset, large, scale.followers + 100), Memory(process)
    crowd = Crowd(url, scale.idle, scale.slow)
    crowding = list(crowd.tasks())
    watching = [asyncio.create_task(watched.watch()), asyncio.create_task(_print_progress(traffic.measured))]
    following = [asyncio.create_task(traffic.follow()) for _ in range(scale.followers)]
    working = [
        asyncio.create_task(traffic.submit(1 / scale.jobs_per_second)),
        asyncio.create_task(traffic.keep_long_job()),
    ]
    began = time.monotonic()
    await asyncio.sleep(scale.seconds)
    for task in working:
        task.cancel()
    await asyncio.wait(working)
    while traffic.measured.following:  # followers read their streams to the end
        await asyncio.sleep(0.1)
    seconds = time.monotonic() - began
    for task in (*following, *watching, *crowding):
        task.cancel()
    await asyncio.gather(*following, *watching, *crowding, return_exceptions=True)
    await traffic.http.aclose()
    growths = watched.growth(began + WARM_SHARE * scale.seconds, SPAN_SHARE * scale.seconds)
    return Load(scale, traffic.measured, crowd, growths, seconds)


async def _print_progress(measured: Measured) -> None:
    began = time.monotonic()
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        print(
            f"{time.monotonic() - began:5.0f} s: {measured.jobs} jobs, {measured.following} followers,"
            f" {measured.events} events, {len(measured.errors)} errors",
            flush=True,
        )


async def _upload(url: str, table: bytes) -> str:
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        answer = await http.post("/datasets", files={"file": ("table.csv", table)})
        return str(answer.raise_for_status().json()["id"])


def _wine() -> bytes:
    return load_wine(as_frame=True).frame.rename(columns={"target": "class"}).to_csv(index=False).encode()  # type: ignore[no-any-return]


def _noise(rows: int) -> bytes:
    """Return a table without groups, on which a clustering takes long."""
    file = io.BytesIO()
    np.savetxt(
        file,
        np.random.default_rng(0).standard_normal((rows, 40)),
        fmt="%.3f",
        delimiter=",",
        header=_HEADER,
        comments="",
    )
    return file.getvalue()


_HEADER = ",".join(f"x{place}" for place in range(40))


def main() -> None:
    """Start a service, load it, print the tables and save the figures; exit with 1 if there is a violation."""
    parser = argparse.ArgumentParser("python -m drills.load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=Scale.seconds)
    parser.add_argument("--followers", type=int, default=Scale.followers)
    parser.add_argument("--idle", type=int, default=Scale.idle, help="connections that wait after a request")
    parser.add_argument("--slow", type=int, default=Scale.slow, help="connections that send a byte from time to time")
    parser.add_argument("--folder", type=Path, default=Path("build/load"), help="for logs, Redis's files and figures")
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    scale = Scale(options.seconds, options.followers, options.idle, options.slow)
    with running_service(options.folder, workers=scale.workers, **SETTINGS) as (url, process):
        done = asyncio.run(run(scale, url, process.pid))
    report.save(options.folder / "load.json", done.document())
    print(done.as_text())
    if done.violations:
        sys.exit(f"See the log and the figures (load.json) in {options.folder}.")
