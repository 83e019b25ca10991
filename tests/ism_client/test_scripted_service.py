"""The service that the client is tested against answers with documents that the OpenAPI document describes."""

import copy
from typing import Any

import httpx
import jsonschema
import pytest

from tests.support.openapi import DOCUMENT
from tests.support.scripted_service import PROBLEM, Service

CALLS = [
    ("POST", "/datasets", "/datasets"),
    ("POST", "/jobs", "/jobs"),
    ("GET", "/jobs", "/jobs"),
    ("GET", "/jobs/j1", "/jobs/{id}"),
    ("GET", "/jobs/j1/result", "/jobs/{id}/result"),
    ("GET", "/jobs/j1/embedding", "/jobs/{id}/{table}"),
    ("GET", "/jobs/j1/labels", "/jobs/{id}/{table}"),
    ("GET", "/jobs/j1/trace", "/jobs/{id}/{table}"),
    ("POST", "/jobs/j1/transform", "/jobs/{id}/transform"),
    ("POST", "/jobs/j1/cancel", "/jobs/{id}/cancel"),
    ("GET", "/batches/b1", "/batches/{id}"),
]
NOT_YET = "a field to come"  # which clients must ignore


def partial(schema: Any) -> Any:
    """The schema of documents that may leave fields out, but have no others."""
    if isinstance(schema, list):
        return [partial(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {name: partial(value) for name, value in schema.items() if name != "required"}
    if isinstance(changed.get("properties"), dict):
        changed["properties"] |= {NOT_YET: {}}
        changed.setdefault("additionalProperties", False)
    return changed


def errors(document: Any, schema: dict[str, Any]) -> list[str]:
    resolvable = {**partial(copy.deepcopy(schema)), "components": partial(DOCUMENT["components"])}
    found = jsonschema.Draft202012Validator(resolvable).iter_errors(document)
    return [f"{error.json_path}: {error.message[:300]}" for error in found]


@pytest.mark.parametrize(("method", "path", "template"), CALLS, ids=[f"{method} {path}" for method, path, _ in CALLS])
def test_its_documents_are_those_of_the_api(method: str, path: str, template: str) -> None:
    with httpx.Client(base_url="http://ism.test", transport=Service()) as client:
        if path == "/datasets":
            answer = client.post(path, files={"file": ("table.csv", b"a,class\n1,x\n")})
        else:
            answer = client.request(
                method, path, json={"dataset": "d1", "paradigm": "supervised"} if path == "/jobs" else None
            )
    described = DOCUMENT["paths"][template][method.lower()]["responses"][str(answer.status_code)]
    assert errors(answer.json(), described["content"]["application/json"]["schema"]) == []


def test_its_problem_is_one_of_the_api() -> None:
    described = DOCUMENT["paths"]["/jobs"]["post"]["responses"]["422"]
    assert errors(PROBLEM, described["content"]["application/problem+json"]["schema"]) == []


def test_a_wrong_document_is_found() -> None:
    schema = {"$ref": "#/components/schemas/JobView"}
    assert errors({"state": "done", "kernle": "linear"}, schema)
