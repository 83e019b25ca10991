"""Handlers that turn the exceptions of a route into problem responses. The middleware handles all other exceptions."""

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from app.problems import document_response, problem_response
from ism_jobs.errors import FieldError, InvalidParameter, Problem
from ism_jobs.store import problem_of


def install_exception_handlers(app: FastAPI) -> None:
    """Register the handlers of all expected exceptions."""

    @app.exception_handler(Problem)
    async def _(request: Request, error: Problem) -> JSONResponse:
        return problem_response(error)

    @app.exception_handler(RedisError)
    async def _(request: Request, error: RedisError) -> JSONResponse:
        if problem := problem_of(error):
            return problem_response(problem)
        raise error

    @app.exception_handler(RequestValidationError)
    async def _(request: Request, error: RequestValidationError) -> JSONResponse:
        return problem_response(_invalid_parameter(error))

    @app.exception_handler(HTTPException)
    async def _(request: Request, error: HTTPException) -> JSONResponse:
        if isinstance(error.__cause__, UnicodeDecodeError | RecursionError):  # FastAPI answers 400 to these two only
            return problem_response(InvalidParameter("The body is not JSON, or its text is not UTF-8."))
        phrase = HTTPStatus(error.status_code).phrase
        detail, headers = str(error.detail), dict(error.headers or {})
        if error.status_code == HTTPStatus.NOT_FOUND and detail == phrase:
            detail = f"There is nothing at {request.url.path}; /docs lists all calls."
        elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = ", ".join(_allowed_methods(request))
            headers["Allow"] = allowed
            detail = f"{request.method} is not allowed at {request.url.path}; use {allowed}."
        document = {"type": "about:blank", "title": phrase, "status": error.status_code, "detail": detail, "errors": []}
        return document_response(document, headers)


def _allowed_methods(request: Request) -> list[str]:
    """Return all methods of a path. Starlette reports those of one route only, and a path may have several routes."""
    scopes = {method: {**request.scope, "method": method} for method in ("DELETE", "GET", "POST")}
    routes = request.app.routes
    return [name for name in scopes if any(route.matches(scopes[name])[0] is Match.FULL for route in routes)]


def _invalid_parameter(error: RequestValidationError) -> InvalidParameter:
    """Return the problem of parameters that failed validation. Job specs have their own validation."""
    errors = [
        FieldError(str(part["loc"][-1]), f"{part['msg']}; got {part.get('input')!r:.100}.") for part in error.errors()
    ]
    return InvalidParameter(" ".join(f"{one.field}: {one.message}" for one in errors), errors)
