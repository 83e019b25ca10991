"""The exceptions of the client.

ClientError
├── ApiError       the service refused a request: its problem document (RFC 9457) and HTTP status
├── JobFailed      a job failed or was cancelled while waiting for it
└── Unreachable    the service does not answer, or the connection broke for good
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ism_client.jobs import JobFields


class ClientError(Exception):
    """Base class of all exceptions about the service and its jobs."""


class ApiError(ClientError):
    """The service refused a request. The message is the detail of the problem and one line per invalid field.

    try:
        client.submit(dataset, paradigm="supervised", target="klass")
    except ApiError as error:
        print(error.status, error)
    """

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(problem_text(problem) or f"The service answered with HTTP status {status}.")
        self.status = status
        self.problem = dict(problem)

    @property
    def errors(self) -> dict[str, str]:
        """The error message of each invalid field."""
        return {str(field): message for field, message in _field_errors(self.problem)}


class JobFailed(ClientError):
    """The job ended without a result. The message is the detail of its problem.

    try:
        job.wait()
    except JobFailed as error:
        print(error.job.id, error)
    """

    def __init__(self, job: "JobFields") -> None:
        self.job = job
        self.problem = dict(job.error or {})
        if job.state == "cancelled":
            sentence = f"Job {job.id} was cancelled."
        else:
            sentence = problem_text(self.problem) or f"Job {job.id} failed without a reason."
        super().__init__(sentence)


class Unreachable(ClientError):
    """No service answers at the URL."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"No ISM service answers at {url}: {reason}.")
        self.url = url


def problem_text(problem: Mapping[str, Any]) -> str:
    """Return the detail of a problem, and a line for each field whose message is not part of the detail."""
    detail = problem.get("detail") or problem.get("title") or ""
    text = detail if isinstance(detail, str) else str(detail)
    lines = [f"{field}: {message}" for field, message in _field_errors(problem) if message not in text]
    return "\n".join([text, *lines]) if text else "\n".join(lines)


def _field_errors(problem: Mapping[str, Any]) -> list[tuple[str, str]]:
    errors = problem.get("errors")
    if not isinstance(errors, list):
        return []
    return [(str(e.get("field", "")), str(e.get("message", ""))) for e in errors if isinstance(e, Mapping)]
