"""The Python client of the service.

from ism_client import Client

with Client("http://127.0.0.1:8000") as client:
    dataset = client.upload("wine.csv")
    job = client.submit(dataset, paradigm="supervised", target="class", kernel="gaussian", q=2)
    result = job.wait(progress=True).result()
    print(result.stop, result.metrics, result.W)
"""

from ism_client.batches import Batch
from ism_client.client import Client
from ism_client.datasets import Column, Dataset, DatasetSummary
from ism_client.errors import ApiError, ClientError, JobFailed, Unreachable
from ism_client.events import Event
from ism_client.jobs import Job, Progress
from ism_client.results import Projection, Result

__all__ = [
    "ApiError",
    "Batch",
    "Client",
    "ClientError",
    "Column",
    "Dataset",
    "DatasetSummary",
    "Event",
    "Job",
    "JobFailed",
    "Progress",
    "Projection",
    "Result",
    "Unreachable",
]
