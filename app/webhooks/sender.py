"""The loop that delivers messages. Every API process runs it; the one that holds the lease sends."""

import asyncio
import base64
import hashlib
import hmac
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Literal
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from anyio.to_thread import run_sync
from redis.exceptions import RedisError

from app.webhooks.addresses import ForbiddenAddress, allowed_address, url_refusal
from ism_jobs.logs import log
from ism_jobs.settings import Settings
from ism_jobs.store import Delivery, Store, backoff_seconds

POLL_SECONDS = 1.0  # between two looks for messages that are due
LEASE_SECONDS = 10.0  # after which another process sends if the leader is silent
TRY_SECONDS = 15.0  # for one try, from the name lookup to the headers of the answer
MOST_TRIES_AT_ONCE = 16  # tries in parallel
MOST_TRIES_PER_HOST = 2  # of these, so that a slow receiver does not delay others


class Sender:
    """Sends messages until it is stopped. Tests call `step` with a clock of their own."""

    def __init__(self, store: Store, settings: Settings, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._settings = settings
        self._now = now
        self._token = uuid4().hex
        self._running: dict[str, asyncio.Task[None]] = {}
        self._client = httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=TRY_SECONDS)

    async def run(self) -> None:
        """Deliver messages until the task is cancelled."""
        try:
            while True:
                with suppress(RedisError):  # try again; nothing is lost
                    await self.step()
                await asyncio.sleep(POLL_SECONDS)
        finally:
            await self.close()

    async def close(self) -> None:
        """End all tries, and let another process send. Messages without an outcome are sent again."""
        for task in self._running.values():
            task.cancel()
        await self._client.aclose()
        with suppress(RedisError):
            self._store.webhooks.release(self._token)

    async def step(self) -> None:
        """Start a try of each message that is due, if this process holds the lease."""
        webhooks = self._store.webhooks
        if not await run_sync(webhooks.acquire_lease, self._token, LEASE_SECONDS):
            return
        now = self._now()
        await run_sync(webhooks.collect, now)
        for queue in await run_sync(webhooks.due, now):
            hosts = Counter(_host(name) for name in self._running)
            if len(self._running) >= MOST_TRIES_AT_ONCE:
                return
            if queue not in self._running and hosts[_host(queue)] < MOST_TRIES_PER_HOST:
                self._running[queue] = asyncio.create_task(self._deliver(queue))

    async def settle(self) -> None:
        """Wait until no try is running."""
        while self._running:
            await asyncio.gather(*self._running.values())

    async def _deliver(self, queue: str) -> None:
        try:
            delivery = await run_sync(self._store.webhooks.first, queue)
            if delivery is not None:
                await self._try(delivery)
        except RedisError as error:
            log.warning("outcome of webhook not stored; the message will be sent again", queue=queue, reason=str(error))
        finally:
            self._running.pop(queue, None)

    async def _try(self, delivery: Delivery) -> None:
        """Send a message once, and store the outcome."""
        status, error = None, None
        try:
            async with asyncio.timeout(TRY_SECONDS):
                status = await self._post(delivery)
            if not 200 <= status < 300:
                error = f"The receiver answered {status}; only 2xx counts, and redirects are not followed."
        except (TimeoutError, httpx.TimeoutException):
            error = f"The receiver did not answer within {TRY_SECONDS:.0f} s."
        except (httpx.HTTPError, OSError, ForbiddenAddress, ValueError) as problem:
            error = str(problem) or type(problem).__name__
        now, tries = self._now(), delivery.tries + 1
        pause = None if error is None else backoff_seconds(tries)
        state: Literal["pending", "delivered", "failed"]
        state = "delivered" if error is None else "failed" if pause is None else "pending"
        following = None if pause is None else now + pause
        log.info("webhook tried", delivery=delivery.id, tries=tries, state=state, status=status)
        done = replace(delivery, state=state, tries=tries, status=status, error=error, next_try=following)
        await run_sync(lambda: self._store.webhooks.record(done, now, next_try=following))

    async def _post(self, delivery: Delivery) -> int:
        """Send a message to an address that was checked just now, and return the status of the answer."""
        if refusal := url_refusal(delivery.url, self._settings):  # the settings may have changed since
            raise ForbiddenAddress(refusal)
        url = httpx.URL(delivery.url)
        port = url.port or (443 if url.scheme == "https" else 80)
        address = await allowed_address(url.host, port, self._settings)
        secret = await run_sync(self._store.webhooks.secret, delivery.owner)
        headers = {
            "Host": url.netloc.decode(),
            "Content-Type": "application/json",
            "User-Agent": "ism-webhooks/1",
            **signature_headers(secret, delivery.id, int(self._now()), delivery.body),
        }
        request = self._client.build_request(
            "POST",
            url.copy_with(host=address),
            headers=headers,
            content=delivery.body.encode(),
            extensions={"sni_hostname": url.host},  # the certificate must be that of the host
        )
        answer = await self._client.send(request, stream=True)
        await answer.aclose()  # its body is not read
        return answer.status_code


def signature_headers(secret: str, id: str, timestamp: int, body: str) -> dict[str, str]:
    """Return the headers of Standard Webhooks: HMAC-SHA256 of id, timestamp and body."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = hmac.new(key, f"{id}.{timestamp}.{body}".encode(), hashlib.sha256).digest()
    return {
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(signed).decode()}",
    }


def _host(queue: str) -> str:
    return urlsplit(f"//{queue.partition('|')[0]}").netloc
