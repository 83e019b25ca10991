"""CSV, JSON and gzip files made to harm: read or refused with a sentence, in memory that does not grow with them."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ism_jobs.errors import InvalidTable, Problem, TooLarge, UnsupportedFormat
from ism_jobs.tables import Limits
from tests.ism_jobs.tables.measured import MEGABYTE, measured
from tests.support.tables import read

HUNDRED = 100_000_000
ROW = b'{"a":"' + b"x" * 90_000 + b'"}'


def many_columns() -> bytes:
    return ",".join(f"x{place}" for place in range(10**6)).encode() + b"\n" + b"1," * (10**6 - 1) + b"1\n"


Case = tuple[Callable[[], bytes], type[Problem], str, int]  # the last: megabytes of memory

CASES: dict[str, Case] = {
    "a million columns": (many_columns, TooLarge, "1,000,000 columns; at most 20,000", 64),
    "five million empty columns": (lambda: b"," * 5_000_000 + b"\n1\n", TooLarge, "5,000,001 columns", 64),
    "one field of 100 MB": (lambda: b"a,b\n1," + b"x" * HUNDRED + b"\n", InvalidTable, "A row is longer than", 64),
    "100 MB without a line": (lambda: b"x" * HUNDRED, InvalidTable, "the file has no line breaks", 64),
    "a quote that never ends": (lambda: b'a,b\n1,"' + b"x,\n" * 10**7, InvalidTable, "never closed", 64),
    "a quote that never ends in the header": (lambda: b'"' + b"x,y\n" * 10**7, InvalidTable, "never closed", 64),
    "a long line, then many": (lambda: b"b" * 1_100_000 + b"\n" + b"a\n" * 10**7, InvalidTable, "very long value", 64),
    "spaced lines, then none": (lambda: b"1 2 3\n" * 200_000 + b"1 " * 9 * 10**6, InvalidTable, "line of its own", 96),
    "zero bytes": (lambda: b"a,b\n" + b"1,2\n" * 20_000 + b"1,\x002\n", UnsupportedFormat, "zero bytes", 32),
    "a ragged row of a million": (
        lambda: b"a,b\n1,2\n" + b"1," * 10**6 + b"1\n",
        InvalidTable,
        "1,000,001 value(s)",
        64,
    ),
    "broken UTF-8 after its mark": (lambda: b"\xef\xbb\xbfa,b\n1,\xff\n", InvalidTable, "not UTF-8", 32),
    "deep nesting": (lambda: b'[{"a":' + b"[" * 10**7, InvalidTable, "nested too deeply", 32),
    "deep objects": (lambda: b'{"a":' * 10**6, InvalidTable, "nested too deeply", 32),
    "a row of empty objects": (lambda: b"[[" + b"{}," * 10**6 + b"{}]]", TooLarge, "1,000,001 columns", 160),
    "an endless row": (
        lambda: b"[[" + b'"a fairly long text",' * 10**6,
        TooLarge,
        "characters; at most 16,777,216",
        256,
    ),
    "a string of 100 MB": (lambda: b'[{"a":"' + b"x" * HUNDRED + b'"}]', TooLarge, "at most 16,777,216", 128),
    "a number of 100 MB": (lambda: b'[{"a":' + b"9" * HUNDRED + b"}]", InvalidTable, "too many digits", 64),
    "numbers of 4,000 digits": (
        lambda: b"[" + b",".join([b'{"a":' + b"9" * 4000 + b"}"] * 2000) + b"]",
        InvalidTable,
        "infinite values",
        64,
    ),
    "infinity": (lambda: b'[{"a": 1e999}]', InvalidTable, "infinite values", 32),
    "a value too long": (lambda: b'[{"a": "' + b"x" * 200_000 + b'"}]', TooLarge, "200,000 bytes of text", 32),
    "keys of 100,000 letters": (
        lambda: b"[" + b",".join(b'{"%d%s":1}' % (place, b"x" * 100_000) for place in range(500)) + b"]",
        TooLarge,
        "100,001 characters; at most 200",
        32,
    ),
    "a bomb": (lambda: gzip.compress(b"1,2\n" * 25_000_000, 1), TooLarge, "at most 60,000,000 are allowed", 32),
    "a bomb of zeros": (lambda: gzip.compress(bytes(50_000_000), 1), UnsupportedFormat, "neither text nor", 32),
    "a bomb in a bomb": (
        lambda: gzip.compress(gzip.compress(bytes(HUNDRED), 1)),
        UnsupportedFormat,
        "compressed twice",
        32,
    ),
    "very many empty members": (lambda: gzip.compress(b"") * 500_000, InvalidTable, "The file is empty", 32),
    "members, the last one damaged": (
        lambda: gzip.compress(b"1,2\n") * 1000 + gzip.compress(b"1,2\n")[:-4],
        InvalidTable,
        "cannot be decompressed",
        32,
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_hostile_text_is_refused_in_bounded_memory(kind: str, tmp_path: Path) -> None:
    make, problem, sentence, megabytes = CASES[kind]
    path = tmp_path / "upload"
    path.write_bytes(make())
    limits = Limits(bytes=60_000_000) if "bomb" in kind else Limits()
    outcome = measured(path, limits)
    assert type(outcome.problem) is problem, outcome
    assert sentence in outcome.sentence
    assert len(outcome.sentence) < 400
    assert outcome.growth < megabytes * MEGABYTE


@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_long_rows_are_read_a_few_at_a_time(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """27 MB of JSON in 300 rows: as many rows of numbers would be read together."""
    path = tmp_path / "upload"
    path.write_bytes(pack(b"[" + b",".join([ROW] * 300) + b"]"))
    outcome = measured(path)
    assert (outcome.problem, outcome.rows) == (None, 300)
    assert outcome.growth < 96 * MEGABYTE


def test_very_many_members_with_a_row_each_are_read(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(gzip.compress(b"1,2\n") * 100_000)
    assert measured(path).rows == 100_000


def test_ends_of_lines_may_be_mixed(tmp_path: Path) -> None:
    found = read(tmp_path, b"a,b\r\n1,2\n3,4\r5,6\n\r7,8")
    assert found.values == {"a": [1.0, 3.0, 5.0, 7.0], "b": [2.0, 4.0, 6.0, 8.0]}


def test_broken_utf_8_without_its_mark_is_read_as_what_it_may_be_with_a_note(tmp_path: Path) -> None:
    found = read(tmp_path, b"name,b\ncaf\xe9,1\n\xc3\x28,2\n")
    assert found.values["name"] == ["café", "Ã("]
    assert found.notes == ["Read as Windows-1252, since it is not valid UTF-8."]


def test_nan_in_json_is_missing(tmp_path: Path) -> None:
    assert read(tmp_path, '[{"a": NaN}, {"a": 1}]').values == {"a": [None, 1.0]}


def test_of_a_key_given_twice_the_last_value_counts(tmp_path: Path) -> None:
    """As for every reader of JSON that takes them at all."""
    assert read(tmp_path, '[{"a": 1, "a": 2}, {"a": 3}]').values == {"a": [2.0, 3.0]}


def test_a_late_row_of_many_keys_is_read_in_bounded_memory(tmp_path: Path) -> None:
    rows = [{"a": 1}] * 1000 + [{f"k{place}": 1 for place in range(2000)}]
    path = tmp_path / "upload"
    path.write_bytes(json.dumps(rows).encode())
    outcome = measured(path)
    assert outcome.rows == 1001
    assert outcome.growth < 64 * MEGABYTE, "2 million cells of 8 bytes are 16 MB"
