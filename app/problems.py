"""Errors as application/problem+json (RFC 9457): the one place that renders them."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from ism_jobs.errors import Problem
from ism_jobs.store import problem_of

MEDIA_TYPE = "application/problem+json"


class FieldProblem(BaseModel):
    """What is wrong with one field."""

    field: str = Field(description="The field, as a path such as kernel.sigma, or a column.", examples=["target"])
    message: str = Field(description="What to change.", examples=['There is no column "clas"; did you mean "class"?'])


class ProblemView(BaseModel):
    """Why a request was refused, or a job failed (RFC 9457)."""

    type: str = Field(examples=["urn:ism:problem:invalid-spec"])
    title: str = Field(examples=["The job cannot run as specified"])
    status: int = Field(examples=[422])
    detail: str = Field(description="A sentence that says what to change.")
    errors: list[FieldProblem] = Field(default_factory=list)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that a route may answer with, for the OpenAPI document; 503 is always among them."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemView"}}},
        }
        for status in (*statuses, 503)
    }


def respond(problem: Problem) -> JSONResponse:
    """A problem as a response."""
    headers = {"Retry-After": "2"} if problem.status == 503 else dict(problem.headers)
    return JSONResponse(problem.document(), problem.status, headers, MEDIA_TYPE)


def unexpected() -> Problem:
    """For errors that nobody foresaw: nothing of them is told but that they are ours."""
    return Problem("This failed for a reason that is ours, not yours; the service's log has the details.")


def install(app: FastAPI) -> None:
    """Render every error that leaves a route and was foreseen; app.middleware renders the others."""

    @app.exception_handler(Problem)
    async def _(request: Request, error: Problem) -> JSONResponse:
        return respond(error)

    @app.exception_handler(RedisError)
    async def _(request: Request, error: RedisError) -> JSONResponse:
        if problem := problem_of(error):
            return respond(problem)
        raise error

    @app.exception_handler(RequestValidationError)
    async def _(request: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse(_invalid(error), 422, media_type=MEDIA_TYPE)

    @app.exception_handler(HTTPException)
    async def _(request: Request, error: HTTPException) -> JSONResponse:
        phrase = HTTPStatus(error.status_code).phrase
        detail, headers = str(error.detail), dict(error.headers or {})
        if error.status_code == 404 and detail == phrase:
            detail = f"There is nothing at {request.url.path}; /docs lists all calls."
        elif error.status_code == 405:
            allowed = ", ".join(_allowed(request))
            headers["Allow"] = allowed
            detail = f"{request.method} is not possible at {request.url.path}; {allowed} is."
        document = {"type": "about:blank", "title": phrase, "status": error.status_code, "detail": detail, "errors": []}
        return JSONResponse(document, error.status_code, headers, MEDIA_TYPE)


def _allowed(request: Request) -> list[str]:
    """All methods of a path: each of its routes knows its own only."""
    scopes = {method: {**request.scope, "method": method} for method in ("DELETE", "GET", "POST")}
    routes = request.app.routes
    return [name for name in scopes if any(route.matches(scopes[name])[0] is Match.FULL for route in routes)]


def _invalid(error: RequestValidationError) -> dict[str, Any]:
    """Parameters that do not parse. Bodies are validated elsewhere, with sentences of our own."""
    errors = [
        {"field": str(part["loc"][-1]), "message": f"{part['msg']}; {part.get('input')!r:.100} came."}
        for part in error.errors()
    ]
    return {
        "type": "urn:ism:problem:invalid-parameter",
        "title": "A parameter is wrong",
        "status": 422,
        "detail": " ".join(f"{part['field']}: {part['message']}" for part in errors),
        "errors": errors,
    }
