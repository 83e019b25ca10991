"""Documents about webhooks: deliveries, the secret, and what a test needs."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.schemas.datasets import utc
from ism_jobs.store import Delivery, State


class DeliveryView(BaseModel):
    """A message to a webhook, and what became of it."""

    id: str = Field(description="The id of the message; the receiver gets it as webhook-id in every try.")
    about: str = Field(description="What it is about.", examples=["job:3f9a1c52e07b4d68"])
    url: str = Field(description="The URL that is called.")
    state: Literal["pending", "delivered", "failed"] = Field(description="failed means that the last try has failed.")
    created: datetime = Field(description="The time at which the message was made.")
    tries: int = Field(description="How often it was sent.")
    next_try: datetime | None = Field(description="The time of the next try of a pending message.")
    status: int | None = Field(description="The HTTP status of the last answer.")
    error: str | None = Field(description="Why the last try has failed.")
    body: str = Field(description="The body as it is sent and signed.")


class DeliveryPage(BaseModel):
    """One page of deliveries, newest first."""

    items: list[DeliveryView] = Field(description="The deliveries of this page.")
    next: str | None = Field(description="The cursor of the next page; null on the last page.")
    links: dict[str, str] = Field({}, description="Paths of this page, and of the next one if there is one.")


class WebhookSecret(BaseModel):
    """The key that signs your messages."""

    secret: str = Field(description="The key, in the form of Standard Webhooks: whsec_ and base64.")


class WebhookTest(BaseModel):
    """Where to send a test message."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(description="The URL to call.", examples=["https://example.org/ism"], max_length=2_000)


class EndedJob(BaseModel):
    """A job that has ended."""

    id: str = Field(description="The id of the job.")
    state: State = Field(description="How it has ended.")
    label: str | None = Field(description="The label given when the job was posted.")
    metadata: dict[str, str] = Field(description="The metadata given when the job was posted.")
    batch: str | None = Field(description="The id of its batch, if any.")
    dataset: str = Field(description="The id of the data set.")
    attempt: int = Field(description="How many times a worker has started the job.")
    ended: datetime = Field(description="The time at which the job ended.")
    error: str | None = Field(description="The reason why the job failed.")


class EndedBatch(BaseModel):
    """A batch whose jobs have all ended."""

    id: str = Field(description="The id of the batch.")
    label: str | None = Field(description="The label given when the batch was posted.")
    states: dict[str, int] = Field(description="The number of jobs in each state.")
    ended: datetime = Field(description="The time at which the last job ended.")


class TestData(BaseModel):
    """A test."""

    id: str = Field(description="The id of the test.")


class _Message(BaseModel):
    timestamp: datetime = Field(description="The time of what happened.")


class JobMessage(_Message):
    """A job has ended."""

    type: Literal["job.succeeded", "job.failed", "job.cancelled"]
    data: EndedJob


class BatchMessage(_Message):
    """All jobs of a batch have ended."""

    type: Literal["batch.ended"]
    data: EndedBatch


class TestMessage(_Message):
    """The message that POST /webhooks/test sends."""

    type: Literal["test"]
    data: TestData


WEBHOOK_MESSAGE: TypeAdapter[object] = TypeAdapter(
    Annotated[JobMessage | BatchMessage | TestMessage, Field(discriminator="type")]
)


def delivery_view(delivery: Delivery) -> DeliveryView:
    """Return the document of a delivery."""
    return DeliveryView(
        id=delivery.id,
        about=delivery.subject,
        url=delivery.url,
        state=delivery.state,
        created=utc(delivery.created),
        tries=delivery.tries,
        next_try=utc(delivery.next_try) if delivery.next_try else None,
        status=delivery.status,
        error=delivery.error,
        body=delivery.body,
    )
