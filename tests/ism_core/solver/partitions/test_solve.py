"""A table in partitions gives the W of the same rows in memory, with an amount of memory that does not grow with it."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from ism_core import (
    Alternative,
    Gaussian,
    InvalidInput,
    Linear,
    Multiquadratic,
    Polynomial,
    Result,
    Squared,
    Supervised,
    partitions,
    solve,
)
from ism_core.arrays import Array, Ints
from ism_core.kernels import Kernel
from ism_core.linalg import largest_angle
from ism_core.objective import ArrayPartitions, Block, aligned
from ism_core.solver import partitioned
from tests.support.pairwise import with_thorough

KERNELS = {
    "linear": Linear(),
    "squared": Squared(),
    "polynomial": Polynomial(),
    "gaussian": Gaussian(),
    "sum": Gaussian(2.0) + 0.1 * Polynomial(2),
}
TIGHT = 2e-6  # convergence tolerance at which two solves agree to 1e-6


@dataclass(frozen=True)
class Table:
    """Rows with classes and real values that depend on two of six directions."""

    X: Array
    classes: Ints
    values: Array


@pytest.fixture(scope="module")
def table() -> Table:
    rng = np.random.default_rng(5)
    classes = rng.choice(4, 2_400, p=[0.4, 0.3, 0.25, 0.05])
    X = rng.standard_normal((2_400, 6)) @ rng.standard_normal((6, 6))
    X[:, 1] += 3.0 * (classes == 1)
    X[:, 4] += 3.0 * (classes >= 2)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Table(X, classes, X[:, 0] ** 2 + X[:, 3] + 0.1 * rng.standard_normal(2_400))


def assert_same(found: Result, expected: Result) -> None:
    assert largest_angle(found.W, expected.W) < 1e-6
    assert found.objective == pytest.approx(expected.objective, rel=1e-8)
    assert found.converged
    assert found.certificate.second_order


CASES = [(name, targets) for name in KERNELS for targets in ("classes", "values")]


@pytest.mark.parametrize(("name", "targets"), with_thorough(CASES, CASES[::3]))
def test_partitions_give_the_result_of_rows_in_memory(name: str, targets: str, table: Table) -> None:
    y = getattr(table, targets)
    expected = solve(table.X, Supervised(y), KERNELS[name], q=2, delta=TIGHT)
    found = solve(ArrayPartitions(table.X, y, 700, 130), Supervised(), KERNELS[name], q=2, delta=TIGHT)
    assert_same(found, expected)
    assert found.kernel.terms[0][1].form == expected.kernel.terms[0][1].form
    assert pytest.approx(found.W) == found.steps[-1].W


def test_the_order_of_blocks_does_not_matter(table: Table) -> None:
    order = np.argsort(np.arange(2_400) // 100 * 7 % 24, kind="stable")
    first, second = (
        solve(
            ArrayPartitions(table.X[rows], table.classes[rows], 700, size), Supervised(), Gaussian(2.0), 2, delta=TIGHT
        )
        for rows, size in ((np.arange(2_400), 100), (order, 333))
    )
    assert_same(second, first)


def test_few_of_many_rows_are_searched(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitioned, "SAMPLE_ROWS", 300)
    for y in (table.classes, table.values):
        expected = solve(table.X, Supervised(y), Gaussian(2.0), 2, delta=TIGHT)
        found = solve(ArrayPartitions(table.X, y, 700, 130), Supervised(), Gaussian(2.0), 2, delta=TIGHT)
        assert largest_angle(found.W, expected.W) < (1e-6 if y is table.classes else 1e-4)  # other pivots


@pytest.mark.parametrize("options", [{"balance": True}, {"kind": "values", "target_kernel": "linear"}])
def test_options_of_the_paradigm_count(options: dict, table: Table) -> None:
    expected = solve(table.X, Supervised(table.classes, **options), Gaussian(2.0), 1, delta=TIGHT)
    found = solve(partitions(table.X, table.classes), Supervised(**options), Gaussian(2.0), 1, delta=TIGHT)
    assert_same(found, expected)


def test_labels_may_be_text(table: Table) -> None:
    words = np.array(["ant", "bee", "cat", "dog"])[table.classes]
    for y in (words, words.astype(object)):
        found = solve(ArrayPartitions(table.X, y, 1_000, 100), Supervised(), Linear(), 2)
        assert_same(found, solve(table.X, Supervised(words), Linear(), 2))


@pytest.mark.parametrize("kernel", [Gaussian(3.0), Polynomial(), Squared()])
def test_degenerate_columns_are_those_of_rows_in_memory(kernel: Kernel, table: Table) -> None:
    X = np.column_stack([table.X + 5, np.full(2_400, 0.1), table.X[:, 0], np.zeros(2_400)])
    expected = solve(X, Supervised(table.classes), kernel, 2, delta=TIGHT)
    found = solve(ArrayPartitions(X, table.classes, 700, 130), Supervised(), kernel, 2, delta=TIGHT)
    assert_same(found, expected)


def test_random_features_of_partitions(table: Table) -> None:
    start, options = np.eye(6)[:, :2], {"approximation": {"features": 128}, "delta": TIGHT}
    for kernel in (Gaussian(2.0), Multiquadratic()):
        expected = solve(table.X, Supervised(table.classes), kernel, 2, initial_W=start, **options)
        found = solve(partitions(table.X, table.classes), Supervised(), kernel, 2, initial_W=start, **options)
        assert found.method == "random features"
        assert_same(found, expected)


def test_other_starts_and_weights_from_the_labels(table: Table) -> None:
    whole = partitions(table.X, table.classes)
    for kernel in (Gaussian(0.5), aligned(Gaussian(2.0), Linear())):
        expected = solve(table.X, Supervised(table.classes), kernel, 2, delta=TIGHT)
        assert_same(solve(whole, Supervised(), kernel, 2, delta=TIGHT), expected)


def test_a_start_from_interactions_finds_what_means_do_not_tell() -> None:
    X = np.random.default_rng(0).standard_normal((3_000, 5))
    y = (X[:, 1] * X[:, 3] > 0).astype(int)
    found = solve(ArrayPartitions(X, y, 700, 130), Supervised(), Gaussian(1.5), 2, starts="interactions", delta=TIGHT)
    assert_same(found, solve(X, Supervised(y), Gaussian(1.5), 2, starts="interactions", delta=TIGHT))
    assert np.linalg.norm(found.W[[1, 3]]) > 1.39


@dataclass(frozen=True)
class Generated:
    """A table of any length that is made while it is read."""

    count: int
    columns: int = 8

    def __len__(self) -> int:
        return self.count

    def blocks(self, index: int) -> Iterator[Block]:
        rng = np.random.default_rng(index)
        y = rng.integers(0, 3, 2_000)
        X = rng.standard_normal((2_000, self.columns))
        X[:, 2] += 2.0 * y
        X[:, 5] += 2.0 * (y == 1)
        yield X, y


@pytest.mark.parametrize("kernel", with_thorough([Gaussian(4.0), Polynomial()], [Gaussian(4.0)]))
def test_memory_does_not_grow_with_the_rows(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitioned, "SAMPLE_ROWS", 2_000)
    peaks = []
    for count in (16, 16, 64):  # the first solve also fills caches
        tracemalloc.start()
        result = solve(Generated(count), Supervised(), kernel, 2)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert np.linalg.norm(result.W[[2, 5]]) > 1.4
    assert peaks[2] < 1.5 * peaks[1]  # with four times the rows; how far reading is ahead varies


REFUSED = {
    "a cell without a number": (lambda t: ({"X": with_nan(t.X)}, {}), "X has 1 value.*row 1234, column 2"),
    "a row without a label": (lambda t: ({"y": with_nan(t.values)}, {}), "missing value.*row 1234"),
    "a single class": (lambda t: ({"y": np.zeros(2_400, int)}, {}), "at least 2 classes"),
    "constant values": (lambda t: ({"y": np.full(2_400, 0.5)}, {"kind": "values"}), "must vary"),
    "text as values": (lambda t: ({"y": np.array(["a", "b"] * 1_200)}, {"kind": "values"}), "must hold numbers"),
    "too many classes": (lambda t: ({"y": np.arange(2_400)}, {}), "too many for class labels"),
    "labels of two types": (lambda t: ({"y": np.array([1, "one"] * 1_200, dtype=object)}, {}), "the same type"),
    "no targets": (lambda t: ({"y": None}, {}), "no targets"),
    "one row": (lambda t: ({"X": t.X[:1], "y": t.classes[:1]}, {}), "at least 2"),
    "huge numbers": (lambda t: ({"X": 1e30 * t.X}, {}), "too large"),
    "balanced values": (lambda t: ({"y": t.values}, {"balance": True}), "leave it out"),
    "neighbors": (lambda t: ({}, {"neighbors": True}), "pairs of rows"),
}


def with_nan(values: Array) -> Array:
    values = values.copy()
    values[(1_234, 2)[: values.ndim]] = np.nan
    return values


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_solved_is_refused_with_a_sentence(
    case: str, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ism_core.paradigms.block_targets.MOST_CLASSES", 100)
    make, sentence = REFUSED[case]
    changed, options = make(table)
    given = {"X": table.X, "y": table.classes} | changed
    with pytest.raises(InvalidInput, match=sentence):
        solve(ArrayPartitions(given["X"], given["y"], 700, 130), Supervised(**options), Linear(), 2)


@pytest.mark.parametrize(
    ("kernel", "options", "sentence"),
    [
        (Multiquadratic(), {}, "no features"),
        (Gaussian(0.02), {"starts": 1}, "too narrow"),
        (Gaussian(), {"features_per_axis": 2}, "not available"),
        (Gaussian(), {"q": 7}, "from 1 to the 6"),
        (Gaussian(), {"memory_limit": 2**27}, "with 6 columns; the limit is 128 MiB"),
        (Gaussian(), {"paradigm": Alternative([0, 1] * 1_200, 2)}, "Supervised"),
    ],
)
def test_what_needs_all_rows_is_refused_with_a_sentence(
    kernel: Kernel, options: dict, sentence: str, table: Table
) -> None:
    given = {"paradigm": Supervised(), "q": 2} | options
    with pytest.raises(InvalidInput, match=sentence):
        solve(partitions(table.X, table.classes), kernel=kernel, **given)
