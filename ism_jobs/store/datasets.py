"""Data sets in Redis: a description, and the table as Arrow record batches."""

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self
from uuid import uuid4

import pyarrow as pa

from ism_jobs import schema_versions
from ism_jobs.errors import Conflict, NotFound
from ism_jobs.settings import Settings
from ism_jobs.store import keys
from ism_jobs.store.arrow import pack, unpack
from ism_jobs.store.ownership import OwnedCollection, Position
from ism_jobs.store.quotas import USAGE_SECONDS, Quotas
from ism_jobs.store.redis import Connection, iter_chunks, script
from ism_jobs.tables import Description, Reference

ID_LENGTH = 20  # hexadecimal digits of the content's hash, 80 bits
REFERENCE_START = b"{"  # of the only chunk of a data set by reference; those of others are Arrow streams
STAGING_SECONDS = 3_600  # lifetime of the chunks of an aborted upload
KEPT_SECONDS = 60.0  # how long a process keeps a description for the checks of jobs
KEPT_DESCRIPTIONS, KEPT_COLUMNS = 64, 1_000  # how many it keeps, and the most columns of one


@dataclass(frozen=True)
class Dataset:
    """The description of a data set, without its rows."""

    id: str
    owner: str
    name: str
    created: float
    size: int  # in bytes, as uploaded
    description: Description

    @classmethod
    def parsed(cls, id: str, fields: dict[bytes, bytes]) -> Self:
        """Parse the fields of a hash in Redis."""
        return cls(
            id,
            fields.get(b"owner", b"").decode(),
            fields[b"name"].decode(),
            float(fields[b"created"]),
            int(fields[b"size"]),
            Description.model_validate_json(fields[b"description"]),
        )


class Table(Protocol):
    """A table that is being read: its record batches, packed or not; then its description and digest."""

    def __iter__(self) -> Iterator[Any]: ...

    def description(self) -> Description: ...

    def digest(self) -> str: ...


