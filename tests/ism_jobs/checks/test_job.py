from typing import Any

import pytest

from ism_jobs.checks import check, check_all, column_roles, problems
from ism_jobs.checks.columns import MOST_SUGGESTIONS
from ism_jobs.errors import InvalidSpec
from ism_jobs.spec.paradigms import read_spec
from ism_jobs.tables import Column, Description

ROWS = 100


def number(name: str, low: float = -1.5, high: float = 2.5, **facts: Any) -> Column:
    known: dict[str, Any] = {"missing": 0, "mean": 0.0, "whole": False, "distinct": 90, "constant": low == high}
    return Column(name=name, kind="number", minimum=low, maximum=high, **(known | facts))


def text(name: str, distinct: int | None = 3, **facts: Any) -> Column:
    known: dict[str, Any] = {"missing": 0, "constant": distinct == 1, "distinct": distinct}
    return Column(name=name, kind="text", **(known | facts))


def empty(name: str) -> Column:
    return Column(name=name, kind="number", missing=ROWS, constant=True, distinct=0)


def described(*columns: Column, rows: int = ROWS) -> Description:
    return Description(rows=rows, columns=list(columns), preview=[], format="csv", notes=[])


def spec(paradigm: str = "supervised", **fields: Any) -> Any:
    own: dict[str, dict[str, Any]] = {
        "supervised": {"target": "class"},
        "unsupervised": {"clusters": 3},
        "semi_supervised": {"scores": "class", "clusters": 3},
        "alternative": {"clustering": "class", "clusters": 3},
    }
    return read_spec({"dataset": "wine", "paradigm": paradigm} | own[paradigm] | fields)


WINE = described(
    number("alcohol"), number("ash"), number("hue"), text("class"), number("year", 0, 9, whole=True, distinct=10)
)
FEATURES = [number("alcohol"), number("ash"), number("hue")]
CLASS = text("class")
BIG = 10_000_000

