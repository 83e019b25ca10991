"""The committed OpenAPI document is that of the code, and changes of the API are additive."""

import difflib
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools import openapi

RELEASES = sorted((Path(__file__).parents[1] / "upgrades" / "releases").glob("*.openapi.json.gz"))


def test_the_committed_document_is_that_of_the_code() -> None:
    committed, now = openapi.FILE.read_text(encoding="utf-8"), openapi.text()
    difference = difflib.unified_diff(committed.splitlines(), now.splitlines(), "committed", "code", n=2, lineterm="")
    assert committed == now, "\n".join(["`make openapi` writes it:", *difference])


@pytest.mark.parametrize("released", RELEASES, ids=lambda path: path.name)
def test_a_client_of_an_earlier_release_finds_everything(released: Path) -> None:
    assert list(openapi.broken(json.loads(gzip.decompress(released.read_bytes())), json.loads(openapi.text()))) == []


def changed(**changes: Any) -> dict[str, Any]:
    """A small document, with some of its parts replaced."""
    answer: Any = {"200": {"content": {"application/json": {}}}}
    schemas: Any = {"Job": {"properties": {"id": {}}}, "Spec": {"properties": {"q": {}}, "additionalProperties": False}}
    parts = {"parameters": [{"in": "query", "name": "wait"}], "responses": answer, "schemas": schemas} | changes
    operation = {"parameters": parts["parameters"], "responses": parts["responses"]}
    return {"paths": {"/jobs": {"get": operation}}, "components": {"schemas": parts["schemas"]}}


@pytest.mark.parametrize(
    ("new", "found"),
    [
        (changed() | {"paths": {}}, "GET /jobs is gone"),
        (changed(parameters=[]), "GET /jobs: the parameter wait is gone"),
        (changed(responses={}), "GET /jobs: 200 application/json is gone"),
        (changed(schemas={"Job": {"properties": {}}, "Spec": {"properties": {"q": {}}}}), "Job.id is gone"),
        (
            changed(schemas={"Job": {"properties": {"id": {}}}, "Spec": {"properties": {"q": {}}, "required": ["q"]}}),
            "Spec.q is now required",
        ),
    ],
)
def test_a_change_that_breaks_clients_is_found(new: dict[str, Any], found: str) -> None:
    assert list(openapi.broken(changed(), new)) == [found]
    assert list(openapi.broken(changed(), changed())) == []


def nodes(node: Any, where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a document, with its place."""
    if isinstance(node, dict):
        yield where, node
    for name, inner in node.items() if isinstance(node, dict) else enumerate(node if isinstance(node, list) else []):
        yield from nodes(inner, f"{where}/{name}")


def test_every_reference_leads_to_a_schema() -> None:
    document = json.loads(openapi.text())
    for place, node in nodes(document):
        if isinstance(reference := node.get("$ref"), str):
            assert reference.removeprefix("#/components/schemas/") in document["components"]["schemas"], place
        assert not any(name.startswith("x-") for name in node), place


def test_no_part_of_an_answer_is_an_object_of_any_kind() -> None:
    schemas = json.loads(openapi.text())["components"]["schemas"]
    free = [
        place
        for place, node in nodes(schemas)
        if "examples" not in place and node.get("type") == "object" and not node.get("properties")
        if node.get("additionalProperties", True) is True
    ]
    assert free == []


def test_the_document_has_every_kind_of_event_and_message() -> None:
    document = json.loads(openapi.text())
    schemas = document["components"]["schemas"]
    kinds = {"state", "step", "trial", "choice", "resample", "validation", "picture"}
    assert set(schemas["JobEvent"]["discriminator"]["mapping"]) == kinds
    stream = document["paths"]["/jobs/{id}/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]
    assert {each["properties"]["event"]["const"] for each in stream["itemSchema"]["oneOf"]} == kinds
    types = {"job.succeeded", "job.failed", "job.cancelled", "batch.ended", "test"}
    assert set(schemas["WebhookMessage"]["discriminator"]["mapping"]) == types
