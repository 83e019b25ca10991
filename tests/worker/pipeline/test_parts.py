"""Jobs on tables by reference: settings that are chosen from a sample, targets that are values, and early ends."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ism_core import InvalidInput
from ism_core.solver import ReturnCapture
from ism_jobs.spec import read_one
from ism_jobs.tables import ANYWHERE, Limits, TableParts, describe_reference
from tests.support.tables import write_rows
from worker.artifacts import result_document
from worker.pipeline import Outcome, iter_run


def run(folder: Path, **fields: Any) -> Outcome:
    reference, description = describe_reference(str(folder), ANYWHERE, Limits())
    spec = read_one({"dataset": "d", "paradigm": "supervised", "folds": 0, **fields})
    capture = ReturnCapture(iter_run(TableParts(reference, ANYWHERE), spec, description))
    assert list(capture)
    return capture.value


@pytest.fixture(autouse=True)
def few_rows_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ism_jobs.data.parts.SAMPLE_ROWS", 600)
    monkeypatch.setattr("ism_jobs.data.parts.CHECKED_ROWS", 400)


def test_chosen_settings_are_checked_on_rows_that_the_choice_never_saw(tmp_path: Path) -> None:
    write_rows(tmp_path, files=2)
    outcome = run(tmp_path, target="class", kernel="linear", q="auto")
    document = result_document(outcome)
    check = document["choice"]["final_check"]
    assert 380 <= check["rows"] <= 400  # without the first rows of the classes
    assert 0.75 < check["score"] < 0.95
    assert 0 < check["error"] < 0.05
    assert (document["rows"], document["sample_rows"]) == (4_000, len(outcome.training.rows))
    assert 600 <= document["sample_rows"] <= 660
    assert "random sample" in document["warnings"][0]


def test_values_are_explained_as_well_as_classes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4_000, 4))
    columns = {f"x{place}": column for place, column in enumerate(X.T)}
    pq.write_table(pa.table({**columns, "y": X[:, 1] + 0.1 * rng.standard_normal(4_000)}), tmp_path / "a.parquet")
    W = run(tmp_path, target="y", kernel="linear", q=1).result.W
    assert abs(W[1, 0]) > 0.99


def test_rows_with_missing_values_are_dropped_if_the_job_says_so(tmp_path: Path) -> None:
    write_rows(tmp_path, files=1, x9=pa.array([None if row % 4 == 0 else float(row % 7) for row in range(2_000)]))
    dropped = run(tmp_path, target="class", kernel="polynomial", missing="drop")
    assert dropped.all_rows == 1_500
    with pytest.raises(InvalidInput, match="NaN"):
        run(tmp_path, target="class", kernel="polynomial", missing="refuse")
