"""Which columns become features by themselves, and how."""

from typing import Any

import pytest

from ism_jobs.checks import column_use, ordered
from ism_jobs.tables import Column
from tests.ism_jobs.checks.test_job import ROWS, empty, number, text


def whole(name: str, distinct: int | None = ROWS, low: float = 1, high: float = 5000, **facts: Any) -> Column:
    return number(name, low, high, whole=True, distinct=distinct, **facts)


LEFT_OUT = [
    (whole("x", high=ROWS, counter="rows"), "numbers the rows"),
    (whole("n", low=0, high=ROWS - 1, counter="rows"), "numbers the rows"),
    (whole("index", 25, high=25, counter="blocks"), "numbers rows within groups"),
    (whole("Sample Number", 50, high=50, counter="blocks"), "numbers rows within groups"),
    (whole("Unnamed: 0"), "numbers the rows"),
    (whole("column1"), "numbers the rows"),
    (whole("case", None), "numbers the rows"),
    (whole("rownames"), "identifies rows"),
    (text("rownames", ROWS), "identifies rows"),
    (text("ROWNAMES", 50), "identifies rows"),
    *(
        (whole(name), "identifies rows")
        for name in ("id", "ID", "customer_id", "PassengerId", "customerID", "sample.id")
    ),
    (whole("subject_id", 7), "identifies rows"),
    (whole("Subject", 18), "identifies persons"),
    (whole("pooled.stratum", 60), "identifies persons or groups"),
    (whole("Chick", 50, high=50, counter="groups"), "numbers groups of rows"),
    (text("model", 95), "95 texts in 100 rows identify the rows"),
    (text("town", 11), "11 different texts, too many"),
    (text("remark", None), "too many different texts"),
    (text("day", 90, date_format="%Y-%m-%d"), "holds dates"),
    (number("flat", 2, 2), "constant"),
    (text("flat", 1), "constant"),
    (empty("nothing"), "no values"),
    (number("seldom", missing=60), "60 of its 100 values are missing"),
]
USED = [
    (whole("income"), "number"),
    (whole("area"), "number"),
    (whole("year", low=1947, high=1947 + ROWS - 1, counter="rows"), "number"),
    (whole("number", 8), "number"),
    (whole("Number of rooms"), "number"),
    (whole("Time", 50, high=50, counter="groups"), "number"),
    (whole("Diet", 4, high=4, counter="groups"), "number"),
    (whole("score", 50, low=7, high=57, counter="groups"), "number"),
    (whole("Days", 10, low=0, high=9, counter="blocks"), "number"),
    (whole("index", 40, low=80, high=140), "number"),
    (number("bid"), "number"),
    (number("id", whole=False), "number"),
    (text("subject", 4), "onehot"),
    (text("color", 10), "onehot"),
    (text("sex", 2, levels=["f", "m"]), "binary"),
    (text("size", 3, levels=["small", "large", "medium"]), "ordinal"),
    (number("x", missing=40), "number"),
]


@pytest.mark.parametrize(("column", "reason"), LEFT_OUT, ids=lambda value: getattr(value, "name", ""))
def test_a_column_that_says_nothing_is_left_out_unless_it_is_named(column: Column, reason: str) -> None:
    use = column_use(column, ROWS)
    assert use.kind is None
    assert reason in (use.reason or "")
    assert column_use(column, ROWS, named=True).kind is not None


@pytest.mark.parametrize(("column", "kind"), USED, ids=lambda value: getattr(value, "name", ""))
def test_a_column_that_may_matter_is_a_feature(column: Column, kind: str) -> None:
    use = column_use(column, ROWS)
    assert (use.kind, use.reason) == (kind, None)


@pytest.mark.parametrize(
    ("rows", "levels", "used"), [(20, 4, True), (20, 5, False), (300, 30, True), (9000, 31, False)]
)
def test_more_rows_allow_more_levels_up_to_thirty(rows: int, levels: int, used: bool) -> None:
    assert (column_use(text("color", levels), rows).kind is not None) is used
    assert column_use(text("color", levels), rows, "onehot").kind == "onehot"


@pytest.mark.parametrize(("dates", "kind"), [("auto", None), ("number", "date"), ("parts", "date_parts")])
def test_dates_are_used_on_request(dates: Any, kind: str | None) -> None:
    day = text("day", ROWS, date_format="%Y-%m-%d")
    assert column_use(day, ROWS, dates=dates).kind == kind
    assert column_use(day, ROWS, dates=dates, named=True).kind == (kind or "date")


@pytest.mark.parametrize(
    "levels",
    [
        ["low", "medium", "High"],
        ["very low", "low", "very_high"],
        ["1st", "2nd", "3rd", "10th"],
        ["1st class", "2nd class", "3rd class"],
        ["<18", "18-24", "25-34", "35+"],
        ["0-9g/day", "10-19", "20-29", "30+"],
        ["none", "mild", "severe"],
        ["S", "M", "L", "XL"],
    ],
)
def test_levels_that_state_their_order_are_ordered(levels: list[str]) -> None:
    assert ordered(levels[::-1]) == tuple(levels)


@pytest.mark.parametrize(
    "levels",
    [
        ["a", "b", "c"],
        ["low", "high"],
        ["1st", "2nd", "Crew"],
        ["1", "2", "3"],
        ["mid", "medium", "low"],
        ["2020-01", "2020-02", "2021-01"],
        ["low", "red", "high"],
        [f"{level}th" for level in range(30)],
    ],
)
def test_levels_that_do_not_state_an_order_have_none(levels: list[str]) -> None:
    assert ordered(levels) is None
