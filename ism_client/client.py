"""The client: data sets, jobs and batches of a service."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Self

import httpx

from ism_client import calls
from ism_client.batches import Batch
from ism_client.datasets import Dataset, DatasetSummary, delete_dataset, upload, upload_uri
from ism_client.jobs import Job
from ism_client.transport import Http, iterate, run


class Client:
    """A service at a URL. Calls are repeated up to `retries` times if the connection breaks or the service is busy.

    with Client("http://127.0.0.1:8000") as client:
        dataset = client.upload("wine.csv")
        job = client.submit(dataset, paradigm="supervised", target="class", kernel="gaussian", q=2)
        print(job.wait(progress=True).result().W_frame())
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 4,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = Http(url, api_key=api_key, timeout=timeout, retries=retries, transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    @property
    def url(self) -> str:
        """The URL of the service."""
        return self._http.url

    def close(self) -> None:
        """Close the connections."""
        run(self._http.wire.close())

    def upload(
        self,
        source: Any,
        *,
        names: Sequence[str] | None = None,
        name: str | None = None,
        header: bool | None = None,
    ) -> Dataset:
        """Upload a table: a path, an open file (read from its start), a pandas DataFrame (without its index), an array
        (with the `names` of its columns) or a list of dicts. `header` says whether the first line of a CSV file holds
        names; by default the service detects it.

        client.upload(X, names=["height", "weight"], name="people")
        """
        return Dataset.of(self._http, run(upload(self._http, source, names, name, header)))

    def upload_uri(self, uri: str, *, name: str | None = None, header: bool | None = None) -> Dataset:
        """Make a data set whose rows stay where they are: Parquet or CSV files in a folder or a bucket of the service.

        client.upload_uri("s3://bucket/rows/")
        """
        return Dataset.of(self._http, run(upload_uri(self._http, uri, name, header)))

    def dataset(self, id: str) -> Dataset:
        """Return a data set with its columns."""
        return Dataset.of(self._http, run(calls.get(self._http, "datasets", id)))

    def datasets(self) -> Iterator[DatasetSummary]:
        """Iterate over all data sets; pages are fetched as needed."""
        return map(DatasetSummary.of, iterate(calls.items(self._http, "/datasets")))

    def delete_dataset(self, id: str) -> None:
        """Delete a data set. Raises ApiError (409) while a queued or running job needs it."""
        run(delete_dataset(self._http, id))

    def submit(
        self,
        dataset: Dataset | DatasetSummary | str | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> Job:
        """Post a job: a data set (or its id) and the fields of the spec, or a whole spec as a dict.

        client.submit(dataset, paradigm="unsupervised", clusters=3, kernel="gaussian", q=2)
        """
        return Job.of(self._http, run(calls.post_job(self._http, dataset, idempotency_key, fields)))

    def submit_batch(
        self,
        jobs: Mapping[str, Any] | Sequence[Mapping[str, Any]] = (),
        *,
        label: str | None = None,
        notify: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> Batch:
        """Post several jobs as one batch: a grid, which has lists of values (for dataset, kernel, q, delta, seed, …),
        or a list of specs and grids. `fields` are defaults for each of them, or the grid itself. `notify`
        is {"url": …}, which is told when all jobs have ended.

        client.submit_batch(dataset=[wine, iris], paradigm="supervised", target="class", kernel=["gaussian", "linear"])
        client.submit_batch([{"q": 2}, {"q": 3, "delta": 0.1}], dataset=wine, paradigm="supervised", target="class")
        """
        posted = run(calls.post_batch(self._http, jobs, label, notify, idempotency_key, fields))
        return Batch.of(self._http, posted)

    def job(self, id: str) -> Job:
        """Return a job."""
        return Job.of(self._http, run(calls.get(self._http, "jobs", id)))

    def jobs(
        self,
        *,
        state: str | Sequence[str] | None = None,
        batch: str | None = None,
        dataset: str | None = None,
        label: str | None = None,
        created_after: datetime | None = None,
    ) -> Iterator[Job]:
        """Iterate over all jobs, or those that match; pages are fetched as needed.

        for job in client.jobs(state=["queued", "running"]):
            print(job.id, job.progress)
        """
        filters = calls.job_filters(state, batch, dataset, label, created_after)
        return (Job.of(self._http, item) for item in iterate(calls.items(self._http, "/jobs", filters)))

    def batch(self, id: str) -> Batch:
        """Return a batch."""
        return Batch.of(self._http, run(calls.get(self._http, "batches", id)))

    def batches(self) -> Iterator[Batch]:
        """Iterate over all batches, newest first; pages are fetched as needed."""
        return (Batch.of(self._http, item) for item in iterate(calls.items(self._http, "/batches")))

    def kernels(self) -> list[dict[str, Any]]:
        """Return the kernels with their parameters."""
        return list(iterate(calls.items(self._http, "/kernels")))

    def paradigms(self) -> list[dict[str, Any]]:
        """Return the paradigms with their fields."""
        return list(iterate(calls.items(self._http, "/paradigms")))
