"""Parquet files made to harm: footers that lie, dictionaries that repeat, pages that inflate."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ism_jobs.errors import InvalidTable, Problem, TooLarge
from tests.ism_jobs.tables.measured import MEGABYTE, Outcome, measured
from tools.table_files import parquet

ROWS = 123_457  # found in a footer by its bytes


def varint(number: int) -> bytes:
    """A number as Thrift's compact protocol writes it."""
    rest, found = number << 1, bytearray()
    while rest > 127:
        found.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*found, rest])


def with_footer(content: bytes, old: bytes, new: bytes, count: int = -1) -> bytes:
    """The file with some bytes of its footer replaced."""
    length = int.from_bytes(content[-8:-4], "little")
    body, footer = content[: -8 - length], content[-8 - length : -8]
    assert old in footer
    footer = footer.replace(old, new, count)
    return body + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def numbers(rows: int = ROWS) -> bytes:
    return parquet(pa.table({"x": np.zeros(rows)}), store_schema=False)


def outcome_of(tmp_path: Path, content: bytes) -> Outcome:
    path = tmp_path / "upload"
    path.write_bytes(content)
    return measured(path)


@pytest.mark.parametrize("rows", [10**7 + 1, 10**12, 2**62])
def test_a_footer_with_more_rows_than_are_allowed_is_refused_before_anything_is_read(tmp_path: Path, rows: int) -> None:
    outcome = outcome_of(tmp_path, with_footer(numbers(), varint(ROWS), varint(rows)))
    assert isinstance(outcome.problem, TooLarge)
    assert f"at least {rows:,} rows" in outcome.sentence
    assert outcome.growth < 16 * MEGABYTE


@pytest.mark.parametrize("rows", [1, 1000, 9_000_000])
@pytest.mark.parametrize("places", [1, 2, -1])
def test_a_footer_that_lies_within_the_limits_costs_no_memory(tmp_path: Path, rows: int, places: int) -> None:
    """In the file's count of rows, in that of its values too, or everywhere: what is there is read, or refused."""
    outcome = outcome_of(tmp_path, with_footer(numbers(), varint(ROWS), varint(rows), places))
    assert isinstance(outcome.problem, InvalidTable | None), outcome
    assert outcome.rows <= ROWS
    assert outcome.growth < 128 * MEGABYTE


def test_a_declared_size_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    content = numbers()
    size = pa.parquet.ParquetFile(io.BytesIO(content)).metadata.row_group(0).total_byte_size
    outcome = outcome_of(tmp_path, with_footer(content, varint(size), varint(2**40)))
    assert isinstance(outcome.problem, TooLarge)
    assert "1,099,511,627,776 bytes after decompression" in outcome.sentence


def test_a_long_word_in_a_dictionary_is_not_repeated_in_memory(tmp_path: Path) -> None:
    """4,000 times 90,000 letters are 360 MB."""
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(4_000, np.int32)), pa.array(["x" * 90_000]))
    content = parquet(pa.table({"a": words}))
    assert len(content) < MEGABYTE
    outcome = outcome_of(tmp_path, content)
    assert (outcome.problem, outcome.rows) == (None, 4_000)
    assert outcome.growth < 160 * MEGABYTE


def test_pages_that_inflate_take_no_more_than_a_few_times_their_size(tmp_path: Path) -> None:
    content = parquet(pa.table({"a": ["x" * 90_000] * 400}), compression="zstd", use_dictionary=False)
    assert len(content) < MEGABYTE
    outcome = outcome_of(tmp_path, content)
    assert (outcome.problem, outcome.rows) == (None, 400)
    assert outcome.growth < 5 * 36 * MEGABYTE


def test_a_value_that_is_too_long_is_refused(tmp_path: Path) -> None:
    outcome = outcome_of(
        tmp_path, parquet(pa.table({"a": ["x" * 5_000_000]}), compression="zstd", use_dictionary=False)
    )
    assert isinstance(outcome.problem, TooLarge)
    assert "5,000,000 bytes of text" in outcome.sentence


def test_values_of_a_fixed_width_are_refused_by_their_width(tmp_path: Path) -> None:
    content = parquet(pa.table({"a": pa.array([b"x" * 70] * 5, pa.binary(70))}), store_schema=False)
    outcome = outcome_of(tmp_path, with_footer(content, varint(70), varint(2**30), 1))
    assert isinstance(outcome.problem, TooLarge | InvalidTable)
    assert outcome.growth < 32 * MEGABYTE


def nested(depth: int) -> Any:
    type = pa.float64()
    for _ in range(depth):
        type = pa.struct([("a", type)])
    return type


def named(name: str) -> bytes:
    return parquet(pa.table({name: [1.0]}), store_schema=False)


BROKEN: dict[str, tuple[bytes, type[Problem], str]] = {
    "a name that is no text": (with_footer(named("abcdef"), b"abcdef", b"\xff\xfeabcd"), InvalidTable, ""),
    "values within values": (parquet(pa.table({"a": pa.nulls(2, nested(90))})), InvalidTable, "nested"),
    "no footer": (numbers()[:-8] + b"\xff\xff\xff\x7fPAR1", InvalidTable, "cannot be read"),
    "a footer of nothing": (b"PAR1" + bytes(4) + b"PAR1", InvalidTable, "cannot be read"),
    "names of 100,000 letters": (named("n" * 100_000), TooLarge, "100,000 characters"),
    "pages cut out": (b"PAR1" + numbers()[200:], InvalidTable, "cannot be read"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_are_refused_with_a_sentence(kind: str, tmp_path: Path) -> None:
    content, problem, sentence = BROKEN[kind]
    outcome = outcome_of(tmp_path, content)
    assert type(outcome.problem) is problem, outcome
    assert sentence in outcome.sentence
    assert len(outcome.sentence) < 600


def test_what_pandas_says_of_a_table_is_not_trusted(tmp_path: Path) -> None:
    table = pa.table({"a": [1.0, 2.0]}).replace_schema_metadata({b"pandas": b"[" * 100_000})
    assert outcome_of(tmp_path, parquet(table)).rows == 2
