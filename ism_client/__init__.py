"""The Python client of an ISM service.

from ism_client import Client

with Client("http://127.0.0.1:8000") as client:
    dataset = client.upload("wine.csv")
    job = client.submit(dataset, paradigm="supervised", target="class", kernel="gaussian", q=2)
    result = job.wait(progress=True).result()
    print(result.stop, result.metrics, result.W)
"""

from ism_client.aio import AsyncBatch, AsyncClient, AsyncDataset, AsyncJob, AsyncResult
from ism_client.batches import Batch
from ism_client.client import Client
from ism_client.datasets import Column, Dataset, DatasetSummary
from ism_client.downloads import MODEL_FORMATS, PLOT_FORMATS, PLOTS, TABLES
from ism_client.errors import ApiError, ClientError, JobFailed, Unreachable
from ism_client.events import Event
from ism_client.jobs import Job, Progress
from ism_client.pictures import Picture
from ism_client.progress import ProgressBar
from ism_client.results import Projection, Result

__all__ = [
    "MODEL_FORMATS",
    "PLOTS",
    "PLOT_FORMATS",
    "TABLES",
    "ApiError",
    "AsyncBatch",
    "AsyncClient",
    "AsyncDataset",
    "AsyncJob",
    "AsyncResult",
    "Batch",
    "Client",
    "ClientError",
    "Column",
    "Dataset",
    "DatasetSummary",
    "Event",
    "Job",
    "JobFailed",
    "Picture",
    "Progress",
    "ProgressBar",
    "Projection",
    "Result",
    "Unreachable",
]
