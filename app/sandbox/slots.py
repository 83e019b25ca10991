"""Slots for sandbox processes, shared fairly between API keys."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

MOST_PROCESSES = 16  # of one kind of work; each takes some 20 MB and a share of the cores


class FairSlots:
    """One key may hold `most` slots. A key that holds none gets one at once, while fewer than MOST_PROCESSES are held.

    Otherwise a free slot goes to the waiting key that holds the fewest; of several, to the one that has waited longest.
    """

    def __init__(self, most: int) -> None:
        self.total = max(most + 1, MOST_PROCESSES)
        self._most = most
        self._held: Counter[str] = Counter()
        self._waiting: list[tuple[str, anyio.Event]] = []

    @property
    def in_use(self) -> int:
        """Number of slots that are held."""
        return self._held.total()

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncIterator[None]:
        """Hold a slot; wait for it if necessary."""
        granted = anyio.Event()
        entry = key, granted
        self._waiting.append(entry)
        self._grant()
        try:
            await granted.wait()
            yield
        finally:
            if granted.is_set():
                self._held[key] -= 1
                self._grant()
            else:  # the request was cancelled while it waited
                self._waiting.remove(entry)

    def _grant(self) -> None:
        while eligible := [key for key, _ in self._waiting if self._may_hold_more(key)]:
            key = min(eligible, key=self._held.__getitem__)  # the first of several
            entry = next(each for each in self._waiting if each[0] == key)
            self._waiting.remove(entry)
            self._held[key] += 1
            entry[1].set()
        self._held += Counter()  # drops the keys that hold none

    def _may_hold_more(self, key: str) -> bool:
        """A key may hold several slots only while they leave one for another key."""
        if self._held[key] == 0:
            return self.in_use < self.total
        return self._held[key] < self._most and self.in_use <= self._most
