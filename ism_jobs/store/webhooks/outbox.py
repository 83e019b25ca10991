"""The outbox of webhooks: a message is stored until its receiver has accepted it, or its last try has failed.

When a job ends, lua/end.lua adds a notice if the job or its batch has a URL to notify. `collect` turns notices into
messages. The messages of one job or batch form a queue, so that they are delivered in order.
"""

import base64
import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from ism_jobs.errors import NotFound
from ism_jobs.settings import Settings
from ism_jobs.store import keys
from ism_jobs.store.batches import Batches
from ism_jobs.store.jobs import Jobs
from ism_jobs.store.ownership import OwnedCollection, Position
from ism_jobs.store.records import Record
from ism_jobs.store.redis import Connection

MINUTE, HOUR = 60, 3_600  # seconds
# Seconds between two tries of a message, as Standard Webhooks recommends: dense at first, then over three days.
BACKOFF = (5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, *(hours * HOUR for hours in (1, 2, 5, 10, 14, 20, 24)))
MOST_DUE = 10_000  # queues with a message that is due, read with one command
MOST_NOTICES = 100  # notices that one call of `collect` handles
SECRET_BYTES = 32  # of the key that signs the messages of an owner


def backoff_seconds(tries: int) -> int | None:
    """Return the seconds to wait after so many failed tries; None after the last one."""
    return BACKOFF[tries - 1] if tries <= len(BACKOFF) else None


@dataclass(frozen=True)
class Delivery:
    """A message and what became of it."""

    id: str
    owner: str
    subject: str  # what it is about, such as job:ID
    url: str
    body: str
    created: float
    state: Literal["pending", "delivered", "failed"] = "pending"
    tries: int = 0
    next_try: float | None = None  # seconds since 1970
    status: int | None = None  # of the last answer
    error: str | None = None  # of the last try

    @classmethod
    def parsed(cls, raw: bytes) -> Self:
        """Parse the document in Redis. Fields of later releases are ignored."""
        fields = json.loads(raw)
        return cls(**{name: fields[name] for name in cls.__dataclass_fields__ if name in fields})

    @property
    def queue(self) -> str:
        """The name of its queue. It starts with the host, so that a slow host can be told from others."""
        return f"{urlsplit(self.url).netloc}|{self.subject}"


