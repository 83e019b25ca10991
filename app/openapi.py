"""The OpenAPI document, completed with what FastAPI cannot see: bodies that are read by hand, and who may call."""

from typing import Any

from fastapi import FastAPI

from app.auth.access import is_open
from app.auth.api_keys import Keys
from app.problems import ProblemView, documented
from ism_jobs.spec import POSTED_JOBS

DESCRIPTION = """
Upload a table, post a job, follow it, and download what it found: a matrix **W** whose columns say how the features of
the table combine into a few new ones, the table in the new features, the traces of the iteration, metrics, pictures,
and a model for new rows.

Errors are `application/problem+json` with a sentence that says what to change. Where the service has API keys, send
yours as `Authorization: Bearer KEY`; you see what was made with it and nothing else.
"""


def install(app: FastAPI, keys: Keys) -> None:
    """Let the app give the completed document, another one from the first key on."""
    plain = app.openapi
    documents: dict[bool, dict[str, Any]] = {}

    def complete() -> dict[str, Any]:
        if keys.on not in documents:
            app.openapi_schema = None  # else FastAPI would give the one it has made before
            document = plain()
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            for name, schema in _bodies().items():
                schemas.setdefault(name, schema)
            _add_access(document, keys.on)
            documents[keys.on] = document
        return documents[keys.on]

    app.openapi = complete  # type: ignore[method-assign]


def _add_access(document: dict[str, Any], keys: bool) -> None:
    """What the middleware may answer in place of any route, and the key that it asks for."""
    for path, operations in document["paths"].items():
        for operation in operations.values():
            refusals = {str(status): view for status, view in documented(*((401, 429) if keys else (403,))).items()}
            if not keys or not is_open(path):
                operation["responses"] = {**refusals, **operation["responses"]}
            if keys and not is_open(path):
                operation["security"] = [{"apiKey": []}]
    if keys:
        scheme = {"type": "http", "scheme": "bearer", "description": "An API key, made with `ism keys make`."}
        document["components"]["securitySchemes"] = {"apiKey": scheme}


def _bodies() -> dict[str, Any]:
    posted = POSTED_JOBS.json_schema(ref_template="#/components/schemas/{model}")
    problem = ProblemView.model_json_schema(ref_template="#/components/schemas/{model}")
    return {
        **posted.pop("$defs"),
        **problem.pop("$defs"),
        "PostedJobs": posted,
        "ProblemView": problem,
    }
