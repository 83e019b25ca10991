"""The way to a result, and how an attempt goes on from another's."""

import numpy as np
import pyarrow as pa
import pytest

from ism_core import Step
from ism_core.selection import FoldScore
from ism_jobs import schema_versions
from worker.checkpoint import pack_trace, resumed_trace, unpack_trace
from worker.trace import Trace


def step(iteration: int, round: int = 0, stage: str = "ascent") -> Step:
    first = iteration == 0
    change = None if first else 0.1
    values = np.array([2.0, 1.0]) + iteration
    return Step(stage, round, iteration, float(iteration), values, change, change, 0.5, np.eye(3, 2) * iteration)


def test_the_steps_of_the_ascent_are_rows_of_a_table() -> None:
    trace = Trace()
    assert trace.add(step(4, stage="search"))["stage"] == "search"
    assert trace.rows == []
    for iteration in range(3):
        trace.add(step(iteration))
    table = trace.table()
    assert table.column_names == [
        *("iteration", "round", "stage", "objective", "change", "angle", "gradient", "eigenvalue1", "eigenvalue2")
    ]
    assert table.column("iteration").to_pylist() == [0, 1, 2]
    assert table.column("iteration").type == pa.int64()
    assert table.column("change").to_pylist() == [None, 0.1, 0.1]
    assert table.column("eigenvalue2").to_pylist() == [1.0, 2.0, 3.0]


def test_a_trace_goes_on_after_it_was_packed() -> None:
    trace = Trace()
    for iteration in range(4):
        trace.add(step(iteration, round=iteration // 2))
    again = unpack_trace(pack_trace(trace))
    assert again.rows == trace.rows
    assert again.resumed_at == 3
    np.testing.assert_array_equal(again.W, trace.W)
    for iteration in range(3):  # the first repeats where the other stopped
        again.add(step(iteration, round=iteration // 2))
    assert [row["iteration"] for row in again.rows] == [0, 1, 2, 3, 4, 5]
    assert [row["round"] for row in again.rows] == [0, 0, 1, 1, 1, 2]
    assert unpack_trace(pack_trace(again)).rows == again.rows
    np.testing.assert_array_equal(again.W, step(2).W)


def test_the_scores_of_a_choice_survive_packing() -> None:
    one = FoldScore(0, np.array([1.0, 0.5]), np.array([2.0, 1.0]), 0.25)
    two = FoldScore(3, np.array([0.0]), np.array([0.0]), 0.5)
    trace = Trace(
        journal={("whiten", 2, True, False, False, 1): [one, two], ("standard", 1, False, False, True, 0): []}
    )
    again = unpack_trace(pack_trace(trace)).journal
    assert list(again) == list(trace.journal)
    for before, after in zip([one, two], again["whiten", 2, True, False, False, 1], strict=True):
        assert (before.place, before.seconds) == (after.place, after.seconds)
        np.testing.assert_array_equal(before.scores, after.scores)
        np.testing.assert_array_equal(before.predictions, after.predictions)


def test_a_checkpoint_of_another_version_or_a_broken_one_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace(choice={"spec": {}})
    assert resumed_trace(pack_trace(trace)).choice == trace.choice
    monkeypatch.setattr(schema_versions, "CHECKPOINT", schema_versions.CHECKPOINT + 1)
    newer = pack_trace(trace)
    monkeypatch.undo()
    for checkpoint in (newer, b"", b"PK no archive", pack_trace(trace)[:-40], None):
        assert resumed_trace(checkpoint) == Trace()
