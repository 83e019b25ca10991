"""Errors of a request or a job, each with its HTTP status and a sentence that says what to change.

Problem
├── Unauthorized          401   no valid API key
├── Forbidden             403   a request from a page of another site
├── NotFound              404   no such data set, job, batch or artifact
├── NotAcceptable         406   the artifact is not available in that format
├── RequestTimeout        408   a request that arrives too slowly
├── Conflict              409   the state of the job or data set does not allow this
├── TooLarge              413   more bytes, rows, columns or cells than the limits allow
├── UnsupportedFormat     415   a file format that is not supported
├── InvalidTable          422   a file that cannot be read as a table
├── InvalidSpec           422   a job spec that does not fit its data set
├── InvalidParameter      422   a query parameter with a wrong value
├── TooMany               429   more requests or jobs than an API key allows
├── HeadersTooLarge       431   headers longer than the limit
├── RequestFailed         500   a request whose process crashed or took too long
├── TimeOver              500   a job that reached its time limit
├── OutOfMemory           500   a job that needs more memory than it may use
├── Unavailable           503   Redis does not answer
└── StoreFull             507   Redis is at its memory limit
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import quote


@dataclass(frozen=True)
class FieldError:
    """A sentence about one field. The field is a path such as "kernel.sigma", or the name of a column."""

    field: str
    message: str


def pointer_of(field: str) -> str:
    """Return the path of a field of a spec as a JSON pointer, in the form of a URI fragment."""
    path, metadata, name = field.partition("metadata.")  # a name in the metadata may have dots
    parts = [part for part in path.split(".") if part] + ([metadata[:-1], name] if metadata else [])
    escaped = [part.replace("~", "~0").replace("/", "~1") for part in parts]
    return "#" + "".join(f"/{quote(part)}" for part in escaped)


class Problem(Exception):
    """An error that the client is told about, as application/problem+json (RFC 9457)."""

    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, detail: str, errors: list[FieldError] | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = errors or []

    @property
    def kind(self) -> str:
        """The name of the problem in kebab case: InvalidSpec is "invalid-spec"."""
        name = type(self).__name__
        return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("-")

    def document(self) -> dict[str, Any]:
        """Return the members of the problem document."""
        return {
            "type": f"urn:ism:problem:{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "errors": [self._entry(error) for error in self.errors],
        }

    def _entry(self, error: FieldError) -> dict[str, Any]:
        return {"field": error.field, "message": error.message}


class Unauthorized(Problem):
    """No valid API key."""

    status = 401
    title = "An API key is needed"
    headers: Mapping[str, str] = MappingProxyType({"WWW-Authenticate": 'Bearer realm="ism"'})


class Forbidden(Problem):
    """A request from a page of another site."""

    status = 403
    title = "Not allowed from that site"


class NotFound(Problem):
    """No such data set, job, batch or artifact."""

    status = 404
    title = "Not found"


class NotAcceptable(Problem):
    """The artifact is not available in that format."""

    status = 406
    title = "Not available in that format"


class RequestTimeout(Problem):
    """A request that arrives too slowly."""

    status = 408
    title = "The request arrived too slowly"


class Conflict(Problem):
    """The state of the job or data set does not allow this."""

    status = 409
    title = "Not possible in this state"


class TooLarge(Problem):
    """More bytes, rows, columns or cells than the limits allow."""

    status = 413
    title = "Too large"


class UnsupportedFormat(Problem):
    """A file format that is not supported."""

    status = 415
    title = "Unsupported format"


class InvalidTable(Problem):
    """A file that cannot be read as a table."""

    status = 422
    title = "The table cannot be read"


class InvalidSpec(Problem):
    """A job spec that does not fit its data set."""

    status = 422
    title = "The job cannot run as specified"

    def _entry(self, error: FieldError) -> dict[str, Any]:
        in_body = error.field not in ("body", "Idempotency-Key")
        return super()._entry(error) | ({"pointer": pointer_of(error.field)} if in_body else {})


class InvalidParameter(Problem):
    """A query parameter with a wrong value."""

    status = 422
    title = "A parameter is wrong"


class TooMany(Problem):
    """More requests or jobs than an API key allows."""

    status = 429
    title = "Too many requests or jobs"

    def __init__(self, detail: str, seconds: float = 10.0) -> None:
        super().__init__(detail)
        self.headers = {"Retry-After": str(math.ceil(seconds))}


class HeadersTooLarge(Problem):
    """Headers longer than the limit."""

    status = 431
    title = "The headers are too long"


class RequestFailed(Problem):
    """A request whose process crashed or took too long, by no fault of an uploaded file."""

    title = "The request could not be completed"


class TimeOver(Problem):
    """A job that reached its time limit."""

    title = "The job took too long"


class OutOfMemory(Problem):
    """A job that needs more memory than it may use."""

    title = "The job needs too much memory"


class Unavailable(Problem):
    """Redis does not answer."""

    status = 503
    title = "Temporarily unavailable"


class StoreFull(Problem):
    """Redis is at its memory limit."""

    status = 507
    title = "Out of storage"
