"""One-hot encoding: a column of numbers stays as it is, a column of text becomes a 0/1 column for each level."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ism_jobs.errors import FieldError, InvalidTable
from ism_jobs.sentences import listed

Array = NDArray[np.float64]
ArrowTable: TypeAlias = pa.Table | pa.RecordBatch
Categorical = Literal["refuse", "onehot"]


@dataclass(frozen=True)
class Source:
    """A column of the table, with the levels of its text, or None for a column of numbers."""

    name: str
    levels: tuple[str, ...] | None = None

    @property
    def names(self) -> list[str]:
        """The names of its encoded columns."""
        return [self.name] if self.levels is None else [f"{self.name}={level}" for level in self.levels]

    @property
    def width(self) -> int:
        """The number of its encoded columns."""
        return 1 if self.levels is None else len(self.levels)


@dataclass(frozen=True)
class Encoding:
    """How the columns that are features, in order, become numbers."""

    sources: tuple[Source, ...]

    @classmethod
    def fit(cls, table: ArrowTable, features: Sequence[str], categorical: Categorical = "refuse") -> Self:
        """Return the encoding of these columns, with the levels of text that this table has."""
        _require(table, features)
        text = [name for name in features if not _is_number(table, name)]
        if text and categorical == "refuse":
            raise InvalidTable(
                f"Features must be numbers, but text is in {listed(text, quoted=True)}."
                ' Leave text out of "features", or set "categorical" to "onehot".',
                [FieldError(name, "holds text") for name in text],
            )
        levels = {name: _levels(table.column(name)) for name in text}
        sources = tuple(Source(name, levels.get(name)) for name in features)
        empty = [source.name for source in sources if not source.width]
        if empty:
            raise InvalidTable(
                f"Every value is missing in {listed(empty, quoted=True)}; leave such columns out of the features."
            )
        return cls(sources)

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

    def encode(self, table: ArrowTable) -> Array:
        """Return the table's features, found by name, as an n×d array with NaN for missing values."""
        _require(table, self.columns)
        _require_numbers(table, [source.name for source in self.sources if source.levels is None])
        X = np.zeros((table.num_rows, self.width))
        start = 0
        for source in self.sources:
            column = table.column(source.name)
            if source.levels is None:
                X[:, start] = column.to_numpy(zero_copy_only=False)
            else:
                codes = _codes(column, source.levels)
                rows = np.flatnonzero(codes >= 0)
                X[rows, start + codes[rows]] = 1
                X[_is_missing(column), start : start + source.width] = np.nan
            start += source.width
        return X

    def notes(self, table: ArrowTable) -> list[str]:
        """Return notes on text values of this table that are none of the levels of the encoding."""
        notes = []
        for source in self.sources:
            if source.levels is None:
                continue
            column = table.column(source.name)
            unknown = np.flatnonzero((_codes(column, source.levels) < 0) & ~_is_missing(column))
            if len(unknown):
                example = _as_text(column)[int(unknown[0])].as_py()
                notes.append(
                    f'Column "{source.name}" has {len(unknown)} value(s) that do not occur in the training data,'
                    f' such as "{example}". They were encoded as none of its levels.'
                )
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return the encoding as values for JSON."""
        levels = [None if source.levels is None else list(source.levels) for source in self.sources]
        return {"columns": list(self.columns), "levels": levels}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """Return the encoding of which `stored` is the `to_dict`."""
        pairs = zip(stored["columns"], stored["levels"], strict=True)
        return cls(tuple(Source(name, None if levels is None else tuple(levels)) for name, levels in pairs))


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


def _levels(column: Any) -> tuple[str, ...]:
    return tuple(sorted(level for level in pc.unique(column).to_pylist() if level is not None))


def _is_missing(column: Any) -> NDArray[np.bool_]:
    missing: NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
    return missing


def _codes(column: Any, levels: tuple[str, ...]) -> NDArray[np.int64]:
    """Return the position of each value among the levels, −1 if it is none of them."""
    places = pc.index_in(_as_text(column), value_set=pa.array(levels, pa.string()))
    codes: NDArray[np.int64] = pc.fill_null(places, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def _as_text(column: Any) -> Any:
    """Return a column as text. In a small table, a text column may hold only numbers, and "3" was read as 3."""
    if not pa.types.is_floating(column.type):
        return column
    return pa.array([None if value is None else _number_as_text(value) for value in column.to_pylist()], pa.string())


def _number_as_text(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
