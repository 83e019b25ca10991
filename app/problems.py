"""Errors as application/problem+json (RFC 9457): the only module that renders them."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import structlog
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse

from ism_jobs.errors import Problem

MEDIA_TYPE = "application/problem+json"
UNAVAILABLE_RETRY_SECONDS = 2  # Retry-After of a 503; Redis is usually back within a second or two


class FieldProblem(BaseModel):
    """The error of one field."""

    field: str = Field(description="The path of the field, such as kernel.sigma, or a column.", examples=["target"])
    message: str = Field(
        description="What is wrong with the field and how to fix it.",
        examples=['There is no column "clas"; did you mean "class"?'],
    )
    pointer: str | None = Field(
        None,
        description="Where the field is in the JSON body: a JSON pointer (RFC 6901) as a URI fragment. Absent or null"
        " if the field is not part of a JSON body.",
        examples=["#/kernel/sigma"],
    )


class ProblemView(BaseModel):
    """The reason why a request was refused or a job failed (RFC 9457)."""

    type: str = Field(
        description="A URI that identifies the kind of problem.", examples=["urn:ism:problem:invalid-spec"]
    )
    title: str = Field(description="The kind of problem in a few words.", examples=["The job cannot run as specified"])
    status: int = Field(description="The HTTP status code.", examples=[422])
    detail: str = Field(description="What is wrong and how to fix it.")
    instance: str | None = Field(
        None,
        description="The id of the request, as in the header X-Request-ID; null for a job that failed.",
        examples=["urn:ism:request:5f0c7a4e"],
    )
    errors: list[FieldProblem] = Field(default_factory=list, description="One entry for each invalid field.")


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI entries of the problems that a route can answer with; 503 is always among them."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemView"}}},
        }
        for status in (*statuses, 503)
    }


def problem_response(problem: Problem) -> JSONResponse:
    """Render a problem as a response."""
    headers = dict(problem.headers)
    if problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers = {"Retry-After": str(UNAVAILABLE_RETRY_SECONDS)}
    return document_response(problem.document(), headers)


def document_response(document: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Render a problem document as a response."""
    request_id = structlog.contextvars.get_contextvars().get("request")
    instance = {"instance": f"urn:ism:request:{request_id}"} if request_id else {}
    return JSONResponse({**document, **instance}, document["status"], headers, MEDIA_TYPE)


def internal_error() -> Problem:
    """Return the problem for an unexpected exception. Its text goes to the log only, because it may contain secrets."""
    request_id = structlog.contextvars.get_contextvars().get("request", "unknown")
    return Problem(f"Internal error. The service's log has the details; please quote request id {request_id}.")
