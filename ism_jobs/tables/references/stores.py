"""File systems of tables by reference. Their credentials and endpoints come from the environment of the process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.fs as pa_fs

from ism_jobs.tables.references.errors import read_errors
from ism_jobs.tables.references.places import WEB, Place, Roots, WrongPlace
from ism_jobs.tables.references.web import web_file

ATTEMPTS = 8  # at a request to a store, with growing pauses
CONNECT_SECONDS, REQUEST_SECONDS = 10, 60  # until a request to a store has failed


@cache
def file_system(scheme: str) -> Any:
    """Return the file system of a scheme; a process has one, because it keeps connections open."""
    if scheme == "s3":
        endpoint = urlsplit(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or "")
        if endpoint.netloc:  # few stores but Amazon's know the checksums that its library appends to uploads
            os.environ.setdefault("AWS_REQUEST_CHECKSUM_CALCULATION", "when_required")
        return pa_fs.S3FileSystem(
            retry_strategy=pa_fs.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS),
            connect_timeout=CONNECT_SECONDS,
            request_timeout=REQUEST_SECONDS,
            endpoint_override=endpoint.netloc or None,
            scheme=endpoint.scheme or "https",
        )
    if scheme == "gs":
        is_emulated = "CLOUD_STORAGE_EMULATOR_ENDPOINT" in os.environ  # a variable of Google's library
        return pa_fs.GcsFileSystem(anonymous=is_emulated, retry_time_limit=timedelta(seconds=REQUEST_SECONDS))
    return pa_fs.LocalFileSystem()


def open_file(place: Place, roots: Roots) -> Any:
    """Open a file for reading at any position. Its links are followed once more: it may have become one."""
    if place.scheme in WEB:
        return pa.PythonFile(web_file(place), mode="r")
    if place.scheme == "file":
        roots.check(place)
    return file_system(place.scheme).open_input_file(place.location)


@contextmanager
def new_file(place: Place, roots: Roots, temporary_name: str) -> Iterator[Any]:
    """Open a file for writing. It has its name only when the block has ended without an error."""
    if place.scheme in WEB:
        raise WrongPlace(f"{place.uri} cannot be written over {place.scheme}; name a file of a mounted path or bucket.")
    roots.check(place)
    store, temporary = file_system(place.scheme), f"{place.folder.location}/{temporary_name}"
    with read_errors(place.uri, "write"):
        try:
            if place.scheme == "file":
                store.create_dir(place.folder.location, recursive=True)
            with store.open_output_stream(temporary) as stream:
                yield stream
            store.move(temporary, place.location)
        except BaseException:
            _remove(store, temporary)
            raise


def try_writing(place: Place, roots: Roots, temporary_name: str) -> None:
    """Raise a problem if a file cannot be written, before the work that it is for."""
    with suppress(_OnlyTried), new_file(place, roots, temporary_name):
        raise _OnlyTried


class _OnlyTried(Exception):
    """Ends a try to write a file."""


def exists(place: Place) -> bool:
    """Tell whether there is a file or a folder."""
    with read_errors(place.uri):
        return bool(file_system(place.scheme).get_file_info(place.location).type)


def _remove(store: Any, path: str) -> None:
    with suppress(OSError):  # it was never made, or the store is gone; nobody reads a file with this name
        store.delete_file(path)
