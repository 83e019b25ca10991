"""The OpenAPI document, completed with what FastAPI cannot see: the bodies that are read by hand."""

from typing import Any

from fastapi import FastAPI

from app.problems import ProblemView
from ism_jobs.grids import POSTED_JOBS

DESCRIPTION = """
Upload a table, post a job, follow it, and download what it found: a matrix **W** whose columns say how the features of
the table combine into a few new ones, the table in the new features, the traces of the iteration, metrics, pictures,
and a model for new rows.

Errors are `application/problem+json` with a sentence that says what to change.
"""


def install(app: FastAPI) -> None:
    """Let the app give the completed document."""
    plain = app.openapi

    def complete() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = plain()
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            for name, schema in _bodies().items():
                schemas.setdefault(name, schema)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = complete  # type: ignore[method-assign]


def _bodies() -> dict[str, Any]:
    posted = POSTED_JOBS.json_schema(ref_template="#/components/schemas/{model}")
    problem = ProblemView.model_json_schema(ref_template="#/components/schemas/{model}")
    return {
        **posted.pop("$defs"),
        **problem.pop("$defs"),
        "PostedJobs": posted,
        "ProblemView": problem,
    }
