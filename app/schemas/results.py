"""What a result is as a document: W and what is known about it, how exact it is, and how its settings came about."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from app.schemas.jobs import JobView


class ErrorView(BaseModel):
    """How far the way that Φ was computed may have led off, relatively."""

    kind: Literal["rounding", "bound", "estimate"] = Field(
        description="Rounding alone; a proven bound; or an estimate from pairs of rows that were compared exactly."
    )
    objective: float | None = Field(description="Of the objective.")
    gradient: float | None = Field(description="Of ΦW.")


class StabilityView(BaseModel):
    """What the loadings vary by from one half of the rows to another."""

    resamples: int
    rows: int = Field(description="In each half.")
    errors: list[list[float]] = Field(description="Features × axes: the standard error of each entry of W.")
    angle: float = Field(description="Between the axes of a half and those of all rows: the median, in radians.")


class SparsityView(BaseModel):
    """What axes of few features cost."""

    features_per_axis: int
    dense_objective: float = Field(description="The objective that all features would reach.")
    loss: float | None = Field(description="The share of it that was given up; null where it is not above 0.")


class CandidateView(BaseModel):
    """One setting that was tried."""

    kernel: dict[str, Any] = Field(description="With its numbers.")
    scale: str
    q: int
    neighbors: bool = Field(False, description="Whether the neighbors of each row counted.")
    score: float | None = Field(description="The higher the better; null where nothing could be scored.")
    error: float | None = Field(description="The standard error of the score, where it is known.")
    seconds: float = Field(description="What it took to try, in all folds.")
    chosen: bool


class ChoiceView(BaseModel):
    """What the settings that were left open became, and what that was chosen from."""

    criterion: str = Field(description="What the scores are.", examples=["accuracy"])
    reason: str = Field(description="Why this one was taken, as a sentence.")
    rows: int = Field(description="How many rows the candidates were tried on; 0 where there were too few to choose.")
    seconds: float = Field(description="What the choice took.")
    spec: dict[str, Any] = Field(description="The job with what was chosen, as numbers: post it to have just that.")
    candidates: list[CandidateView] = Field(
        description="All that was tried, in that order. The scores come from the search; those of the metrics come from"
        " folds that chose for themselves, without the rows they are judged by."
    )


class ResultView(BaseModel):
    """Everything small about a result."""

    job: JobView
    features: list[str] = Field(description="The rows of W.")
    axes: list[str] = Field(description="The columns of W.")
    W: list[list[float]] = Field(description="Features × axes: how the features combine into each axis.")
    importance: list[float] = Field(description="Each feature's share in the new axes; the shares add up to 1.")
    eigenvalues: list[float]
    objective: float
    converged: bool
    stop: str = Field(description="Why the iteration ended.")
    certificate: dict[str, float | bool | None] = Field(description="How close to a maximum the result is.")
    kernel: dict[str, Any] = Field(description="With the numbers that were found; it can be posted again.")
    method: str = Field(description="How Φ was computed: by tiles, features or random features.", examples=["tiles"])
    error: ErrorView | None = Field(None, description="How exact that is; null where the job is older than the field.")
    metrics: dict[str, int | float | None]
    warnings: list[str]
    rows: int = Field(description="How many rows were learnt from.")
    cluster_sizes: list[int] | None = None
    choice: ChoiceView | None = Field(None, description="Where settings were left open.")
    sparsity: SparsityView | None = Field(None, description="Where features_per_axis was given.")
    stability: StabilityView | None = Field(None, description="Where resamples were asked for.")
    links: dict[str, str]
