"""How many requests an owner may make in a minute, over all processes of the app.

The count is in Redis, where a write may wait for the disk. So each process reserves several requests at a time and
allows them without asking Redis. All processes together never allow more than the limit, but requests that one
process has reserved are not available to the others.
"""

import threading
import time
from dataclasses import dataclass

from ism_jobs.store import keys
from ism_jobs.store.redis import Connection, script

RESERVATIONS_PER_LIMIT = 50  # a process reserves 1/50 of the limit at a time


@dataclass
class _Reservation:
    """Requests that this process may still allow, until the end of the minute."""

    left: int
    until: float  # by time.monotonic


class RateLimits:
    """Allows requests, or says how long to wait."""

    def __init__(self, redis: Connection, limit: int) -> None:
        self._limit = limit
        self._reserve_requests = script(redis, "reserve_requests")
        self._reservations: dict[str, _Reservation] = {}
        self._lock = threading.Lock()

    def allow_reserved(self, owner: str) -> bool:
        """Return whether this process has a reserved request left, and use it. Never waits for Redis."""
        with self._lock:
            reservation = self._reservations.get(owner)
            if reservation is None or reservation.left == 0 or time.monotonic() >= reservation.until:
                return False
            reservation.left -= 1
            return True

    def reserve(self, owner: str) -> float:
        """Reserve requests in Redis and use one; return 0, or the seconds until more are available."""
        share = max(1, self._limit // RESERVATIONS_PER_LIMIT)
        reserved, milliseconds = self._reserve_requests(keys=[keys.rate(owner)], args=[self._limit, share])
        if not reserved:
            return max(0.001, float(milliseconds) / 1000)
        now = time.monotonic()
        with self._lock:
            before = self._reservations.get(owner)
            left = before.left if before is not None and now < before.until else 0
            self._reservations[owner] = _Reservation(left + reserved - 1, now + milliseconds / 1000)
        return 0.0
