"""What a job on a table by reference does with all rows: scale, solve, and write the embedding, part by part."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ism_core.engines import Engine, allowed_threads
from ism_core.linalg import Scale, gross_warnings
from ism_core.objective import ScaledPartitions
from ism_core.paradigms import Supervised
from ism_core.selection import final_check
from ism_core.solver import learned_scaling
from ism_jobs.data import Model, PartedData, PartedRows, TrainingData, parted_data
from ism_jobs.errors import FieldError, InvalidSpec, InvalidTable
from ism_jobs.sentences import named
from ism_jobs.spec import JobSpec, SupervisedSpec
from ism_jobs.tables import (
    Description,
    Place,
    Roots,
    TableParts,
    WrongPlace,
    check_unchanged,
    exists,
    new_file,
    open_file,
    try_writing,
)
from worker.dask_engine import EngineName
from worker.pipeline.prepare import Preparation

READERS = 4  # threads that draw the sample
LEARNED_ROWS = 3_000  # rows of the sample that the rows of the final check are predicted from
JOB_KEY = b"ism.job"  # of the metadata of a Parquet file: the job that wrote it
GROUP_ROWS = 2**17  # rows of a row group of the embedding at least


class WithoutNeighbors(Supervised):
    """A paradigm for which a choice tries no neighbors: they need all pairs of rows."""

    can_have_neighbors = False


class Scaled(NamedTuple):
    """The preparation that was learned from all rows, the scaled rows, and the warnings about gross cells."""

    preparation: Preparation
    rows: ScaledPartitions
    warnings: list[str]


@dataclass(frozen=True)
class Parts:
    """The rows of a table by reference, and where the embedding goes."""

    data: PartedData
    paradigm: Supervised  # of all rows
    outputs: Roots
    job: str  # the id of the job and the number of its attempt

    @staticmethod
    def of(table: TableParts, spec: JobSpec, description: Description, outputs: Roots, job: str) -> "Parts":
        """Draw the sample of a job."""
        assert isinstance(spec, SupervisedSpec)
        check_unchanged(table.reference, table.roots)
        _check_output(spec, outputs, job)
        data = parted_data(table, spec, description, min(READERS, allowed_threads()))
        kind = data.training.guidance_kind
        assert kind is not None
        return Parts(data, Supervised(None, kind, balance=spec.balance), outputs, job)

    @property
    def training(self) -> TrainingData:
        """The sample."""
        return self.data.training

    @property
    def sampled_paradigm(self) -> Supervised:
        """The paradigm of the sample."""
        return WithoutNeighbors(self.training.guidance, self.paradigm.kind, balance=self.paradigm.balance)

    @property
    def warnings(self) -> list[str]:
        """What the sample is used for."""
        sample, total = len(self.training.rows), self.data.total
        if sample >= self.data.learned:
            return []
        return [
            f"W was computed from all {self.data.learned:,} rows. What replaces missing values, the levels of text, the"
            " choice of settings, the accuracy and the interpretation come from a random sample of"
            f" {sample:,} of {total:,} rows."
        ]

    def scale(self, how: Scale, engine: Engine | EngineName) -> Scaled:
        """Learn the scaling from all rows."""
        found = learned_scaling(self.data.rows, how, self.paradigm, engine)
        features = [named(name) for name in self.training.encoding.names]
        preparation = Preparation(self.data.fill, found.scaling)
        rows = ScaledPartitions(self.data.rows, found.scaling)
        return Scaled(preparation, rows, gross_warnings(found.gross, features))

    def final_check(self, model: Model) -> dict[str, Any] | None:
        """Return how well the axes predict rows that the choice never saw; None if the sample has all rows."""
        rows = self.data.rows
        if not len(self.data.unseen):
            return None
        places = np.sort(np.random.default_rng(0).permutation(len(self.data.sample))[:LEARNED_ROWS])
        some = self.data.sample.take(pa.array(places))
        (X, y, _), (X_test, y_test, _) = (
            rows.encode(table.combine_chunks().to_batches()[0]) for table in (some, self.data.unseen)
        )
        found = final_check(model.project(X), y, model.project(X_test), y_test, self.paradigm.kind)
        return {"score": found.score, "error": found.error, "rows": found.rows}

    def iter_write(self, model: Model, output: str) -> Generator[int, None, dict[str, Any]]:
        """Write the projection of all rows as a Parquet file; yield how many rows are done, and return what it is."""
        place, done = Place.parse(output), 0
        schema = _schema(model, self.data.rows, self.job)
        with (
            new_file(place, self.outputs, _temporary_name(self.job)) as stream,
            pq.ParquetWriter(stream, schema, compression="zstd") as writer,
        ):
            waiting: list[Any] = []
            for batch in self._projected(model, schema):
                waiting.append(batch)
                if sum(map(len, waiting)) >= GROUP_ROWS:
                    done += _write(writer, waiting)
                    yield done
            done += _write(writer, waiting)
            self.check_unchanged()
        return {"uri": place.uri, "rows": done}

    def check_unchanged(self) -> None:
        """Raise InvalidTable if the files are no longer those that were described."""
        source = self.data.rows.source
        check_unchanged(source.reference, source.roots)

    def _projected(self, model: Model, schema: Any) -> Iterator[Any]:
        rows = self.data.rows
        for index, first in enumerate(self.data.firsts):
            for X, y, numbers in rows.numbered_blocks(index):
                axes = model.project(X).T
                yield pa.RecordBatch.from_arrays(
                    [pa.array(numbers + first), *map(pa.array, axes), *_targets(rows, y)], schema=schema
                )


def _targets(rows: PartedRows, y: Any) -> list[Any]:
    """Return the column `group`: the class or the value of each row; nothing for several targets."""
    if y.ndim > 1:
        return []
    if rows.labels is None:
        return [pa.array(y, from_pandas=True)]
    return [pa.array(rows.labels).take(pa.array(y.astype(np.int64)))]


def _schema(model: Model, rows: PartedRows, job: str) -> Any:
    fields = [("row", pa.int64()), *((axis, pa.float64()) for axis in model.axes)]
    if len(rows.targets) == 1:
        fields.append(("group", pa.float64() if rows.labels is None else pa.array(rows.labels).type))
    return pa.schema(fields).with_metadata({JOB_KEY: _id(job)})


def _write(writer: Any, waiting: list[Any]) -> int:
    """Write batches as one row group and forget them; return the number of their rows."""
    rows = sum(map(len, waiting))
    if rows:
        writer.write_table(pa.Table.from_batches(waiting), row_group_size=rows)
    waiting.clear()
    return rows


def _check_output(spec: SupervisedSpec, outputs: Roots, job: str) -> None:
    """Raise InvalidSpec if the output cannot be written, or if there is a file that another job has written."""
    if spec.output is None:
        return
    try:
        place = Place.parse(spec.output)
        outputs.check(place)
        try_writing(place, outputs, _temporary_name(job))
        is_free = not exists(place) or _job_of(place, outputs) == _id(job)
        sentence = None if is_free else f"There is a file {place.uri} already; give another name."
    except (WrongPlace, InvalidTable) as error:
        sentence = str(error)
    if sentence is not None:
        raise InvalidSpec(sentence, [FieldError("output", sentence)])


def _job_of(place: Place, outputs: Roots) -> bytes | None:
    """Return the job that wrote a file; None if it was none."""
    try:
        with open_file(place, outputs) as file:
            found: bytes | None = (pq.read_schema(file).metadata or {}).get(JOB_KEY)
            return found
    except (pa.ArrowException, OSError):
        return None


def _id(job: str) -> bytes:
    return job.partition("-")[0].encode()


def _temporary_name(job: str) -> str:
    return f".ism-{job}.tmp"
