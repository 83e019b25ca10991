"""Mapped files, Arrow data sets and Dask collections are read in parts and give the same W."""

import pickle
from collections.abc import Callable
from pathlib import Path

import dask.array
import numpy as np
import pandas as pd
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

from ism_core import InvalidInput, Partitions, Polynomial, Supervised, partitions, solve
from ism_core.arrays import Array

NAMES = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 3, 900)
    X = rng.standard_normal((900, 4)).astype(np.float32)
    X[:, 1] += 2 * kind
    X[:, 3] += 2 * (kind == 1)
    return pd.DataFrame(X, columns=NAMES).assign(kind=np.array(["x", "y", "z"])[kind])


@pytest.fixture(scope="module")
def expected(frame: pd.DataFrame) -> Array:
    return solve(frame[NAMES].to_numpy(), Supervised(frame.kind.to_numpy(str)), Polynomial(), 2, delta=1e-5).W


@pytest.fixture
def folder(frame: pd.DataFrame, tmp_path: Path) -> Path:
    """Three Parquet files of several row groups."""
    for number in range(3):
        rows = pyarrow.Table.from_pandas(frame[300 * number : 300 * (number + 1)], preserve_index=False)
        pyarrow.parquet.write_table(rows, tmp_path / f"part-{number}.parquet", row_group_size=70)
    return tmp_path


def assert_solved(table: Partitions, expected: Array) -> None:
    found = solve(pickle.loads(pickle.dumps(table)), Supervised(), Polynomial(), 2, delta=1e-5).W
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_a_folder_of_parquet_files(folder: Path, expected: Array) -> None:
    table = partitions(pyarrow.dataset.dataset(folder), y="kind")
    assert len(table) == 15  # row groups
    assert_solved(table, expected)


def test_csv_files_and_chosen_columns(frame: pd.DataFrame, tmp_path: Path, expected: Array) -> None:
    frame.assign(other="text").to_csv(tmp_path / "rows.csv", index=False)
    dataset = pyarrow.dataset.dataset(tmp_path / "rows.csv", format="csv")
    assert_solved(partitions(dataset, y="kind", columns=NAMES), expected)
    with pytest.raises(InvalidInput, match="Column 'other' of X holds string"):
        partitions(dataset, y="kind")


def test_a_mapped_file(frame: pd.DataFrame, tmp_path: Path, expected: Array) -> None:
    np.save(tmp_path / "X.npy", frame[NAMES].to_numpy())
    assert_solved(partitions(np.load(tmp_path / "X.npy", mmap_mode="r"), frame.kind.to_numpy(str)), expected)


def test_dask_frames_and_arrays(frame: pd.DataFrame, expected: Array) -> None:
    X = dask.array.from_array(frame[NAMES].to_numpy(), chunks=(250, 2))
    assert_solved(partitions(X, frame.kind.to_numpy(str)), expected)
    frames = pytest.importorskip("dask.dataframe")
    assert_solved(partitions(frames.from_pandas(frame, npartitions=4), y="kind"), expected)


def test_wrong_names_and_lengths_are_refused_with_a_sentence(folder: Path, frame: pd.DataFrame) -> None:
    dataset = pyarrow.dataset.dataset(folder)
    X = frame[NAMES].to_numpy()
    cases = [
        ((dataset, "sort"), "Unknown column 'sort'. The table has: a, b, c, d, kind."),
        ((dataset, frame.kind), "the name of one of them"),
        ((dataset, "kind", ["kind"]), "not the target"),
        ((X, frame.kind[:5]), "y has 5 value"),
        ((X, None, ["a"]), "no named columns"),
        ((frame.kind.to_numpy(str), None), "must be a table of numbers"),
        ((dask.array.from_array(X), frame.kind.to_numpy(str)[:5]), "y has 5 value"),
    ]
    for given, sentence in cases:
        with pytest.raises(InvalidInput, match=sentence):
            partitions(*given)


def test_files_that_cannot_be_read_end_the_solve_with_a_sentence(folder: Path) -> None:
    table = partitions(pyarrow.dataset.dataset(folder), y="kind")
    path = folder / "part-1.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:400] + bytes(200) + whole[600:])
    with pytest.raises(InvalidInput, match=r"part-1.parquet cannot be read"):
        solve(table, Supervised(), Polynomial(), 2)
    path.unlink()
    with pytest.raises(InvalidInput, match=r"part-1.parquet cannot be read"):
        solve(table, Supervised(), Polynomial(), 2)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: rows.assign(b="text"), r"Column 'b' of .*part-1.parquet holds .*string"),
        (lambda rows: rows.drop(columns="b"), r"part-1.parquet has no column 'b'"),
        (
            lambda rows: rows.assign(kind=1),
            r"Column 'kind' of .*part-1.parquet holds int64, and that of other .*string",
        ),
    ],
    ids=["text", "missing column", "numbers as labels"],
)
def test_files_whose_columns_differ_are_refused_with_a_sentence(
    change: Callable[[pd.DataFrame], pd.DataFrame], sentence: str, folder: Path, frame: pd.DataFrame
) -> None:
    changed = pyarrow.Table.from_pandas(change(frame[300:600]), preserve_index=False)
    pyarrow.parquet.write_table(changed, folder / "part-1.parquet", row_group_size=100)
    with pytest.raises(InvalidInput, match=sentence):
        partitions(pyarrow.dataset.dataset(folder), y="kind")
