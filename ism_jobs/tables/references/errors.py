"""Errors of file systems and of damaged files as sentences."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import pyarrow as pa

from ism_jobs.errors import InvalidTable, Problem, Unavailable

LONGEST_REASON = 200  # characters of a library's message that ours quotes
_GONE = re.compile(
    r"NO_SUCH_(KEY|BUCKET|UPLOAD)|RESOURCE_NOT_FOUND|NOT_FOUND|NoSuch(Key|Bucket)|Path does not exist|\b404\b"
)
_BUCKET_GONE = re.compile(r"NO_SUCH_BUCKET|NoSuchBucket|bucket does not exist", re.IGNORECASE)
_FORBIDDEN = re.compile(
    r"ACCESS_DENIED|AccessDenied|PERMISSION_DENIED|UNAUTHENTICATED|INVALID_(ACCESS_KEY_ID|SIGNATURE|CLIENT_TOKEN_ID)"
    r"|SIGNATURE_DOES_NOT_MATCH|InvalidAccessKeyId|SignatureDoesNotMatch|EXPIRED_TOKEN|ExpiredToken|\b40[13]\b"
)
_NETWORK = re.compile(r"AWS Error|google::cloud|curl|[Tt]imed? ?out|[Cc]onnection")


class Unreachable(Unavailable):
    """A store that did not answer, or answered with an error of its own; another try may succeed."""


class Gone(InvalidTable):
    """A file, folder or bucket that does not exist."""


@contextmanager
def read_errors(name: str, doing: Literal["read", "write"] = "read") -> Iterator[None]:
    """Turn what goes wrong with the file or folder of this name into a problem with a sentence."""
    try:
        yield
    except MemoryError:  # Arrow's own is also an ArrowException
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise problem_of(error, name, doing) from error


def problem_of(error: Exception, name: str, doing: str = "read") -> Problem:
    """Return the problem of an error of pyarrow or of the system."""
    text = str(error)
    if _BUCKET_GONE.search(text):
        return Gone(f"The bucket of {name} does not exist; correct the URI.")
    if isinstance(error, FileNotFoundError) or (_is_remote(error) and _GONE.search(text)):
        return Gone(f"{name} does not exist; correct the URI.")
    if isinstance(error, PermissionError) or (_is_remote(error) and _FORBIDDEN.search(text)):
        return InvalidTable(f"The service has no right to {doing} {name}; its administrator can give it that right.")
    reason = text.partition("\n")[0][:LONGEST_REASON].rstrip(". ")
    if _is_remote(error) or (isinstance(error, OSError) and error.errno is not None):
        return Unreachable(f"{name} cannot be reached: {reason}.")
    return InvalidTable(f"{name} is damaged: {reason}. Write it again.")


def _is_remote(error: Exception) -> bool:
    """Tell whether an error comes from a store, not from the content of a file."""
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    return isinstance(error, OSError) and _NETWORK.search(str(error)) is not None
