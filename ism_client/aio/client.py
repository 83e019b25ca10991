"""The asynchronous client: the calls of `Client`, to be awaited."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Self

import httpx

from ism_client import calls
from ism_client.aio.results import AsyncBatch, AsyncDataset, AsyncJob
from ism_client.datasets import DatasetFields, DatasetSummary, delete_dataset, upload, upload_uri
from ism_client.transport import Http


class AsyncClient:
    """A service at a URL, for programs with an event loop. The methods are those of `Client`, and are awaited.

    async with AsyncClient("http://127.0.0.1:8000") as client:
        dataset = await client.upload("wine.csv")
        job = await client.submit(dataset, paradigm="supervised", target="class")
        print((await (await job.wait()).result()).W_frame())
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 4,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = Http(url, api_key=api_key, timeout=timeout, retries=retries, transport=transport, is_async=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self.url!r})"

    @property
    def url(self) -> str:
        """The URL of the service."""
        return self._http.url

    async def close(self) -> None:
        """Close the connections."""
        await self._http.wire.close()

    async def upload(
        self, source: Any, *, names: Sequence[str] | None = None, name: str | None = None, header: bool | None = None
    ) -> AsyncDataset:
        """Upload a table: a path, an open file, a pandas DataFrame, an array or a list of dicts."""
        return AsyncDataset.of(self._http, await upload(self._http, source, names, name, header))

    async def upload_uri(self, uri: str, *, name: str | None = None, header: bool | None = None) -> AsyncDataset:
        """Make a data set whose rows stay where they are: Parquet or CSV files in a folder or a bucket."""
        return AsyncDataset.of(self._http, await upload_uri(self._http, uri, name, header))

    async def dataset(self, id: str) -> AsyncDataset:
        """Return a data set with its columns."""
        return AsyncDataset.of(self._http, await calls.get(self._http, "datasets", id))

    async def datasets(self) -> AsyncIterator[DatasetSummary]:
        """Iterate over all data sets."""
        async for item in calls.items(self._http, "/datasets"):
            yield DatasetSummary.of(item)

    async def delete_dataset(self, id: str) -> None:
        """Delete a data set."""
        await delete_dataset(self._http, id)

    async def submit(
        self,
        dataset: DatasetFields | DatasetSummary | str | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> AsyncJob:
        """Post a job: a data set (or its id) and the fields of the spec, or a whole spec as a dict."""
        return AsyncJob.of(self._http, await calls.post_job(self._http, dataset, idempotency_key, fields))

    async def submit_batch(
        self,
        jobs: Mapping[str, Any] | Sequence[Mapping[str, Any]] = (),
        *,
        label: str | None = None,
        notify: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> AsyncBatch:
        """Post several jobs as one batch."""
        posted = await calls.post_batch(self._http, jobs, label, notify, idempotency_key, fields)
        return AsyncBatch.of(self._http, posted)

    async def job(self, id: str) -> AsyncJob:
        """Return a job."""
        return AsyncJob.of(self._http, await calls.get(self._http, "jobs", id))

    async def jobs(
        self,
        *,
        state: str | Sequence[str] | None = None,
        batch: str | None = None,
        dataset: str | None = None,
        label: str | None = None,
        created_after: datetime | None = None,
    ) -> AsyncIterator[AsyncJob]:
        """Iterate over all jobs, or those that match."""
        filters = calls.job_filters(state, batch, dataset, label, created_after)
        async for item in calls.items(self._http, "/jobs", filters):
            yield AsyncJob.of(self._http, item)

    async def batch(self, id: str) -> AsyncBatch:
        """Return a batch."""
        return AsyncBatch.of(self._http, await calls.get(self._http, "batches", id))

    async def batches(self) -> AsyncIterator[AsyncBatch]:
        """Iterate over all batches, newest first."""
        async for item in calls.items(self._http, "/batches"):
            yield AsyncBatch.of(self._http, item)

    async def kernels(self) -> list[dict[str, Any]]:
        """Return the kernels with their parameters."""
        return [item async for item in calls.items(self._http, "/kernels")]

    async def paradigms(self) -> list[dict[str, Any]]:
        """Return the paradigms with their fields."""
        return [item async for item in calls.items(self._http, "/paradigms")]
