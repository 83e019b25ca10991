"""The data set that the jobs of these tests name: nothing in it, but there."""

import pytest

from ism_jobs.store import Store, keys


@pytest.fixture
def wine(store: Store) -> None:
    store.redis.hset(keys.dataset("wine"), "name", "what the jobs name")
