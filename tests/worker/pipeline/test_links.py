"""Jobs that pairs of rows guide."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ism_core.solver import drain
from ism_jobs.checks import check
from ism_jobs.errors import InvalidSpec
from ism_jobs.spec import read_one
from ism_jobs.tables import read_table
from worker.pipeline.run import iter_run

RNG = np.random.default_rng(0)
HIDDEN = RNG.integers(2, size=120)
ROWS = RNG.standard_normal((120, 4)) + np.outer(HIDDEN, [5, 0, 0, 0])


def test_pairs_name_rows_of_the_uploaded_table(tmp_path: Path) -> None:
    gap = np.arange(120) % 3 == 0  # rows that the job drops, so that the others have other numbers
    columns = ROWS.copy()
    columns[gap, 1] = np.nan
    pq.write_table(pa.table(dict(zip("abcd", columns.T, strict=True))), tmp_path / "table.parquet")
    table, description = read_table(tmp_path / "table.parquet")
    pairs = RNG.permutation(120)[:60].reshape(-1, 2)
    same = HIDDEN[pairs[:, 0]] == HIDDEN[pairs[:, 1]]
    spec = read_one(
        {
            "dataset": "pairs",
            "paradigm": "semi_supervised",
            "clusters": 2,
            "missing": "drop",
            "kernel": "gaussian",
            "q": 1,
            "must_link": pairs[same].tolist(),
            "cannot_link": pairs[~same].tolist(),
        }
    )
    check(spec, description)
    outcome = drain(iter_run(table, spec, description))
    labels = np.full(120, -1)
    labels[~gap] = outcome.result.labels
    kept = ~gap[pairs].any(axis=1)
    assert kept.sum() > 5
    assert ((labels[pairs[:, 0]] == labels[pairs[:, 1]]) == same)[kept].all()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "scores is missing"),
        ({"scores": "a", "must_link": [[0, 1]]}, "cannot be combined"),
        ({"must_link": [[0, 0]]}, "one row twice"),
        ({"must_link": [[0, 1, 2]]}, "pairs of row numbers"),
        ({"cannot_link": [[0, 99]]}, "numbered from 0 to 1"),
    ],
)
def test_bad_pairs_are_refused_when_they_are_posted(tmp_path: Path, fields: dict, said: str) -> None:
    pq.write_table(pa.table({"a": [1.0, 2.0], "b": [2.0, 1.5]}), tmp_path / "table.parquet")
    description = read_table(tmp_path / "table.parquet")[1]
    with pytest.raises(InvalidSpec, match=said):
        check(read_one({"dataset": "x", "paradigm": "semi_supervised", "clusters": 2, **fields}), description)
