"""What is said of a table once it has been read."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ism_jobs.tables import Description, open_table, read_table
from tests.support.tables import read
from tools.table_files import npy, parquet


def test_number_columns_are_summed_up(tmp_path: Path) -> None:
    column = read(tmp_path, "a,b\n1,1\n,2\n2.5,3\n-4,4\n").description.column("a")
    assert column.model_dump() == {
        "name": "a",
        "kind": "number",
        "missing": 1,
        "minimum": -4.0,
        "maximum": 2.5,
        "mean": pytest.approx(-0.5 / 3),
        "whole": False,
        "constant": False,
        "distinct": 3,
        "levels": None,
        "counter": None,
        "date_format": None,
    }
    assert read(tmp_path, "a,b\n1,1\n,2\n").description.column("a").whole


def test_text_levels_come_by_frequency_then_by_name(tmp_path: Path) -> None:
    column = read(tmp_path, "c,n\nred,1\nblue,2\ngreen,3\nblue,4\n,5\nazure,6\n").description.column("c")
    assert column.levels == ["blue", "azure", "green", "red"]
    assert (column.distinct, column.missing, column.whole, column.minimum) == (4, 1, None, None)


def test_only_twenty_levels_are_listed_but_all_are_counted(tmp_path: Path) -> None:
    column = read(tmp_path, "c\n" + "\n".join(f"w{index:03}" for index in range(300))).description.column("c")
    assert column.levels == [f"w{index:03}" for index in range(20)]
    assert column.distinct == 300


@pytest.mark.parametrize(("count", "distinct"), [(10_000, 10_000), (10_001, None)])
def test_texts_are_counted_up_to_ten_thousand(tmp_path: Path, count: int, distinct: int | None) -> None:
    column = read(tmp_path, "c\n" + "\n".join(f"w{index}" for index in range(count))).description.column("c")
    assert (column.distinct, column.constant) == (distinct, False)


@pytest.mark.parametrize(("count", "distinct"), [(1_000, 1_000), (1_001, None)])
@pytest.mark.parametrize("repeats", [1, 3, 2_000])
def test_numbers_are_counted_up_to_a_thousand(tmp_path: Path, count: int, distinct: int | None, repeats: int) -> None:
    values = np.tile(np.arange(count) / 7, repeats)
    values[0] = -0.0
    assert read(tmp_path, npy(np.append(values, np.nan))).description.columns[0].distinct == distinct


def test_numbers_are_counted_across_row_groups(tmp_path: Path) -> None:
    table = pa.table({"slow": np.arange(3000.0), "few": np.arange(3000.0) % 7})
    description = read(tmp_path, parquet(table, row_group_size=100)).description
    assert [column.distinct for column in description.columns] == [None, 7]


def test_constant_columns_are_marked(tmp_path: Path) -> None:
    description = read(tmp_path, "a,b,c,d,e\n1,x,,1,x\n1,x,,2,\n1,x,,1,y\n").description
    assert [column.constant for column in description.columns] == [True, True, True, False, False]


def test_an_empty_column_has_no_statistics(tmp_path: Path) -> None:
    column = read(tmp_path, "a,b\n1,\n2,\n").description.column("b")
    assert (column.missing, column.minimum, column.mean, column.whole, column.distinct) == (2, None, None, None, 0)


@pytest.mark.parametrize(
    ("values", "counter"),
    [
        ([1, 2, 3, 4], "rows"),
        ([1947, 1948, 1949], "rows"),
        ([1, 2, 3, 1, 2, 3, 4], "blocks"),
        ([1, 1, 2, 2, 2, 3], "groups"),
        ([1, 2, 2, 1], None),
        ([1, 2, 4], None),
        ([1, 2, np.nan, 4], None),
        ([3, 2, 1], None),
        ([5], None),
    ],
)
@pytest.mark.parametrize("group", [1, 2, 100])
def test_a_column_that_counts_is_marked(tmp_path: Path, values: list[float], counter: str | None, group: int) -> None:
    table = pa.table({"a": pa.array(values, pa.float64(), from_pandas=True)})
    assert read(tmp_path, parquet(table, row_group_size=group)).description.columns[0].counter == counter


@pytest.mark.parametrize(
    ("values", "format"),
    [
        (["2020-01-31", "2021-2-3", None], "%Y-%m-%d"),
        (["01/02/2020", "13/02/2020"], "%d/%m/%Y"),
        (["01/02/2020", "03/02/2020"], "%m/%d/%Y"),
        (["2020-01-01T10:20:30.5Z", "2020-01-02 10:20:30+01:00"], "%Y-%m-%d %H:%M:%S"),
        (["12 Jan 2020", "1 February 2021"], "%d %b %Y"),
        (["5.6.2021", "31.12.2021"], "%d.%m.%Y"),
        (["2020-01-31", "soon"], None),
        (["2020-13-01"], None),
        (["10-19", "20-29"], None),
    ],
)
def test_a_column_of_dates_has_their_format(tmp_path: Path, values: list[str | None], format: str | None) -> None:
    description = read(tmp_path, parquet(pa.table({"day": values}), row_group_size=1)).description
    assert description.columns[0].date_format == format


def test_dates_of_typed_formats_have_a_format_too(tmp_path: Path) -> None:
    day = datetime(2020, 1, 31, 10, 30)
    table = pa.table({"day": pa.array([day.date()]), "time": pa.array([day])})
    formats = [column.date_format for column in read(tmp_path, parquet(table)).description.columns]
    assert formats == ["%Y-%m-%d", "%Y-%m-%d %H:%M:%S"]


def test_a_column_that_is_text_because_of_few_values_gets_a_note(tmp_path: Path) -> None:
    content = "price,color\n" + "".join(f"{row}.50,c{row % 3}\n" for row in range(30)) + "on request,c1\n"
    (note,) = read(tmp_path, content).description.notes
    assert '"price" is read as text because of values such as "on request"' in note


def test_the_mean_of_vast_numbers_is_finite(tmp_path: Path) -> None:
    column = read(tmp_path, npy(np.array([1.7e308, 1.7e308, 1.6e308]))).description.columns[0]
    assert column.mean == pytest.approx(1.6667e308, rel=1e-4)


def test_statistics_agree_with_numpy_over_many_batches(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(5, 2, size=(400_000, 6))
    X[::7, 2] = np.nan
    description = read(tmp_path, npy(X)).description
    np.testing.assert_allclose([column.mean for column in description.columns], np.nanmean(X, axis=0))
    assert [column.minimum for column in description.columns] == np.nanmin(X, axis=0).tolist()
    assert [column.maximum for column in description.columns] == np.nanmax(X, axis=0).tolist()
    assert description.columns[2].missing == np.isnan(X[:, 2]).sum()


def test_the_preview_holds_the_first_five_rows(tmp_path: Path) -> None:
    table = pa.table({"b": ["x", None, "y", "z", "u", "v"], "a": [1.0, 2.0, None, 4.0, 5.0, 6.0]})
    expected = [["x", 1.0], [None, 2.0], ["y", None], ["z", 4.0], ["u", 5.0]]
    assert read(tmp_path, parquet(table)).description.preview == expected
    assert read(tmp_path, parquet(table, row_group_size=2)).description.preview == expected


def test_an_unknown_column_is_a_key_error(tmp_path: Path) -> None:
    description = read(tmp_path, "a,b\n1,2\n").description
    with pytest.raises(KeyError):
        description.column("c")


def test_a_description_survives_json(tmp_path: Path) -> None:
    description = read(tmp_path, "a,b\n1,x\n,y\n").description
    assert description.column("b").kind == "text"
    assert Description.model_validate_json(description.model_dump_json()) == description


def test_a_reader_is_read_once_and_knows_nothing_before(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    reader = open_table(tmp_path / "t.csv")
    assert reader.schema.names == ["a", "b"]
    with pytest.raises(RuntimeError, match="not been read to its end"):
        reader.description()
    list(reader)
    with pytest.raises(RuntimeError, match="read once"):
        list(reader)
    assert reader.description().rows == 1


def test_a_reader_that_is_not_used_leaves_no_open_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    open_table(tmp_path / "t.csv")
    reader = open_table(tmp_path / "t.csv")
    next(iter(reader))
    reader.close()


def test_batches_are_canonical_and_bounded(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 2_000_000)
    reader = open_table(tmp_path / "t.csv")
    assert [str(type) for type in reader.schema.types] == ["double", "double"]
    rows = 0
    for batch in reader:
        batch.validate(full=True)
        assert batch.schema == reader.schema
        assert batch.nbytes <= 9_000_000
        rows += len(batch)
    assert rows == 2_000_000


def test_read_table_gives_table_and_description(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a\tb\n1\tx\n")
    table, description = read_table(tmp_path / "t.tsv")
    assert table.to_pydict() == {"a": [1.0], "b": ["x"]}
    assert description.format == "tsv"
