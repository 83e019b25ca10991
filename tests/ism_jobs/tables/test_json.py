"""JSON tables: records, lines, and columns with rows."""

import gzip
import json
from pathlib import Path

import pytest

from ism_jobs.errors import InvalidTable, TooLarge
from ism_jobs.tables import Limits
from ism_jobs.tables.json import scan as json_scan
from tests.support.tables import read

VALUES = {"a": [1.0, None], "b": ["x", "é"]}


@pytest.mark.parametrize(
    "content",
    [
        '[{"a": 1, "b": "x"}, {"b": "é"}]',
        '{"a": 1, "b": "x"}\n{"a": null, "b": "é"}\n',
        '{"a": 1, "b": "x"} {"a": NaN, "b": "\\u00e9"}',
        '{"columns": ["a", "b"], "rows": [[1, "x"], [null, "é"]]}',
        '{"notes": ["n"], "rows": [[1, "x"], [null, "é"]], "columns": ["a", "b"]}',
        '{"columns": ["a", "b"], "index": [0, 1], "data": [[1, "x"], [null, "é"]]}',
        '\ufeff[{"a": 1, "b": "x"}, {"b": "é"}]',
        ' [ { "a" : true , "b" : "x" } , { "b" : "é" , "a" : "NA" } ] ',
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_every_layout_gives_the_same_table(tmp_path: Path, content: str, pack: type[bytes]) -> None:
    found = read(tmp_path, pack(content.encode()))
    assert found.values == VALUES
    assert found.format == "json"


def test_json_may_be_utf_16(tmp_path: Path) -> None:
    assert read(tmp_path, '[{"a": 1, "b": "x"}, {"b": "é"}]'.encode("utf-16")).values == VALUES


def test_rows_without_names_are_numbered(tmp_path: Path) -> None:
    assert read(tmp_path, "[[1, 2], [3, 4]]").values == {"x1": [1.0, 3.0], "x2": [2.0, 4.0]}


def test_columns_come_in_the_order_of_their_first_appearance(tmp_path: Path) -> None:
    assert list(read(tmp_path, '[{"b": 1}, {"c": 1, "a": 1}, {"a": 1, "b": 2}]').values) == ["b", "c", "a"]


def test_strings_are_text_even_if_they_look_like_numbers(tmp_path: Path) -> None:
    assert read(tmp_path, '[{"a": "1", "b": "NA"}, {"a": "2", "b": "x"}]').values == {"a": ["1", "2"], "b": ["NA", "x"]}


def test_strings_of_prices_and_fractions_are_numbers(tmp_path: Path) -> None:
    found = read(tmp_path, '[{"a": "$1", "b": "1.5", "c": 1}, {"a": "$2.5", "b": "2", "c": "."}]')
    assert found.values == {"a": [1.0, 2.5], "b": [1.5, 2.0], "c": [1.0, None]}


def test_a_column_of_numbers_and_words_is_text(tmp_path: Path) -> None:
    found = read(tmp_path, '[{"a": 1}, {"a": 2.5}, {"a": true}, {"a": "x"}, {"a": ""}, {}]')
    assert found.values == {"a": ["1", "2.5", "true", "x", None, None]}


def test_a_column_of_blanks_has_no_values_and_is_a_number_column(tmp_path: Path) -> None:
    assert read(tmp_path, '[{"a": ""}, {"a": " "}]').kinds == ["number"]


def test_records_are_read_across_the_pieces_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [{"n": index * 1.25, "s": f'é "{index}" \\ 🌡'} for index in range(200)]
    content = json.dumps(records)
    for size in (1, 7, 64):
        monkeypatch.setattr(json_scan, "CHUNK_BYTES", size)
        found = read(tmp_path, content)
        assert found.table.to_pylist() == records


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[]", "no rows"),
        ("[{}]", "no values"),
        ("{}", "no values"),
        ("[1, 2]", "neither an object nor an array"),
        ('[{"a": 1}, [2]]', "has another form than the first row"),
        ("[{}, [null]]", "has another form than the first row"),
        ("[[], {}]", "has another form than the first row"),
        ("[[1, 2], [3]]", "Row 2 has 1 value(s) but the first row has 2"),
        ('{"columns": ["a"], "rows": [[1, 2]]}', '"columns" has 1 name(s), but the rows have 2'),
        ('{"columns": [1, 2], "rows": [[1, 2]]}', '"columns" must be an array of names'),
        ('{"columns": 3, "rows": [[1, 2]]}', '"columns" must be an array of names'),
        ('[{"a": 1, "deep": {"b": 1}}]', 'The column "deep" holds nested values'),
        ('[{"a": 1}, {"deep": [1]}]', 'The column "deep" holds nested values'),
        ('{"a": [1, 2], "b": [3, 4]}', 'not a table of rows: its first object has nested values in "a" and "b"'),
        ('{"type": "FeatureCollection", "features": [{"id": 1}]}', "Send an array of objects"),
        ('[{"a": Infinity}]', 'The column "a" has infinite values'),
        ('[{"a": -1e999}]', 'The column "a" has infinite values'),
        ('[{"a": ' + "9" * 400 + "}]", 'The column "a" has infinite values'),
        ('[{"a": ' + "9" * 5000 + "}]", "too many digits"),
        ('[{"a": "\\ud800"}]', 'The column "a" contains a lone surrogate'),
        ('[{"\\ud800": 1}]', "contains a lone surrogate"),
        ('[{"a": 1}', '"," is missing'),
        ('[{"a": 1},]', "not valid JSON at character 10"),
        ('[{"a": 1}] x', "text follows"),
        ("{'a': 1}", "not valid JSON at character 1"),
        ('{"a": 1}\n{"a": ', "not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('[{"a":' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_table_is_refused_with_a_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    with pytest.raises(InvalidTable) as caught:
        read(tmp_path, content)
    assert sentence in caught.value.detail


def test_text_sent_as_json_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidTable, match=r"neither \[ nor \{"):
        read(tmp_path, "a,b\n1,2\n", content_type="application/json; charset=utf-8")


def test_ever_new_keys_are_stopped_at_the_limit_of_columns(tmp_path: Path) -> None:
    content = "\n".join(json.dumps({f"k{index}": 1}) for index in range(300))
    with pytest.raises(TooLarge, match="101 columns; at most 100"):
        read(tmp_path, content, limits=Limits(columns=100))


def test_one_endless_value_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_scan, "LONGEST_VALUE", 1000)
    monkeypatch.setattr(json_scan, "CHUNK_BYTES", 100)
    with pytest.raises(TooLarge, match="at most 1,000 are read"):
        read(tmp_path, '[{"a": "' + "x" * 10_000 + '"}]')
