"""Data sets, jobs, batches and results whose methods are awaited. `Dataset`, `Job`, … describe each of them."""

import os
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy.typing as npt

from ism_client.batches import BatchFields
from ism_client.datasets import DatasetFields, delete_dataset
from ism_client.downloads import download
from ism_client.events import Event
from ism_client.jobs import JobFields
from ism_client.pictures import Picture
from ism_client.results import Floats, Ints, Projection, ResultFields


class AsyncDataset(DatasetFields):
    """A table that the service has read.

    dataset = await client.upload("wine.csv")
    """

    async def delete(self) -> None:
        """Delete the data set."""
        await delete_dataset(self._http, self.id)


class AsyncResult(ResultFields):
    """W and its properties. Large tables are downloaded by each call.

    embedding = await (await job.result()).embedding()
    """

    async def embedding(self) -> Floats:
        """Return the rows of the data set in the new axes, n×q."""
        return await self._embedding()

    async def labels(self) -> Ints | None:
        """Return the cluster of each row of the embedding; None for a supervised job."""
        return await self._labels()

    async def trace(self) -> dict[str, npt.NDArray[Any]]:
        """Return the trace of the iteration by column."""
        return await self._columns("trace")

    async def frame(self) -> Any:
        """Return the embedding as a pandas DataFrame."""
        return await self._frame()

    async def plot(self, name: str = "embedding", format: str = "svg") -> Picture:
        """Return a plot of the service."""
        return await self._plot(name, format)

    async def report(self, path: str | os.PathLike[str] = "report.html") -> Path:
        """Write the report of the job as HTML, or as PDF if the path ends in .pdf."""
        return await download(self._http, self.job_id, "report", path)


class AsyncJob(JobFields):
    """A job as the service last described it; `refresh`, `wait` and `events` update it.

    result = await (await job.wait()).result()
    """

    async def refresh(self) -> Self:
        """Get the current state from the service."""
        return await self._refresh()

    async def wait(self, *, progress: bool | None = None, timeout: float | None = None) -> Self:
        """Wait until the job ends. Raises JobFailed unless it succeeds, and TimeoutError after `timeout` seconds."""
        return await self._wait(progress, timeout)

    def events(self, last_event_id: str = "", *, timeout: float | None = None) -> AsyncGenerator[Event]:
        """Yield the events of the job until its end.

        async for event in job.events():
            print(event.type, event.data)
        """
        return self._events(last_event_id, timeout)

    async def result(self) -> AsyncResult:
        """Return the result. Raises ApiError (409) unless the job has succeeded."""
        return AsyncResult.of(self._http, self.id, await self._result())

    async def plot(self, name: str = "embedding", format: str = "svg") -> Picture:
        """Return a plot of the service."""
        return await self._plot(name, format)

    async def download(self, name: str, path: str | os.PathLike[str] | None = None) -> Path:
        """Write a result to a file, in the format of the suffix of the file."""
        return await download(self._http, self.id, name, path)

    async def transform(self, rows: Any, names: Sequence[str] | None = None, *, header: bool | None = None) -> Floats:
        """Project new rows onto the axes of the job."""
        return (await self._project(rows, names, header)).values

    async def project(self, rows: Any, names: Sequence[str] | None = None, *, header: bool | None = None) -> Projection:
        """Like `transform`, with notes."""
        return await self._project(rows, names, header)

    async def transformed(
        self, rows: Any, format: str, names: Sequence[str] | None = None, *, header: bool | None = None
    ) -> bytes:
        """Like `transform`, as the bytes of a file."""
        return await self._transformed(rows, format, names, header)

    async def cancel(self) -> Self:
        """Cancel the job."""
        return await self._do("cancel")

    async def finish(self) -> Self:
        """End the search and keep the best result so far."""
        return await self._do("finish")

    async def retry(self) -> Self:
        """Queue the job again if it has failed or was cancelled."""
        return await self._do("retry")

    async def delete(self) -> None:
        """Delete the job and its results."""
        await self._delete()


class AsyncBatch(BatchFields):
    """A batch as the service last described it.

    best = await (await batch.wait()).best()
    """

    async def refresh(self) -> Self:
        """Get the current state from the service."""
        return await self._refresh()

    async def wait(self, *, progress: bool | None = None, timeout: float | None = None) -> Self:
        """Wait until all jobs have ended, successfully or not."""
        return await self._wait(progress, timeout)

    async def table(self) -> list[dict[str, Any]]:
        """Return a row for each job, best first."""
        return await self._table()

    async def jobs(self) -> list[AsyncJob]:
        """Return the jobs in the order of the table."""
        return [AsyncJob.of(self._http, document) for document in await self._jobs()]

    async def best(self) -> AsyncJob:
        """Return the best job by the metric. Raises LookupError if no job has succeeded yet."""
        return AsyncJob.of(self._http, await self._best())

    async def csv(self) -> str:
        """Return the table as CSV."""
        return await self._csv()

    async def cancel(self) -> Self:
        """Cancel every job that has not ended."""
        return await self._do("cancel")

    async def retry(self) -> Self:
        """Queue every job that has failed once more."""
        return await self._do("retry")

    async def delete(self) -> None:
        """Delete the batch and its jobs."""
        await self._delete()
