"""The benchmark of guided clusterings."""

import numpy as np
import pytest

from benchmarks.guidance import __main__ as guidance


@pytest.mark.parametrize("method", guidance.METHODS)
def test_every_method_uses_the_labels_and_clusters_all_rows(method: str) -> None:
    y = np.arange(60) % 3
    X = 6 * np.eye(3)[y] + np.random.default_rng(0).standard_normal((60, 3))
    labels = np.where(np.arange(60) < 9, y, -1)
    np.testing.assert_array_equal(guidance.METHODS[method](X, labels, 3), y)


def test_a_tenth_of_the_rows_has_a_label_of_two_classes_at_least() -> None:
    y = (np.arange(100) < 3).astype(int)
    for seed in range(5):
        labels = guidance.drawn(y, seed)
        assert (labels >= 0).sum() == 10
        assert set(labels) == {-1, 0, 1}


def test_missing_values_are_filled_and_constant_columns_left_out() -> None:
    X = np.array([[1.0, np.nan, 5, np.nan], [3, 2, 5, np.nan], [np.nan, 4, 5, np.nan]])
    np.testing.assert_array_equal(guidance.filled(X), [[1, 3], [3, 2], [2, 4]])
