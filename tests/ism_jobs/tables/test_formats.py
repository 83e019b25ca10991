"""XLSX, Feather, Arrow, Stata, SPSS and zipped CSV: a table is the same as in CSV, and what was assumed is noted."""

import datetime
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ism_jobs.errors import InvalidTable, Problem, TooLarge, UnsupportedFormat
from ism_jobs.tables import Limits
from tests.support.tables import read
from tools.table_files import arrow_stream, feather, npy, npz, parquet, spss, stata, xlsx, zipped

DATES = pd.to_datetime(["2020-02-29", None, "1969-12-31", "2021-03-04"])
TIMES = pd.to_datetime(["2020-02-29 03:04:05", None, "1969-12-31 23:59:59", "2021-03-04 00:00:00"])
FRAME = pd.DataFrame(
    {
        "size": [1.5, -2.25, None, 1e-7],
        "n": [1, 2, 3, 40_000],
        "color": ["red", None, "größe", "a,b\n" + "x" * 40],
        "day": DATES,
        "time": TIMES,
    }
)
CSV = FRAME.to_csv(index=False).encode()


def as_xlsx(frame: Any) -> bytes:
    rows = [[None if pd.isna(value) else value for value in row] for row in frame.itertuples(index=False)]
    return xlsx(Sheet1=[list(frame), *rows])


def with_empty_text(frame: Any) -> Any:
    return frame.assign(color=frame["color"].fillna("").astype(object))


