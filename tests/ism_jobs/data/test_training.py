"""From a table and a spec to the numbers that are learned from."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ism_jobs.data.training import TrainingData, used_columns
from ism_jobs.errors import InvalidSpec
from ism_jobs.spec.paradigms import JOB_SPEC
from ism_jobs.tables import read_table

TABLE = pa.table(
    {
        "a": [1.0, 2.0, None, 4.0, 5.0],
        "color": ["red", None, "blue", "red", "green"],
        "b": [0.5, 0.25, 0.125, 0.0, 1.0],
        "y": ["p", "q", "p", None, "q"],
        "z": [1.5, None, 2.5, 3.5, 4.5],
    }
)


@pytest.fixture
def training(tmp_path: Path):
    def made(table: pa.Table = TABLE, **spec: Any) -> TrainingData:
        pq.write_table(table, tmp_path / "table.parquet")
        table, description = read_table(tmp_path / "table.parquet")
        read = JOB_SPEC.validate_python({"dataset": "d"} | spec)
        return TrainingData.of(table.select(used_columns(read, description)), read, description)

    return made


def test_features_are_encoded_and_what_is_given_stands_beside_them(training) -> None:
    found = training(
        paradigm="semi_supervised", clusters=2, scores="z", reference="y", categorical="onehot", missing="mean"
    )
    assert found.encoding.names == ("a", "color=blue", "color=green", "color=red", "b")
    assert found.X.shape == (5, 5)
    np.testing.assert_array_equal(np.isnan(found.X).any(axis=1), [False, True, True, False, False])
    np.testing.assert_array_equal(found.rows, range(5))
    np.testing.assert_array_equal(found.guidance, [1.5, np.nan, 2.5, 3.5, 4.5])
    assert found.reference.tolist() == ["p", "q", "p", None, "q"]
    assert found.guidance_kind == "values"


def test_rows_that_lack_a_feature_or_a_target_are_dropped(training) -> None:
    found = training(paradigm="supervised", target="y", features=["b", "a"], missing="drop")
    np.testing.assert_array_equal(found.rows, [0, 1, 4])
    np.testing.assert_array_equal(found.X, [[0.5, 1.0], [0.25, 2.0], [1.0, 5.0]])
    assert found.guidance.tolist() == ["p", "q", "q"]
    assert found.guidance_kind == "classes"


def test_rows_that_lack_a_score_or_a_reference_are_not_dropped(training) -> None:
    found = training(
        paradigm="semi_supervised", clusters=2, scores="z", reference="y", features=["a", "b"], missing="drop"
    )
    np.testing.assert_array_equal(found.rows, [0, 1, 3, 4])
    np.testing.assert_array_equal(found.guidance, [1.5, np.nan, 3.5, 4.5])
    assert found.reference.tolist() == ["p", "q", None, "q"]


def test_several_targets_are_columns_of_numbers(training) -> None:
    found = training(paradigm="supervised", target=["z", "b"], features=["a"], missing="drop")
    np.testing.assert_array_equal(found.rows, [0, 3, 4])
    np.testing.assert_array_equal(found.guidance, [[1.5, 0.5], [3.5, 0.0], [4.5, 1.0]])


def test_there_may_be_nothing_given(training) -> None:
    found = training(paradigm="unsupervised", clusters=2, features=["b"])
    assert (found.guidance, found.reference, found.guidance_kind) == (None, None, None)


def test_by_default_rows_without_a_target_are_dropped_and_features_are_kept_with_warnings(training) -> None:
    found = training(paradigm="supervised", target="y", features=["a", "color", "b"])
    np.testing.assert_array_equal(found.rows, [0, 1, 2, 4])
    assert found.encoding.names == ("a", *(f"color={level}" for level in ("blue", "green", "missing", "red")), "b")
    assert found.guidance.tolist() == ["p", "q", "p", "q"]
    assert found.warnings == (
        "1 of 5 rows were dropped because they have no target.",
        'Missing values were filled in: "a" (1 value, with the median), "color" (1 value, with the level "missing").',
    )


def messy(rows: int = 40) -> pa.Table:
    places = np.arange(rows)
    return pa.table(
        {
            "rownames": places + 1.0,
            "customer_id": (places * 7919 % 10007).astype(float),
            "name": [f"name {place}" for place in places],
            "day": [f"2020-01-{1 + place % 28:02}" for place in places],
            "same": np.ones(rows),
            "income": 20_000.0 + places * 997 % 5003,
            "kind": [("good", "bad")[place % 2] for place in places],
            "code": [float(place % 2) for place in places],
            "price": np.sin(places),
            "log_price": np.log(2 + np.sin(places)),
        }
    )


def test_auto_leaves_out_what_says_nothing_and_names_it(training) -> None:
    found = training(messy(), paradigm="supervised", target="kind")
    assert found.encoding.columns == ("income", "price", "log_price")
    (warning,) = found.warnings
    for name in ("rownames", "customer_id", "name", "day", "same"):
        assert f'"{name}" (' in warning
    assert '"code" (it is a copy of the target)' in warning
    assert warning.endswith("name it in features.")


@pytest.mark.parametrize(("target", "copy"), [("price", "log_price"), ("log_price", "price"), ("code", "kind")])
def test_a_column_that_determines_the_target_one_to_one_is_left_out(training, target: str, copy: str) -> None:
    assert copy not in training(messy(), paradigm="supervised", target=target).encoding.columns
    everything = training(messy(), paradigm="supervised", target=target, features=[copy, "income"])
    assert everything.encoding.columns == (copy, "income")


def test_dates_are_used_on_request(training) -> None:
    found = training(messy(), paradigm="unsupervised", clusters=2, dates="parts")
    assert {"day.year", "day.month", "day.weekday"} <= set(found.encoding.names)


def test_a_job_whose_features_all_copy_the_target_is_refused(training) -> None:
    with pytest.raises(InvalidSpec, match='All features copy the target: "log_price"'):
        training(messy().select(["price", "log_price"]), paradigm="supervised", target="price")


def test_clusters_of_a_table_with_text_ask_whether_it_holds_classes(training) -> None:
    table = messy().select(["income", "price", "kind"])
    assert 'text too: "kind". If a column' in training(table, paradigm="unsupervised", clusters=2).warnings[0]
    assert training(table, paradigm="unsupervised", clusters=2, reference="kind").warnings == ()


def test_targets_that_are_never_known_together_are_refused(training) -> None:
    table = pa.table({"x": [1.0, 2.5, 3.0, 0.5], "y": [1.5, 2.0, None, None], "z": [None, 4.5, 1.0, 2.0]})
    with pytest.raises(InvalidSpec, match="Only 1 of 4 rows have a value in all targets"):
        training(table, paradigm="supervised", target=["y", "z"])


def test_too_few_rows_are_refused(training) -> None:
    with pytest.raises(InvalidSpec, match=r'"drop" leaves 1 of the 5 rows; at least 2 are needed') as refused:
        training(
            pa.table({"a": [1.0, None, 3.0, None, None], "b": [1.0, 2.0, None, 3.0, 4.0]}),
            paradigm="unsupervised",
            clusters=1,
            missing="drop",
            features="all",
        )
    assert [error.field for error in refused.value.errors] == ["missing"]


def test_a_job_reads_its_columns_only(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "table.parquet")
    _, description = read_table(tmp_path / "table.parquet")
    spec = JOB_SPEC.validate_python(
        {"dataset": "d", "paradigm": "alternative", "clusters": 2, "clustering": "y", "reference": "y"}
        | {"features": ["b", "a"]}
    )
    assert used_columns(spec, description) == ["b", "a", "y"]
