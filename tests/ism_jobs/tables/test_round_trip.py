"""Whatever is written is read again: the same values, and the same digest in every format."""

import gzip
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ism_jobs.tables import FORMATS, write_table
from tests.support.tables import read
from tools.table_files import npz, parquet

NAMES = st.text(st.characters(categories=["L"]), min_size=1, max_size=8).map("n".__add__)
NUMBERS = st.one_of(
    st.none(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**53), 2**53).map(float)
)
# a word starts with a letter: "NA", "1" and "true" are not words in a format without types
WORDS = st.one_of(
    st.none(),
    st.text(st.one_of(st.characters(exclude_categories=["Cs", "Cc"]), st.sampled_from('",;\t|\r\n ')), max_size=6).map(
        "w".__add__
    ),
)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(1, 8))
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    columns = {}
    for name in names:
        values, type = draw(st.sampled_from([(NUMBERS, pa.float64()), (WORDS, pa.string())]))
        columns[name] = pa.array(draw(st.lists(values, min_size=rows, max_size=rows)), type)
    return pa.table(columns)


def canonical(table: pa.Table) -> dict[str, list[float | str | None]]:
    return {name: [value if value != 0 else 0.0 for value in column] for name, column in table.to_pydict().items()}


@settings(max_examples=60, deadline=None)
@given(tables())
def test_any_table_is_read_as_it_was_written_in_every_format(table: pa.Table) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = [read(Path(folder), write_table(table, format)) for format in ("csv", "json", "parquet")]
    assert [each.format for each in found] == ["csv", "json", "parquet"]
    for each in found:
        assert canonical(each.table) == canonical(table)
    assert len({each.digest for each in found}) == 1


@settings(max_examples=30, deadline=None)
@given(tables(), st.integers(1, 3))
def test_the_digest_depends_neither_on_row_groups_nor_on_compression(table: pa.Table, rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = read(Path(folder), parquet(table)).digest
        assert read(Path(folder), parquet(table, row_group_size=rows)).digest == whole
        assert read(Path(folder), gzip.compress(write_table(table, "csv"))).digest == whole


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=6))
def test_numbers_have_one_digest_as_npy_npz_and_csv(rows: list[list[float | None]]) -> None:
    array = np.array(rows, dtype=float)
    table = pa.table({f"x{j + 1}": pa.array(array[:, j], from_pandas=True) for j in range(3)})
    with tempfile.TemporaryDirectory() as folder:
        files = [write_table(table, "npy"), npz(array), npz(np.asfortranarray(array)), write_table(table, "csv")]
        found = [read(Path(folder), file) for file in files]
    assert len({each.digest for each in found}) == 1
    assert all(canonical(each.table) == canonical(table) for each in found)


def test_the_digest_of_a_known_table_stays_what_it_is(tmp_path: Path) -> None:
    found = read(tmp_path, "a,b\n1,x\n-0.0,\n,é\n")
    assert found.digest == read(tmp_path, '[{"a": 1, "b": "x"}, {"a": 0}, {"b": "é"}]').digest
    assert found.digest == "66dcb88df51744c011504ca1490ab2bef035c82701b1024a935be344cb41a045"


@pytest.mark.parametrize(
    "other",
    [
        "a,b\n1,x\n2,z\n",
        "a,c\n1,x\n2,y\n",
        "b,a\nx,1\ny,2\n",
        "a,b\n2,x\n1,y\n",
        "a,b\n1,x\n2,\n",
        "a,b\n1,x\n2,y\n2,y\n",
    ],
)
def test_the_digest_tells_tables_apart(tmp_path: Path, other: str) -> None:
    assert read(tmp_path, "a,b\n1,x\n2,y\n").digest != read(tmp_path, other).digest


def test_the_digest_tells_where_one_text_ends_and_the_next_begins(tmp_path: Path) -> None:
    assert read(tmp_path, '[{"a": "xy"}, {"a": "z"}]').digest != read(tmp_path, '[{"a": "x"}, {"a": "yz"}]').digest


def test_a_text_column_of_digits_differs_from_a_number_column(tmp_path: Path) -> None:
    assert read(tmp_path, '[{"a": "1"}]').digest != read(tmp_path, '[{"a": 1}]').digest


def test_json_has_null_where_a_value_is_missing_or_no_number() -> None:
    table = pa.table({"a": [1.5, float("nan"), None, float("inf")], "i": [1, 2, 3, None], "s": ["x", None, "y", "z"]})
    assert json.loads(write_table(table, "json")) == {
        "columns": ["a", "i", "s"],
        "rows": [[1.5, 1, "x"], [None, 2, None], [None, 3, "y"], [None, None, "z"]],
    }


def test_csv_is_written_as_rfc_4180_says() -> None:
    table = pa.table({"a b": [0.1, None], "s": ['q"', "x,\ny"]})
    assert write_table(table, "csv") == b'a b,s\r\n0.1,"q"""\r\n,"x,\ny"\r\n'


def test_npy_holds_the_number_columns_without_the_labels(tmp_path: Path) -> None:
    table = pa.table({"feature": ["a", "b"], "row": [0, 1], "axis1": [1.0, None], "axis2": [3.0, 4.0]})
    (tmp_path / "w.npy").write_bytes(write_table(table, "npy", label_columns=["row"]))
    array = np.load(tmp_path / "w.npy")
    assert array.flags.c_contiguous
    np.testing.assert_array_equal(array, [[1.0, 3.0], [np.nan, 4.0]])


def test_npy_of_one_integer_column_is_one_dimensional_and_stays_whole(tmp_path: Path) -> None:
    table = pa.table({"row": [0, 1], "cluster": pa.chunked_array([[2], [2**60 + 1]])})
    (tmp_path / "labels.npy").write_bytes(write_table(table, "npy", label_columns=["row"]))
    array = np.load(tmp_path / "labels.npy")
    assert array.dtype == np.int64
    assert array.tolist() == [2, 2**60 + 1]


def test_npz_has_an_array_for_each_column_and_a_header() -> None:
    table = pa.table({"row": [3, 1, 2], "x/y": [0.5, None, 2.0], "t": ["b", None, "ä"]})
    with np.load(io.BytesIO(write_table(table, "npz")), allow_pickle=False) as file:
        header = json.loads(file["header"].tobytes())
        assert header == {"columns": ["row", "x/y", "t"], "levels": {"t": ["b", "ä"]}}
        assert file["column0"].tolist() == [3, 1, 2]
        np.testing.assert_array_equal(file["column1"], [0.5, np.nan, 2.0])
        assert file["column2"].tolist() == [0, -1, 1]


def test_npy_of_text_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="no number columns"):
        write_table(pa.table({"a": ["x"]}), "npy")


def test_every_written_format_has_a_media_type() -> None:
    assert dict(FORMATS) == {
        "json": "application/json",
        "csv": "text/csv; charset=utf-8",
        "npy": "application/x-npy",
        "npz": "application/x-npz",
        "parquet": "application/vnd.apache.parquet",
    }
