"""The files of a place, and whether they are still those that were described."""

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, TypeVar

import pyarrow.fs as pa_fs

from ism_jobs.errors import InvalidTable, TooLarge
from ism_jobs.sentences import counted, listed
from ism_jobs.tables.references.errors import Gone, read_errors
from ism_jobs.tables.references.places import WEB, Place, Roots, WrongPlace
from ism_jobs.tables.references.reference import File, Format, Reference
from ism_jobs.tables.references.stores import file_system
from ism_jobs.tables.references.web import web_file

T = TypeVar("T")

MOST_FILES = 10_000  # of a table; their footers take some seconds to read
SUFFIXES: dict[str, Format] = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}


def list_files(place: Place, roots: Roots) -> list[File]:
    """Return the Parquet or CSV files of a place, in order; raise a problem if there are none, or of both kinds.

    A folder is searched with its folders. Names that begin with a dot or an underscore are left out, as in Hive.
    """
    with read_errors(place.uri):
        found = _found(place, roots)
    files = sorted(file for file in found if format_of(file.path) is not None)
    if not files:
        raise InvalidTable(f"{place.uri} has no Parquet or CSV files: names must end in {listed(list(SUFFIXES))}.")
    if len({format_of(file.path) for file in files}) > 1:
        raise InvalidTable(f"{place.uri} has both Parquet and CSV files; give one kind, such as {place.uri}/*.csv.")
    return files


def format_of(path: str) -> Format | None:
    """Return the format of a file by its name."""
    return SUFFIXES.get(PurePosixPath(path).suffix.lower())


def check_unchanged(reference: Reference, roots: Roots) -> None:
    """Raise InvalidTable if the files of a table are not those that were described."""
    advice = "Register it again with POST /datasets."
    try:
        now = {file.path: file for file in list_files(Place.parse(reference.uri), roots)}
    except Gone:
        raise InvalidTable(f"{reference.uri} does not exist any more. {advice}") from None
    except WrongPlace as error:
        raise InvalidTable(str(error)) from None
    before = {file.path: file for file in reference.files}
    for what, paths in (
        ("vanished", [path for path in before if path not in now]),
        ("changed", [path for path in before if path in now and now[path][:3] != before[path][:3]]),
        ("come", [path for path in now if path not in before]),
    ):
        if paths:
            others = f" and {counted(len(paths) - 1, 'other file')}" if len(paths) > 1 else ""
            have = "has" if len(paths) == 1 else "have"
            raise InvalidTable(
                f"The table has changed since it was described: {paths[0]}{others} {have} {what}. {advice}"
            )


def _found(place: Place, roots: Roots) -> list[File]:
    if place.scheme in WEB:
        if place.has_pattern or format_of(place.path) is None:
            raise InvalidTable(f"{place.uri} is no file: over {place.scheme} only a single file can be read.")
        file = web_file(place)
        return [File(place.location, file.size, file.stamp)]
    folder = place.folder if place.has_pattern else place
    if place.scheme == "file":
        return _local(folder, place.name if place.has_pattern else None, roots)
    store = file_system(place.scheme)
    info = store.get_file_info(folder.location)
    if info.type == pa_fs.FileType.NotFound:
        raise FileNotFoundError
    if info.type == pa_fs.FileType.File:
        return [_file(info)]
    selector = pa_fs.FileSelector(folder.location, recursive=not place.has_pattern)
    start = len(folder.location) + 1
    return _few(
        [
            _file(info)
            for info in store.get_file_info(selector)
            if info.is_file and _is_meant(info.path[start:].split("/"), place.name if place.has_pattern else None)
        ],
        place,
    )


def _local(folder: Place, pattern: str | None, roots: Roots) -> list[File]:
    """Return the files of a folder of this machine. Links to folders are not followed, links to files are checked."""
    if not os.path.lexists(folder.path):
        raise FileNotFoundError
    found = []
    if os.path.isfile(folder.path):
        found = [folder.path]
    else:
        for top, folders, names in os.walk(folder.path, onerror=_raise):
            folders[:] = [] if pattern is not None else [name for name in folders if _is_meant([name], None)]
            found += [os.path.join(top, name) for name in names if _is_meant([name], pattern)]
    files = []
    for path in _few(found, folder):
        if format_of(path) is None:
            continue
        roots.check(folder.at(path))
        about = os.stat(path)
        files.append(File(path, about.st_size, str(about.st_mtime_ns)))
    return files


def _raise(error: OSError) -> None:
    raise error


def _is_meant(parts: Sequence[str], pattern: str | None) -> bool:
    """Tell whether a file, given by the names of its folders and its own, belongs to the table."""
    if any(part.startswith((".", "_")) for part in parts):
        return False
    return pattern is None or fnmatchcase(parts[-1], pattern)


def _few(found: list[T], place: Place) -> list[T]:
    if len(found) > MOST_FILES:
        raise TooLarge(
            f"{place.uri} has {len(found):,} files; at most {MOST_FILES:,} are allowed. Write fewer, larger files."
        )
    return found


def _file(info: Any) -> File:
    return File(info.path, info.size, str(info.mtime_ns))
