"""A batch as a table: the best first, by a measure that all have, with whatever was varied."""

from typing import Any

import pytest

from app.services.compare import batch_table, batch_view
from ism_jobs.spec import GRID_FIELDS
from ism_jobs.store import Batch, Record, State

BATCH = Batch("b", "", 0.0, ())


def record(id: str, metrics: dict[str, Any] | None, paradigm: str = "supervised", **spec: Any) -> Record:
    state = State.QUEUED if metrics is None else State.SUCCEEDED
    summary = None if metrics is None else {"metrics": metrics}
    return Record(id, state, {"dataset": "d", "paradigm": paradigm, "label": None, **spec}, 0.0, summary=summary)


def order(*records: Record) -> tuple[str | None, list[str]]:
    view = batch_view(BATCH, records, {"d": "wine.csv"})
    return view.metric, [row.id for row in view.jobs]


def test_the_best_comes_first_and_those_without_a_measure_last() -> None:
    jobs = [record("a", {"accuracy": 0.5}), record("b", None), record("c", {"accuracy": 0.9})]
    assert order(*jobs, record("d", {"accuracy": None})) == ("accuracy", ["c", "a", "b", "d"])


def test_equals_stay_in_the_order_they_were_posted_in() -> None:
    assert order(*(record(id, {"accuracy": 0.5}) for id in "cab")) == ("accuracy", ["c", "a", "b"])


def test_the_measure_is_the_first_that_all_have() -> None:
    jobs = [record("a", {"accuracy": 1.0, "hsic_normalized": 0.1}), record("b", {"hsic_normalized": 0.2})]
    assert order(*jobs) == ("hsic_normalized", ["b", "a"])


def test_jobs_of_different_paradigms_are_compared_by_what_they_share() -> None:
    jobs = [record("a", {"objective": 1.0, "accuracy": 0.1}), record("b", {"objective": 2.0, "silhouette": 0.2})]
    assert order(*jobs) == ("objective", ["b", "a"])


def test_nothing_is_compared_before_something_has_succeeded() -> None:
    assert order(record("b", None), record("a", None)) == (None, ["b", "a"])


@pytest.mark.parametrize("field", GRID_FIELDS)
def test_whatever_can_be_varied_is_shown(field: str) -> None:
    view = batch_view(BATCH, [record(str(value), None, **{field: value}) for value in (1, 2)], {})
    assert [row.settings[field] for row in view.jobs] == [1, 2]
    assert batch_table(view).column(field).to_pylist() == ["1", "2"]


def test_the_table_has_the_name_of_the_data_set_the_target_and_the_width() -> None:
    done = record("a", {"accuracy": 1.0}, target="class", kernel="gaussian")
    done.summary["kernel"] = {"name": "gaussian", "sigma": 2.5}
    table = batch_table(batch_view(BATCH, [done, record("b", None, target=["x", "y"])], {"d": "wine.csv"}))
    assert table.column("dataset_name").to_pylist() == ["wine.csv", "wine.csv"]
    assert table.column("target").to_pylist() == ["class", '["x", "y"]']
    assert table.column("sigma").to_pylist() == [2.5, None]


def test_the_columns_of_the_table_have_names_of_their_own() -> None:
    metrics = {"clusters": 3.0, "folds": 2.0, "objective": 1.0}
    table = batch_table(batch_view(BATCH, [record("a", metrics, clusters=4, folds=5)], {}))
    assert len(set(table.column_names)) == len(table.column_names)
    assert table.column("clusters").to_pylist() == ["4"]
    assert table.column("clusters_found").to_pylist() == [3.0]
