"""The calls of both clients that are not about one job or batch: their requests, and the pages of lists."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import numpy as np

from ism_client.datasets import DatasetFields, DatasetSummary
from ism_client.transport import Http, path_of

Document = dict[str, Any]


async def get(http: Http, kind: str, id: str) -> Document:
    """Return the document of a data set, job or batch."""
    document: Document = await http.json("GET", path_of(kind, id))
    return document


async def items(http: Http, path: str, filters: Mapping[str, Any] | None = None) -> AsyncGenerator[Document]:
    """Yield the items of a list; pages are fetched as needed."""
    cursor = None
    while True:
        page = await http.json("GET", path, params={**(filters or {}), "cursor": cursor})
        for item in page["items"]:
            yield item
        cursor = page.get("next")
        if not cursor:
            return


def job_filters(
    state: str | Sequence[str] | None,
    batch: str | None,
    dataset: str | None,
    label: str | None,
    created_after: datetime | None,
) -> Document:
    """Return the query parameters of GET /jobs."""
    states = state if state is None or isinstance(state, str) else ",".join(state)
    since = None if created_after is None else created_after.astimezone(UTC).isoformat()
    return {"state": states, "batch": batch, "dataset": dataset, "label": label, "created_after": since}


async def post_job(http: Http, dataset: Any, idempotency_key: str | None, fields: Mapping[str, Any]) -> Document:
    """Post a job, and return its document."""
    spec = dict(dataset) if isinstance(dataset, Mapping) else {"dataset": dataset}
    return await _post(http, "/jobs", {**spec, **fields}, idempotency_key)


async def post_batch(
    http: Http,
    jobs: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    label: str | None,
    notify: Mapping[str, str] | None,
    idempotency_key: str | None,
    fields: Mapping[str, Any],
) -> Document:
    """Post a batch, and return its document."""
    specs = [jobs] if isinstance(jobs, Mapping) else jobs or [{}]
    about = {name: value for name, value in (("label", label), ("notify", notify)) if value is not None}
    body = {"jobs": [{**fields, **spec} for spec in specs], **about}
    return await _post(http, "/batches", body, idempotency_key)


async def _post(http: Http, path: str, body: Document, key: str | None) -> Document:
    plain = _plain(body)
    headers = {"Idempotency-Key": key or uuid4().hex}
    answer: Document = await http.json("POST", path, headers=headers, body=lambda: {"json": plain})
    return answer


def _plain(value: Any) -> Any:
    """Convert a spec to plain JSON values: numpy numbers, ranges, and data sets in place of their ids."""
    if isinstance(value, DatasetFields | DatasetSummary):
        return value.id
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple | range):
        return [_plain(item) for item in value]
    return value
