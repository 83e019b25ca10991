"""What can go wrong for a caller.

ClientError
├── ApiError       the service refused: its problem document (RFC 9457) and HTTP status
├── JobFailed      the job that was waited for failed, or was cancelled
└── Unreachable    nothing answers, or the connection broke and stayed broken
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ism_client.jobs import Job


class ClientError(Exception):
    """Anything this client raises about the service and its jobs."""


class ApiError(ClientError):
    """The service refused; reads as the problem's sentence and one line for each field at fault.

    try:
        client.submit(dataset, paradigm="supervised", target="klass")
    except ApiError as error:
        print(error.status, error)
    """

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(sentences(problem) or f"The service answered with HTTP status {status}.")
        self.status = status
        self.problem = dict(problem)

    @property
    def errors(self) -> dict[str, str]:
        """What is wrong with each field."""
        return {str(field): message for field, message in _field_errors(self.problem)}


class JobFailed(ClientError):
    """The job ended without a result; reads as the sentence of its problem.

    try:
        job.wait()
    except JobFailed as error:
        print(error.job.id, error)
    """

    def __init__(self, job: "Job") -> None:
        self.job = job
        self.problem = dict(job.error or {})
        if job.state == "cancelled":
            sentence = f"Job {job.id} was cancelled."
        else:
            sentence = sentences(self.problem) or f"Job {job.id} failed without saying why."
        super().__init__(sentence)


class Unreachable(ClientError):
    """Nothing answers at the URL, or no longer."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"No ISM service answers at {url}: {reason}.")
        self.url = url


def sentences(problem: Mapping[str, Any]) -> str:
    """A problem's detail, and a line for each field whose message is not already part of it."""
    detail = problem.get("detail") or problem.get("title") or ""
    text = detail if isinstance(detail, str) else str(detail)
    lines = [f"{field}: {message}" for field, message in _field_errors(problem) if message not in text]
    return "\n".join([text, *lines]) if text else "\n".join(lines)


def _field_errors(problem: Mapping[str, Any]) -> list[tuple[str, str]]:
    errors = problem.get("errors")
    if not isinstance(errors, list):
        return []
    return [(str(e.get("field", "")), str(e.get("message", ""))) for e in errors if isinstance(e, Mapping)]