class Datasets(OwnedCollection):
    """All data sets, by id. The id is a hash of the content and its owner."""

    def __init__(self, redis: Connection, settings: Settings) -> None:
        super().__init__(redis)
        self._seconds = settings.dataset_seconds
        self._quotas = Quotas(redis, settings)
        self._delete_dataset = script(redis, "delete_dataset")
        self._kept: dict[tuple[str | None, str], tuple[float, Description]] = {}  # by owner and id: until when, what

    def add(self, table: Table, name: str, size: int) -> tuple[Dataset, bool]:
        """Store a table; return its description and whether it is new."""
        staged, stored, owner = keys.dataset_chunks(f"staging:{uuid4().hex}"), 0, self._owner or ""
        self._quotas.check_bytes(owner)
        try:
            for batch in table:
                packed = batch if isinstance(batch, bytes) else pack(batch)
                stored += len(packed)
                self._quotas.check_bytes(owner, stored, longest_age=USAGE_SECONDS)
                with self._redis.pipeline() as pipe:
                    pipe.rpush(staged, packed)
                    pipe.expire(staged, STAGING_SECONDS)
                    pipe.execute()
            id = _id(owner, table.digest())
            return self._publish(Dataset(id, owner, name, time.time(), size, table.description()), staged, stored)
        finally:
            self._redis.delete(staged)

    def _publish(self, dataset: Dataset, staged: str, stored: int) -> tuple[Dataset, bool]:
        key, chunks = keys.dataset(dataset.id), keys.dataset_chunks(dataset.id)
        if self._redis.exists(key, chunks) == 2:
            extend_expiry(self._redis, dataset.id, self._seconds)
            return self.get(dataset.id), False
        with self._redis.pipeline() as pipe:
            is_reference = dataset.description.uri is not None
            fields = {
                "schema": schema_versions.DATASET if is_reference else schema_versions.DATASET_WITH_ROWS,
                "owner": dataset.owner,
                "name": dataset.name,
                "created": dataset.created,
                "size": dataset.size,
                "stored": stored,
                "description": dataset.description.model_dump_json(),
            }
            pipe.hset(key, mapping=fields)
            pipe.rename(staged, chunks)
            pipe.zadd(keys.datasets(dataset.owner), {dataset.id: dataset.created})
            if dataset.owner:
                pipe.sadd(keys.OWNERS, dataset.owner)
            pipe.expire(key, self._seconds)
            pipe.expire(chunks, self._seconds)
            pipe.execute()
        return dataset, True

    def get(self, id: str) -> Dataset:
        """Return the description of a data set."""
        fields = self._read(keys.dataset(id), id)
        if fields is None:
            raise NotFound(f"There is no data set {json.dumps(id)}; it may have expired. Upload the table again.")
        schema_versions.check_readable("data set", int(fields.get(b"schema", 1)), schema_versions.DATASET)
        return Dataset.parsed(id, fields)

    def recent_description(self, id: str) -> Description:
        """Return the description of a data set that was there in the last minute, and may have been deleted since.

        An id is a hash of the content, so that the description of an id does not change.
        """
        until, description = self._kept.get((self._owner, id), (0.0, None))
        now = time.monotonic()
        if description is None or now > until:
            description = self.get(id).description
            if len(description.columns) <= KEPT_COLUMNS:
                while len(self._kept) >= KEPT_DESCRIPTIONS:
                    self._kept.pop(next(iter(self._kept)), None)
                self._kept[self._owner, id] = now + KEPT_SECONDS, description
        return description

    def read(self, id: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the table, or some of its columns."""
        return pa.concat_tables(list(self.iter_parts(id, columns)))

    def iter_parts(self, id: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the table in parts of some megabytes."""
        for chunk in self.iter_packed(id):
            part = unpack(chunk)
            yield part if columns is None else part.select(list(columns))

    def iter_packed(self, id: str) -> Iterator[bytes]:
        """Yield the table in parts of some megabytes, each packed."""
        chunk = None
        for chunk in iter_chunks(self._redis, keys.dataset_chunks(id)):
            if chunk.startswith(REFERENCE_START):
                uri = Reference.from_json(chunk).uri
                raise Conflict(f"The rows of this data set stay at {uri}; the service has only read a sample of them.")
            yield chunk
        if chunk is None:
            raise NotFound(f"The data set {json.dumps(id)} is gone; upload the table again.")

    def reference(self, id: str) -> Reference:
        """Return where the rows of a data set by reference are."""
        for chunk in iter_chunks(self._redis, keys.dataset_chunks(id)):
            return Reference.from_json(chunk)
        raise NotFound(f"The data set {json.dumps(id)} is gone; register the table again.")

    def page(self, limit: int, after: Position | None) -> tuple[list[Dataset], Position | None]:
        """Return a page of data sets, the newest first, and the position after which the next page begins."""

        def load(ids: Sequence[str]) -> dict[str, Dataset]:
            with self._redis.pipeline(transaction=False) as pipe:
                for id in ids:
                    pipe.hgetall(keys.dataset(id))
                return {
                    id: Dataset.parsed(id, fields) for id, fields in zip(ids, pipe.execute(), strict=True) if fields
                }

        return self._page(keys.datasets(self._owner or ""), load, limit, after)

    def names(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the names of several data sets by their ids, without those that are gone."""
        listed = [id for id in ids if keys.is_id(id)]
        with self._redis.pipeline(transaction=False) as pipe:
            for id in listed:
                pipe.hget(keys.dataset(id), "name")
            return {id: name.decode() for id, name in zip(listed, pipe.execute(), strict=True) if name is not None}

    def delete(self, id: str) -> None:
        """Delete a data set, unless queued or running jobs use it."""
        dataset = self.get(id)
        names = [keys.dataset_jobs(id), keys.dataset(id), keys.dataset_chunks(id), keys.datasets(dataset.owner)]
        if waiting := self._delete_dataset(keys=names, args=[id]):
            raise Conflict(f"{waiting} job(s) that are queued or running use this data set; cancel them first.")


def _id(owner: str, digest: str) -> str:
    """Return the id of a table.

    Owners get different ids for the same table, so that an id does not reveal that another owner has the table.
    """
    hashed = hashlib.sha256(json.dumps([owner, digest]).encode()).hexdigest() if owner else digest
    return hashed[:ID_LENGTH]


def extend_expiry(pipe: Connection, id: str, seconds: int) -> None:
    """Set the expiry of a data set to `seconds` from now, when the pipeline is executed."""
    for key in keys.of_dataset(id):
        pipe.expire(key, seconds)
