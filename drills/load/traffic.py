"""The clients of a load run: they post, poll, download, delete and follow jobs, and time every answer."""

import asyncio
import json
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np

from drills.event_stream import StreamRefused, events

QUICK = {"paradigm": "supervised", "target": "class", "kernel": "gaussian", "q": 2, "folds": 0}
LONG = {  # runs for tens of seconds
    "paradigm": "unsupervised",
    "clusters": 4,
    "kernel": "gaussian",
    "q": 3,
    "delta": 1e-9,
    "max_iter": 2_000,
}


@dataclass
class Measured:
    """Latencies in seconds by call, counts and errors."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    jobs: int = 0
    events: int = 0
    followed: int = 0  # streams that were followed to their end
    steps: dict[str, set[int]] = field(
        default_factory=lambda: defaultdict(set)
    )  # numbers of steps that its followers received
    following: int = 0  # at the moment
    most_following: int = 0

    def percentiles(self) -> dict[str, dict[str, float]]:
        """Return the percentiles of each call in milliseconds."""
        return {
            call: {
                "count": len(taken),
                **{f"p{share}": 1000 * float(np.percentile(taken, share)) for share in (50, 95, 99)},
            }
            for call, taken in self.seconds.items()
        }


class Traffic:
    """Clients of one service; they share their measurements."""

    def __init__(self, url: str, dataset: str, large: str, connections: int) -> None:
        self.measured = Measured()
        limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
        self.http = httpx.AsyncClient(base_url=url, timeout=60, limits=limits)
        self._quick = {**QUICK, "dataset": dataset}
        self._long = {**LONG, "dataset": large}
        self._followed: asyncio.Future[str] = asyncio.get_running_loop().create_future()  # the current long job

    async def _call(self, name: str, method: str, path: str, expected: int, **more: Any) -> httpx.Response | None:
        """Send one request and time it if it has a name; return None if it failed."""
        began = time.perf_counter()
        try:
            answer = await self.http.request(method, path, **more)
        except httpx.HTTPError as error:
            self.measured.errors.append(f"{method} {path}: {error!r}")
            return None
        if name:
            self.measured.seconds[name].append(time.perf_counter() - began)
        if answer.status_code != expected:
            self.measured.errors.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
            return None
        return answer

    async def submit(self, every: float) -> None:
        """Start a quick job every so many seconds, without waiting for the earlier ones."""
        running: set[asyncio.Task[None]] = set()
        try:
            while True:
                task = asyncio.create_task(self._job())
                running.add(task)
                task.add_done_callback(running.discard)
                await asyncio.sleep(every)
        finally:
            await asyncio.gather(*running)

    async def _job(self) -> None:
        """Post, poll, download and delete one job."""
        posted, began = await self._call("submit", "POST", "/jobs", 202, json=self._quick), time.perf_counter()
        if posted is None:
            return
        path = f"/jobs/{posted.json()['id']}"
        while (view := await self._call("poll", "GET", path, 200)) is not None:
            if view.json()["state"] not in ("queued", "running"):
                break
            await asyncio.sleep(0.2)
        if view is None or view.json()["state"] != "succeeded":
            self.measured.errors.append(f"{path} did not succeed: {view and view.text[:200]}")
            return
        self.measured.seconds["POST to end"].append(time.perf_counter() - began)
        for part in ("result", "W?format=csv", "embedding?format=npy"):
            await self._call("download", "GET", f"{path}/{part}", 200)
        await self._call("delete", "DELETE", path, 204)
        self.measured.jobs += 1

    async def keep_long_job(self) -> None:
        """Keep one long job running for the followers; cancel the last one at the end."""
        while True:
            posted = await self._call("submit", "POST", "/jobs", 202, json=self._long)
            if posted is None:
                await asyncio.sleep(1)
                continue
            path = f"/jobs/{posted.json()['id']}"
            begun, self._followed = self._followed, asyncio.get_running_loop().create_future()
            begun.set_result(path)
            try:
                while (view := await self._call("", "GET", path, 200, params={"wait": 20})) is not None:
                    if view.json()["state"] not in ("queued", "running"):
                        break
            except asyncio.CancelledError:
                await self._call("", "POST", f"{path}/cancel", 202)
                raise

    async def follow(self) -> None:
        """Follow the events of one long job after the other."""
        while True:
            path = await asyncio.shield(self._followed)
            self.measured.following += 1
            self.measured.most_following = max(self.measured.most_following, self.measured.following)
            try:
                self.measured.steps[path].add(await self._follow(f"{path}/events"))
            except (httpx.HTTPError, StreamRefused) as error:
                self.measured.errors.append(f"GET {path}/events: {error!r}")
            finally:
                self.measured.following -= 1

    async def _follow(self, path: str) -> int:
        """Follow a stream to its end, check the order of its events, and return the number of steps."""
        began, steps, last, ended = time.time(), 0, (0, 0), False
        async for event in events(self.http, path):
            self.measured.events += 1
            if event.order < last or ended:
                self.measured.errors.append(f"GET {path}: {event.id} after {last}")
            last = event.order
            if event.kind == "step":
                steps += 1
                if last[0] / 1000 > began:
                    self.measured.seconds["event to follower"].append(time.time() - last[0] / 1000)
            ended = event.kind == "state" and json.loads(event.data)["state"] not in ("queued", "running")
        if not ended:
            self.measured.errors.append(f"GET {path} ended before its job, after {last}")
        self.measured.followed += 1
        return steps