REFUSED = [
    (WINE, spec(engine="dask"), "engine", "This service has no Dask cluster (ISM_DASK_SCHEDULER is not set)"),
    # columns that are not there
    (WINE, spec(target="clas"), "target", 'There is no column "clas"; did you mean "class"? The columns are alcohol'),
    (WINE, spec(target="Class"), "target", 'did you mean "class"?'),
    (
        WINE,
        spec(target="zzz"),
        "target",
        'There is no column "zzz"; the columns are alcohol, ash, hue, class and year.',
    ),
    (WINE, spec(target=["ash", "huw"], features=["year", "alcohol"]), "target.1", 'did you mean "hue"?'),
    (WINE, spec(features=["alcohol", "hsa"]), "features.1", 'There is no column "hsa"'),
    (WINE, spec(features=[f"x{i}" for i in range(30)]), "features", 'There are no columns "x0", "x1"'),
    (WINE, spec("semi_supervised", scores="x"), "scores", 'There is no column "x"'),
    (WINE, spec("alternative", clustering="x"), "clustering", 'There is no column "x"'),
    (WINE, spec("unsupervised", reference="x", features=["ash", "hue"]), "reference", 'There is no column "x"'),
    # columns with two parts
    (WINE, spec(features=["ash", "class"]), "features.1", '"class" is the target'),
    (WINE, spec("semi_supervised", features=["ash", "class"]), "features.1", "which guide the clusters"),
    (WINE, spec("alternative", features=["class", "ash"]), "features.0", "which the job avoids"),
    (WINE, spec("unsupervised", reference="class", features=["ash", "class"]), "features.1", "is the reference"),
    # the target
    (WINE, spec(target_kind="values"), "target", '"class" holds text, which cannot be read as values'),
    (WINE, spec(target=["ash", "class"]), "target", "Several columns must all hold numbers"),
    (
        WINE,
        spec(target=["ash", "year"], target_kind="classes", features=["hue"], q=1),
        "target",
        "classes must be one column",
    ),
    (described(*FEATURES, text("class", 1)), spec(), "target", '"class" has 1 class in 100 rows; at least 2'),
    (described(*FEATURES, text("class", None)), spec(), "target", "too many to be classes; name another column"),
    (described(*FEATURES, number("class", distinct=None)), spec(target_kind="classes"), "target", 'to "values"'),
    (described(*FEATURES, number("class", 2, 2)), spec(), "target", "is the same in all rows"),
    (described(*FEATURES, number("class", 0, 1e160)), spec(), "target", "too large to compute with"),
    (described(*FEATURES, text("class", missing=5)), spec(missing="refuse"), "target", '"class" in 5. Set missing'),
    (described(*FEATURES, text("class", 95)), spec(), "target", "has 95 different texts in 100 rows, so it names rows"),
    (described(*FEATURES, empty("class")), spec(), "target", '"class" has no values at all'),
    # scores, clusterings and references
    (described(*FEATURES, text("class", 1)), spec("semi_supervised"), "scores", "has 1 class"),
    (described(*FEATURES, empty("class")), spec("semi_supervised"), "scores", "has no values at all"),
    (described(*FEATURES, number("class", 1, 1)), spec("semi_supervised"), "scores", "must vary"),
    (described(*FEATURES, text("class", 1)), spec("alternative"), "clustering", "has 1 class"),
    (
        described(*FEATURES, number("class")),
        spec("alternative"),
        "clustering",
        '"class" holds values that are not classes',
    ),
    (
        WINE,
        spec("unsupervised", reference="ash", features=["hue", "year"]),
        "reference",
        '"ash" holds values that are not classes',
    ),
    (described(*FEATURES, empty("r")), spec("unsupervised", reference="r"), "reference", "no values at all"),
    # missing values in features
    (
        described(number("a", missing=3), number("b", missing=30), number("c"), CLASS),
        spec(missing="refuse"),
        "missing",
        '2 features have missing values: "b" (30) and "a" (3). The table has 100 rows. Set missing to "auto"',
    ),
    (
        described(*FEATURES, empty("e"), CLASS),
        spec(features="all"),
        "features",
        '"e" has no values at all; leave it out',
    ),
    (
        described(*FEATURES, empty("e"), CLASS),
        spec(missing="drop", features="all"),
        "features",
        '"e" has no values at all',
    ),
    (
        described(*FEATURES, number("n", missing=99), CLASS),
        spec(missing="drop", features="all"),
        "missing",
        '"drop" leaves 1 row of 100',
    ),
    # text in features
    (
        described(*FEATURES, text("color"), CLASS),
        spec(categorical="refuse"),
        "categorical",
        '1 feature holds text: "color". Set categorical',
    ),
    (
        described(text("color"), text("shape"), CLASS),
        spec(categorical="refuse"),
        "categorical",
        'features hold text: "color" and "shape"',
    ),
    (
        described(*FEATURES, text("id", None), CLASS),
        spec(features="all"),
        "features",
        '"id" has more than',
    ),
    (described(text("id", 1001), CLASS), spec(features=["id"]), "features", "more than 1,000"),
    (
        described(text("t", 900), CLASS, rows=BIG),
        spec(categorical="onehot"),
        "categorical",
        "gives 900 features × 10,000,000",
    ),
    (
        described(*FEATURES, number("y")),
        spec(target="y", balance=True),
        "balance",
        "balance requires classes, but this target has values; leave it out",
    ),
    # sizes
    (described(CLASS), spec(), "features", "No features are left"),
    (WINE, spec(q=5), "q", "q = 5 is more than the 4 features of this job; ask for 4 or fewer"),
    (described(number("a"), CLASS), spec(q=2), "q", "q = 2 is more than the 1 feature of this job; ask for 1."),
    (described(number("a"), text("t", 4), CLASS), spec(q=6, categorical="onehot"), "q", "the 5 features"),
    (described(*FEATURES), spec("unsupervised", clusters=101), "clusters", "is more than the 100 rows; ask for 100"),
    (
        described(number("a", missing=98), *FEATURES),
        spec("unsupervised", missing="drop", features="all"),
        "clusters",
        "clusters = 3 is more than the 2 rows that are left without missing values",
    ),
    (described(*FEATURES, CLASS, rows=1), spec(), "dataset", "The data set has 1 row; at least 2"),
    (described(*FEATURES, CLASS, rows=0), spec(), "dataset", "The data set has 0 rows"),
    (
        described(number("a", 1, 1), number("b", 0, 0), CLASS),
        spec(features="all"),
        "features",
        "All 2 features are constant",
    ),
    (described(number("a", 1, 1 + 1e-15), CLASS), spec(q=1, features=["a"]), "features", 'The feature "a" is constant'),
    (described(number("a", 1, 1), text("t", 1), CLASS), spec(), "features", '"a" (it is constant) and "t" (it is con'),
    # numbers whose squares are lost
    (described(*FEATURES, number("a", 0, 1e21), CLASS), spec(scale="none"), "features", '"a": values beyond ±1e20'),
    (described(*FEATURES, number("a", -1e160, 0), CLASS), spec(), "features", "too large to standardize"),
    (described(number("a", 0, 1e-21), CLASS), spec(q=1, scale="none"), "features", "too small to compute with"),
    (described(number("a", 0, 1e-170), CLASS), spec(q=1), "features", "too small to standardize"),
]

