"""Estimators that get frames as they come: pandas and pyarrow, with row numbers, text and missing values."""

import pickle
import sys
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from ism_core import InvalidInput, SupervisedISM, UnsupervisedISM

ENCODED = ["size", "color=blue", "color=green", "color=red", "grade", "price"]


@pytest.fixture
def classes() -> np.ndarray:
    return np.arange(120) % 2


@pytest.fixture
def frame(classes: np.ndarray) -> pd.DataFrame:
    """A table whose size tells the classes apart."""
    rng = np.random.default_rng(0)
    size = 3 * classes + rng.normal(size=120)
    size[7] = np.nan
    return pd.DataFrame(
        {
            "row": np.arange(1, 121),
            "key": [f"k{rng.integers(10**9)}" for _ in range(120)],
            "size": size,
            "color": rng.choice(["red", "green", "blue"], 120),
            "grade": rng.choice(["low", "medium", "high"], 120),
            "price": [f"${value:.2f}" for value in rng.uniform(1, 9, 120)],
            "day": pd.date_range("2024-01-01", periods=120).astype(str),
            "same": 1.0,
            "copy": np.where(classes == 1, "yes", "no"),
        }
    )


def fitted(X: object, y: object, **params: object) -> SupervisedISM:
    with pytest.warns(UserWarning, match="Left out|filled in|read as"):
        return SupervisedISM("gaussian", q=1, **params).fit(X, y)


def test_columns_are_used_as_in_a_job_and_warnings_name_the_others(frame: pd.DataFrame, classes: np.ndarray) -> None:
    with pytest.warns(UserWarning, match="Left out|filled in|read as") as caught:
        model = SupervisedISM("gaussian", q=1).fit(frame, classes)
    text = " ".join(str(each.message) for each in caught)
    for name in ("row", "key", "day", "same", "copy"):
        assert f'"{name}" (' in text
    assert '"size" (1 value, with the median)' in text
    assert model.features_.tolist() == ENCODED
    assert model.features_[model.feature_importances_.argmax()] == "size"
    assert model.components_.shape == (1, len(ENCODED))
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert model.get_feature_names_out().tolist() == ["supervisedism0"]
    assert model.inverse_transform(model.transform(frame)).shape == (120, len(ENCODED))


def test_pyarrow_and_pandas_give_the_same_axes_also_after_pickling(frame: pd.DataFrame, classes: np.ndarray) -> None:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    first, second = fitted(frame, classes), fitted(table, classes)
    np.testing.assert_array_equal(first.components_, second.components_)
    again = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(again.transform(frame), second.transform(table))


def test_new_rows_are_encoded_like_the_training_rows(frame: pd.DataFrame, classes: np.ndarray) -> None:
    model = fitted(frame, classes)
    expected = model.transform(frame)
    np.testing.assert_allclose(model.transform(frame[::-1]), expected[::-1])
    np.testing.assert_allclose(model.transform(frame[:1]), expected[:1])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_allclose(model.transform(frame.to_numpy()), expected)
    with pytest.warns(UserWarning, match='such as "violet"'):
        model.transform(frame.assign(color="violet"))
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame.drop(columns="color"))


def test_a_list_of_columns_is_used_whatever_they_hold(frame: pd.DataFrame, classes: np.ndarray) -> None:
    assert fitted(frame, classes, prepare=["row", "copy", "price"]).features_.tolist() == ["row", "price", "copy=yes"]
    with pytest.raises(ValueError, match='X has no columns "nothing"'):
        SupervisedISM("gaussian", prepare=["nothing"]).fit(frame, classes)


@pytest.mark.parametrize(("prepare", "said"), [("none", '"none"'), (False, "False"), ([], r"\[\]")])
def test_a_preparation_that_does_not_exist_is_refused(
    prepare: Any, said: str, frame: pd.DataFrame, classes: np.ndarray
) -> None:
    with pytest.raises(InvalidInput, match=rf'prepare is {said}. It must be "auto", None or a list of columns.'):
        SupervisedISM("gaussian", prepare=prepare).fit(frame, classes)


def test_warnings_name_the_line_that_calls_the_estimator(frame: pd.DataFrame, classes: np.ndarray) -> None:
    with pytest.warns(UserWarning, match=".") as caught:
        SupervisedISM("gaussian", 1).fit(frame, classes)
    assert {warning.filename for warning in caught} == {__file__}


def test_text_without_preparation_is_refused_with_advice(frame: pd.DataFrame, classes: np.ndarray) -> None:
    with pytest.raises(InvalidInput, match='"auto" encodes text in frames'):
        SupervisedISM("gaussian", prepare=None).fit(frame, classes)
    with pytest.raises(InvalidInput, match='"auto" encodes text in frames'):
        SupervisedISM("gaussian").fit(frame.to_numpy(), classes)


def test_a_frame_of_measurements_is_the_same_as_its_array(classes: np.ndarray) -> None:
    X = np.random.default_rng(1).normal(size=(120, 4)) + classes[:, None]
    of_frame, of_array = (
        SupervisedISM("gaussian").fit(each, classes) for each in (pd.DataFrame(X, columns=list("abcd")), X)
    )
    np.testing.assert_array_equal(of_frame.components_, of_array.components_)
    assert of_array.features_.tolist() == ["x0", "x1", "x2", "x3"]


def test_frames_without_usable_columns_are_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match=r"No column of X can be used\. Left out of the features: \"row\""):
        UnsupervisedISM("gaussian").fit(frame[["row", "same"]])


def test_frames_work_in_pipelines_with_cross_validation(frame: pd.DataFrame, classes: np.ndarray) -> None:
    model = make_pipeline(SupervisedISM("gaussian", q=1), KNeighborsClassifier())
    with pytest.warns(UserWarning, match="Left out|filled in|read as"):
        assert cross_val_score(clone(model), frame, classes, cv=3).mean() > 0.8


def test_frames_of_numbers_need_no_further_packages(
    frame: pd.DataFrame, classes: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ism_jobs.data", None)  # as if pyarrow were not installed
    numbers = frame[["row", "same"]]
    assert SupervisedISM("gaussian", q=1).fit(numbers, classes).features_.tolist() == ["row", "same"]
    with pytest.raises(InvalidInput, match=r"ism-core\[tables\]"):
        SupervisedISM("gaussian").fit(frame, classes)


def test_importances_of_a_pandas_frame_are_named_and_select_features() -> None:
    wine = load_wine(as_frame=True)
    fitted = SupervisedISM("gaussian", q=1).fit(wine.data, wine.target)
    importances = fitted.feature_importances_
    assert importances.index.tolist() == wine.data.columns.tolist()
    assert importances.sort_values().index[-1] == "flavanoids"
    selector = SelectFromModel(SupervisedISM("gaussian", q=1), threshold="mean").fit(wine.data, wine.target)
    assert selector.transform(wine.data).shape == (178, (importances >= importances.mean()).sum())
    assert isinstance(
        SupervisedISM("gaussian", q=1).fit(wine.data.to_numpy(), wine.target).feature_importances_, np.ndarray
    )
