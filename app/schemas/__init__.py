"""The documents of the API, and the functions that make them from stored records."""

from app.schemas.batches import BatchRow, BatchView
from app.schemas.datasets import (
    DatasetPage,
    DatasetView,
    DifferencesView,
    DifferenceView,
    Groups,
    GroupView,
    dataset_item,
    dataset_view,
    utc,
)
from app.schemas.jobs import JobPage, JobView, PictureView, job_view
from app.schemas.results import ResultView
from app.schemas.service import Health, Kernels, Paradigms, Readiness

__all__ = [
    "BatchRow",
    "BatchView",
    "DatasetPage",
    "DatasetView",
    "DifferenceView",
    "DifferencesView",
    "GroupView",
    "Groups",
    "Health",
    "JobPage",
    "JobView",
    "Kernels",
    "Paradigms",
    "PictureView",
    "Readiness",
    "ResultView",
    "dataset_item",
    "dataset_view",
    "job_view",
    "utc",
]
