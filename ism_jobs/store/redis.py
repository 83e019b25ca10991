"""Access to Redis: connections with timeouts, transactions, Lua scripts, and large values in chunks.

redis-py's type hints are unions over all connection settings (bytes or text, server or cluster). We type connections
as Any; ours always return bytes.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias, TypeVar

from redis import ConnectionPool, Redis
from redis.asyncio import BlockingConnectionPool
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.exceptions import ConnectionError as NotReachable
from redis.exceptions import (
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    WatchError,
)
from redis.exceptions import TimeoutError as NoAnswer
from redis.retry import Retry

from ism_jobs import schema_versions
from ism_jobs.errors import Problem, StoreFull, Unavailable
from ism_jobs.logs import log

Connection: TypeAlias = Any  # redis.Redis, or a pipeline of one
AsyncConnection: TypeAlias = Any  # redis.asyncio.Redis
T = TypeVar("T")

REQUEST_TIMEOUT = 3.0  # seconds that an HTTP request waits for an answer of Redis; enough for a latency of 200 ms
WORK_TIMEOUT = 10.0  # seconds that a worker or a command waits for an answer
CONNECT_TIMEOUT = 2.0  # seconds
LONGEST_BACKOFF = 1.0  # seconds between two attempts of a connection that waits for Redis
# Errors with which Redis refuses every command, or every write, because of its own state or configuration.
REFUSALS = ("DENIED", "CLUSTERDOWN", "MASTERDOWN", "MISCONF", "NOREPLICAS", "UNKILLABLE")
CHUNK_BYTES = 4 * 2**20  # small enough that reading one chunk does not hold up other clients of Redis


def connection(url: str, timeout: float = WORK_TIMEOUT) -> Connection:
    """Return a connection that fails if Redis is unreachable or does not answer within `timeout` seconds.

    It never retries: a command whose answer was lost may have taken effect, and a retry would append a chunk twice.
    """
    return Redis.from_url(
        url, socket_timeout=timeout, socket_connect_timeout=CONNECT_TIMEOUT, retry=Retry(NoBackoff(), 0)
    )


def patient_connection(url: str) -> Connection:
    """Return a connection that retries until Redis answers: for a running job, whose writes are all idempotent."""
    limits = {"socket_timeout": WORK_TIMEOUT, "socket_connect_timeout": CONNECT_TIMEOUT}
    return Redis.from_pool(_PatientPool.from_url(url, retry=_endless_retry(), **limits))


def _endless_retry() -> Retry:
    return Retry(ExponentialBackoff(cap=LONGEST_BACKOFF, base=0.02), retries=-1)


class _PatientPool(ConnectionPool):
    """Connections that are opened until they work.

    redis-py tries only twice if a connection that it has just opened is closed, as by a Redis that dies at its start.
    """

    def get_connection(self, *args: Any, **options: Any) -> Any:
        """Return a connection that works."""
        get = super().get_connection
        return _endless_retry().call_with_retry(lambda: get(*args, **options), lambda _: None)


def async_connections(url: str, most: int) -> AsyncConnection:
    """Return a pool of connections to read with.

    A caller waits while all are in use. A broken connection is replaced once without an error.
    """
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=most,
        timeout=WORK_TIMEOUT,
        socket_timeout=REQUEST_TIMEOUT,
        socket_connect_timeout=CONNECT_TIMEOUT,
        retry=AsyncRetry(NoBackoff(), 1, supported_errors=(NotReachable,)),
    )
    return AsyncRedis.from_pool(pool)


def is_full(error: Exception) -> bool:
    """Return whether Redis has refused a command or script because it is at its memory limit."""
    return isinstance(error, OutOfMemoryError) or (isinstance(error, ResponseError) and "OOM command" in str(error))


def problem_of(error: RedisError) -> Problem | None:
    """Return the problem to show to the client, or None if the error is a fault of this program."""
    if is_full(error):
        return StoreFull("The store or its disk is full; delete data sets or jobs that are no longer needed.")
    if isinstance(error, NotReachable | NoAnswer):
        return Unavailable("The store does not answer; try again in a moment.")
    if isinstance(error, ReadOnlyError | NoPermissionError) or str(error).startswith(REFUSALS):
        return refusal_of(error)
    return None


def refusal_of(error: RedisError) -> Problem:
    """Return the problem for a Redis that answers with an error. Only the log has the error's text."""
    log.error("Redis answers with an error", error=str(error))
    return Unavailable("Redis answers with an error, so nothing can be stored or read; the service's log has the text.")


def transaction(redis: Connection, change: Callable[[Connection], T], *watched: str) -> T:
    """Execute the commands that `change` puts into the pipeline after `multi()`; start over if a watched key changes.

    A lost connection counts as a change, because the commands may have taken effect. So `change` must check whether
    they did.
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


def commands_of(pipe: Connection) -> list[Any]:
    """Return the commands that wait in a pipeline, as lua/create.lua takes them: each with the number of its words.

    A script is one command: for many short ones, packing them and reading their answers takes most of the time.
    """
    return [word for command, _ in pipe.command_stack for word in (len(command), *command)]


def redis_time(redis: Connection) -> datetime:
    """Return the time by Redis's clock, which all processes share."""
    seconds, microseconds = redis.time()
    return datetime.fromtimestamp(seconds + microseconds / 1e6, UTC)


@cache
def script_text(name: str) -> str:
    """Return the Lua script of that name, with the constant and the functions that all scripts share."""
    folder = files("ism_jobs.store") / "lua"
    parts = [(folder / f"{part}.lua").read_text(encoding="utf-8") for part in ("prelude", name)]
    return "\n".join([f"local event_schema = '{schema_versions.EVENT}'", *parts])


def script(redis: Connection, name: str) -> Any:
    """Return a Lua script as a function of `keys` and `args`; lua/<name>.lua says what they are."""
    registered = redis.register_script(script_text(name))

    def call(*, keys: Sequence[Any], args: Sequence[Any] = ()) -> Any:
        try:
            return registered(keys=keys, args=args)
        except NoScriptError:  # Redis has restarted since it was sent the text
            return redis.eval(registered.script, len(keys), *keys, *args)

    return call


def put_chunks(pipe: Connection, key: str, value: bytes, seconds: int) -> None:
    """Replace a large value when the pipeline is executed; it expires after `seconds`."""
    pipe.delete(key)
    for start in range(0, max(1, len(value)), CHUNK_BYTES):
        pipe.rpush(key, value[start : start + CHUNK_BYTES])
    pipe.expire(key, seconds)


def get_chunks(redis: Connection, key: str) -> bytes | None:
    """Return the whole of a large value, or None if there is none."""
    chunks = list(iter_chunks(redis, key))
    return b"".join(chunks) if chunks else None


def iter_chunks(redis: Connection, key: str) -> Iterator[bytes]:
    """Yield a large value chunk by chunk."""
    index = 0
    while (chunk := redis.lindex(key, index)) is not None:
        yield chunk
        index += 1
