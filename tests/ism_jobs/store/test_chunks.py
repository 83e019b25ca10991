"""Large values in chunks."""

import pytest

from ism_jobs.store import Store
from ism_jobs.store.redis import CHUNK_BYTES, get_chunks, iter_chunks, put_chunks


def put(store: Store, value: bytes) -> None:
    with store.redis.pipeline() as pipe:
        put_chunks(pipe, "ism:value", value, 100)
        pipe.execute()


@pytest.mark.parametrize("size", [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES])
def test_a_value_of_any_size_is_read_back_and_expires(store: Store, size: int) -> None:
    value = bytes(range(251)) * (size // 251 + 1)
    put(store, value[:size])
    assert get_chunks(store.redis, "ism:value") == value[:size]
    chunks = [len(chunk) for chunk in iter_chunks(store.redis, "ism:value")]
    assert len(chunks) == max(1, -(-size // CHUNK_BYTES))
    assert max(chunks) <= CHUNK_BYTES
    assert 0 < store.redis.ttl("ism:value") <= 100


def test_a_value_takes_the_place_of_the_one_before(store: Store) -> None:
    put(store, b"long" * CHUNK_BYTES)
    put(store, b"short")
    assert get_chunks(store.redis, "ism:value") == b"short"


def test_what_is_not_there_is_none(store: Store) -> None:
    assert get_chunks(store.redis, "ism:value") is None
