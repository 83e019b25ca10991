"""Connections to Redis, by how long their users can wait, and what it means when one fails.

redis-py types an answer by every setting that a connection may have (bytes or text, one server or a cluster), which
no caller can use; ours always answers with bytes.
"""

from typing import Any, TypeAlias

from redis import Redis
from redis.asyncio import BlockingConnectionPool
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.exceptions import ConnectionError as NotReachable
from redis.exceptions import OutOfMemoryError, RedisError, ResponseError
from redis.exceptions import TimeoutError as NoAnswer
from redis.retry import Retry

from ism_jobs.errors import Problem, StoreFull, Unavailable

Connection: TypeAlias = Any  # redis.Redis, or a pipeline of one
AsyncConnection: TypeAlias = Any  # redis.asyncio.Redis

AT_ONCE = 3.0  # seconds without an answer after which who asks us is told; a Redis 200 ms away answers in time
IN_TIME = 10.0  # the same, for long work
CONNECT_SECONDS = 2.0
LONGEST_PAUSE = 1.0  # seconds between two tries of who waits for Redis


def connection(url: str, seconds: float = IN_TIME) -> Connection:
    """One that fails when Redis is away, or silent for so many seconds.

    Nothing is tried again: what was asked may have happened, and a list would get the same chunk twice.
    """
    return Redis.from_url(
        url, socket_timeout=seconds, socket_connect_timeout=CONNECT_SECONDS, retry=Retry(NoBackoff(), 0)
    )


def patient_connection(url: str) -> Connection:
    """One that waits for Redis as long as it takes: for a job, all of whose words may be said twice."""
    retry = Retry(ExponentialBackoff(cap=LONGEST_PAUSE, base=0.02), retries=-1)
    return Redis.from_url(url, socket_timeout=IN_TIME, socket_connect_timeout=CONNECT_SECONDS, retry=retry)


def async_connections(url: str, most: int) -> AsyncConnection:
    """Several, to read with: a broken one is replaced once, unasked. Who finds all in use waits for one."""
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=most,
        timeout=IN_TIME,
        socket_timeout=AT_ONCE,
        socket_connect_timeout=CONNECT_SECONDS,
        retry=AsyncRetry(NoBackoff(), 1, supported_errors=(NotReachable,)),
    )
    return AsyncRedis.from_pool(pool)


def is_full(error: Exception) -> bool:
    """Whether Redis has refused something because it is at its memory limit, by itself or out of a script."""
    return isinstance(error, OutOfMemoryError) or (isinstance(error, ResponseError) and "OOM command" in str(error))


def problem_of(error: RedisError) -> Problem | None:
    """What to tell who asked, or None when the fault is ours."""
    if is_full(error):
        return StoreFull("The store is full; delete data sets or jobs that are no longer needed.")
    if isinstance(error, NotReachable | NoAnswer):
        return Unavailable("The store does not answer; try again in a moment.")
    return None