FORMATS: dict[str, tuple[str, Callable[[Any], bytes]]] = {
    "csv": ("csv", lambda frame: frame.to_csv(index=False).encode()),
    "parquet": ("parquet", lambda frame: parquet(pa.table(frame))),
    "feather": ("arrow", lambda frame: feather(pa.table(frame))),
    "feather, zstd, small batches": ("arrow", lambda f: feather(pa.table(f), compression="zstd", chunksize=2)),
    "feather, not compressed": ("arrow", lambda frame: feather(pa.table(frame), compression="uncompressed")),
    "arrow stream": ("arrow", lambda frame: arrow_stream(pa.table(frame))),
    "xlsx": ("xlsx", as_xlsx),
    "stata 118": ("stata", lambda frame: stata(with_empty_text(frame), version=118)),
    "stata 119": ("stata", lambda frame: stata(with_empty_text(frame), version=119)),
    "spss": ("spss", lambda frame: spss(with_empty_text(frame))),
    "spss, compressed": ("spss", lambda frame: spss(with_empty_text(frame), compress=True)),
    "spss, row by row": ("spss", lambda frame: spss(with_empty_text(frame), row_compress=True)),
    "zipped csv": ("csv", lambda frame: zipped({"folder/t.csv": frame.to_csv(index=False)})),
    "zipped xlsx": ("xlsx", lambda frame: zipped({"t.xlsx": as_xlsx(frame)})),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_a_mixed_table_is_the_same_as_in_csv(tmp_path: Path, kind: str) -> None:
    format, write = FORMATS[kind]
    found = read(tmp_path, write(FRAME), "upload.bin")
    expected = read(tmp_path, CSV)
    assert found.values == expected.values
    assert (found.digest, found.format) == (expected.digest, format)


def test_old_stata_files_are_read(tmp_path: Path) -> None:
    content = stata(FRAME[["size", "n"]], version=114)
    assert read(tmp_path, content).values == FRAME[["size", "n"]].replace({np.nan: None}).to_dict("list")


@pytest.mark.parametrize("write", [stata, spss])
def test_many_rows_are_read_in_chunks(tmp_path: Path, write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ism_jobs.tables.labelled.conversion.CHUNK_BYTES", 1000)
    frame = pd.DataFrame({"x": np.arange(100.0), "w": [f"w{row}" for row in range(100)]})
    assert read(tmp_path, write(frame)).table.to_pylist() == frame.to_dict("records")


ANSWERS = pd.DataFrame({"vote": [1.0, 2.0, 9.0], "trust": [0.0, 7.0, 10.0], "sex": ["m", "f", "m"]})
LABELS = {
    "vote": {1: "yes", 2: "no", 9: "refused"},
    "trust": {0: "not at all", 10: "completely"},
    "sex": {"m": "male", "f": "female"},
}


def test_labels_become_text_if_every_value_has_one_and_declared_missing_values_are_missing(tmp_path: Path) -> None:
    found = read(tmp_path, spss(ANSWERS, variable_value_labels=LABELS, missing_ranges={"vote": [9]}))
    assert found.values == {"vote": ["yes", "no", None], "trust": [0.0, 7.0, 10.0], "sex": ["male", "female", "male"]}
    assert found.notes == ['Values are kept, since not all of them have a label, in: "trust".']


def test_labels_of_stata_become_text(tmp_path: Path) -> None:
    frame = pd.DataFrame({"vote": pd.Categorical(["yes", "no", None, "yes"]), "x": [1.0, 2.0, 3.0, 4.0]})
    assert read(tmp_path, stata(frame)).values == {"vote": ["yes", "no", None, "yes"], "x": [1.0, 2.0, 3.0, 4.0]}


def test_months_and_quarters_of_stata_become_their_first_day(tmp_path: Path) -> None:
    frame = pd.DataFrame({"m": pd.to_datetime(["1959-03-01", "2020-04-01"]), "q": pd.to_datetime(["1959-04-01"] * 2)})
    found = read(tmp_path, stata(frame, convert_dates={"m": "tm", "q": "tq"}))
    assert found.values == {"m": ["1959-03-01", "2020-04-01"], "q": ["1959-04-01"] * 2}


def test_long_text_of_stata_is_left_out_with_a_note(tmp_path: Path) -> None:
    content = stata(pd.DataFrame({"a": [1, 2], "story": ["x" * 3000, "y"]}), version=118, convert_strl=["story"])
    found = read(tmp_path, content)
    assert found.values == {"a": [1.0, 2.0]}
    assert found.notes == ['Columns of long text (strL) are left out: "story".']


def test_of_several_sheets_the_first_with_a_table_is_read_and_noted(tmp_path: Path) -> None:
    content = xlsx(About=[["Made by us"]], Empty=[], Data=[["a", "b"], [1, "x"], [2, "y"]], More=[["c"], [1]])
    found = read(tmp_path, content)
    assert found.values == {"a": [1.0, 2.0], "b": ["x", "y"]}
    assert found.notes == ['Read the sheet "Data", the first of 4 sheets that holds a table.']


def test_empty_rows_and_columns_of_a_sheet_are_left_out(tmp_path: Path) -> None:
    rows = [[], [None, "a", None, "b"], [None, 1, None, None], [], [None, 2, "", "x"], [None] * 30]
    assert read(tmp_path, xlsx(S=rows)).values == {"a": [1.0, 2.0], "b": [None, "x"]}


def test_cells_of_a_sheet_may_be_booleans_errors_and_numbers_as_text(tmp_path: Path) -> None:
    rows = [["b", "e", "t"], [True, "#N/A", "1"], [False, 2.5, "2"], [None, "#DIV/0!", "3"]]
    assert read(tmp_path, xlsx(S=rows)).values == {"b": [1.0, 0.0, None], "e": [None, 2.5, None], "t": [1.0, 2.0, 3.0]}


def test_a_sheet_without_names_has_numbered_columns(tmp_path: Path) -> None:
    assert read(tmp_path, xlsx(S=[[1, 2], [3, 4]])).values == {"x1": [1.0, 3.0], "x2": [2.0, 4.0]}
    assert list(read(tmp_path, xlsx(S=[["a", "b"], ["c", "d"]]), header=False).values) == ["x1", "x2"]


def test_days_of_a_workbook_may_count_from_1904(tmp_path: Path) -> None:
    import openpyxl
    from openpyxl.utils.datetime import CALENDAR_MAC_1904

    book = openpyxl.Workbook()
    book.epoch = CALENDAR_MAC_1904
    for row in (["day", "late"], [datetime.date(2020, 2, 29), datetime.time(12)], [datetime.date(1904, 1, 2), None]):
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    assert read(tmp_path, file.getvalue()).values == {"day": ["2020-02-29", "1904-01-02"], "late": [0.5, None]}


def test_types_of_arrow_become_numbers_or_text(tmp_path: Path) -> None:
    table = pa.table(
        {
            "view": pa.array(["a", None, "a text of more than twelve letters"], pa.string_view()),
            "level": pa.array(["x", None, "x"]).dictionary_encode(),
            "zoned": pa.array([0, None, 10**6], pa.timestamp("us", "UTC")),
            "fine": pa.array([0, None, 1500], pa.timestamp("us")),
            "none": pa.nulls(3),
        }
    )
    assert read(tmp_path, feather(table)).values == {
        "view": ["a", None, "a text of more than twelve letters"],
        "level": ["x", None, "x"],
        "zoned": ["1970-01-01 00:00:00Z", None, "1970-01-01 00:00:01Z"],
        "fine": ["1970-01-01 00:00:00.000000", None, "1970-01-01 00:00:00.001500"],
        "none": [None, None, None],
    }


def test_the_only_csv_of_an_archive_is_read_and_noted(tmp_path: Path) -> None:
    members = {"README.txt": "hello", "__MACOSX/._t.csv": "junk", ".DS_Store": "junk", "data/t.csv": "a,b\n1,x\n"}
    found = read(tmp_path, zipped(members))
    assert found.values == {"a": [1.0], "b": ["x"]}
    assert found.notes == ['Read "data/t.csv" from a ZIP archive; 1 other file(s) in it were left out.']
    assert read(tmp_path, npz(a=np.ones(2))).format == "npz"
    assert read(tmp_path, zipped({"a.npy": npy(np.ones(2))})).format == "npz"


REFUSED: dict[str, tuple[bytes, type[Problem], str]] = {
    "several tables": (
        zipped({"a.csv": "a\n1\n", "b.tsv": "a\n1\n"}),
        UnsupportedFormat,
        'holds 2 tables: "a.csv" and "b.tsv". Send each of them as a file of its own',
    ),
    "no table": (zipped({"a.txt": "", "b.md": ""}), UnsupportedFormat, "2 files and none of them is a CSV file"),
    "no file": (zipped({}), UnsupportedFormat, "holds no files"),
    "an archive in an archive": (zipped({"a.zip": zipped({"a.csv": "a\n1\n"})}), UnsupportedFormat, "another ZIP"),
    "a Word document": (zipped({"word/document.xml": ""}), UnsupportedFormat, "a Word document"),
    "an OpenDocument sheet": (zipped({"mimetype": ""}), UnsupportedFormat, "save the table as XLSX or CSV"),
    "an old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", UnsupportedFormat, "save it as XLSX"),
    "HTML": (b"\n<!DOCTYPE HTML>\n<table><tr><td>1", UnsupportedFormat, "a web page (HTML); open it in a browser"),
    "an HTML table": (b"<TABLE border=1>", UnsupportedFormat, "save that as CSV or XLSX"),
    "ARFF": (
        b"% Title\n%\n\n@RELATION iris\n@ATTRIBUTE a NUMERIC\n",
        UnsupportedFormat,
        "ARFF file; save the table as",
    ),
    "XML": (b"<?xml version='1.0'?><a/>", UnsupportedFormat, "XML; save the table as CSV"),
    "Feather 1": (b"FEA1" + bytes(20), UnsupportedFormat, "version 1; save it as version 2"),
    "portable SPSS": (b"ASCII SPSS PORT FILE", UnsupportedFormat, "save it as SAV"),
    "a workbook without a table": (xlsx(A=[["a", "b"]], B=[]), InvalidTable, "2 visible sheet(s), but none"),
    "a workbook of names only": (zipped({"xl/workbook.xml": "<workbook/>"}), InvalidTable, "0 visible sheet(s)"),
    "damaged Arrow": (b"ARROW1\0\0" + bytes(50), InvalidTable, "Arrow file"),
    "damaged Stata": (b"<stata_dta><header>" + bytes(50), InvalidTable, "The Stata file cannot be read"),
    "damaged SPSS": (b"$FL2" + bytes(50), InvalidTable, "The SPSS file cannot be read"),
    "run-end encoded": (
        arrow_stream(pa.table({"a": pa.RunEndEncodedArray.from_arrays([3], [1.0])})),
        InvalidTable,
        'The column "a" is run-end encoded',
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_table_is_refused_with_a_sentence_that_says_what_to_do(tmp_path: Path, kind: str) -> None:
    content, problem, sentence = REFUSED[kind]
    with pytest.raises(problem) as caught:
        read(tmp_path, content)
    assert type(caught.value) is problem
    assert sentence in caught.value.detail
    assert caught.value.detail.endswith(".")


@pytest.mark.parametrize("name", ["t.xlsx", "t.feather", "t.arrow", "t.dta", "t.sav", "t.zip"])
def test_text_under_the_name_of_a_binary_format_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnsupportedFormat, match="its content is not that of"):
        read(tmp_path, "a,b\n1,2\n", name)


@pytest.mark.parametrize("kind", ["feather", "xlsx", "stata 118", "spss", "zipped csv"])
@pytest.mark.parametrize(
    ("limits", "sentence"), [({"rows": 3}, "rows; at most 3"), ({"columns": 4}, "5 columns"), ({"cells": 19}, "cells")]
)
def test_limits_hold_in_every_format(tmp_path: Path, kind: str, limits: dict[str, int], sentence: str) -> None:
    with pytest.raises(TooLarge) as caught:
        read(tmp_path, FORMATS[kind][1](FRAME), limits=Limits(**limits))
    assert sentence in caught.value.detail
