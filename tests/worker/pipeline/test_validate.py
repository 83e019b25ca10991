"""Cross-validation: nothing is learned from the rows that are scored, and a fold that cannot be is left out."""

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris

from ism_core.selection import OutOfFold
from ism_jobs.data import Encoding, TrainingData
from ism_jobs.spec import SupervisedSpec
from worker.pipeline.validate import CrossValidation, Validation
from worker.to_core import solver_options

IRIS = load_iris()


def folds(X: np.ndarray, y: np.ndarray, **spec: Any) -> CrossValidation:
    table = pa.table({f"x{column}": values for column, values in enumerate(X.T.copy())})
    measured = y.dtype != object and not (y == y.round()).all()
    training = TrainingData(
        np.arange(len(X)), Encoding.fit(table, table.column_names), X, y, "values" if measured else "classes", None
    )
    kind = {"paradigm": "supervised", "dataset": "d", "target": "y", "kernel": "linear", "q": 1}
    job = SupervisedSpec.model_validate(kind | spec)
    return CrossValidation(training, job, partial(solver_options, engine="local", memory_limit=None))


def scored(folds: CrossValidation) -> tuple[list[int], Validation]:
    done, scores = [], folds.iter_scores()
    while True:
        try:
            moment = next(scores)
        except StopIteration as end:
            return done, end.value
        if moment is not None:
            done.append(moment)


@pytest.mark.parametrize("y", [IRIS.target.astype(float), IRIS.target_names[IRIS.target].astype(object)])
def test_classes_are_scored_by_accuracy(y: np.ndarray) -> None:
    done, validation = scored(folds(IRIS.data, y, q=2))
    assert done == [0, 1, 2, 3, 4, 5]
    assert validation.measure == "accuracy"
    assert len(validation.scores) == 5
    assert np.mean(validation.scores) > 0.9


@pytest.mark.parametrize("columns", [[3], [2, 3]])
def test_values_are_scored_by_r2(columns: list[int]) -> None:
    y = IRIS.data[:, columns] if len(columns) > 1 else IRIS.data[:, columns[0]]
    _, validation = scored(folds(IRIS.data[:, :2], y, q=2))
    assert validation.measure == "r2"
    assert 0.5 < np.mean(validation.scores) < 1


def test_noise_is_no_better_than_chance() -> None:
    """As it would be, were scaling or W learned from the rows that are scored: here are more features than rows."""
    rng = np.random.default_rng(0)
    _, validation = scored(folds(rng.normal(size=(60, 100)), rng.integers(0, 2, 60).astype(float)))
    assert abs(np.mean(validation.scores) - 0.5) < 0.2


def test_there_are_no_more_folds_than_rows_in_the_smallest_class() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(23, 3)), np.array(["a"] * 20 + ["b"] * 3, dtype=object)
    few = folds(X, y, folds=10)
    assert few.count == 3
    assert few.warnings == ["The smallest class has 3 rows, so there are 3 folds."]
    assert len(scored(few)[1].scores) == 3


def test_a_class_of_one_row_rules_validation_out() -> None:
    none = folds(np.arange(6.0)[:, None], np.array(list("aabbbc"), dtype=object))
    assert none.count == 0
    assert none.warnings == ["The smallest class has 1 row, so there is no cross-validation."]


@pytest.mark.parametrize(("rows", "count"), [(2, 0), (3, 0), (4, 2), (7, 3), (10, 5), (40, 5)])
def test_every_fold_of_values_has_two_rows_to_score(rows: int, count: int) -> None:
    rng = np.random.default_rng(rows)
    few = folds(rng.normal(size=(rows, 2)), rng.normal(size=rows), folds=5)
    assert few.count == count
    assert all("class" not in warning for warning in few.warnings)
    assert bool(few.warnings) is (count < 5)
    if count:
        _, validation = scored(few)
        assert np.isfinite(validation.scores).all()


