"""The order of queued jobs: fair between owners, by priority and age within one owner.

A free worker takes a job of the owner with the fewest running jobs. If several owners have equally few, it takes one of
the owner that was served longest ago. `lua/claim.lua` makes this choice when the job starts, so it follows from what
runs at that moment. Each owner has a sorted set of its queued jobs by `place`.

Jobs of schema version 1 have no place: releases that know no fair share write and take them, each by its own ticket.
"""

from ism_jobs.store import keys
from ism_jobs.store.redis import Connection

FIRST_FAIR_SCHEMA = 2  # the first schema version of jobs that are queued by owner
PLACES_PER_SECOND = 10**5  # jobs of one request are a place apart
# Places of one step of priority, 89 years. With priorities up to 9 all places are below 2**53, so they are exact.
PLACES_PER_PRIORITY = 2**48


def place_of(created: float, index: int, priority: int) -> int:
    """Return the place of a job, the `index`-th of its request, among the queued jobs of its owner: the least first."""
    return round(created * PLACES_PER_SECOND) + index - priority * PLACES_PER_PRIORITY


def add_to_queue(pipe: Connection, id: str, owner: str, schema: int, created: float, place: int) -> None:
    """Add a job to the indexes of queued jobs when the pipeline is executed."""
    pipe.zadd(keys.queued(schema), {id: created})
    if schema >= FIRST_FAIR_SCHEMA:
        pipe.zadd(keys.waiting(owner, schema), {id: place})
        pipe.sadd(keys.waiting_owners(schema), owner)
        pipe.zadd(keys.SERVED, {owner: 0}, nx=True)
