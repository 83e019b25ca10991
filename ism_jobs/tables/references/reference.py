"""What is stored of a table by reference: its files as they were, and how their columns are read."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

Format = Literal["parquet", "csv"]

PART_ROWS = 2**16  # rows from which row groups of a file are parts of their own; smaller ones are read together


class File(NamedTuple):
    """A file when the table was described. `stamp` changes if the file is written again."""

    path: str  # as its file system has it
    size: int  # bytes
    stamp: str  # its time of modification, or its ETag
    groups: tuple[int, ...] = ()  # rows of each row group of a Parquet file


class KeptColumn(NamedTuple):
    """A column: its name, what it is read as ("time": timestamps as they are), and the unit of times in its text."""

    name: str
    kind: Literal["number", "text", "time"]
    unit: str | None = None


class Dialect(NamedTuple):
    """How CSV files are written."""

    separator: str
    decimal: str
    has_header: bool


class Part(NamedTuple):
    """Some consecutive row groups of a file, or all rows of a CSV file."""

    file: int
    groups: tuple[int, ...] = ()


@dataclass(frozen=True)
class Reference:
    """A table whose rows stay in their files."""

    uri: str
    format: Format
    files: tuple[File, ...]
    columns: tuple[KeptColumn, ...]
    dialect: Dialect | None = None

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts in which the table is read, in the order of its rows."""
        if self.format == "csv":
            return tuple(map(Part, range(len(self.files))))
        found = []
        for number, file in enumerate(self.files):
            together: list[int] = []
            rows = 0
            for group, count in enumerate(file.groups):
                together.append(group)
                rows += count
                if rows >= PART_ROWS or group == len(file.groups) - 1:
                    found.append(Part(number, tuple(together)))
                    together, rows = [], 0
        return tuple(found)

    @property
    def rows(self) -> int | None:
        """The number of rows; None for CSV files, which do not say it."""
        return None if self.format == "csv" else sum(sum(file.groups) for file in self.files)

    @property
    def size(self) -> int:
        """The size of all files, in bytes."""
        return sum(file.size for file in self.files)

    @property
    def digest(self) -> str:
        """A hash of the paths, sizes and stamps of all files, and of how they are read."""
        return hashlib.sha256(b"ism reference 1\n" + self.to_json()).hexdigest()

    def to_json(self) -> bytes:
        """Return what `from_json` reads."""
        document = {
            "uri": self.uri,
            "format": self.format,
            "files": self.files,
            "columns": self.columns,
            "dialect": self.dialect,
        }
        return json.dumps(document).encode()

    @classmethod
    def from_json(cls, packed: bytes) -> Self:
        """Return the reference that `to_json` has written."""
        stored: dict[str, Any] = json.loads(packed)
        files = tuple(File(path, size, stamp, tuple(groups)) for path, size, stamp, groups in stored["files"])
        dialect = stored["dialect"]
        columns = tuple(KeptColumn(*column) for column in stored["columns"])
        return cls(stored["uri"], stored["format"], files, columns, None if dialect is None else Dialect(*dialect))
