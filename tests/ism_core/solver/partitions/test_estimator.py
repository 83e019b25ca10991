"""SupervisedISM learns from tables in partitions what it learns from the same rows in memory."""

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

from ism_core import Gaussian, InvalidInput, Polynomial, Supervised, SupervisedISM, UnsupervisedISM
from ism_core.arrays import Array, Ints
from ism_core.engines import LOCAL
from ism_core.linalg import MAX_QUANTILE_ROWS
from ism_core.objective import ArrayPartitions, partitions
from ism_core.objective.partitions import sources
from ism_core.selection.estimation import at_scale
from tests.support.pairwise import with_thorough


@pytest.fixture(scope="module")
def rows() -> tuple[Array, Ints]:
    """Columns of different units, with two gross cells and a constant."""
    rng = np.random.default_rng(11)
    y = rng.integers(0, 3, 1_500)
    X = rng.standard_normal((1_500, 5)) * [1, 10, 0.1, 3, 1] + [100, 0, 5, -2, 0]
    X[:, 0] += 2 * y
    X[:, 3] += 6 * (y == 1)
    X[7, 1], X[800, 1] = 1e6, -1e6
    return np.column_stack([X, np.full(1_500, 0.3)]), y


@pytest.mark.parametrize(
    ("scale", "target"),
    with_thorough(
        list(product(["standard", "whiten", "none"], ["classes", "values"])),
        [("standard", "classes"), ("whiten", "values"), ("none", "classes")],
    ),
)
def test_scales_and_axes_are_those_of_rows_in_memory(scale: str, target: str, rows: tuple[Array, Ints]) -> None:
    X, y = rows
    if target == "values":
        y = y + np.random.default_rng(0).standard_normal(len(y))
    options = {"kernel": Polynomial(2), "q": 2, "scale": scale, "delta": 1e-6}
    if scale == "none":
        found = SupervisedISM(**options).fit(ArrayPartitions(X, y, 400, 130))
        expected = SupervisedISM(**options).fit(X, y)
    else:
        with pytest.warns(UserWarning, match=r"2 cells far outside .*x1 \(2\)"):
            found = SupervisedISM(**options).fit(ArrayPartitions(X, y, 400, 130))
        with pytest.warns(UserWarning, match="2 cells far outside"):
            expected = SupervisedISM(**options).fit(X, y)
        np.testing.assert_allclose(found.limits_, expected.limits_)
    np.testing.assert_allclose(found.mean_, expected.mean_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.scale_, expected.scale_, rtol=1e-12)
    np.testing.assert_allclose(found.components_, expected.components_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.transform(X), expected.transform(X), rtol=0, atol=1e-4)
    assert found.score(X, y) == pytest.approx(expected.score(X, y), abs=1e-3)
    np.testing.assert_allclose(found.feature_importances_, expected.feature_importances_, atol=0.02)


def test_a_data_set_gives_names_and_is_transformed_in_parts(rows: tuple[Array, Ints], tmp_path: Path) -> None:
    X, y = rows[0][:, :5], rows[1]
    table = pyarrow.table({**{f"column {i}": X[:, i] for i in range(5)}, "kind": y})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=400)
    dataset = pyarrow.dataset.dataset(tmp_path)
    with pytest.warns(UserWarning, match=r"column 1 \(2\)"):
        found = SupervisedISM(Gaussian(2.0), q=2).fit(dataset, "kind")
    assert found.feature_names_in_.tolist() == [f"column {i}" for i in range(5)]
    frame = table.to_pandas()[found.feature_names_in_.tolist()]
    np.testing.assert_allclose(found.transform(dataset), found.transform(frame), rtol=1e-12)
    assert found.get_feature_names_out().tolist() == ["supervisedism0", "supervisedism1"]


def test_a_large_mapped_file_is_read_in_parts(
    rows: tuple[Array, Ints], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rows[0][:, [0, 2, 3]], rows[1]
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    expected = SupervisedISM(Polynomial(2)).fit(mapped, y)
    monkeypatch.setattr(sources, "BYTES_IN_MEMORY", 1_000)
    found = SupervisedISM(Polynomial(2)).fit(mapped, y)
    assert len(found._learned[0]) <= MAX_QUANTILE_ROWS
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-3)


@pytest.fixture(scope="module")
def mixed() -> tuple[Array, Ints]:
    """Classes in two of six columns, one of them rare, in blocks that have few classes each."""
    rng = np.random.default_rng(3)
    y = np.sort(rng.choice(3, 3_000, p=[0.6, 0.39, 0.01]))
    X = rng.standard_normal((3_000, 6)) * [1, 10, 1, 1, 5, 1] + 20
    X[:, 1] += 25 * (y == 1)
    X[:, 4] += 25 * (y == 2)
    return X, y


@pytest.mark.parametrize("target", with_thorough(["classes", "values"], ["classes"]))
def test_settings_are_chosen_on_a_sample_and_checked_on_other_rows(
    target: str, mixed: tuple[Array, Ints], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(at_scale, "CHOICE_ROWS", 900)
    monkeypatch.setattr(at_scale, "CHECKED_ROWS", 300)
    X, y = mixed
    if target == "values":
        y = X[:, 1] + 0.1 * np.random.default_rng(0).standard_normal(len(X))
    found = SupervisedISM("auto", "auto").fit(ArrayPartitions(X, y, 500, 120))
    choice = found.choice_
    assert not choice.chosen.neighbors
    assert choice.criterion == ("accuracy" if target == "classes" else "r2")
    assert 300 <= choice.final_check.rows <= 310
    assert choice.final_check.score > 0.85
    assert abs(choice.final_check.score - choice.out_of_fold.corrected) < 0.08
    assert found.result_.kernel == choice.chosen.kernel
    expected = SupervisedISM(choice.chosen.kernel, choice.chosen.q, scale=choice.chosen.scale, delta=0.1).fit(X, y)
    assert found.score(X, y) == pytest.approx(expected.score(X, y), abs=0.02)


def test_the_rows_of_the_final_check_are_no_rows_of_the_choice(mixed: tuple[Array, Ints]) -> None:
    X, y = mixed
    for columns in (X, X[:, :2]):
        learned, unseen = at_scale._samples(ArrayPartitions(columns, y, 500, 120), Supervised(), 0, LOCAL)
        assert not set(learned.numbers) & set(unseen.numbers)
        np.testing.assert_array_equal(columns[learned.numbers], learned.X)
        np.testing.assert_array_equal(y[unseen.numbers], unseen.y)
        shares = [np.bincount(rows.y) / len(rows.y) for rows in (learned, unseen)]
        np.testing.assert_allclose(*shares, atol=0.005)


def test_one_open_setting_is_chosen(mixed: tuple[Array, Ints]) -> None:
    found = SupervisedISM(Gaussian(4.0), q="auto").fit(partitions(*mixed))
    assert found.result_.kernel == Gaussian(4.0)
    assert found.components_.shape[0] == found.choice_.chosen.q


def test_what_needs_rows_in_memory_is_refused_with_a_sentence(rows: tuple[Array, Ints]) -> None:
    table = partitions(*rows)
    for estimator, sentence in (
        (SupervisedISM("gaussian", scale="large"), "it must be"),
        (UnsupervisedISM("gaussian"), "SupervisedISM takes tables"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            estimator.fit(table)
