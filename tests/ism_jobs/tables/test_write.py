"""CSV that spreadsheets open: text that begins like a formula is text, and numbers are numbers."""

import csv
import io

import pyarrow as pa
import pytest

from ism_jobs.tables import write_table

FORMULAS = [
    "=1+1",
    "+x",
    "-x",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "=cmd|' /C calc'!A0",
    "-2+3",
    "+1-555-0100",
]


def written(table: pa.Table) -> list[list[str]]:
    return list(csv.reader(io.StringIO(write_table(table, "csv").decode(), newline="")))


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_made_text_in_cells_and_in_names(text: str) -> None:
    assert written(pa.table({text: [text, "plain", None]})) == [[f"'{text}"], [f"'{text}"], ["plain"], [""]]


@pytest.mark.parametrize("text", ["-1", "+1.5", "-.5e-3", "1", "a=b", "'quoted", " =1", "", "a-b"])
def test_text_that_is_no_formula_is_left_as_it_is(text: str) -> None:
    assert written(pa.table({"name": [text, "x"]})) == [["name"], [text], ["x"]]


def test_numbers_stay_numbers() -> None:
    assert written(pa.table({"x": [-1.5, float("-inf")], "k": [-2, 3]})) == [["x", "k"], ["-1.5", "-2"], ["-inf", "3"]]


@pytest.mark.parametrize("format", ["json", "parquet"])
def test_other_formats_hold_what_was_there(format: str) -> None:
    assert b"'=1+1" not in write_table(pa.table({"=1+1": ["=1+1"]}), format)
