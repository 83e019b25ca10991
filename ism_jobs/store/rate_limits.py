"""How many requests an owner may make in a minute, over all processes that answer them.

The count is in Redis, where a write may wait for the disk. So a process takes several requests at a time, and hands
them out by itself: together they never allow more than the limit, and what one has in hand others cannot.
"""

import threading
import time
from dataclasses import dataclass

from ism_jobs.store import keys, scripts
from ism_jobs.store.redis import Connection

PARTS = 50  # a process takes the limit in so many parts


@dataclass
class _Hand:
    """Requests that a process may still allow, until the minute is over."""

    left: int
    until: float


class Rates:
    """Allows requests, or says how long to wait."""

    def __init__(self, redis: Connection, limit: int) -> None:
        self._limit = limit
        self._take = redis.register_script(scripts.TAKE)
        self._hands: dict[str, _Hand] = {}
        self._lock = threading.Lock()

    def spend(self, owner: str) -> bool:
        """Allow a request of those in hand, if there are any; never waits for Redis."""
        with self._lock:
            hand = self._hands.get(owner)
            if hand is None or hand.left == 0 or time.monotonic() >= hand.until:
                return False
            hand.left -= 1
            return True

    def draw(self, owner: str) -> float:
        """Allow a request of those in Redis (0), or give the seconds until there are more."""
        taken, milliseconds = self._take(keys=[keys.rate(owner)], args=[self._limit, max(1, self._limit // PARTS)])
        if not taken:
            return max(0.001, float(milliseconds) / 1000)
        now = time.monotonic()
        with self._lock:
            hand = self._hands.get(owner)
            rest = hand.left if hand is not None and now < hand.until else 0
            self._hands[owner] = _Hand(rest + taken - 1, now + milliseconds / 1000)
        return 0.0
