"""Large values as lists of chunks."""

from collections.abc import Iterator

from ism_jobs.store.redis import Connection

CHUNK_BYTES = 4 * 2**20


def put(pipe: Connection, key: str, value: bytes, seconds: int) -> None:
    """Keep a value for a time, in place of what was there, when the pipeline is executed."""
    pipe.delete(key)
    for start in range(0, max(1, len(value)), CHUNK_BYTES):
        pipe.rpush(key, value[start : start + CHUNK_BYTES])
    pipe.expire(key, seconds)


def get(redis: Connection, key: str) -> bytes | None:
    """The whole value, or None."""
    chunks = list(chunks_of(redis, key))
    return b"".join(chunks) if chunks else None


def chunks_of(redis: Connection, key: str) -> Iterator[bytes]:
    """One chunk after the other."""
    index = 0
    while (chunk := redis.lindex(key, index)) is not None:
        yield chunk
        index += 1
