"""Slots for sandbox processes, shared fairly between API keys."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio


class FairSlots:
    """One key may hold `most` slots. There is one more, so that a key never holds up all others.

    A free slot goes to the waiting key that holds the fewest; of several, to the one that has waited longest.
    """

    def __init__(self, most: int) -> None:
        self.total = most + 1
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
        while self.in_use < self.total:
            eligible = [entry for entry in self._waiting if self._held[entry[0]] < self._most]
            if not eligible:
                break
            entry = min(eligible, key=lambda each: self._held[each[0]])  # the first of several
            self._waiting.remove(entry)
            self._held[entry[0]] += 1
            entry[1].set()
        self._held += Counter()  # drops the keys that hold none
