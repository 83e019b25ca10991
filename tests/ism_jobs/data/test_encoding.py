"""Encoding: columns become numbers by name, and come back the same from JSON."""

import json

import numpy as np
import pyarrow as pa
import pytest

from ism_jobs.data.encoding import Encoding
from ism_jobs.data.source import Source
from ism_jobs.errors import InvalidTable

WINES = pa.table(
    {
        "alcohol": pa.array([12.5, None, 14.0]),
        "color": pa.array(["red", "white", None]),
        "hue": pa.array([1.0, 2.0, 3.0]),
    }
)


def wines(**columns: list[object]) -> pa.Table:
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def test_numbers_stay_and_text_becomes_a_column_per_level() -> None:
    encoding = Encoding.fit(WINES, ["hue", "color", "alcohol"], "onehot")
    assert encoding.names == ("hue", "color=red", "color=white", "alcohol")
    assert encoding.columns == ("hue", "color", "alcohol")
    assert encoding.origins == ("hue", "color", "color", "alcohol")
    nan = np.nan
    expected = [[1, 1, 0, 12.5], [2, 0, 1, nan], [3, nan, nan, 14]]
    np.testing.assert_array_equal(encoding.encode(WINES), expected)


def test_columns_are_found_by_name_in_any_order_and_batches_encode_as_tables_do() -> None:
    encoding = Encoding.fit(WINES, ["alcohol", "color"], "onehot")
    shuffled = WINES.select(["color", "hue", "alcohol"])
    np.testing.assert_array_equal(encoding.encode(shuffled), encoding.encode(WINES))
    batches = pa.concat_tables([WINES, WINES]).to_batches(max_chunksize=2)
    np.testing.assert_array_equal(
        np.vstack([encoding.encode(batch) for batch in batches]),
        encoding.encode(pa.concat_tables([WINES, WINES])),
    )


def test_levels_are_sorted_whatever_the_order_of_the_rows() -> None:
    one = Encoding.fit(wines(c=["b", "a", "ä", "B"]), ["c"], "onehot")
    other = Encoding.fit(wines(c=["ä", "B", "a", "b"]), ["c"], "onehot")
    assert one == other == Encoding((Source("c", ("B", "a", "b", "ä"), "onehot"),))


def test_encoded_names_are_unique() -> None:
    table = wines(**{"c": ["red", "blue"], "c=red": [1.0, 2.0], "c=red (2)": [1.0, 2.0]})
    encoding = Encoding.fit(table, ["c", "c=red", "c=red (2)"], "onehot")
    assert encoding.names == ("c=blue", "c=red", "c=red (2)", "c=red (2) (2)")
    assert encoding.width == 4


def test_text_is_refused_unless_asked_for() -> None:
    with pytest.raises(InvalidTable, match=r'text is in "color".*auto') as caught:
        Encoding.fit(WINES, ["alcohol", "color"])
    assert [error.field for error in caught.value.errors] == ["color"]


def test_text_without_any_value_is_refused() -> None:
    table = pa.table({"c": pa.array([None, None], pa.string())})
    with pytest.raises(InvalidTable, match='Every value is missing in "c"'):
        Encoding.fit(table, ["c"], "onehot")


def test_a_level_never_seen_is_all_zeros_and_noted() -> None:
    encoding = Encoding.fit(WINES, ["color"], "onehot")
    table = wines(color=["teal", "red", None, "teal"])
    np.testing.assert_array_equal(encoding.encode(table), [[0, 0], [1, 0], [np.nan, np.nan], [0, 0]])
    (note,) = encoding.notes(table)
    assert '"color" has 2 value(s)' in note
    assert '"teal"' in note
    assert encoding.notes(WINES) == []


def test_numbers_in_a_text_column_are_compared_as_text() -> None:
    encoding = Encoding.fit(wines(grade=["3", "2.5", "A"]), ["grade"], "onehot")
    table = wines(grade=[3.0, 2.5, None, 7.0])
    nan = np.nan
    np.testing.assert_array_equal(encoding.encode(table), [[0, 1, 0], [1, 0, 0], [nan, nan, nan], [0, 0, 0]])
    assert 'such as "7"' in encoding.notes(table)[0]


