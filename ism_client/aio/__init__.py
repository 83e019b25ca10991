"""The asynchronous client: `AsyncClient` and what it returns. It runs the same operations as `Client`."""

from ism_client.aio.client import AsyncClient
from ism_client.aio.results import AsyncBatch, AsyncDataset, AsyncJob, AsyncResult

__all__ = ["AsyncBatch", "AsyncClient", "AsyncDataset", "AsyncJob", "AsyncResult"]
