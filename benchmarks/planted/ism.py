"""Rankings by ISM with its defaults: the estimators for numbers, the pipeline of a job for tables."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.planted.measures import of_columns
from benchmarks.planted.problems import PlantedProblem
from ism_core import SupervisedISM, UnsupervisedISM
from ism_core.arrays import Array, Ints
from ism_core.solver import drain
from ism_jobs.checks import check
from ism_jobs.spec import JOB_SPEC
from ism_jobs.tables import read_table
from worker.artifacts import result_document
from worker.pipeline import iter_run

TARGET = "target"


@dataclass(frozen=True, eq=False)
class Found:
    """The importance of each column of a problem, the informative axes of its rows, and these rows."""

    importance: Array
    axes: Array
    rows: Ints


def found_by_ism(problem: PlantedProblem, is_chosen: bool = True) -> Found:
    """Fit ISM as a user would who gives nothing but the data, the target and the number of clusters.

    If `is_chosen`, ISM chooses its settings from the data, as a job does; else the kernel is a Gaussian of median
    width, and q is 2.
    """
    return (
        _by_a_job(problem)
        if problem.is_table
        else _by_an_estimator(problem, ("auto", "auto") if is_chosen else ("gaussian", 2))
    )


def _by_an_estimator(problem: PlantedProblem, settings: tuple[Any, ...]) -> Found:
    encoded = problem.encoded()
    if problem.clusters is None:
        model: Any = SupervisedISM(*settings).fit(encoded.X, encoded.target)
    else:
        model = UnsupervisedISM(*settings, n_clusters=problem.clusters).fit(encoded.X)
    informative = [each.informative for each in model.interpretation_.contributions]
    return Found(model.feature_importances_, model.transform(encoded.X)[:, informative], encoded.rows)


def _by_a_job(problem: PlantedProblem) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        pq.write_table(_table(problem), path)
        table, description = read_table(path)
    spec = JOB_SPEC.validate_python({"dataset": "planted", "paradigm": "supervised", "target": TARGET})
    check(spec, description, has_dask=False)
    outcome = drain(iter_run(table, spec, description))
    document = result_document(outcome)
    columns = [source.name for source in outcome.training.encoding.sources for _ in range(source.width)]
    importance = of_columns(problem, columns, np.array(document["importance"]))
    informative = [each["informative"] for each in document["contributions"]]
    return Found(importance, outcome.embedding[:, informative], np.asarray(outcome.training.rows))


def _table(problem: PlantedProblem) -> Any:
    """Return the problem as a table; empty text and NaN become missing cells."""
    columns = {name: pa.array(values, from_pandas=True) for name, values in problem.columns.items()}
    assert problem.target is not None
    given = [None if value == "" else value for value in problem.target.tolist()]
    return pa.table(columns | {TARGET: pa.array(given)})
