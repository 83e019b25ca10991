"""Documents about batches: the jobs of a batch side by side."""

from datetime import datetime

from pydantic import BaseModel, Field

from app.schemas.references import JobSettings
from ism_jobs.store import State


class BatchRow(BaseModel):
    """One job of a batch."""

    id: str = Field(description="The id of the job.")
    state: State = Field(description="The state of the job.")
    label: str | None = Field(description="The label given when the job was posted.")
    dataset_name: str | None = Field(description="The name of the data set; null if the data set is gone.")
    target: str | list[str] | None = Field(description="The target columns of a supervised job.")
    sigma: float | None = Field(description="The width of a single Gaussian kernel that the job used; null until then.")
    settings: JobSettings = Field(description="The settings that the job was posted with.")
    metrics: dict[str, int | float | None] = Field(description="The metrics of the job; empty until it has succeeded.")
    error: str | None = Field(description="The reason why the job failed.")


class BatchItem(BaseModel):
    """A batch without its jobs."""

    id: str = Field(description="The id of the batch.")
    label: str | None = Field(description="The label given when the batch was posted.")
    created: datetime = Field(description="The time at which the batch was posted.")
    states: dict[str, int] = Field(description="The number of jobs in each state.", examples=[{"succeeded": 4}])
    links: dict[str, str] = Field(description="Paths of related resources.")


class BatchPage(BaseModel):
    """One page of batches, newest first."""

    items: list[BatchItem] = Field(description="The batches of this page.")
    next: str | None = Field(description="The cursor of the next page; null on the last page.")
    links: dict[str, str] = Field({}, description="Paths of this page, and of the next one if there is one.")


class BatchView(BatchItem):
    """The jobs of a batch, best first."""

    metric: str | None = Field(description="The metric that the jobs are sorted by; null until a job has succeeded.")
    jobs: list[BatchRow] = Field(description="The jobs, sorted by the metric.")
