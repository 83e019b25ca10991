"""What an owner uses, and how much it may use.

The numbers are summed up from the stored objects when they are needed. So nothing that expires, or that another release
deletes, can make them wrong.
"""

import time
from dataclasses import dataclass

from ism_jobs import schema_versions
from ism_jobs.errors import StoreFull
from ism_jobs.settings import Settings
from ism_jobs.store import keys
from ism_jobs.store.redis import Connection, script

USAGE_SECONDS = 5.0  # how old the sum of bytes may be while jobs are posted or a table is uploaded


@dataclass(frozen=True)
class Usage:
    """What an owner uses."""

    stored_bytes: int  # of data sets, and of all that jobs hold
    open_jobs: int
    running_jobs: int


class Quotas:
    """Sums up what owners use, and refuses more than they may."""

    def __init__(self, redis: Connection, settings: Settings) -> None:
        self._usage = script(redis, "usage")
        self._most_bytes = settings.max_stored_bytes
        self._known: dict[str, tuple[float, int]] = {}  # owner: when its bytes were summed up, and how many they were

    def usage(self, owner: str) -> Usage:
        """Return what an owner uses now."""
        running_jobs = [keys.running(schema) for schema in range(1, schema_versions.JOB + 1)]
        bytes, open, running = self._usage(
            keys=[keys.datasets(owner), keys.jobs(owner), keys.open_jobs(owner), *running_jobs],
            args=[owner, keys.dataset("%s"), keys.job("%s"), *keys.of_job("%s")],
        )
        return Usage(int(bytes), int(open), int(running))

    def check_bytes(self, owner: str, more: int = 0, *, longest_age: float = 0.0) -> None:
        """Raise StoreFull if an owner stores too many bytes, or would with so many more.

        The sum may be `longest_age` seconds old.
        """
        if self._most_bytes is None:
            return
        now = time.monotonic()
        if owner not in self._known or now - self._known[owner][0] >= longest_age:
            self._known[owner] = now, self.usage(owner).stored_bytes
        used = self._known[owner][1]
        if used + max(more, 1) > self._most_bytes:
            raise StoreFull(
                f"Data sets and jobs of one API key may have {self._most_bytes:,} bytes together; yours have"
                f" {used:,}{f', and this data set has {more:,} or more' if more else ''}. Delete data sets or jobs that"
                " are no longer needed."
            )
