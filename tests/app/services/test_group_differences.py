"""How groups of rows differ from the rest, on tables that come in parts."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from app.schemas import DifferenceView
from app.services.group_differences import differences
from ism_jobs.tables import Column


def column(name: str, values: Any) -> Column:
    numbers = isinstance(values[0], float)
    mean = float(np.nanmean(values)) if numbers else None
    return Column(name=name, kind="number" if numbers else "text", missing=0, mean=mean, constant=len(set(values)) == 1)


def only(table: dict[str, Any], groups: list[list[int]], size: int) -> list[DifferenceView]:
    whole = pa.table(table)
    parts = [whole.slice(start, size) for start in range(0, whole.num_rows, size)]
    columns = [column(name, values) for name, values in table.items()]
    return [group.differences[0] for group in differences(parts, columns, groups)]


@pytest.mark.parametrize("size", [1, 3, 7, 50])
def test_the_parts_of_a_table_make_no_difference(size: int) -> None:
    values = np.random.default_rng(0).standard_normal(50) + 1e6
    group = [49, 3, 3, 17]  # any order, and a row named twice counts once
    (found,) = only({"x": values.tolist()}, [group], size)
    rest = np.delete(values, [3, 17, 49])
    assert found.group == pytest.approx(values[[3, 17, 49]].mean(), rel=1e-12)
    assert found.rest == pytest.approx(rest.mean(), rel=1e-12)
    assert found.difference == pytest.approx((values[[3, 17, 49]].mean() - rest.mean()) / values.std(), rel=1e-6)
    squared = values[[3, 17, 49]].var(ddof=1) / 3 + rest.var(ddof=1) / 47
    assert found.error == pytest.approx(squared**0.5 / values.std(), rel=1e-6)


def test_a_group_of_one_row_has_no_error() -> None:
    (found,) = only({"x": [1.0, 2.0, 3.0, 4.0]}, [[3]], 4)
    assert found.difference is not None
    assert found.error is None


def test_the_error_covers_the_difference_that_random_groups_have() -> None:
    rng = np.random.default_rng(0)
    table = {"x": rng.standard_normal(400).tolist(), "t": rng.choice(["a", "b"], 400, p=[0.9, 0.1]).tolist()}
    groups = [rng.permutation(400)[:40].tolist() for _ in range(200)]
    whole = pa.table(table)
    views = differences([whole], [column(name, values) for name, values in table.items()], groups)
    for name in table:
        found = [one for view in views for one in view.differences if one.column == name]
        within = np.mean([abs(one.difference or 0) < 2 * (one.error or 0) for one in found])
        assert 0.9 < within <= 1.0


def test_the_level_whose_share_differs_most_speaks_for_a_text() -> None:
    (found,) = only({"t": ["a", "a", "b", "c", "c", "c"]}, [[0, 1, 2]], 4)
    assert (found.level, found.group, found.rest) == ("c", 0, 1)
    assert found.difference is not None
    assert found.difference == pytest.approx(-2)


def test_a_group_of_all_rows_differs_from_nothing() -> None:
    for table in ({"x": [1.0, 2.0]}, {"t": ["a", "b"]}):
        (found,) = only(table, [[0, 1]], 2)
        assert found.difference is None


def test_a_column_that_never_varies_has_no_difference() -> None:
    (found,) = only({"x": [0.1] * 6}, [[0, 1]], 2)
    assert (found.group, found.difference) == (pytest.approx(0.1), None)
