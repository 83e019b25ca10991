"""Clients that post jobs, retry those with an idempotency key, follow the events and record what they observe."""

import asyncio
import json
import random
import time
from collections import Counter

import httpx

from drills.chaos.history import History, Observation, Post
from drills.chaos.stack import Stack
from drills.chaos.workload import Workload
from drills.event_stream import StreamRefused, events

KEYED_SHARE = 0.6  # of the jobs are posted with an Idempotency-Key
REPEATED_SHARE = 0.3  # of the jobs with a key are posted again although the first request was answered
EXPLAINED = (503, 507)  # statuses that faults explain: the store is away or full
MAX_OPEN_JOBS = 8  # queued or running jobs of all clients together
ANSWER_SECONDS = 6.0  # timeout of a request
RETRY_SECONDS = 0.3  # pause before a request is repeated
SILENCE_SECONDS = 20.0  # timeout of an event stream; the client then connects again


class Clients:
    """All clients of a run; they share one history."""

    def __init__(self, stack: Stack, workload: Workload, history: History, seed: int) -> None:
        self.answers: Counter[str] = Counter()
        self.ended = 0
        self.open = 0
        self._stack = stack
        self._workload = workload
        self._history = history
        self._seed = seed
        self._rng = random.Random(seed)  # only for the addresses of requests
        self._following: set[asyncio.Task[None]] = set()
        self._http = httpx.AsyncClient(timeout=httpx.Timeout(ANSWER_SECONDS, read=SILENCE_SECONDS))

    async def close(self) -> None:
        """Stop following events."""
        for task in self._following:
            task.cancel()
        await asyncio.gather(*self._following, return_exceptions=True)
        await self._http.aclose()

    async def post_until(self, deadline: float, name: str) -> None:
        """Post one job after the other; repeat a request with a key until it is answered, even past the deadline."""
        number, rng = 0, random.Random(f"{self._seed} {name}")
        while time.monotonic() < deadline:
            if self.open < MAX_OPEN_JOBS:
                number += 1
                self.open += 1
                await self._post(f"{name}-{number}", rng)
            await asyncio.sleep(self._rng.uniform(0.05, 0.5))

    async def _post(self, token: str, rng: random.Random) -> None:
        """Post a job; the seed decides of which kind the n-th job of a client is, and whether it has a key."""
        key = f"key-{token}" if rng.random() < KEYED_SHARE else None
        post = Post(token, self._workload.draw(rng), key)
        self._history.posts.append(post)
        wanted = 2 if rng.random() < REPEATED_SHARE and key else 1
        while len(post.jobs) < wanted and (key or not post.unanswered):
            await self._ask(post)
        if not post.jobs:
            self.open -= 1
            return
        task = asyncio.create_task(self._follow(post.jobs[0]))
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    async def _ask(self, post: Post) -> None:
        body = self._workload.spec(post.kind, {"token": post.token})
        headers = {"Idempotency-Key": post.key} if post.key else {}
        try:
            answer = await self._http.post(
                f"{self._stack.url(self._rng)}/jobs", json=body, headers=headers, timeout=ANSWER_SECONDS
            )
        except httpx.TransportError:
            self.answers["none"] += 1
            post.unanswered += 1
        else:
            self.answers[str(answer.status_code)] += 1
            if answer.status_code == 202:
                post.jobs.append(answer.json()["id"])
                return
            post.unanswered += 1  # the job may exist or not
            if answer.status_code not in EXPLAINED:
                self._history.unexpected_answers.append(f"POST /jobs: {answer.status_code} {answer.text[:200]}")
        await asyncio.sleep(RETRY_SECONDS)

    async def _follow(self, job: str) -> None:
        """Follow the events of a job until it ends; connect again after every failure."""
        last = ""
        while True:
            try:
                url = f"{self._stack.url(self._rng)}/jobs/{job}/events"
                async for event in events(self._http, url, last):
                    last = event.id
                    if event.kind == "state" and self._has_ended(job, Observation.of(json.loads(event.data))):
                        return
            except httpx.TransportError:
                pass
            except StreamRefused as refused:
                if refused.status not in EXPLAINED:
                    self._history.unexpected_answers.append(str(refused))
            await asyncio.sleep(RETRY_SECONDS)

    def _has_ended(self, job: str, seen: Observation) -> bool:
        self._history.observe(job, seen)
        self.ended += seen.ended
        self.open -= seen.ended
        return seen.ended
