"""The encoding of a table: numbers stay as they are, text and dates become one or more columns of numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import pyarrow as pa

from ism_jobs.checks import Categorical
from ism_jobs.data.source import Array, Source, as_text
from ism_jobs.errors import FieldError, InvalidTable
from ism_jobs.sentences import listed, named

ArrowTable: TypeAlias = pa.Table | pa.RecordBatch


@dataclass(frozen=True)
class Encoding:
    """How the columns that are features, in order, become numbers."""

    sources: tuple[Source, ...]

    @classmethod
    def fit(
        cls,
        table: ArrowTable,
        features: Sequence[str],
        categorical: Categorical = "refuse",
        *,
        dates: Mapping[str, str] | None = None,
        in_parts: bool = False,
        missing_level: bool = False,
    ) -> Self:
        """Return the encoding of these columns, with the levels of text that this table has.

        Parameters
        ----------
        categorical
            How text becomes numbers.
        dates
            The formats of the columns that hold dates, by name.
        in_parts
            Whether dates become year, month, weekday and hour, or days since 1970.
        missing_level
            Whether a missing text is a level of its own.
        """
        _require(table, features)
        formats = dates or {}
        text = [name for name in features if not _is_number(table, name) and name not in formats]
        if text and categorical == "refuse":
            raise InvalidTable(
                f"Features must be numbers, but text is in {listed(text, quoted=True)}."
                ' Leave text out of "features", or set "categorical" to "auto".',
                [FieldError(name, "holds text") for name in text],
            )
        sources = {
            name: Source.of_text(
                name, table.column(name), is_auto=categorical == "auto", has_missing_level=missing_level
            )
            for name in text
        }
        empty = [name for name, source in sources.items() if not source.width]
        if empty:
            raise InvalidTable(
                f"Every value is missing in {listed(empty, quoted=True)}; leave such columns out of the features."
            )
        sources |= {
            name: Source(name, kind="date_parts" if in_parts else "date", date_format=format)
            for name, format in formats.items()
        }
        return cls(tuple(sources.get(name) or Source(name) for name in features))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that are features."""
        return tuple(source.name for source in self.sources)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the encoded features. They are unique: a second "color=red" is called "color=red (2)"."""
        names: dict[str, None] = {}
        for name in (name for source in self.sources for name in source.names):
            unique, repeat = name, 2
            while unique in names:
                unique, repeat = f"{name} ({repeat})", repeat + 1
            names[unique] = None
        return tuple(names)

    @property
    def origins(self) -> tuple[str, ...]:
        """The column that each encoded feature comes from."""
        return tuple(source.name for source in self.sources for _ in range(source.width))

    @property
    def width(self) -> int:
        """The number of encoded features."""
        return sum(source.width for source in self.sources)

    @property
    def texts(self) -> list[str]:
        """The columns whose values are levels or dates."""
        return [source.name for source in self.sources if source.kind != "number"]

    def encode(self, table: ArrowTable) -> Array:
        """Return the table's features, found by name, as an n×d array with NaN for missing values."""
        _require(table, self.columns)
        _require_numbers(table, [source.name for source in self.sources if source.kind == "number"])
        X = np.empty((table.num_rows, self.width))
        start = 0
        for source in self.sources:
            X[:, start : start + source.width] = source.encode(table.column(source.name))
            start += source.width
        return X

    def notes(self, table: ArrowTable) -> list[str]:
        """Return notes on text values of this table that are none of the levels of the encoding."""
        notes = []
        for source in self.sources:
            column = table.column(source.name)
            unknown = source.unknown(column)
            if len(unknown):
                is_missing = source.kind not in ("onehot", "binary")
                notes.append(
                    f"Column {named(source.name)} has {len(unknown)} value(s) that do not occur in the training data,"
                    f" such as {named(as_text(column)[int(unknown[0])].as_py())}."
                    f" They were encoded as {'missing values' if is_missing else 'none of its levels'}."
                )
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return the encoding as values for JSON."""
        return {
            "columns": list(self.columns),
            "levels": [None if source.levels is None else list(source.levels) for source in self.sources],
            "kinds": [source.kind for source in self.sources],
            "date_formats": [source.date_format for source in self.sources],
            "missing_levels": [source.has_missing_level for source in self.sources],
        }

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """Return the encoding of which `stored` is the `to_dict`. Earlier versions had columns and levels only."""
        columns, levels = stored["columns"], stored["levels"]
        kinds = stored.get("kinds") or ["number" if each is None else "onehot" for each in levels]
        formats = stored.get("date_formats") or [None] * len(columns)
        missing = stored.get("missing_levels") or [False] * len(columns)
        return cls(
            tuple(
                Source(name, None if own is None else tuple(own), kind, format, has_level)
                for name, own, kind, format, has_level in zip(columns, levels, kinds, formats, missing, strict=True)
            )
        )


def _require(table: ArrowTable, columns: Sequence[str]) -> None:
    present = table.schema.names
    known = set(present)
    missing = [name for name in columns if name not in known]
    if not missing:
        return
    if present == [f"x{position}" for position in range(1, len(present) + 1)]:
        sentence = (
            f"The table has no header, so its {len(present)} column(s) are called {listed(present, quoted=True)}."
            f" Features are found by name, not by position. Add a header with {listed(columns, quoted=True)}."
        )
    else:
        names = listed(missing, quoted=True)
        sentence = f"The table lacks {len(missing)} of the {len(columns)} feature(s): {names}. Add them."
    raise InvalidTable(sentence, [FieldError(name, "is not in the table") for name in missing])


def _require_numbers(table: ArrowTable, columns: Sequence[str]) -> None:
    text = [name for name in columns if not _is_number(table, name)]
    if not text:
        return
    errors = [FieldError(name, f'holds text such as "{_example(table.column(name))}"') for name in text]
    names = listed(text, quoted=True)
    raise InvalidTable(f"Numbers are needed in {names}: {errors[0].field} {errors[0].message}.", errors)


def _is_number(table: ArrowTable, name: str) -> bool:
    return bool(pa.types.is_floating(table.schema.field(name).type))


def _example(column: Any) -> str:
    return str(next((value for value in column.to_pylist() if value is not None), ""))
