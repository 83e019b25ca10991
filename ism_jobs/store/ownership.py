"""What belongs to whom."""

from ism_jobs.store import keys
from ism_jobs.store.redis import Connection


def owned(redis: Connection, key: str, id: str, owner: str | None) -> dict[bytes, bytes] | None:
    """The fields of a thing, if it is there and this owner's; None sees all.

    What is another's is not read, so that it takes no longer to be not found than what never was.
    """
    if not keys.is_id(id):
        return None
    if owner and redis.hget(key, "owner") != owner.encode():
        return None
    fields: dict[bytes, bytes] = redis.hgetall(key)
    is_seen = owner is None or fields.get(b"owner", b"") == owner.encode()
    return fields if fields and is_seen else None
