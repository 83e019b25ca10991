"""Webhooks: the log of deliveries, the secret that signs them, and a test call."""

import time
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from app.dependencies import OwnerDep, SettingsDep, StoreDep
from app.http import decode_cursor, page_end
from app.problems import problem_responses
from app.routes.parameters import CursorParameter, LimitParameter
from app.schemas import DeliveryPage, DeliveryView, WebhookSecret, WebhookTest, delivery_view
from app.webhooks import url_refusal
from ism_jobs.errors import FieldError, InvalidSpec

router = APIRouter(prefix="/webhooks", tags=["webhooks"])


@router.get("/secret", operation_id="getWebhookSecret", summary="Get the secret", responses=problem_responses(422, 507))
def get_secret(store: StoreDep, owner: OwnerDep) -> WebhookSecret:
    """The key with which the messages to your webhooks are signed. Each API key has its own."""
    return WebhookSecret(secret=store.webhooks.secret(owner))


@router.post(
    "/test",
    status_code=202,
    operation_id="testWebhook",
    summary="Send a test message",
    responses=problem_responses(413, 422, 507),
)
def test_webhook(test: WebhookTest, store: StoreDep, settings: SettingsDep) -> DeliveryView:
    """Queue a message of type `test`. GET /webhooks/deliveries/{id} says what became of it."""
    if refusal := url_refusal(test.url, settings):
        raise InvalidSpec(refusal, [FieldError("url", refusal)])
    return delivery_view(store.webhooks.test(test.url, time.time()))


@router.get("/deliveries", operation_id="listDeliveries", summary="List deliveries", responses=problem_responses(422))
def list_deliveries(
    request: Request,
    store: StoreDep,
    about: Annotated[
        str | None, Query(description="Only those about this, such as job:ID or batch:ID.", max_length=200)
    ] = None,
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
) -> DeliveryPage:
    """Messages to webhooks come newest first, one page at a time."""
    found, after = store.webhooks.page(limit, decode_cursor(cursor), about)
    return DeliveryPage(items=[delivery_view(one) for one in found], **page_end(request, after))


@router.get(
    "/deliveries/{id}",
    operation_id="getDelivery",
    summary="Get a delivery",
    responses=problem_responses(404, 422),
)
def get_delivery(
    id: Annotated[str, Path(description="The id of the delivery.", max_length=100)], store: StoreDep
) -> DeliveryView:
    """A message to a webhook, with the outcome of its last try."""
    return delivery_view(store.webhooks.get(id))
