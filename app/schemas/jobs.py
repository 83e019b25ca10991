"""Documents about jobs: state, progress, pages of them, and plans."""

from datetime import datetime

from pydantic import BaseModel, Field

from app.links import job_links, prefix
from app.problems import ProblemView
from app.schemas.datasets import utc
from app.schemas.references import AnyKernel, Spec
from ism_jobs.store import Record, State


class TryingView(BaseModel):
    """The candidate that is being tried while settings are chosen."""

    scale: str | None = Field(description="Preprocessing of the rows.")
    q: int | None = Field(description="The number of axes.")
    tried: int = Field(description="The number of candidates that were tried so far, in all folds.")
    best: float | None = Field(description="The best score so far; null while there is none.")


class ProgressView(BaseModel):
    """The progress of a running job."""

    stage: str = Field(
        description="The current stage: preparing, choosing, search, ascent, sparsity, stability, validation,"
        " measuring or writing.",
        examples=["ascent"],
    )
    iteration: int = Field(description="The number of iterations so far.")
    max_iter: int = Field(description="The largest number of iterations.")
    objective: float | None = Field(description="The objective J after the last iteration.")
    change: float | None = Field(description="The relative change of the eigenvalues in the last iteration.")
    angle: float | None = Field(description="The angle in radians by which the subspace turned in the last iteration.")
    elapsed_seconds: float = Field(description="Seconds since the job began.")
    percent: int | None = Field(None, description="Estimated share of the time that has passed, in per cent.")
    remaining_seconds: float | None = Field(description="Estimated seconds left; null while there is no estimate.")
    fold: int | None = Field(None, description="The number of cross-validation folds or resamples done.")
    folds: int | None = Field(None, description="The number of cross-validation folds or resamples in all.")
    trying: TryingView | None = Field(
        None, description="While settings are chosen: the current scale and q, how many were tried, the best score."
    )


class BestView(BaseModel):
    """The best candidate so far of a job that chooses its settings, or the axes so far."""

    number: int = Field(description="The number of its picture; each better candidate has a larger one.")
    score: float | None = Field(
        description="Its cross-validated accuracy or R², or consensus of a clustering; null if there is none yet."
    )
    q: int = Field(description="The number of axes.")
    kernel: AnyKernel = Field(description="The kernel, with the width that it has for the rows that were tried.")
    scale: str | None = Field(description="Preprocessing of the rows.")
    picture: str = Field(description="The path of its picture.")


class PictureView(BaseModel):
    """Some rows in two axes of the best candidate so far."""

    number: int = Field(description="The number of the picture; each better candidate has a larger one.")
    score: float | None = Field(description="The score of the candidate; null if there is none yet.")
    q: int = Field(description="The number of axes of the candidate.")
    kernel: AnyKernel = Field(description="Its kernel.")
    scale: str | None = Field(description="Preprocessing of the rows.")
    axes: list[str] = Field(
        description='The axes that are shown. "picture" is a direction of large variance beside the only axis.'
    )
    rows: list[int] = Field(description="The numbers of at most 2,000 rows of the table.")
    coordinates: list[list[float]] = Field(description="For each of these rows, its coordinates.")
    group: list[str | int | float | bool | None] | None = Field(
        description="For each of these rows, its target or cluster."
    )
    features: list[str] = Field(description="The features with the largest importance, at most 200.")
    W: list[list[float]] = Field(description="For each of these features, its weights in the axes shown.")
    importance: list[float] = Field(description="For each of these features, its share of the squared weights.")


class JobView(BaseModel):
    """A job and its current state."""

    id: str = Field(description="The id of the job.")
    state: State = Field(description="The state of the job.")
    label: str | None = Field(description="The label given when the job was posted.")
    metadata: dict[str, str] = Field(description="The metadata given when the job was posted.")
    dataset: str = Field(description="The id of the data set.")
    batch: str | None = Field(description="The id of the batch that the job belongs to, if any.")
    spec: Spec = Field(description="The job as it was posted, with defaults filled in.")
    created: datetime = Field(description="The time at which the job was posted.")
    started: datetime | None = Field(description="The time at which a worker started the job.")
    finished: datetime | None = Field(description="The time at which the job ended.")
    attempt: int = Field(description="How many times a worker has started the job.")
    cancel_requested: bool = Field(description="Whether the job is running and has been asked to stop.")
    position: int | None = Field(
        description="How many jobs would start before it if no others came; null once it has started, and in lists."
    )
    progress: ProgressView | None = Field(description="The progress of a running job.")
    best: BestView | None = Field(description="The best candidate so far; null until there is one.")
    error: ProblemView | None = Field(description="The reason why the job failed.")
    metrics: dict[str, int | float | None] | None = Field(description="The metrics of a job that has succeeded.")
    links: dict[str, str] = Field(description="Paths of related resources; they depend on the state.")


class JobPage(BaseModel):
    """One page of jobs, newest first."""

    items: list[JobView] = Field(description="The jobs of this page.")
    next: str | None = Field(description="The cursor of the next page; null on the last page.")
    links: dict[str, str] = Field({}, description="Paths of this page, and of the next one if there is one.")


class EstimateView(BaseModel):
    """What similar jobs took: the same paradigm, kernel and q, on a table of up to four times or a quarter the size."""

    jobs: int = Field(description="The number of similar jobs among your latest 200 that have succeeded.")
    seconds: float = Field(description="The median of their time, in seconds, without the time in the queue.")
    memory_bytes: int | None = Field(description="The median of their memory, in bytes; null if it is not known.")


class JobPlan(BaseModel):
    """What one job would do."""

    spec: Spec = Field(description="The job with defaults filled in.")
    rows: int = Field(description="The number of rows that the job would learn from.")
    rows_dropped: int = Field(description="The number of rows that it would leave out, such as those without a target.")
    features: int = Field(description="The number of features after text is encoded.")
    table_bytes: int = Field(
        description="The bytes of these rows and features as numbers. A job needs a multiple of that."
    )
    estimate: EstimateView | None = Field(
        None, description="Probable time and memory, from earlier jobs; null if there were no similar ones."
    )
    warnings: list[str] = Field(description="Columns and rows that would be left out, values that would be filled in.")


class PlanView(BaseModel):
    """What a request would do. Nothing was stored."""

    count: int = Field(description="The number of jobs that the request would make.")
    memory_per_job: int = Field(description="The bytes of memory that one job may use.")
    jobs: list[JobPlan] = Field(description="The jobs, in the order of the request.")


def job_view(record: Record, position: int | None = None) -> JobView:
    """Return the document of a job."""
    return JobView(
        id=record.id,
        state=record.state,
        label=record.spec.get("label"),
        metadata=record.spec.get("metadata") or {},
        dataset=record.dataset,
        batch=record.batch,
        spec=record.spec,
        created=utc(record.created),
        started=utc(record.started) if record.started else None,
        finished=utc(record.finished) if record.finished else None,
        attempt=record.attempt,
        cancel_requested=record.cancel_requested and not record.state.ended,
        position=position,
        progress=ProgressView(**record.progress) if record.progress else None,
        best=BestView(**record.best, picture=f"{prefix()}/jobs/{record.id}/picture") if record.best else None,
        error=ProblemView(**record.error) if record.error else None,
        metrics=record.summary["metrics"] if record.summary else None,
        links=job_links(record),
    )
