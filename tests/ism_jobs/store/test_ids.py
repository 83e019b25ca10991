import pytest

from ism_jobs.errors import NotFound
from ism_jobs.store import Store


@pytest.mark.parametrize("suffix", [":events", ":checkpoint", ":1:W", ":chunks", ":jobs", "", "\0", "é", " "])
def test_an_id_never_reaches_another_key(store: Store, suffix: str) -> None:
    store.redis.rpush(f"ism:job:abc{suffix}", b"a list")
    store.redis.rpush(f"ism:dataset:abc{suffix}", b"a list")
    store.redis.rpush(f"ism:batch:abc{suffix}", b"a list")
    id = f"abc{suffix}" if suffix else "../abc"
    for get in (store.jobs.get, store.datasets.get, store.batches.get):
        with pytest.raises(NotFound):
            get(id)
