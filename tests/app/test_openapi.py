"""The committed OpenAPI document is that of the code, and changes of the API are additive."""

import difflib
import gzip
import json
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
