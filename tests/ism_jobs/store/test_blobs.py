"""Large values in chunks."""

import pytest

from ism_jobs.store import Store, blobs


def put(store: Store, value: bytes) -> None:
    with store.redis.pipeline() as pipe:
        blobs.put(pipe, "ism:blob", value, 100)
        pipe.execute()


@pytest.mark.parametrize(
    "size", [0, 1, blobs.CHUNK_BYTES - 1, blobs.CHUNK_BYTES, blobs.CHUNK_BYTES + 1, 3 * blobs.CHUNK_BYTES]
)
def test_a_value_of_any_size_is_read_back_and_expires(store: Store, size: int) -> None:
    value = bytes(range(251)) * (size // 251 + 1)
    put(store, value[:size])
    assert blobs.get(store.redis, "ism:blob") == value[:size]
    chunks = [len(chunk) for chunk in blobs.chunks_of(store.redis, "ism:blob")]
    assert len(chunks) == max(1, -(-size // blobs.CHUNK_BYTES))
    assert max(chunks) <= blobs.CHUNK_BYTES
    assert 0 < store.redis.ttl("ism:blob") <= 100


def test_a_value_takes_the_place_of_the_one_before(store: Store) -> None:
    put(store, b"long" * blobs.CHUNK_BYTES)
    put(store, b"short")
    assert blobs.get(store.redis, "ism:blob") == b"short"


def test_what_is_not_there_is_none(store: Store) -> None:
    assert blobs.get(store.redis, "ism:blob") is None
