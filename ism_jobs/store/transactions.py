"""Changes that happen at once, and only if what they were decided on has not changed meanwhile."""

from collections.abc import Callable
from typing import TypeVar

from redis.exceptions import WatchError

from ism_jobs.store.redis import Connection

T = TypeVar("T")


def transaction(redis: Connection, change: Callable[[Connection], T], *watched: str) -> T:
    """Do what `change` puts into the pipeline after `multi()`; if a watched key changes meanwhile, look again.

    A connection that is lost counts as a change: nobody can know what happened. So `change` looks again, too, whether
    what it wants has been done already.
    """
    with redis.pipeline() as pipe:
        while True:
            try:
                if watched:
                    pipe.watch(*watched)
                value = change(pipe)
                if pipe.explicit_transaction:
                    pipe.execute()
            except WatchError:
                pipe.reset()
            else:
                return value
