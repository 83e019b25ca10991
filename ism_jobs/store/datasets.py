"""Data sets in Redis: a description, and the table as Arrow record batches."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self
from uuid import uuid4

import pyarrow as pa

from ism_jobs.connection import Connection
from ism_jobs.errors import Conflict, NotFound
from ism_jobs.packing import pack, unpack
from ism_jobs.settings import Settings
from ism_jobs.store import blobs, keys
from ism_jobs.store.pages import Place, page
from ism_jobs.store.transactions import transaction
from ism_jobs.tables import Description, Reader

ID_LENGTH = 20  # hexadecimal digits of the content's hash
STAGING_SECONDS = 3_600  # what is left of an upload that died half-way goes after this


@dataclass(frozen=True)
class Dataset:
    """What is known of a data set without reading it."""

    id: str
    name: str
    created: float
    size: int  # in bytes, as uploaded
    description: Description

    @classmethod
    def parsed(cls, id: str, fields: dict[bytes, bytes]) -> Self:
        return cls(
            id,
            fields[b"name"].decode(),
            float(fields[b"created"]),
            int(fields[b"size"]),
            Description.model_validate_json(fields[b"description"]),
        )


class Datasets:
    """The data sets that are kept, by id. The id is a hash of the content."""

    def __init__(self, redis: Connection, settings: Settings) -> None:
        self._redis = redis
        self._seconds = settings.dataset_seconds

    def add(self, reader: Reader, name: str, size: int) -> tuple[Dataset, bool]:
        """Keep the table that the reader gives, batch by batch; tells whether it is new."""
        staged = keys.dataset_chunks(f"staging:{uuid4().hex}")
        try:
            for batch in reader:
                with self._redis.pipeline() as pipe:
                    pipe.rpush(staged, pack(batch))
                    pipe.expire(staged, STAGING_SECONDS)
                    pipe.execute()
            dataset = Dataset(reader.digest()[:ID_LENGTH], name, time.time(), size, reader.description())
            return self._publish(dataset, staged)
        finally:
            self._redis.delete(staged)

    def _publish(self, dataset: Dataset, staged: str) -> tuple[Dataset, bool]:
        key, chunks = keys.dataset(dataset.id), keys.dataset_chunks(dataset.id)
        if self._redis.exists(key, chunks) == 2:
            keep(self._redis, dataset.id, self._seconds)
            return self.get(dataset.id), False
        with self._redis.pipeline() as pipe:
            fields = {
                "name": dataset.name,
                "created": dataset.created,
                "size": dataset.size,
                "description": dataset.description.model_dump_json(),
            }
            pipe.hset(key, mapping=fields)
            pipe.rename(staged, chunks)
            pipe.zadd(keys.DATASETS, {dataset.id: dataset.created})
            pipe.expire(key, self._seconds)
            pipe.expire(chunks, self._seconds)
            pipe.execute()
        return dataset, True

    def get(self, id: str) -> Dataset:
        """The data set's description."""
        fields = self._redis.hgetall(keys.dataset(id)) if keys.is_id(id) else None
        if not fields:
            raise NotFound(f"There is no data set {json.dumps(id)}; it may have expired. Upload the table again.")
        return Dataset.parsed(id, fields)

    def read(self, id: str, columns: Sequence[str] | None = None) -> pa.Table:
        """The table, or some of its columns."""
        parts = [unpack(chunk) for chunk in blobs.chunks_of(self._redis, keys.dataset_chunks(id))]
        if columns is not None:
            parts = [part.select(list(columns)) for part in parts]
        if not parts:
            raise NotFound(f"The data set {json.dumps(id)} is gone; upload the table again.")
        return pa.concat_tables(parts)

    def page(self, limit: int, after: Place | None) -> tuple[list[Dataset], Place | None]:
        """The newest first, and where the next page begins."""

        def load(ids: Sequence[str]) -> dict[str, Dataset]:
            with self._redis.pipeline(transaction=False) as pipe:
                for id in ids:
                    pipe.hgetall(keys.dataset(id))
                return {
                    id: Dataset.parsed(id, fields) for id, fields in zip(ids, pipe.execute(), strict=True) if fields
                }

        return page(self._redis, keys.DATASETS, load, limit, after)

    def delete(self, id: str) -> None:
        """Forget it, unless an open job needs it."""
        self.get(id)

        def change(pipe: Connection) -> None:
            waiting = pipe.scard(keys.dataset_jobs(id))
            if waiting:
                raise Conflict(f"{waiting} job(s) that are queued or running use this data set; cancel them first.")
            pipe.multi()
            pipe.delete(keys.dataset(id), keys.dataset_chunks(id))
            pipe.zrem(keys.DATASETS, id)

        transaction(self._redis, change, keys.dataset_jobs(id))


def keep(redis: Connection, id: str, seconds: int) -> None:
    """Begin a data set's time anew."""
    redis.expire(keys.dataset(id), seconds)
    redis.expire(keys.dataset_chunks(id), seconds)