ACCEPTED = [
    (WINE, spec()),
    (WINE, spec(q=4)),
    (WINE, spec(target="year", features=["ash", "hue"])),
    (WINE, spec(target="year", features=["ash", "hue"], target_kind="values")),
    (WINE, spec(target=["ash", "year"], features=["hue"], q=1)),
    (WINE, spec(target=["class"])),
    (WINE, spec("unsupervised", reference="class")),
    (WINE, spec("unsupervised", reference="year", features=["ash", "hue"], clusters=ROWS)),
    (WINE, spec("semi_supervised", reference="class")),
    (WINE, spec("alternative")),
    (described(*FEATURES, text("class", missing=5)), spec()),
    (described(*FEATURES, text("class", missing=5)), spec(missing="mean")),
    (described(*FEATURES, text("class", missing=5)), spec(missing="drop")),
    (described(*FEATURES, text("names", 95), text("color"), number("a", missing=30), empty("e"), CLASS), spec()),
    (described(text("color", 3, missing=5), CLASS), spec(q=4)),
    (described(text("color", 2, levels=["a", "b"]), CLASS), spec(q=1)),
    (described(*FEATURES, text("class", missing=5)), spec("semi_supervised")),
    (described(*FEATURES, text("class", missing=5)), spec("alternative")),
    (described(number("a", missing=3), number("b", 1, 1), CLASS), spec(missing="mean")),
    (described(number("a", missing=98), number("b"), CLASS), spec(missing="drop")),
    (described(*FEATURES, empty("e"), CLASS), spec(features=["ash", "hue"])),
    (described(number("a"), text("t", 4), CLASS), spec(q=5, categorical="onehot")),
    (described(*FEATURES, number("a", 0, 1e21), CLASS), spec()),
    (described(*FEATURES, number("a", 0, 1e-30), CLASS), spec(scale="none")),
    (described(*FEATURES, number("class", 0, 1, distinct=None)), spec()),
]


@pytest.mark.parametrize(("description", "job", "field", "fragment"), REFUSED)
def test_a_job_that_does_not_fit_is_told_by_field(
    description: Description, job: Any, field: str, fragment: str
) -> None:
    with pytest.raises(InvalidSpec) as caught:
        check(job, description)
    messages = [error.message for error in caught.value.errors if error.field == field]
    assert any(fragment in message for message in messages), caught.value.errors
    assert all(error.message.endswith((".", "?")) for error in caught.value.errors)


