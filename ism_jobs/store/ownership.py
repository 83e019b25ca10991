"""What one owner may see: an entry by its id, and pages of entries, the newest first.

The owner is the name of an API key. Without API keys there is one owner, whose name is empty.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Self, TypeVar

from ism_jobs.store import keys
from ism_jobs.store.redis import Connection

T = TypeVar("T")
Position = tuple[float, str]  # of an entry in a list: its time of creation and its id, which breaks ties

SCAN_BATCH_SIZE = 500  # entries of a list that are read with one command


class OwnedCollection:
    """Data sets or jobs. With owner None (workers), those of all owners are visible."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis
        self._owner: str | None = None

    def of(self, owner: str) -> Self:
        """Return the collection as one owner sees it."""
        view = copy(self)
        view._owner = owner
        return view

    def _read(self, key: str, id: str) -> dict[bytes, bytes] | None:
        """Return the fields of an entry, or None if it does not exist or belongs to another owner.

        An entry of another owner is not read, so that the answer takes as long as if it did not exist.
        """
        if not keys.is_id(id):
            return None
        if self._owner and self._redis.hget(key, "owner") != self._owner.encode():
            return None
        fields: dict[bytes, bytes] = self._redis.hgetall(key)
        is_visible = self._owner is None or fields.get(b"owner", b"") == self._owner.encode()
        return fields if fields and is_visible else None

    def _page(
        self,
        index: str,
        load: Callable[[Sequence[str]], Mapping[str, T]],
        limit: int,
        after: Position | None,
        is_wanted: Callable[[T], bool] = lambda entry: True,
        oldest: float | None = None,
    ) -> tuple[list[T], Position | None]:
        """Return up to `limit` wanted entries after a position, and the position of the last if more may follow.

        `oldest` is a time of creation; entries that are not newer are not read. Ids of expired entries are removed from
        the index.
        """
        found: list[T] = []
        newest = "+inf" if after is None else repr(after[0])
        offset = 0
        while True:
            listed = self._redis.zrevrangebyscore(
                index,
                newest,
                "-inf" if oldest is None else f"({oldest!r}",
                start=offset,
                num=max(limit, SCAN_BATCH_SIZE),
                withscores=True,
            )
            if not listed:
                return found, None
            offset += len(listed)
            positions = [(float(time), id.decode()) for id, time in listed]
            unseen = [position for position in positions if after is None or position < after]
            # The offset alone is not enough, because new entries shift the positions of old ones.
            after = min([positions[-1], *([after] if after else [])])
            entries = load([id for _, id in unseen])
            for position in unseen:
                entry = entries.get(position[1])
                if entry is None:
                    offset -= self._redis.zrem(index, position[1])
                elif is_wanted(entry):
                    found.append(entry)
                    if len(found) == limit:
                        return found, position
