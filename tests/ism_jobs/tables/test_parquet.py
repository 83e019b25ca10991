"""Parquet files of any type, and broken ones."""

import datetime
import decimal
import io
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from ism_jobs.errors import InvalidTable, TooLarge
from ism_jobs.tables import Limits
from tests.support.tables import read
from tools.table_files import parquet


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (pa.array([1, None], pa.int8()), [1.0, None]),
        (pa.array([2**60, None], pa.uint64()), [float(2**60), None]),
        (pa.array([True, None]), [1.0, None]),
        (pa.array([True, False]), [1.0, 0.0]),
        (pa.array([0.5, float("nan")], pa.float32()), [0.5, None]),
        (pa.array([decimal.Decimal("1.25"), None]), [1.25, None]),
        (pa.nulls(2), [None, None]),
        (pa.array([None, ""], pa.string()), [None, None]),
        (pa.array(["x", " "], pa.large_string()), ["x", None]),
        (pa.array(["NA", "1"]), ["NA", "1"]),
        (pa.array(["x", None]).dictionary_encode(), ["x", None]),
        (pa.array([b"x", None]), ["x", None]),
        (pa.array([datetime.date(2020, 2, 1), None]), ["2020-02-01", None]),
        (pa.array([datetime.datetime(2020, 2, 1, 3), None], pa.timestamp("s")), ["2020-02-01 03:00:00", None]),
    ],
)
def test_every_scalar_type_becomes_numbers_or_text(tmp_path: Path, column: Any, values: list[Any]) -> None:
    assert read(tmp_path, parquet(pa.table({"a": column}))).values == {"a": values}


@pytest.mark.parametrize("nested", [pa.array([[1], [2]]), pa.array([{"x": 1}, {"x": 2}])])
def test_nested_columns_are_refused_by_name(tmp_path: Path, nested: Any) -> None:
    with pytest.raises(InvalidTable, match='The column "deep" holds nested values') as caught:
        read(tmp_path, parquet(pa.table({"a": [1, 2], "deep": nested})))
    assert caught.value.errors[0].field == "deep"


def test_the_index_that_pandas_adds_is_left_out(tmp_path: Path) -> None:
    file = io.BytesIO()
    pd.DataFrame({"a": [1, 2, 3]}, index=[5, 3, 4]).to_parquet(file)
    found = read(tmp_path, file.getvalue())
    assert found.values == {"a": [1.0, 2.0, 3.0]}
    assert found.notes == ["The index that pandas stored with the table is left out."]


def test_double_names_are_numbered(tmp_path: Path) -> None:
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert read(tmp_path, parquet(table)).values == {"a": [1.0], "a.2": [2.0]}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (parquet(pa.table({"a": [1.0, float("inf")]})), 'The column "a" has infinite values'),
        (parquet(pa.table({"a": [b"\xff"]})), "not valid UTF-8"),
        (parquet(pa.table({"a": pa.array([], pa.float64())})), "0 rows and 1 columns"),
        (parquet(pa.table({"a": [1.0]}))[:-10], "cannot be read"),
        (b"PAR1", "cannot be read"),
        (b"PAR1" + bytes(100) + b"PAR1", "cannot be read"),
    ],
)
def test_a_broken_or_empty_file_is_refused_with_a_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    with pytest.raises(InvalidTable) as caught:
        read(tmp_path, content)
    assert sentence in caught.value.detail


def test_damage_anywhere_in_the_file_is_refused_or_read_but_never_a_crash(tmp_path: Path) -> None:
    whole = parquet(pa.table({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "z"]}), compression="zstd")
    for position in range(4, len(whole), 7):
        broken = bytearray(whole)
        broken[position] ^= 0x55
        try:
            found = read(tmp_path, bytes(broken))
        except (InvalidTable, TooLarge):
            continue
        assert found.table.num_columns >= 1


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"rows": 2}, "at least 3 rows; at most 2"),
        ({"columns": 1}, "2 columns; at most 1"),
        ({"cells": 5}, "at least 6 cells"),
        ({"text_length": 2}, "has 3 bytes of text; at most 2"),
    ],
)
def test_limits_are_refused_with_both_numbers(tmp_path: Path, limits: dict[str, Any], sentence: str) -> None:
    with pytest.raises(TooLarge) as caught:
        read(tmp_path, parquet(pa.table({"a": [1, 2, 3], "b": ["xyz", "y", "z"]})), limits=Limits(**limits))
    assert sentence in caught.value.detail


def test_a_long_text_repeated_by_a_dictionary_is_decoded_in_small_parts(tmp_path: Path) -> None:
    from ism_jobs.tables import open_table

    path = tmp_path / "repeated.parquet"
    path.write_bytes(parquet(pa.table({"a": pa.array(["x" * 90_000] * 500)})))
    assert path.stat().st_size < 200_000
    assert max(batch.nbytes for batch in open_table(path)) < 10_000_000
