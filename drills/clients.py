"""Clients that post jobs, insist where they have a key, follow what was acknowledged, and write down what they see."""

import asyncio
import json
import random
import time
from collections import Counter

import httpx

from drills.history import History, Look, Post
from drills.stack import Stack
from drills.streams import Refused, events
from drills.workload import Workload

KEYED = 0.6  # the share of jobs posted with an Idempotency-Key
ASKED_TWICE = 0.3  # the share of those that are posted again although the first was answered
MOST_OPEN = 8  # jobs that wait or run, over all clients
ANSWER_SECONDS = 6.0
AGAIN_SECONDS = 0.3
SILENCE_SECONDS = 20.0  # a stream without a sign of life is taken up again


class Clients:
    """All clients together: what they know is one history."""

    def __init__(self, stack: Stack, workload: Workload, history: History, seed: int) -> None:
        self.answers: Counter[str] = Counter()
        self.ended = 0
        self.open = 0
        self._stack = stack
        self._workload = workload
        self._history = history
        self._rng = random.Random(seed + 1)
        self._following: set[asyncio.Task[None]] = set()
        self._http = httpx.AsyncClient(timeout=httpx.Timeout(ANSWER_SECONDS, read=SILENCE_SECONDS))

    async def close(self) -> None:
        """Stop following."""
        for task in self._following:
            task.cancel()
        await asyncio.gather(*self._following, return_exceptions=True)
        await self._http.aclose()

    async def post_until(self, deadline: float, name: str) -> None:
        """Post one job after the other; a job with a key is asked for until there is an answer, also past the end."""
        number = 0
        while time.monotonic() < deadline:
            if self.open < MOST_OPEN:
                number += 1
                self.open += 1
                await self._post(f"{name}-{number}")
            await asyncio.sleep(self._rng.uniform(0.05, 0.5))

    async def _post(self, token: str) -> None:
        key = f"key-{token}" if self._rng.random() < KEYED else None
        post = Post(token, self._workload.draw(self._rng), key)
        self._history.posts.append(post)
        wanted = 2 if key and self._rng.random() < ASKED_TWICE else 1
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
            post.unanswered += 1  # what became of it is not known
            if answer.status_code != 503:
                self._history.odd_answers.append(f"POST /jobs: {answer.status_code} {answer.text[:200]}")
        await asyncio.sleep(AGAIN_SECONDS)

    async def _follow(self, job: str) -> None:
        """Until its end, through whatever breaks."""
        last = ""
        while True:
            try:
                url = f"{self._stack.url(self._rng)}/jobs/{job}/events"
                async for told in events(self._http, url, last):
                    last = told.id
                    if told.kind == "state" and self._ended(job, Look.at(json.loads(told.data))):
                        return
            except httpx.TransportError:
                pass
            except Refused as refused:
                if refused.status != 503:
                    self._history.odd_answers.append(str(refused))
            await asyncio.sleep(AGAIN_SECONDS)

    def _ended(self, job: str, look: Look) -> bool:
        self._history.saw(job, look)
        self.ended += look.ended
        self.open -= look.ended
        return look.ended
