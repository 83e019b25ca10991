"""What can go wrong with a request or a job, each with its HTTP status and a sentence that says what to change.

Problem
├── Unauthorized          401   no API key, or none that is valid
├── Forbidden             403   a call from a page of another site
├── NotFound              404   no such data set, job, batch or artifact
├── NotAcceptable         406   the artifact is not kept in that format
├── Conflict              409   the thing is not in a state that allows this
├── TooLarge              413   more bytes, rows, columns or cells than the limits allow
├── UnsupportedFormat     415   a file of a kind that is not read here
├── InvalidTable          422   a file that cannot be read as a table
├── InvalidSpec           422   a job spec that does not fit its data set
├── InvalidParameter      422   a parameter that does not fit what it is about
├── TooMany               429   more requests, or jobs, than a key may have
├── HeadersTooLarge       431   longer headers than the limit allows
├── TimeOver              500   a job that ran into its time limit
├── OutOfMemory           500   a job that needs more memory than there is
├── Unavailable           503   Redis does not answer
└── StoreFull             507   Redis is at its memory limit
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar


@dataclass(frozen=True)
class FieldError:
    """One sentence about one field; the field is a path such as "kernel.sigma" or the name of a column."""

    field: str
    message: str


class Problem(Exception):
    """An error that is its user's business; rendered as application/problem+json (RFC 9457)."""

    status: ClassVar[int] = 500
    title: ClassVar[str] = "Something went wrong"
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, detail: str, errors: list[FieldError] | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = errors or []

    @property
    def kind(self) -> str:
        """The problem's name in the words of a URL: InvalidSpec is "invalid-spec"."""
        name = type(self).__name__
        return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("-")

    def document(self) -> dict[str, Any]:
        """The members of the problem document."""
        return {
            "type": f"urn:ism:problem:{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "errors": [{"field": error.field, "message": error.message} for error in self.errors],
        }


class Unauthorized(Problem):
    """No API key, or none that is valid."""

    status = 401
    title = "An API key is needed"
    headers: Mapping[str, str] = MappingProxyType({"WWW-Authenticate": 'Bearer realm="ism"'})


class Forbidden(Problem):
    """A call from a page of another site."""

    status = 403
    title = "Not allowed from there"


class NotFound(Problem):
    """No such data set, job, batch or artifact."""

    status = 404
    title = "Not found"


class NotAcceptable(Problem):
    """The artifact is not kept in that format."""

    status = 406
    title = "Not available in that format"


class Conflict(Problem):
    """The thing is not in a state that allows this."""

    status = 409
    title = "Not possible in this state"


class TooLarge(Problem):
    """More bytes, rows, columns or cells than the limits allow."""

    status = 413
    title = "Too large"


class UnsupportedFormat(Problem):
    """A file of a kind that is not read here."""

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


class InvalidParameter(Problem):
    """A parameter that does not fit what it is about."""

    status = 422
    title = "A parameter is wrong"


class TooMany(Problem):
    """More requests, or jobs, than a key may have."""

    status = 429
    title = "Too many"

    def __init__(self, detail: str, seconds: float = 10.0) -> None:
        super().__init__(detail)
        self.headers = {"Retry-After": str(math.ceil(seconds))}


class HeadersTooLarge(Problem):
    """Longer headers than the limit allows."""

    status = 431
    title = "The headers are too long"


class TimeOver(Problem):
    """A job that ran into its time limit."""

    title = "The job took too long"


class OutOfMemory(Problem):
    """A job that needs more memory than there is."""

    title = "The job needs too much memory"


class Unavailable(Problem):
    """Redis does not answer."""

    status = 503
    title = "Temporarily unavailable"


class StoreFull(Problem):
    """Redis is at its memory limit."""

    status = 507
    title = "Out of storage"