class Webhooks(OwnedCollection):
    """All messages, by id."""

    def __init__(self, redis: Connection, settings: Settings, jobs: Jobs, batches: Batches) -> None:
        super().__init__(redis)
        self._seconds = settings.job_seconds
        self._jobs = jobs
        self._batches = batches

    def secret(self, owner: str) -> str:
        """Return the key that signs the messages of an owner, in the form of Standard Webhooks."""
        new = "whsec_" + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
        self._redis.set(keys.webhook_secret(owner), new, nx=True)
        stored: bytes = self._redis.get(keys.webhook_secret(owner))
        return stored.decode()

    def acquire_lease(self, token: str, seconds: float) -> bool:
        """Return whether the process with this token sends the messages; it must ask again within `seconds`."""
        key, milliseconds = keys.WEBHOOK_LEADER, int(1000 * seconds)
        if self._redis.set(key, token, nx=True, px=milliseconds):
            return True
        return self._redis.get(key) == token.encode() and bool(self._redis.pexpire(key, milliseconds))

    def release(self, token: str) -> None:
        """Let another process send the messages at once, if this one does."""
        if self._redis.get(keys.WEBHOOK_LEADER) == token.encode():
            self._redis.delete(keys.WEBHOOK_LEADER)

    def collect(self, now: float) -> None:
        """Turn the notices of ended jobs into messages."""
        for raw in self._redis.lrange(keys.WEBHOOK_NOTICES, 0, MOST_NOTICES - 1):
            for delivery in self._messages(raw.decode(), now):
                self.add(delivery, now)
            self._redis.lrem(keys.WEBHOOK_NOTICES, 1, raw)  # after the messages are stored, so that none is lost

    def _messages(self, job: str, now: float) -> list[Delivery]:
        try:
            record = self._jobs.get(job)
        except NotFound:  # deleted since
            return []
        messages = []
        if (notify := record.spec.get("notify")) and record.state.ended:
            data = _about(record)
            messages.append(_message(f"job:{job}", record.owner, notify["url"], f"job.{record.state}", data, now))
        if record.batch is not None:
            messages += self._of_batch(record.batch, now)
        return messages

    def _of_batch(self, id: str, now: float) -> list[Delivery]:
        """Return the message that a batch has ended, unless some of its jobs have not."""
        try:
            batch = self._batches.get(id)
        except NotFound:
            return []
        records = self._batches.records(batch)
        if batch.notify is None or not all(record.state.ended for record in records):
            return []
        counts = {state.value: count for state, count in self._batches.states([batch])[0].items()}
        ended = max((record.finished or 0.0 for record in records), default=now)
        data = {"id": id, "label": batch.label, "states": counts, "ended": _iso(ended)}
        return [_message(f"batch:{id}", batch.owner, batch.notify, "batch.ended", data, now)]

    def add(self, delivery: Delivery, now: float) -> None:
        """Queue a message, unless it is stored already."""
        if self._redis.exists(keys.webhook(delivery.id)):
            return
        with self._redis.pipeline() as pipe:
            self._write(pipe, delivery)
            pipe.rpush(keys.webhook_queue(delivery.queue), delivery.id)
            pipe.zadd(keys.WEBHOOKS_DUE, {delivery.queue: now}, nx=True)
            pipe.zadd(keys.webhooks(delivery.owner), {delivery.id: delivery.created})
            pipe.execute()

    def test(self, url: str, now: float) -> Delivery:
        """Queue a test message."""
        id = secrets.token_hex(10)
        delivery = _message(f"test:{id}", self._owner or "", url, "test", {"id": id}, now)
        self.add(delivery, now)
        return delivery

    def due(self, now: float) -> list[str]:
        """Return the queues whose first message is due, the longest-waiting first."""
        return [name.decode() for name in self._redis.zrangebyscore(keys.WEBHOOKS_DUE, "-inf", now, 0, MOST_DUE)]

    def first(self, queue: str) -> Delivery | None:
        """Return the first message of a queue. A queue without messages is forgotten."""
        while id := self._redis.lindex(keys.webhook_queue(queue), 0):
            if raw := self._redis.hget(keys.webhook(id.decode()), "document"):
                return Delivery.parsed(raw)
            self._redis.lrem(keys.webhook_queue(queue), 1, id)  # expired
        self._redis.zrem(keys.WEBHOOKS_DUE, queue)
        return None

    def record(self, delivery: Delivery, now: float, *, next_try: float | None) -> None:
        """Store the outcome of a try. A message that is no longer pending leaves its queue; the next one is due."""
        with self._redis.pipeline() as pipe:
            self._write(pipe, delivery)
            if delivery.state != "pending":
                pipe.lrem(keys.webhook_queue(delivery.queue), 1, delivery.id)
            pipe.zadd(keys.WEBHOOKS_DUE, {delivery.queue: now if next_try is None else next_try})
            pipe.execute()

    def get(self, id: str) -> Delivery:
        """Return a message."""
        raw = self._read(keys.webhook(id), id)
        if raw is None:
            raise NotFound(f"There is no delivery {json.dumps(id)}; it may have expired.")
        return Delivery.parsed(raw[b"document"])

    def page(self, limit: int, after: Position | None, subject: str | None = None) -> Any:
        """Return a page of messages, the newest first, and the position after which the next page begins."""

        def load(ids: Sequence[str]) -> dict[str, Delivery]:
            with self._redis.pipeline(transaction=False) as pipe:
                for id in ids:
                    pipe.hget(keys.webhook(id), "document")
                return {id: Delivery.parsed(raw) for id, raw in zip(ids, pipe.execute(), strict=True) if raw}

        index = keys.webhooks(self._owner or "")
        return self._page(index, load, limit, after, lambda one: subject in (None, one.subject))

    def _write(self, pipe: Connection, delivery: Delivery) -> None:
        fields = {"owner": delivery.owner, "document": json.dumps(asdict(delivery))}
        pipe.hset(keys.webhook(delivery.id), mapping=fields)
        pipe.expire(keys.webhook(delivery.id), self._seconds)


def _about(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "state": record.state.value,
        "label": record.spec.get("label"),
        "metadata": record.spec.get("metadata") or {},
        "batch": record.batch,
        "dataset": record.dataset,
        "attempt": record.attempt,
        "ended": _iso(record.finished or record.created),
        "error": record.error["detail"] if record.error else None,
    }


def _message(subject: str, owner: str, url: str, type: str, data: dict[str, Any], now: float) -> Delivery:
    """Return a message. Its id follows from its content, so that a notice that is handled twice makes one message."""
    content = json.dumps([subject, type, data], sort_keys=True)
    id = hashlib.sha256(content.encode()).hexdigest()[:20]
    body = json.dumps({"type": type, "timestamp": data.get("ended") or _iso(now), "data": data})
    return Delivery(id, owner, subject, url, body, now, next_try=now)


def _iso(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat()