@pytest.mark.parametrize(("description", "job", "field", "fragment"), REFUSED)
def test_one_fault_is_told_once(description: Description, job: Any, field: str, fragment: str) -> None:
    assert [error.field for error in problems(job, description)] == [field]


@pytest.mark.parametrize(("description", "job"), ACCEPTED)
def test_a_job_that_fits_is_let_through(description: Description, job: Any) -> None:
    assert problems(job, description) == []


def test_every_problem_is_told_at_once() -> None:
    description = described(number("a", missing=1), text("t"), text("class", missing=2))
    strict = {"missing": "refuse", "categorical": "refuse"}
    errors = problems(spec("unsupervised", reference="clas", clusters=200, **strict), description)
    assert {error.field for error in errors} == {"reference", "missing", "categorical", "clusters"}


def test_columns_with_another_part_are_no_features() -> None:
    assert column_roles(spec(), WINE).features == ("alcohol", "ash", "hue", "year")
    assert column_roles(spec("unsupervised"), WINE).features == ("alcohol", "ash", "hue", "class", "year")
    parts = column_roles(spec("alternative", reference="year"), WINE)
    assert (parts.features, parts.guidance, parts.reference) == (("alcohol", "ash", "hue"), ("class",), ("year",))
    assert column_roles(spec(features=["hue", "ash"]), WINE).features == ("hue", "ash")
    assert column_roles(spec("semi_supervised", scores=["year", "hue"]), WINE).guidance == ("year", "hue")


def test_what_is_wrong_in_all_jobs_of_a_batch_is_told_once() -> None:
    jobs = [spec(q=q, target="clas", features=["ash", "hue"]) for q in (1, 2, 3, 4)]
    with pytest.raises(InvalidSpec) as caught:
        check_all(jobs, {"wine": WINE})
    errors = {error.field: error.message for error in caught.value.errors}
    assert set(errors) == {"0.target", "2.q", "3.q"}
    check_all([spec(q=q) for q in (1, 2, 3, 4)], {"wine": WINE})


def test_what_is_wrong_in_some_jobs_is_told_for_the_first_of_them() -> None:
    with pytest.raises(InvalidSpec) as caught:
        check_all([spec(), spec(target="x"), spec(target="x", seed=2)], {"wine": WINE})
    (error,) = caught.value.errors
    assert error.field == "1.target"
    assert "(1 other job has the same problem.)" in error.message


def test_only_some_misspelled_names_are_looked_for() -> None:
    jobs = [spec(target=f"clas{place}") for place in range(50)]
    with pytest.raises(InvalidSpec) as caught:
        check_all(jobs, {"wine": WINE})
    assert len(caught.value.errors) == 50
    assert sum("did you mean" in error.message for error in caught.value.errors) == MOST_SUGGESTIONS


def test_a_column_of_classes_is_offered_as_reference() -> None:
    columns = [
        Column(name="x", kind="number", missing=0, minimum=0.0, maximum=8.0, mean=4.0, constant=False, distinct=9),
        Column(name="class", kind="text", missing=0, constant=False, distinct=3, levels=["a", "b", "c"]),
    ]
    table = Description(rows=9, columns=columns, preview=[], format="csv", notes=[])
    spec = read_spec({"dataset": "d", "paradigm": "unsupervised", "clusters": 3, "q": 1, "categorical": "refuse"})
    (problem,) = problems(spec, table)
    assert "name it in reference" in problem.message
    assert problems(spec.model_copy(update={"reference": "class"}), table) == []


def test_a_job_may_ask_for_a_cluster_that_is_there() -> None:
    check(spec(engine="dask"), WINE, has_dask=True)
    check_all([spec(engine="dask"), spec()], {"wine": WINE}, has_dask=True)
    with pytest.raises(InvalidSpec) as caught:
        check_all([spec(), spec(engine="dask")], {"wine": WINE})
    assert [error.field for error in caught.value.errors] == ["1.engine"]
