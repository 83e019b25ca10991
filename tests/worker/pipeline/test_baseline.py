"""Baselines: what a score is worth beside a constant prediction and a linear model on all features."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris, load_wine

from ism_jobs.data import Encoding, TrainingData
from ism_jobs.spec import SupervisedSpec
from worker.pipeline.baseline import MOST_CLASSES, baseline_document
from worker.pipeline.validate import Validation

SPEC: dict[str, Any] = {"paradigm": "supervised", "dataset": "d", "target": "y"}
WINE = load_wine()
SIGNAL = np.random.default_rng(0).normal(size=(400, 5))


def compared(X: np.ndarray, y: np.ndarray, predictions: np.ndarray, rows: np.ndarray | None = None) -> dict[str, Any]:
    """Compare given predictions: class codes, or values."""
    table = pa.table({f"x{column}": values for column, values in enumerate(X.T.copy())})
    measured = y.dtype.kind == "f"
    training = TrainingData(
        np.arange(len(X)), Encoding.fit(table, table.column_names), X, y, "values" if measured else "classes", None
    )
    rows = np.arange(len(X)) if rows is None else rows
    truth = y[rows] if measured else np.unique(y, return_inverse=True)[1][rows]
    losses = ((truth - predictions) ** 2 / truth.var(axis=0)) if measured else (truth != predictions).astype(float)
    score, error = 1 - losses.mean(), losses.std() / np.sqrt(losses.size)
    measure = "r2" if measured else "accuracy"
    validation = Validation("cross_validation", measure, score, error, (score,) * 5, rows, predictions)
    document = baseline_document(training, SupervisedSpec.model_validate(SPEC | {"missing": "mean"}), validation)
    assert document is not None
    return document


def test_the_majority_class_is_named_if_the_axes_are_no_better() -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(1_000) < 0.06).astype(int)
    found = compared(rng.normal(size=(1_000, 5)), y, np.where(rng.random(1_000) < 0.002, 1, 0))
    assert found["verdict"] == "no_better_than_constant"
    assert compared(SIGNAL, np.arange(400) % 3, np.zeros(400, dtype=int))["verdict"] == "no_better_than_constant"
    assert found["constant"] == 1 - y.mean()
    assert "no better than always answering the most frequent class" in found["sentence"]
    assert "linear" not in found["sentence"]


def test_the_linear_model_also_learns_from_rows_that_were_not_predicted() -> None:
    X = np.random.default_rng(0).normal(size=(300, 100))
    y, right = (X.sum(axis=1) > 0).astype(int), np.zeros(200, dtype=int)
    some, alone = compared(X, y, right, np.arange(200)), compared(X[:200], y[:200], right)
    assert some["linear"] > alone["linear"] + 0.02
    assert some["constant"] == alone["constant"]


def test_a_linear_model_that_is_better_than_a_constant_is_said_to_be() -> None:
    y = (SIGNAL[:, 0] > 0).astype(int)
    found = compared(SIGNAL, y, np.zeros(400, dtype=int))
    assert found["verdict"] == "no_better_than_constant"
    assert "A linear model on all features reaches" in found["sentence"]


@pytest.mark.parametrize(
    ("wrong", "verdict"), [(0, "keeps"), (4, "keeps"), (40, "below_linear"), (110, "no_better_than_constant")]
)
def test_axes_are_judged_by_the_standard_error_of_the_difference(wrong: int, verdict: str) -> None:
    predictions = WINE.target.copy()
    predictions[:wrong] = (predictions[:wrong] + 1) % 3
    found = compared(WINE.data, WINE.target, predictions)
    assert found["linear"] > 0.95
    assert found["verdict"] == verdict


def test_axes_can_be_better_than_a_linear_model() -> None:
    rng = np.random.default_rng(0)
    y = np.where(SIGNAL[:, 0] * SIGNAL[:, 1] > 0, "same", "other").astype(object)
    codes = (y == "same").astype(int)
    codes[:20] = 1 - codes[:20]
    found = compared(SIGNAL, y, codes)
    assert found["verdict"] == "better_than_linear"
    values = SIGNAL[:, 0] ** 2 + 0.1 * rng.normal(size=400)
    found = compared(SIGNAL, values, SIGNAL[:, 0] ** 2)
    assert (found["verdict"], found["measure"]) == ("better_than_linear", "r2")
    assert abs(found["linear"]) < 0.1


@pytest.mark.parametrize("several", [False, True])
def test_values_are_compared_by_r2_with_the_mean_and_a_ridge_regression(several: bool) -> None:
    rng = np.random.default_rng(0)
    y = SIGNAL[:, :2] + 0.5 * rng.normal(size=(400, 2)) if several else SIGNAL[:, 0] + 0.5 * rng.normal(size=400)
    good = SIGNAL[:, :2] if several else SIGNAL[:, 0]
    assert compared(SIGNAL, y, good)["verdict"] == "keeps"
    assert compared(SIGNAL, y, 0.3 * good)["verdict"] == "below_linear"
    found = compared(SIGNAL, y, np.zeros_like(y))
    assert (found["verdict"], found["constant"]) == ("no_better_than_constant", 0.0)
    assert found["linear"] == pytest.approx(0.8, abs=0.05)
    assert found["classes"] == found["confusion"] == []


def test_precision_recall_and_confusion_add_up() -> None:
    y = np.repeat([3.0, 1.0, 2.0], [20, 50, 30]).astype(int).astype(object)
    predictions = np.repeat([2, 0, 0], [20, 50, 30])
    found = compared(np.random.default_rng(0).normal(size=(100, 2)), y, predictions)
    assert found["confusion"] == [[50, 0, 0], [30, 0, 0], [0, 0, 20]]
    assert found["classes"] == [
        {"class": "1", "precision": 50 / 80, "recall": 1.0, "rows": 50},
        {"class": "2", "precision": None, "recall": 0.0, "rows": 30},
        {"class": "3", "precision": 1.0, "recall": 1.0, "rows": 20},
    ]


def test_large_tables_missing_cells_and_rare_classes_are_compared_on_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("FEWEST_ROWS", "MOST_ROWS"):
        monkeypatch.setattr(f"worker.pipeline.baseline.{limit}", 100)
    X = np.where(np.random.default_rng(1).random(SIGNAL.shape) < 0.05, np.nan, SIGNAL)
    y = np.digitize(SIGNAL[:, 0], [-2.5, 0, 2.5])
    assert np.bincount(y).min() < 5
    found = compared(X, y, y)
    assert found["score"] == 1
    assert found["linear"] > 0.8


def test_rows_that_were_not_predicted_do_not_count() -> None:
    rows = np.arange(0, 150, 2)
    iris = load_iris()
    found = compared(iris.data, iris.target, iris.target[rows], rows)
    assert sum(each["rows"] for each in found["classes"]) == 75


def test_many_classes_have_no_confusion_matrix() -> None:
    y = np.arange(4 * (MOST_CLASSES + 1)) % (MOST_CLASSES + 1)
    found = compared(np.eye(MOST_CLASSES + 1)[y], y, y)
    assert found["classes"] == found["confusion"] == []
    assert found["verdict"] == "keeps"
