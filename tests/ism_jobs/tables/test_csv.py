"""CSV and TSV as people and programs write them."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ism_jobs.errors import InvalidTable, Problem, TooLarge, UnsupportedFormat
from ism_jobs.tables import Limits
from tests.support.tables import read

PLAIN = {"a": [1.0, 2.5], "b": ["x", "é"]}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("a,b\n1,x\n2.5,é\n".encode(), id="plain"),
        pytest.param("a,b\n1,x\n2.5,é".encode(), id="no last line break"),
        pytest.param("\ufeffa,b\r\n1,x\r\n2.5,é\r\n".encode(), id="byte order mark and CR LF"),
        pytest.param("a,b\r1,x\r2.5,é\r".encode(), id="CR only"),
        pytest.param("a,b\n1,x\n2.5,é\n".encode("utf-16"), id="UTF-16"),
        pytest.param("\ufeffa,b\n1,x\n2.5,é\n".encode("utf-16-be"), id="UTF-16 big endian"),
        pytest.param("a,b\n1,x\n2.5,é\n".encode("latin-1"), id="Latin-1"),
        pytest.param(gzip.compress("a,b\n1,x\n2.5,é\n".encode()), id="gzip"),
        pytest.param(gzip.compress(b"a,b\n1,x\n") + gzip.compress("2.5,é\n".encode()), id="two gzip members"),
        pytest.param("a;b\n1;x\n2,5;é\n".encode(), id="semicolon and decimal comma"),
        pytest.param("a\tb\n1\tx\n2,5\té\n".encode(), id="tab and decimal comma"),
        pytest.param("a|b\n1|x\n2.5|é\n".encode(), id="bar"),
        pytest.param("sep=;\na;b\n1;x\n2.5;é\n".encode(), id="Excel's separator line"),
        pytest.param("  a b\n 1   x\n2.5 é\n".encode(), id="aligned by spaces"),
        pytest.param("\n\na,b\n\n1,x\n\n2.5,é\n\n".encode(), id="blank lines"),
        pytest.param('"a","b"\n"1","x"\n"2.5","é"\n'.encode(), id="all quoted"),
        pytest.param(" a , b\n 1 ,x\n +2.5,é\n".encode(), id="spaces around names and numbers"),
        pytest.param(",a,b\n0,1,x\n1,2.5,é\n".encode(), id="pandas index"),
    ],
)
def test_the_same_table_is_read_however_it_is_written(tmp_path: Path, content: bytes) -> None:
    assert read(tmp_path, content).values == PLAIN


def test_quoted_cells_hold_separators_quotes_and_line_breaks(tmp_path: Path) -> None:
    found = read(tmp_path, 'a,"b\nc"\n"x,y","p""q"\n"r\ns\r\nt",u\n')
    assert found.values == {"a": ["x,y", "r\ns\r\nt"], "b\nc": ['p"q', "u"]}


def test_a_first_row_with_a_number_is_data(tmp_path: Path) -> None:
    found = read(tmp_path, "1,red\n2,blue\n")
    assert found.values == {"x1": [1.0, 2.0], "x2": ["red", "blue"]}
    assert found.notes == ["The first row was read as data: the columns are called x1 to x2."]


def test_decimal_commas_are_found_without_a_header(tmp_path: Path) -> None:
    assert read(tmp_path, "1,5;2,5\n3,5;4\n").values == {"x1": [1.5, 3.5], "x2": [2.5, 4.0]}


def test_the_header_can_be_asked_for_or_denied(tmp_path: Path) -> None:
    assert read(tmp_path, "1,2\n3,4\n", header=True).values == {"1": [3.0], "2": [4.0]}
    assert read(tmp_path, "a,b\nc,d\n", header=False).values == {"x1": ["a", "c"], "x2": ["b", "d"]}


def test_double_and_empty_names_are_made_unique_with_a_note(tmp_path: Path) -> None:
    found = read(tmp_path, "a,a,,a,a.2\n1,2,3,4,5\n")
    assert list(found.values) == ["a", "a.3", "column3", "a.4", "a.2"]
    assert 'more than once were numbered: "a.3" and "a.4"' in found.notes[0]
    assert '"column3"' in found.notes[1]
    assert list(read(tmp_path, "a,a\n1,2\n").values) == ["a", "a.2"]


def test_an_unnamed_first_column_that_does_not_count_is_kept(tmp_path: Path) -> None:
    assert read(tmp_path, ",a\n0,5\n2,6\n").values == {"column1": [0.0, 2.0], "a": [5.0, 6.0]}


def test_dropping_an_index_is_noted(tmp_path: Path) -> None:
    assert read(tmp_path, ",a\n0,5\n1,6\n").notes == [
        "The first column has no name and counts the rows from 0. It is left out as an index."
    ]


@pytest.mark.parametrize("sign", ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", " NA "])
def test_signs_of_missing_values_are_missing_among_numbers_and_words(tmp_path: Path, sign: str) -> None:
    found = read(tmp_path, f"a,b\n1,x\n{sign},{sign}\n")
    assert found.values == {"a": [1.0, None], "b": ["x", None]}


def test_a_dash_is_missing_among_numbers_only(tmp_path: Path) -> None:
    found = read(tmp_path, "a,b,c\n1,x,-\n-,-,-\n")
    assert found.values == {"a": [1.0, None], "b": ["x", "-"], "c": ["-", "-"]}


def test_a_column_without_values_is_a_number_column(tmp_path: Path) -> None:
    found = read(tmp_path, "a,b\n1,\n2,NA\n")
    assert found.kinds == ["number", "number"]
    assert found.description.column("b").missing == 2


def test_truth_values_are_numbers(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b\nTrue,x\nfalse,true\n,y\n").values == {"a": [1.0, 0.0, None], "b": ["x", "true", "y"]}


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (['"475,000"', '"1,200,000"', "12"], [475_000, 1_200_000, 12]),
        (["$91.50", '"-$1,000.25"', "NA"], [91.5, -1000.25, None]),
        (["€ 12", "€ 13.5", "."], [12, 13.5, None]),
        (["45.1%", "3 %", "-"], [45.1, 3, None]),
        (["12 kg", "3.5 kg", "1e3 kg"], [12, 3.5, 1000]),
        (['"12,50 €"', '"1.234,50 €"', ""], [12.5, 1234.5, None]),
        (["12 000", "3", "1 234 567"], [12_000, 3, 1_234_567]),
    ],
)
def test_numbers_with_a_currency_a_unit_or_marks_are_numbers_with_a_note(
    tmp_path: Path, cells: list[str], values: list[float | None]
) -> None:
    found = read(tmp_path, "a,b\n" + "".join(f"{cell},x\n" for cell in cells))
    assert found.values["a"] == values
    assert 'Texts were read as numbers: "a"' in found.description.notes[0]
    kept = read(tmp_path, "a,b\n" + "".join(f"{cell},x\n" for cell in cells), text=["a"])
    assert kept.kinds == ["text", "text"]


def test_a_point_is_missing_among_numbers_with_a_note(tmp_path: Path) -> None:
    found = read(tmp_path, "a;b;c\n1,5;x;.\n.;.;.\n")
    assert found.values == {"a": [1.5, None], "b": ["x", "."], "c": [".", "."]}
    assert '"." was read as a missing value in "a".' in found.notes


@pytest.mark.parametrize("cell", ["1_000", "0x10", "1.2.3", "5 kg", "2020-01-01", '"1,2"', "$5"])
def test_what_only_resembles_a_number_is_text(tmp_path: Path, cell: str) -> None:
    assert read(tmp_path, f"a,b\n1,2\n{cell},3\n").kinds == ["text", "number"]


def test_one_late_word_makes_a_column_text_from_its_first_row_on(tmp_path: Path) -> None:
    rows = 300_000
    found = read(tmp_path, "a,b\n" + "1.50,2\n" * rows + "late,3\n")
    assert found.kinds == ["text", "number"]
    assert found.table["a"][0].as_py() == "1.50"
    assert found.description.column("a").levels == ["1.50", "late"]
    assert found.description.rows == rows + 1


def test_numbers_keep_every_bit(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=1000) * 10.0 ** np.arange(-300, 300, 0.6)
    found = read(tmp_path, "a\n" + "\n".join(map(repr, values.tolist())))
    assert found.values["a"] == values.tolist()


def test_one_row_is_a_table(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b\n1,x\n").description.rows == 1


def test_a_single_column_needs_no_separator(tmp_path: Path) -> None:
    assert read(tmp_path, 'words\nhello world\nsemi;colon\n"com,ma"\n""\n').values == {
        "words": ["hello world", "semi;colon", "com,ma", None]
    }


def test_ten_thousand_columns_are_read(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).integers(0, 1000, size=(20, 10_000))
    names = ",".join(f"gene {j}" for j in range(10_000))
    found = read(tmp_path, names + "\n" + "\n".join(",".join(map(str, row)) for row in rows.tolist()))
    assert found.table.num_columns == 10_000
    assert found.description.columns[9_999].mean == pytest.approx(rows[:, 9_999].mean())


def test_names_may_be_in_any_script(tmp_path: Path) -> None:
    assert list(read(tmp_path, "größe,体重,🌡\n1,2,3\n").values) == ["größe", "体重", "🌡"]


def test_what_was_assumed_is_noted(tmp_path: Path) -> None:
    assert read(tmp_path, "a;b\n1,5;x\n").notes == ['Read with ";" as separator and "," as decimal mark.']
    assert read(tmp_path, "a,é\n1,2\n".encode("cp1252")).notes == ["Read as Windows-1252, since it is not valid UTF-8."]
    assert read(tmp_path, "a b\n1 2\n").notes == ["Read with spaces between the columns."]
    assert read(tmp_path, "a\tb\n1\t2\n").format == "tsv"


@pytest.mark.parametrize(
    ("content", "problem", "sentence"),
    [
        pytest.param(b"", InvalidTable, "is empty", id="empty"),
        pytest.param(b"\n \n\n", InvalidTable, "no rows", id="blank"),
        pytest.param(b"a,b\n", InvalidTable, "a header but no rows", id="header only"),
        pytest.param(
            b"a,b\n1,2\n3,4,5\n", InvalidTable, "Row 2 of the data has 3 value(s) but the header has 2", id="long"
        ),
        pytest.param(b"1,2\n3\n", InvalidTable, "Row 2 of the data has 1 value(s) but the first row has 2", id="short"),
        pytest.param(b'"a,b\n1,2\n3,4\n', InvalidTable, "a quote that is never closed", id="open quote"),
        pytest.param(b"a,b\n1,inf\n", InvalidTable, 'The column "b" has infinite values', id="infinity"),
        pytest.param(b"a,b\n1,1e999\n", InvalidTable, 'The column "b" has infinite values', id="too large a number"),
        pytest.param(b"a,b\n1,\x00\n", UnsupportedFormat, "neither text", id="zero byte"),
        pytest.param(bytes(range(1, 256)) * 9, UnsupportedFormat, "neither text", id="binary"),
        pytest.param(b"\x89PNG\r\n\x1a\n", UnsupportedFormat, "a PNG picture", id="picture"),
        pytest.param(b"<html></html>", UnsupportedFormat, "a web page", id="web page"),
        pytest.param(b"\x80\x04\x95pickle", UnsupportedFormat, "a Python pickle", id="pickle"),
        pytest.param(b"\xff\xfea", InvalidTable, "cannot be read as UTF-16-LE", id="half a UTF-16 character"),
        pytest.param(b"\xef\xbb\xbfa,b\n\xff,2\n", InvalidTable, "the byte order mark of UTF-8", id="false mark"),
        pytest.param(gzip.compress(b"a,b\n1,2\n")[:-9], InvalidTable, "truncated or damaged", id="cut gzip"),
        pytest.param(gzip.compress(gzip.compress(b"a\n1\n")), UnsupportedFormat, "compressed twice", id="double gzip"),
    ],
)
def test_what_is_no_table_is_refused_with_a_sentence(
    tmp_path: Path, content: bytes, problem: type[Problem], sentence: str
) -> None:
    with pytest.raises(problem) as caught:
        read(tmp_path, content)
    assert sentence in caught.value.detail


def test_a_wrong_row_is_refused_also_in_a_recoded_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidTable, match="has 3 value"):
        read(tmp_path, "a,é\n1,2\n1,2,3\n".encode("latin-1"))


@pytest.mark.parametrize("name", ["data.npy", "data.parquet", "data.npz", "data.xlsx"])
def test_text_under_the_name_of_a_binary_format_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnsupportedFormat, match="its content is not that of"):
        read(tmp_path, "a,b\n1,2\n", name)


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"rows": 1}, "at least 2 rows; at most 1 are"),
        ({"columns": 1}, "has 2 columns; at most 1 are"),
        ({"cells": 3}, "at least 4 cells (2 rows of 2 columns); at most 3 are"),
        ({"bytes": 10}, "at least 20 bytes after decompression; at most 10 are"),
        ({"name_length": 2}, "has 4 characters; at most 2 are"),
        ({"text_length": 2}, 'A value in the column "word" has 3 bytes of text; at most 2 are'),
    ],
)
def test_each_limit_is_refused_with_both_numbers(tmp_path: Path, limits: dict[str, Any], sentence: str) -> None:
    content = "n,word\n1,abc\n2,def\n"
    assert len(content) == 19
    with pytest.raises(TooLarge) as caught:
        read(tmp_path, content + "\n", limits=Limits(**limits))
    assert sentence in caught.value.detail


def test_a_gzip_bomb_is_not_inflated_beyond_the_limit(tmp_path: Path) -> None:
    with pytest.raises(TooLarge, match="at least 2,097,152 bytes after decompression; at most 2,000,000"):
        read(tmp_path, gzip.compress(b"0,0\n" * 2_000_000), limits=Limits(bytes=2_000_000))
