"""Workbooks, Arrow, Stata and SPSS files and archives made to harm: a sentence, in bounded memory."""

import os
import signal
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ism_jobs.errors import FieldError, InvalidTable, Problem, TooLarge
from ism_jobs.tables import Limits
from ism_jobs.tables.labelled.isolated import run_isolated
from tests.ism_jobs.tables.measured import MEGABYTE, measured
from tools.table_files import arrow_stream, feather, parquet, spss, stata, zipped

HUNDRED = 100_000_000
ROWS = 123_457  # found in a file by its bytes
NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATIONSHIPS = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'


def workbook(sheet: str | bytes, strings: str | bytes = b"<sst/>", sheets: int = 1, **parts: str | bytes) -> bytes:
    """A workbook whose sheets all have these cells."""
    listed = "".join(f'<sheet name="S{place}" sheetId="{place + 1}" r:id="r1"/>' for place in range(sheets))
    members = {
        "xl/workbook.xml": f"<workbook {NAMESPACE} {RELATIONSHIPS}><sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": '<R><Relationship Id="r1" Target="worksheets/a.xml"/></R>',
        "xl/worksheets/a.xml": sheet,
        "xl/sharedStrings.xml": strings,
        **parts,
    }
    return zipped(members)


def cells(rows: str | bytes) -> bytes:
    content = rows.encode() if isinstance(rows, str) else rows
    return b"<worksheet><sheetData>" + content + b"</sheetData></worksheet>"


def repeated_text(rows: int, columns: int) -> bytes:
    """Cells that all show the same text of 30,000 letters."""
    row = "<row>" + '<c t="s"><v>0</v></c>' * columns + "</row>"
    return workbook(cells(row * rows), f"<sst><si><t>{'x' * 30_000}</t></si></sst>")


def inflating_buffer() -> bytes:
    """An Arrow file of which a compressed buffer declares 2⁴⁰ bytes."""
    content = feather(pa.table({"x": np.zeros(100_000)}), compression="zstd", chunksize=100_000)
    size = struct.pack("<q", 800_000)
    assert size in content
    return content.replace(size, struct.pack("<q", 2**40))


def many_in_arrow() -> bytes:
    content = feather(pa.table({"x": pa.nulls(ROWS)}), compression="uncompressed", chunksize=ROWS)
    return content.replace(struct.pack("<q", ROWS), struct.pack("<q", 10**12))


def long_word(write: Callable[[Any], bytes]) -> bytes:
    """A word of 90,000 letters, 200,000 times: 18 GB of text."""
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(200_000, np.int32)), pa.array(["x" * 90_000]))
    return write(pa.table({"a": words}))


def views() -> bytes:
    """A text of 90,000 letters that 60,000 rows share: 5.4 GB of text."""
    once = pa.array(["x" * 90_000], pa.string_view())
    _, view, text = once.buffers()
    shared = pa.Array.from_buffers(
        pa.string_view(), 60_000, [None, pa.py_buffer(view.to_pybytes()[:16] * 60_000), text]
    )
    return arrow_stream(pa.table({"a": shared}))


def with_rows(content: bytes, rows: int, layout: str) -> bytes:
    old = struct.pack(layout, ROWS)
    assert old in content
    return content.replace(old, struct.pack(layout, rows), 1)


def numbers() -> Any:
    return pd.DataFrame({"x": np.zeros(ROWS)})


def repeated_record(start: Callable[[bytes], int], end: Callable[[bytes], int], count: int) -> bytes:
    """An SPSS file of one labelled column, in which a record occurs many times."""
    content = spss(pd.DataFrame({"x": [1.0, 2.0]}), variable_value_labels={"x": {1: "yes", 2: "no"}})
    first, last = start(content), end(content)
    return content[:first] + content[first:last] * count + content[last:]


def first_label(content: bytes) -> int:
    return content.index(struct.pack("<ii", 3, 2))


def after_labels(content: bytes) -> int:
    last = struct.pack("<iii", 4, 1, 1)
    return content.index(last) + len(last)


Case = tuple[Callable[[], bytes], type[Problem], str]

