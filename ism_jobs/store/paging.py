"""Pages of things that are kept in order of time, the newest first."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ism_jobs.store.redis import Connection

T = TypeVar("T")

AT_ONCE = 500  # entries that are looked at together
Place = tuple[float, str]  # things of the same moment are ordered by id, so a place is a time and an id


def page(
    redis: Connection,
    index: str,
    load: Callable[[Sequence[str]], Mapping[str, T]],
    limit: int,
    after: Place | None,
    is_wanted: Callable[[T], bool] = lambda thing: True,
) -> tuple[list[T], Place | None]:
    """Up to `limit` wanted things after a place, and the place of the last if there may be more.

    The index may name things that have expired; those are taken out of it.
    """
    found: list[T] = []
    newest = "+inf" if after is None else repr(after[0])
    offset = 0
    while True:
        entries = redis.zrevrangebyscore(index, newest, "-inf", start=offset, num=max(limit, AT_ONCE), withscores=True)
        if not entries:
            return found, None
        offset += len(entries)
        places = [(float(time), id.decode()) for id, time in entries]
        unseen = [place for place in places if after is None or place < after]
        after = min([places[-1], *([after] if after else [])])  # new entries push down what has been looked at
        things = load([id for _, id in unseen])
        for place in unseen:
            if place[1] not in things:
                offset -= redis.zrem(index, place[1])
            elif is_wanted(things[place[1]]):
                found.append(things[place[1]])
                if len(found) == limit:
                    return found, place
