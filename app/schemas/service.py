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


class Quota(BaseModel):
    """How much of something your API key uses, and how much it may use."""

    used: int = Field(description="How much is used now.")
    limit: int | None = Field(description="The most that may be used; null if there is no limit.")


class Quotas(BaseModel):
    """What your API key uses. Without API keys, what all callers use together."""

    stored_bytes: Quota = Field(description="Bytes of data sets and jobs. At the limit, uploads and jobs get a 507.")
    open_jobs: Quota = Field(description="Queued and running jobs. At the limit, new jobs get a 429.")
    running_jobs: Quota = Field(description="Running jobs. At the limit, queued jobs wait.")


class Kernels(BaseModel):
    """All kernels."""

    items: list[KernelEntry] = Field(description="The kernels.")


class Paradigms(BaseModel):
    """All paradigms."""

    items: list[ParadigmEntry] = Field(description="The paradigms.")
