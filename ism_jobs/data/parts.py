"""A table by reference as training data: a sample of its rows in memory, and all of them in encoded parts."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ism_jobs.checks import column_roles
from ism_jobs.data.encoding import Encoding
from ism_jobs.data.imputation import Missing, imputed
from ism_jobs.data.source import Array, is_missing
from ism_jobs.data.training import TrainingData, used_columns
from ism_jobs.errors import FieldError, InvalidSpec
from ism_jobs.sentences import named
from ism_jobs.spec import JobSpec
from ism_jobs.tables import Description, TableParts

SAMPLE_ROWS = 20_000  # rows of the sample: settings are chosen from it, and results are interpreted on it
CHECKED_ROWS = 5_000  # further rows, which the choice of settings never sees
CLASS_ROWS = 20  # first rows of each class that the sample has, too
MOST_CLASSES = 1_000  # of a target
MARGIN = 1.5  # how many times more rows than needed are drawn from the parts


class Sample(NamedTuple):
    """Rows that were drawn at random from a table, and what was counted on the way."""

    table: Any  # in canonical form
    rows: NDArray[np.int64]  # their numbers in the table
    unseen: Any  # a table of further rows; empty if the sample has all rows
    firsts: tuple[int, ...]  # the number of the first row of each part
    total: int  # rows of the table
    learned: int  # of them, the rows that are not left out
    labels: tuple[Any, ...] | None  # all classes of the target, in order; None if it has values


@dataclass(frozen=True)
class PartedRows:
    """The rows that a job learns from, encoded and filled in part by part, as `ism_core` reads tables in partitions.

    Rows without a target are left out, and with "missing": "drop" rows with missing values, too.
    """

    source: TableParts
    encoding: Encoding
    missing: Missing
    fill: Array | None
    targets: tuple[str, ...]
    labels: tuple[Any, ...] | None  # classes are their places in this list

    @property
    def columns(self) -> int:
        """The number of encoded features."""
        return self.encoding.width

    def __len__(self) -> int:
        return len(self.source)

    def blocks(self, index: int) -> Iterator[tuple[Array, NDArray[Any]]]:
        """Yield the rows of a part with their targets."""
        for X, y, _ in self.numbered_blocks(index):
            yield X, y

    def numbered_blocks(self, index: int) -> Iterator[tuple[Array, NDArray[Any], NDArray[np.int64]]]:
        """Yield the rows of a part with their targets and their numbers in the part."""
        columns, first = [*dict.fromkeys([*self.encoding.columns, *self.targets])], 0
        for batch in self.source.batches(index, columns):
            X, y, numbers = self.encode(batch)
            yield X, y, numbers + first
            first += len(batch)

    def encode(self, batch: Any) -> tuple[Array, NDArray[Any], NDArray[np.int64]]:
        """Return the rows of a batch that are not left out, with their targets and their places in it."""
        X, y = self._encoded(batch), self._target(batch)
        kept = np.ones(len(batch), dtype=bool)
        if self.missing != "refuse":
            kept = ~np.isnan(y if y.ndim == 1 else y.sum(axis=1))
        if np.isnan(X.sum()):
            if self.fill is not None:
                X = np.where(np.isnan(X), self.fill, X)
            elif self.missing == "drop":
                kept &= ~np.isnan(X).any(axis=1)
        numbers = np.flatnonzero(kept)
        return (X, y, numbers) if len(numbers) == len(X) else (X[kept], y[kept], numbers)

    def _encoded(self, batch: Any) -> Array:
        X, start = np.empty((len(batch), self.columns)), 0
        for source in self.encoding.sources:
            end = start + source.width
            if source.kind == "number":
                X[:, start] = self.source.numbers(batch, source.name)
            else:
                X[:, start:end] = source.encode(batch.column(source.name))
            start = end
        return X

    def _target(self, batch: Any) -> Array:
        """Return the targets as numbers, NaN if missing: values, or the places of the classes."""
        if self.labels is None:
            values = [np.asarray(self.source.numbers(batch, name), dtype=np.float64) for name in self.targets]
            return values[0] if len(values) == 1 else np.column_stack(values)
        column = _labels(self.source, batch, self.targets[0])
        places = pc.index_in(column, value_set=pa.array(self.labels, column.type))
        codes: Array = pc.cast(places, pa.float64()).to_numpy(zero_copy_only=False)
        return codes


class PartedData(NamedTuple):
    """What a job on a table by reference works with."""

    training: TrainingData  # of the sample
    fill: Array | None  # what replaces missing values
    rows: PartedRows
    sample: Any  # the table of the sample, and that of rows which the choice of settings never sees
    unseen: Any
    firsts: tuple[int, ...]  # the number of the first row of each part
    total: int  # rows of the table
    learned: int  # of them, those that the job learns from


def parted_data(source: TableParts, spec: JobSpec, description: Description, threads: int = 1) -> PartedData:
    """Draw the sample of a job in one pass over the rows, and return all rows encoded like it."""
    roles = column_roles(spec, description)
    classes = roles.guidance[0] if roles.guidance_kind == "classes" else None
    needed = () if spec.missing == "refuse" else roles.guidance + (roles.features if spec.missing == "drop" else ())
    wanted = _Wanted(used_columns(spec, description), classes, needed)
    sample = draw(source, wanted, description.rows, spec.seed, threads)
    if classes is not None and sample.labels is None:
        sentence = f"{named(classes)} has more than {MOST_CLASSES:,} different values, too many to be classes."
        raise InvalidSpec(sentence, [FieldError("target", sentence)])
    training = TrainingData.of(sample.table, spec, description)
    training = replace(training, rows=sample.rows[training.rows])
    fill = imputed(training.X, spec.missing)[0]
    rows = PartedRows(source, training.encoding, spec.missing, fill, roles.guidance, sample.labels)
    return PartedData(training, fill, rows, sample.table, sample.unseen, sample.firsts, sample.total, sample.learned)


class _Wanted(NamedTuple):
    """What is read to draw a sample."""

    columns: Sequence[str]
    classes: str | None  # the column of the classes; the sample also has the first rows of each of them
    needed: Sequence[str]  # rows with a missing value in one of these columns are left out


def draw(source: TableParts, wanted: _Wanted, expected: int, seed: int, threads: int) -> Sample:
    """Draw rows at random: those with the smallest of random numbers, which depend on the seed and the part only.

    `expected` is about the number of rows of the table.
    """
    share = min(1.0, MARGIN * (SAMPLE_ROWS + CHECKED_ROWS) / max(expected, 1))

    def draw_from(index: int) -> _Drawn:
        return _Drawn.of(source, index, wanted, seed, share)

    with ThreadPoolExecutor(threads) as readers:
        parts = list(readers.map(draw_from, range(len(source))))
    firsts = np.cumsum([0, *(part.rows for part in parts)]).tolist()
    keys = np.concatenate([part.keys for part in parts])
    numbers = np.concatenate([part.numbers + first for part, first in zip(parts, firsts, strict=False)])
    table = pa.concat_tables([part.table for part in parts])
    order = np.argsort(keys, kind="stable")
    chosen = order[:SAMPLE_ROWS]
    labels = None if wanted.classes is None else _joined_labels(parts)
    if wanted.classes is not None and labels is not None:
        chosen = np.union1d(chosen, _first_of_classes(table.column(wanted.classes), labels))
    unseen = table.take(pa.array(np.setdiff1d(order[SAMPLE_ROWS : SAMPLE_ROWS + CHECKED_ROWS], chosen)))
    chosen = chosen[np.argsort(numbers[chosen], kind="stable")]
    learned = sum(part.rows - part.lacking for part in parts)
    return Sample(
        table.take(pa.array(chosen)), numbers[chosen], unseen, tuple(firsts[:-1]), firsts[-1], learned, labels
    )


class _Drawn(NamedTuple):
    """Rows that were drawn from one part."""

    table: Any
    keys: Array  # the random numbers of these rows
    numbers: NDArray[np.int64]  # of these rows in the part
    rows: int  # of the part
    lacking: int  # of them, those with a missing value that is needed
    labels: set[Any] | None  # None if there are too many

    @staticmethod
    def of(source: TableParts, index: int, wanted: _Wanted, seed: int, share: float) -> "_Drawn":
        rng, classes = np.random.default_rng([seed, index]), _Classes()
        rows = lacking = 0
        batches, keys, numbers = [], [np.empty(0)], [np.empty(0, np.int64)]
        for batch in source.batches(index, wanted.columns):
            key = rng.random(len(batch))
            drawn = key < share
            if wanted.classes is not None:
                drawn[classes.add(_labels(source, batch, wanted.classes))] = True
            if wanted.needed:
                lacking += int(np.logical_or.reduce([_gaps(source, batch, name) for name in wanted.needed]).sum())
            chosen = np.flatnonzero(drawn)
            batches.append(batch.take(pa.array(chosen)))
            keys.append(key[chosen])
            numbers.append(chosen + rows)
            rows += len(batch)
        table = source.table(batches, wanted.columns)
        return _Drawn(table, np.concatenate(keys), np.concatenate(numbers), rows, lacking, classes.labels)


class _Classes:
    """The classes of a part, and how many of their first rows were seen."""

    def __init__(self) -> None:
        self._seen: dict[Any, int] = {}

    @property
    def labels(self) -> set[Any] | None:
        """The classes; None if there are too many."""
        return set(self._seen) if len(self._seen) <= MOST_CLASSES else None

    def add(self, column: Any) -> NDArray[np.int64]:
        """Return the rows that are among the first of their class."""
        if self.labels is None:
            return np.empty(0, np.int64)
        values = pc.dictionary_encode(column)
        codes = pc.fill_null(values.indices, -1).to_numpy(zero_copy_only=False)
        found = [np.empty(0, np.int64)]
        for code, label in enumerate(values.dictionary.to_pylist()):
            lacking = CLASS_ROWS - self._seen.get(label, 0)
            if lacking > 0:
                found.append(np.flatnonzero(codes == code)[:lacking])
                self._seen[label] = self._seen.get(label, 0) + len(found[-1])
        return np.concatenate(found)


def _gaps(source: TableParts, batch: Any, name: str) -> NDArray[np.bool_]:
    """Return which values of a column are missing."""
    column = batch.column(name)
    if pa.types.is_string(column.type):
        return is_missing(column)
    gaps: NDArray[np.bool_] = np.isnan(np.asarray(source.numbers(batch, name), dtype=np.float64))
    return gaps


def _labels(source: TableParts, batch: Any, name: str) -> Any:
    """Return a column of classes as text, or as float64."""
    column = batch.column(name)
    if pa.types.is_string(column.type):
        return column
    return pa.array(np.asarray(source.numbers(batch, name), dtype=np.float64), pa.float64(), from_pandas=True)


def _joined_labels(parts: Sequence[_Drawn]) -> tuple[Any, ...] | None:
    found: set[Any] = set()
    for part in parts:
        if part.labels is None or len(found) > MOST_CLASSES:
            return None
        found |= part.labels
    return tuple(sorted(found)) if len(found) <= MOST_CLASSES else None


def _first_of_classes(column: Any, labels: Sequence[Any]) -> NDArray[np.int64]:
    """Return the places of the first rows of each class."""
    column = column.combine_chunks()
    codes = pc.fill_null(pc.index_in(column, value_set=pa.array(labels, column.type)), -1).to_numpy()
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(labels)))
    within = np.arange(len(codes)) - starts[np.maximum(codes[order], 0)]
    found: NDArray[np.int64] = order[(codes[order] >= 0) & (within < CLASS_ROWS)]
    return found
