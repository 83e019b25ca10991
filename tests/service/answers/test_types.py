"""Events, results, batches and webhooks of a real service match the schemas of the committed OpenAPI document."""

import json
from typing import Any

import jsonschema
import pytest

from tests.service.test_posting import spec
from tests.support.api import Api
from tests.support.openapi import DOCUMENT


def check(name: str, document: Any) -> None:
    schema = {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}
    jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)


@pytest.fixture(scope="module")
def chosen(api: Api, wine_id: str) -> str:
    """A job that chooses its settings and solves halves again, so that it has events of every kind."""
    return api.submit(dataset=wine_id, paradigm="supervised", target="class", resamples=2, budget=1)


def test_every_event_is_typed(api: Api, chosen: str, clustered: str, done: str) -> None:
    kinds = set()
    for job in (chosen, clustered, done):
        for id, kind, data in api.events(job):
            check("JobEvent", {"id": id, "event": kind, "data": data})
            kinds.add(kind)
    assert kinds == set(DOCUMENT["components"]["schemas"]["JobEvent"]["discriminator"]["mapping"])


def test_specs_certificates_and_kernels_are_typed(api: Api, chosen: str, clustered: str, done: str) -> None:
    for job in (chosen, clustered, done):
        api.succeeded(job)
        result = api.get(f"/jobs/{job}/result").json()
        check("ResultView", result)
        check("PostedJob", result["job"]["spec"])
        assert result["certificate"]["orthonormality"] < 1e-8
    check("PostedJob", api.get(f"/jobs/{chosen}/result").json()["choice"]["spec"])


def test_batches_and_messages_to_webhooks_are_typed(api: Api, wine_id: str) -> None:
    url = "https://localhost/"  # refused when it is called, as a private address, but in the log
    grid = spec(wine_id, kernel=["linear", "gaussian"], q=1, features=["ash", "hue"], notify={"url": url})
    batch = api.post("/batches", json={"jobs": grid, "notify": {"url": url}}).json()
    check("BatchView", api.compared(batch["id"]))
    api.post("/webhooks/test", json={"url": url})
    types = set()
    while types < {"job.succeeded", "batch.ended", "test"}:
        for delivery in api.get("/webhooks/deliveries").json()["items"]:
            check("DeliveryView", delivery)
            check("WebhookMessage", message := json.loads(delivery["body"]))
            types.add(message["type"])
