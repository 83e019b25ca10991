"""The events of a job, as `GET /jobs/{id}/events` sends them."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter

from app.schemas.jobs import JobView, PictureView, TryingView
from app.schemas.references import Spec


class Times(BaseModel):
    """The time of an event."""

    elapsed_seconds: float = Field(description="Seconds since the job began.")
    remaining_seconds: float | None = Field(description="Estimated seconds left; null while there is no estimate.")


class StepView(Times):
    """One iteration."""

    iteration: int = Field(description="The number of the iteration.")
    round: int = Field(description="The number of the clustering that it belongs to; 0 for supervised jobs.")
    stage: Literal["search", "ascent", "sparsity"] = Field(
        description="search while starts are compared, then ascent; sparsity while features_per_axis selects features."
    )
    objective: float = Field(description="The objective J.")
    change: float | None = Field(description="The relative change of the eigenvalues; null in the first iteration.")
    angle: float | None = Field(description="The angle in radians by which the subspace turned.")
    gradient: float | None = Field(description="The norm of the gradient relative to Φ.")
    eigenvalues: list[float] = Field(description="The eigenvalues of Φ that belong to the axes.")


class TrialView(TryingView, Times):
    """A candidate that was tried while settings are chosen."""

    fold: int | None = Field(description="The number of folds that are done; of a clustering, its number.")
    folds: int | None = Field(description="The number of folds in all.")


class ChosenView(Times):
    """The settings that were chosen."""

    criterion: str = Field(description="The score that candidates were compared by.")
    reason: str = Field(description="Why this candidate was chosen.")
    cut_short: bool = Field(False, description="Whether the search ended on request.")
    rows: int = Field(description="The number of rows that candidates were tried on.")
    seconds: float = Field(description="The time that the choice took, in seconds.")
    spec: Spec = Field(description="The job with the chosen settings.")


class FoldView(Times):
    """Halves of the rows, or folds, that are done."""

    fold: int | None = Field(description="The number that is done.")
    folds: int | None = Field(description="The number in all.")


class _Event(BaseModel):
    id: str = Field(description="The id of the event, for Last-Event-ID.")


class StateEvent(_Event):
    """The job has changed its state. The stream ends after the last one."""

    event: Literal["state"]
    data: JobView


class StepEvent(_Event):
    """An iteration."""

    event: Literal["step"]
    data: StepView


class TrialEvent(_Event):
    """A candidate was tried."""

    event: Literal["trial"]
    data: TrialView


class ChoiceEvent(_Event):
    """Settings were chosen."""

    event: Literal["choice"]
    data: ChosenView


class FoldEvent(_Event):
    """A random half of the rows was solved, or a fold was scored."""

    event: Literal["resample", "validation"]
    data: FoldView


class PictureEvent(_Event):
    """A better candidate; only the latest picture is sent."""

    event: Literal["picture"]
    data: PictureView


JOB_EVENT: TypeAdapter[object] = TypeAdapter(
    Annotated[
        StateEvent | StepEvent | TrialEvent | ChoiceEvent | FoldEvent | PictureEvent, Field(discriminator="event")
    ]
)
EVENT_DATA = {  # the schema of the data of each kind
    "state": "JobView",
    "step": "StepView",
    "trial": "TrialView",
    "choice": "ChosenView",
    "resample": "FoldView",
    "validation": "FoldView",
    "picture": "PictureView",
}