def test_text_in_a_number_column_is_refused_with_an_example() -> None:
    encoding = Encoding.fit(WINES, ["alcohol", "hue"])
    with pytest.raises(InvalidTable, match=r'"alcohol".*such as "12,5"') as caught:
        encoding.encode(wines(alcohol=[None, "12,5"], hue=[1.0, 2.0]))
    assert [error.field for error in caught.value.errors] == ["alcohol"]


def test_missing_columns_are_named_and_the_rest_counted() -> None:
    names = [f"f{i}" for i in range(11)]
    encoding = Encoding.fit(pa.table({name: [1.0] for name in names}), names)
    with pytest.raises(InvalidTable, match=r'lacks 10 of the 11.*"f8", … \(10\)') as caught:
        encoding.encode(wines(f0=[1.0]))
    assert len(caught.value.errors) == 10


def test_columns_without_names_are_not_matched_by_place() -> None:
    encoding = Encoding.fit(WINES, ["alcohol", "hue"])
    with pytest.raises(InvalidTable, match=r'has no header.*"x1" and "x2".*"alcohol" and "hue"'):
        encoding.encode(wines(x1=[1.0], x2=[2.0]))
    trained_without_header = Encoding.fit(wines(x1=[1.0], x2=[2.0]), ["x1", "x2"])
    np.testing.assert_array_equal(trained_without_header.encode(wines(x1=[1.0], x2=[2.0])), [[1, 2]])


def test_no_rows_encode_to_no_rows() -> None:
    encoding = Encoding.fit(WINES, ["alcohol", "color"], "onehot")
    assert encoding.encode(WINES.slice(0, 0)).shape == (0, 3)
    assert encoding.notes(WINES.slice(0, 0)) == []


MIXED = wines(
    sex=["m", "f", "f", "m"],
    size=["low", "high", "medium", None],
    color=["red", None, "blue", "green"],
    day=["2020-01-31", "1970-01-02", None, "2021-06-05"],
    x=[1.0, 2.0, None, 4.0],
)


def mixed(in_parts: bool = False) -> Encoding:
    days = {"day": "%Y-%m-%d"}
    return Encoding.fit(MIXED, MIXED.column_names, "auto", dates=days, in_parts=in_parts, missing_level=True)


def test_auto_makes_one_feature_of_two_levels_and_of_ordered_levels_and_a_level_of_gaps() -> None:
    encoding = mixed()
    assert encoding.names == (
        *("sex=m", "size", "color=blue", "color=green", "color=missing", "color=red", "day", "x"),
    )
    nan = np.nan
    np.testing.assert_array_equal(
        encoding.encode(MIXED),
        [
            [1, 0, 0, 0, 0, 1, 18_292, 1],
            [0, 2, 0, 0, 1, 0, 1, 2],
            [0, 1, 1, 0, 0, 0, nan, nan],
            [1, nan, 0, 1, 0, 0, 18_783, 4],
        ],
    )


def test_dates_become_parts_on_request() -> None:
    encoding = mixed(in_parts=True)
    assert encoding.names[-4:] == ("day.year", "day.month", "day.weekday", "x")
    np.testing.assert_array_equal(encoding.encode(MIXED)[[0, 1, 3], -4:-1], [[2020, 1, 4], [1970, 1, 4], [2021, 6, 5]])


def test_values_never_seen_are_none_of_the_levels_or_missing_and_noted() -> None:
    encoding = mixed()
    new = wines(sex=["x", None], size=["huge", "low"], color=["pink", None], day=["31.1.2020", None], x=[1.0, 2.0])
    nan = np.nan
    np.testing.assert_array_equal(encoding.encode(new), [[0.5, nan, 0, 0, 0, 0, nan, 1], [nan, 0, 0, 0, 1, 0, nan, 2]])
    notes = encoding.notes(new)
    assert len(notes) == 4
    assert 'Column "size" has 1 value(s)' in notes[1]
    assert "as missing values" in notes[1]
    assert "as none of its levels" in notes[0]


@pytest.mark.parametrize("in_parts", [False, True])
def test_an_encoding_survives_json(in_parts: bool) -> None:
    encoding = mixed(in_parts)
    assert Encoding.from_dict(json.loads(json.dumps(encoding.to_dict()))) == encoding


def test_an_encoding_of_an_earlier_version_is_one_hot() -> None:
    stored = {"columns": ["hue", "color"], "levels": [None, ["red", "white"]]}
    assert Encoding.from_dict(stored) == Encoding.fit(WINES, ["hue", "color"], "onehot")
