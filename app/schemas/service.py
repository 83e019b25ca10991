"""Documents about the service itself: health, readiness, kernels and paradigms."""

from pydantic import BaseModel, Field

from ism_jobs.spec import KernelEntry, ParadigmEntry


class Health(BaseModel):
    """The process answers requests."""

    status: str = Field("ok", description="Always ok.")


class Readiness(BaseModel):
    """Redis answers and at least one worker is running."""

    status: str = Field("ready", description="Always ready; otherwise the response is a problem with status 503.")
    workers: int = Field(description="The number of running workers.")


class Kernels(BaseModel):
    """All kernels."""

    items: list[KernelEntry] = Field(description="The kernels.")


class Paradigms(BaseModel):
    """All paradigms."""

    items: list[ParadigmEntry] = Field(description="The paradigms.")
