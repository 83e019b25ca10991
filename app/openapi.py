"""The OpenAPI document, with the parts that FastAPI cannot derive: manually parsed bodies, and authentication."""

from typing import Any

from fastapi import FastAPI

from app.auth import ApiKeys, is_public
from app.links import prefix
from app.problems import ProblemView, problem_responses
from ism_jobs.spec import POSTED_JOB, POSTED_JOBS

DESCRIPTION = """
Upload a table, post a job, follow its progress, and download its results. The main result is a matrix **W**: each
column is an axis, and its entries are the weights of the features in that axis. The other results are the rows in the
new axes, the trace of the iteration, metrics, plots, and a model that projects new rows.

Errors are `application/problem+json` documents that say what is wrong and how to fix it. If the service has API keys,
send yours as `Authorization: Bearer KEY`. You see only the data sets and jobs that were created with your key.
"""


def install_openapi(app: FastAPI, keys: ApiKeys) -> None:
    """Make the app serve the completed document. It changes when the first API key is made."""
    plain = app.openapi
    documents: dict[bool, dict[str, Any]] = {}

    def complete() -> dict[str, Any]:
        if keys.enabled not in documents:
            app.openapi_schema = None  # otherwise FastAPI returns its cached document
            document = plain()
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            for name, schema in _manual_schemas().items():
                schemas.setdefault(name, schema)
            _add_authentication(document, keys.enabled)
            documents[keys.enabled] = document
        servers = {"servers": [{"url": prefix()}]} if prefix() else {}
        return {**documents[keys.enabled], **servers}

    app.openapi = complete  # type: ignore[method-assign]


def _add_authentication(document: dict[str, Any], keys: bool) -> None:
    """Add the responses of the access middleware, and the API key that it requires."""
    for path, operations in document["paths"].items():
        for operation in operations.values():
            refusals = {
                str(status): view for status, view in problem_responses(*((401, 429) if keys else (403,))).items()
            }
            if not keys or not is_public(path):
                operation["responses"] = {**refusals, **operation["responses"]}
            if keys and not is_public(path):
                operation["security"] = [{"apiKey": []}]
    if keys:
        scheme = {"type": "http", "scheme": "bearer", "description": "An API key, made with `ism keys make`."}
        document["components"]["securitySchemes"] = {"apiKey": scheme}


def _manual_schemas() -> dict[str, Any]:
    job = POSTED_JOB.json_schema(ref_template="#/components/schemas/{model}")
    posted = POSTED_JOBS.json_schema(ref_template="#/components/schemas/{model}")
    problem = ProblemView.model_json_schema(ref_template="#/components/schemas/{model}")
    return {
        **job.pop("$defs"),
        **posted.pop("$defs"),
        **problem.pop("$defs"),
        "PostedJob": job,
        "PostedJobs": posted,
        "ProblemView": problem,
    }