CASES: dict[str, Case] = {
    "a zipped bomb": (lambda: zipped({"a.csv": b"1,2\n" * 25_000_000}), TooLarge, "at most 60,000,000 are allowed"),
    "a sheet that inflates": (lambda: workbook(cells(b" " * HUNDRED)), TooLarge, "The workbook has at least"),
    "texts that inflate": (
        lambda: workbook(cells(""), b"<sst><si><t>" + b"x" * 70_000_000 + b"</t></si></sst>"),
        TooLarge,
        "sharedStrings.xml of the workbook has 70,000,",
    ),
    "a text in a million cells": (lambda: repeated_text(500_000, 2), TooLarge, "at most 60,000,000 are allowed"),
    "a row of one text 10,000 times": (
        lambda: repeated_text(1, 10_000),
        TooLarge,
        "A row has 300,000,000 characters",
    ),
    "a cell of 50 MB": (
        lambda: workbook(cells(b'<row><c t="str"><v>' + b"x" * 50_000_000 + b"</v></c></row>")),
        InvalidTable,
        "more text than Excel allows",
    ),
    "a tag of 50 MB": (
        lambda: workbook(cells(b'<row><c r="' + b"A" * 50_000_000 + b'"/></row>')),
        InvalidTable,
        "has more than 16,777,216 bytes",
    ),
    "elements within elements": (lambda: workbook(b"<a>" * 10_000_000), InvalidTable, "more than 64 deep"),
    "texts within texts": (lambda: workbook(cells(""), b"<a>" * 10_000_000), InvalidTable, "more than 64 deep"),
    "a row of a million cells": (
        lambda: workbook(cells("<row>" + "<c><v>1</v></c>" * 1_000_000 + "</row>")),
        InvalidTable,
        "more than 16,384 cells",
    ),
    "a column beyond the last": (
        lambda: workbook(cells('<row><c r="ZZZZZZ1"><v>1</v></c></row>')),
        InvalidTable,
        'the column "ZZZZZZ"',
    ),
    "entities within entities": (
        lambda: workbook(b'<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>'),
        InvalidTable,
        "declares a document type",
    ),
    "a text that is missing": (
        lambda: workbook(cells('<row><c t="s"><v>7</v></c></row>')),
        InvalidTable,
        "the text '7', which is missing",
    ),
    "very many sheets": (
        lambda: workbook(cells(b" " * 1_000_000), sheets=1_000),
        TooLarge,
        "The workbook has at least",
    ),
    "a buffer that inflates": (inflating_buffer, TooLarge, "1,099,511,627,776 bytes after decompression"),
    "a trillion rows of Arrow": (many_in_arrow, TooLarge, "1,000,000,000,000 rows"),
    "a long word in Arrow": (lambda: long_word(feather), TooLarge, "bytes after decompression"),
    "a long word in Parquet": (lambda: long_word(parquet), TooLarge, "bytes after decompression"),
    "views of one text": (views, TooLarge, "5,400,000,000 bytes"),
    "very many columns of SPSS": (
        lambda: repeated_record(lambda _: 176, first_label, 500_000),
        TooLarge,
        "more than 20,000 columns",
    ),
    "very many labels of SPSS": (
        lambda: repeated_record(first_label, after_labels, 400_000),
        TooLarge,
        "more than 16,777,216 bytes of names and labels",
    ),
    "very many columns of Stata": (
        lambda: stata(numbers(), version=119).replace(b"<K>\x01\x00", b"<K>\x01\x70", 1),
        TooLarge,
        "28,673 columns",
    ),
    "a billion rows of Stata": (lambda: with_rows(stata(numbers()), 10**9, "<I"), TooLarge, "1,000,000,000 rows"),
    "a billion rows of SPSS": (lambda: with_rows(spss(numbers()), 10**9, "<i"), TooLarge, "1,000,000,000 rows"),
    "more rows of Stata than there are": (
        lambda: with_rows(stata(numbers()), 9_000_000, "<I"),
        InvalidTable,
        "The Stata file cannot be read",
    ),
    "more rows of SPSS than there are": (
        lambda: with_rows(spss(numbers()), 9_000_000, "<i"),
        InvalidTable,
        "The SPSS file cannot be read",
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_hostile_files_are_refused_in_bounded_memory(kind: str, tmp_path: Path) -> None:
    make, problem, sentence = CASES[kind]
    path = tmp_path / "upload"
    path.write_bytes(make())
    outcome = measured(path, Limits(bytes=60_000_000, text_length=100_000))
    assert type(outcome.problem) is problem, outcome
    assert sentence in outcome.sentence
    assert len(outcome.sentence) < 400
    assert outcome.growth < 128 * MEGABYTE


def test_empty_rows_far_below_and_cells_far_right_take_no_memory(tmp_path: Path) -> None:
    empty = '<row r="{}"><c r="A{}" s="1"/></row>'
    rows = "".join(empty.format(row, row) for row in range(1, 300_000))
    far = '<row r="999999999"><c r="A999999999" t="str"><v>a</v></c><c r="XFD999999999" t="str"><v>b</v></c></row>'
    far += '<row r="1000000000"><c r="A1000000000"><v>1</v></c></row>'
    path = tmp_path / "upload"
    path.write_bytes(workbook(cells(rows + far)))
    outcome = measured(path)
    assert (outcome.problem, outcome.rows) == (None, 1)
    assert outcome.growth < 64 * MEGABYTE


def test_spss_may_leave_the_number_of_rows_open(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(with_rows(spss(numbers()), -1, "<i"))
    assert measured(path).rows == ROWS


def test_a_crash_of_the_library_is_told_and_problems_pass() -> None:
    def refuse(error: BaseException) -> None:
        raise error

    assert run_isolated(lambda: ["a note"]) == ["a note"]
    assert run_isolated(lambda: os.kill(os.getpid(), signal.SIGKILL)) is None
    with pytest.raises(TooLarge, match="too many") as caught:
        run_isolated(lambda: refuse(TooLarge("too many", [FieldError("a", "b")])))
    assert caught.value.errors == [FieldError("a", "b")]
    with pytest.raises(MemoryError):
        run_isolated(lambda: refuse(MemoryError()))


def test_names_in_a_workbook_are_never_paths(tmp_path: Path) -> None:
    """A relationship may name any path, but only members of the archive are read."""
    path = tmp_path / "upload"
    relationships = '<R><Relationship Id="r1" Target="/etc/passwd"/></R>'
    path.write_bytes(workbook(cells(""), **{"xl/_rels/workbook.xml.rels": relationships}))
    assert "0 visible sheet(s)" in measured(path).sentence