def test_a_fold_reads_the_target_as_the_whole_job_does() -> None:
    """One value is a fraction: without it they would be read as classes."""
    rng = np.random.default_rng(0)
    y = np.array([*np.arange(18.0), 8.5])
    _, validation = scored(folds(np.column_stack([y, rng.normal(size=19)]), y, folds=5))
    assert validation.measure == "r2"
    assert np.mean(validation.scores) > 0.5


def test_a_fold_that_teaches_nothing_is_left_out_with_a_warning() -> None:
    """One row in a hundred differs: where it is to be scored, all that could be learned from are alike."""
    X = np.zeros((100, 2))
    X[17] = 1
    y = np.linspace(0, 1, 100)
    some = folds(X, y, folds=5, kernel="gaussian")
    done, validation = scored(some)
    assert done[-1] == 5
    assert len(validation.scores) == 4
    assert len(some.warnings) == 1
    assert "1 of 5 folds" in some.warnings[0]
    y = np.zeros(100)
    y[17] = 0.5
    some = folds(np.random.default_rng(0).normal(size=(100, 2)), y, folds=5)
    assert len(scored(some)[1].scores) == 4


@pytest.mark.parametrize("y", [np.repeat([0.0, 1.0, 2.0], [300, 297, 3]), np.linspace(0, 1.5, 600)])
def test_of_many_rows_the_svm_sees_a_sample_with_some_of_every_class(
    y: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.pipeline.validate.SVM_ROWS", 50)
    tested = folds(y[:, None] + np.random.default_rng(0).normal(size=(600, 3)) / 100, y, folds=3)
    rows = tested._sample(np.arange(600))
    assert 50 <= len(np.unique(rows)) == len(rows) <= 53
    if y[1] == 0:
        assert set(y[rows]) == set(y)
    _, validation = scored(tested)
    assert np.mean(validation.scores) > 0.9


def test_every_row_is_predicted_once() -> None:
    _, validation = scored(folds(IRIS.data, IRIS.target.astype(float), q=2))
    np.testing.assert_array_equal(validation.rows, np.arange(150))
    assert np.mean(validation.predictions == IRIS.target) == pytest.approx(validation.score)
    assert 0 < validation.error < 0.05
    assert validation.document()["method"] == "cross_validation"


def known(rows: int) -> OutOfFold:
    return OutOfFold(np.arange(rows), np.zeros(rows), (0.9, 0.8), corrected=0.8, error=0.02)


def test_the_predictions_of_a_choice_that_used_all_rows_need_no_folds() -> None:
    job = folds(IRIS.data, IRIS.target.astype(float))
    complete = CrossValidation(job._training, job._spec, job._options, known(150))
    done, validation = scored(complete)
    assert (done, complete.count) == ([], 0)
    assert (validation.method, validation.score, validation.error) == ("bootstrap", 0.8, 0.02)


def test_the_optimism_of_a_choice_counts_for_the_rows_that_it_used() -> None:
    job = folds(IRIS.data, IRIS.target.astype(float), folds=3)
    _, plain = scored(job)
    _, validation = scored(CrossValidation(job._training, job._spec, job._options, known(75)))
    assert validation.method == "bootstrap"
    assert len(validation.scores) == 3
    assert validation.score == pytest.approx(plain.score - 0.05 * 75 / 150)


def test_two_of_three_folds_score_a_choice_from_a_sample() -> None:
    job = folds(IRIS.data, IRIS.target.astype(float), folds=3)
    _, plain = scored(job)
    spec = job._spec.model_copy(update={"folds": None})
    done, validation = scored(CrossValidation(job._training, spec, job._options, known(75)))
    assert done[-1] == 2
    assert validation.scores == plain.scores[:2]
    assert len(validation.rows) == 100
    assert validation.score == pytest.approx(np.mean(plain.scores[:2]) - 0.05 * 75 / 150)


def test_a_choice_sees_the_training_rows_of_its_fold_only() -> None:
    """Labels without any relation to the rows: a choice that had seen the test rows would score above chance."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 8)), np.array(["a", "b"] * 45, dtype=object)
    _, validation = scored(folds(X, y, kernel="auto", q=2, folds=3))
    assert validation.method == "nested"
    assert abs(np.mean(validation.scores) - 0.5) < 0.15
