"""SupervisedISM learns from tables in partitions what it learns from the same rows in memory."""

from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

from ism_core import Gaussian, InvalidInput, Polynomial, SupervisedISM, UnsupervisedISM
from ism_core.arrays import Array, Ints
from ism_core.linalg import MAX_QUANTILE_ROWS
from ism_core.objective import ArrayPartitions, partitions
from ism_core.objective.partitions import sources


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


@pytest.mark.parametrize("scale", ["standard", "whiten", "none"])
@pytest.mark.parametrize("target", ["classes", "values"])
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


def test_what_needs_rows_in_memory_is_refused_with_a_sentence(rows: tuple[Array, Ints]) -> None:
    table = partitions(*rows)
    for estimator, sentence in (
        (SupervisedISM("auto"), '"auto" are not available'),
        (SupervisedISM(q="auto"), '"auto" are not available'),
        (SupervisedISM(Gaussian("auto")), '"auto" are not available'),
        (SupervisedISM(scale="large"), "it must be"),
        (UnsupervisedISM(), "SupervisedISM takes tables"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            estimator.fit(table)
