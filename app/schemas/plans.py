"""Documents about what a request would do, for `validate_only`."""

from typing import Any

from pydantic import BaseModel, Field


class JobPlan(BaseModel):
    """What one job would do."""

    spec: dict[str, Any] = Field(description="The job with defaults filled in.")
    rows: int = Field(description="The number of rows that the job would learn from.")
    rows_dropped: int = Field(description="The number of rows that it would leave out, such as those without a target.")
    features: int = Field(description="The number of features after text is encoded.")
    table_bytes: int = Field(
        description="The bytes of these rows and features as numbers. A job needs a multiple of that."
    )
    warnings: list[str] = Field(description="Columns and rows that would be left out, values that would be filled in.")


class PlanView(BaseModel):
    """What a request would do. Nothing was stored."""

    count: int = Field(description="The number of jobs that the request would make.")
    memory_per_job: int = Field(description="The bytes of memory that one job may use.")
    jobs: list[JobPlan] = Field(description="The jobs, in the order of the request.")
