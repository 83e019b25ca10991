"""The documents of the API, and the functions that make them from stored records."""

from app.schemas.batches import BatchItem, BatchPage, BatchRow, BatchView
from app.schemas.datasets import (
    DatasetPage,
    DatasetView,
    DifferencesView,
    DifferenceView,
    Groups,
    GroupView,
    TableReference,
    dataset_item,
    dataset_view,
    table_document,
    utc,
)
from app.schemas.events import EVENT_DATA, JOB_EVENT
from app.schemas.jobs import EstimateView, JobPage, JobPlan, JobView, PictureView, PlanView, job_view
from app.schemas.references import resolve
from app.schemas.results import OtherAxes, ResultView
from app.schemas.service import Health, Kernels, Paradigms, Quota, Quotas, Readiness
from app.schemas.webhooks import WEBHOOK_MESSAGE, DeliveryPage, DeliveryView, WebhookSecret, WebhookTest, delivery_view

__all__ = [
    "EVENT_DATA",
    "JOB_EVENT",
    "WEBHOOK_MESSAGE",
    "BatchItem",
    "BatchPage",
    "BatchRow",
    "BatchView",
    "DatasetPage",
    "DatasetView",
    "DeliveryPage",
    "DeliveryView",
    "DifferenceView",
    "DifferencesView",
    "EstimateView",
    "GroupView",
    "Groups",
    "Health",
    "JobPage",
    "JobPlan",
    "JobView",
    "Kernels",
    "OtherAxes",
    "Paradigms",
    "PictureView",
    "PlanView",
    "Quota",
    "Quotas",
    "Readiness",
    "ResultView",
    "TableReference",
    "WebhookSecret",
    "WebhookTest",
    "dataset_item",
    "dataset_view",
    "delivery_view",
    "job_view",
    "resolve",
    "table_document",
    "utc",
]
