"""Changes that happen at once, and only if what they were decided on has not changed meanwhile."""

from collections.abc import Callable
from typing import TypeVar

from redis.exceptions import WatchError

from ism_jobs.connection import Connection

T = TypeVar("T")


def transaction(redis: Connection, change: Callable[[Connection], T], *watched: str) -> T:
    """Do what `change` puts into the pipeline after `multi()`; if a watched key changes meanwhile, look again."""
    with redis.pipeline() as pipe:
        while True:
            if watched:
                pipe.watch(*watched)
            value = change(pipe)
            try:
                if pipe.explicit_transaction:
                    pipe.execute()
            except WatchError:
                continue
            else:
                return value
