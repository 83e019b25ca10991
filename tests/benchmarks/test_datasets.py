"""Where the benchmarks' data come from when the folder lacks them: OpenML, or a sentence that says what to do."""

from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.utils import Bunch

from benchmarks import datasets
from benchmarks.datasets import DataNotFound, fetched, load, mnist_rows


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISM_DATA_DIR", str(tmp_path))
    return tmp_path


def answering(X: np.ndarray, target: list[str]) -> Any:
    def fetch(name: str, **options: Any) -> Bunch:
        return Bunch(data=X, target=np.array(target, dtype=object), name=name)

    return fetch


def unreachable(name: str, **options: Any) -> Bunch:
    raise URLError("Network is unreachable")


def test_cancer_is_fetched_without_its_incomplete_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.array([[5.0, 1.0], [np.nan, 2.0], [10.0, 8.0]])
    monkeypatch.setattr(datasets, "fetch_openml", answering(X, ["benign", "benign", "malignant"]))
    cancer = load("cancer")
    np.testing.assert_array_equal(cancer.X, [[5, 1], [10, 8]])
    np.testing.assert_array_equal(cancer.y, [0, 1])


def test_mnist_is_split_into_training_and_test_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "MNIST_TRAIN", 3)
    X = np.array([[0, 9], [5, 9], [255, 0], [7, 7], [8, 8]])
    monkeypatch.setattr(datasets, "fetch_openml", answering(X, ["5", "0", "4", "7", "2"]))
    test = load("mnist_test")
    np.testing.assert_array_equal(test.X, [[7, 7], [8, 8]])
    np.testing.assert_array_equal(test.y, [7, 2])
    rows, y = mnist_rows(3)
    assert rows.shape == (3, 2)
    np.testing.assert_array_equal(y, [5, 0, 4])


def test_a_local_file_is_used_before_the_network(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "fetch_openml", unreachable)
    np.savez(empty_folder / "cancer.npz", X=np.eye(3), y=np.array([0, 1, 1]))
    np.testing.assert_array_equal(load("cancer").X, np.eye(3))


@pytest.mark.parametrize("name", ["cancer", "mnist_test", "mnist_train"])
def test_without_a_network_the_message_says_where_the_file_is_expected(empty_folder: Path, name: str) -> None:
    with pytest.raises(DataNotFound) as caught:
        fetched(name, unreachable)
    message = str(caught.value)
    assert str(empty_folder / f"{name}.npz") in message
    assert "ISM_DATA_DIR" in message
    assert "OpenML" in message
    assert "Network is unreachable" in message


def test_an_invalid_download_is_reported() -> None:
    def changed(name: str, **options: Any) -> Bunch:
        raise ValueError("md5 checksum of local file does not match description")

    with pytest.raises(DataNotFound, match=r"breast-w.*md5 checksum"):
        fetched("cancer", changed)


@pytest.mark.parametrize(("name", "remedy"), [("face", "CMU Face Images"), ("flower", "may not be redistributed")])
def test_data_that_cannot_be_downloaded_say_how_to_get_them(empty_folder: Path, name: str, remedy: str) -> None:
    with pytest.raises(DataNotFound, match=remedy) as caught:
        load(name)
    assert str(empty_folder / f"{name}.npz") in str(caught.value)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(DataNotFound, match="wine, wdbc, digits, cancer"):
        load("iris")
