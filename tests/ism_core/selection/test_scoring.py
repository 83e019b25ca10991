"""Folds, and how projections are judged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC, SVR

from ism_core.selection.scoring import classification_scores, regression_scores, splits


@given(st.lists(st.integers(0, 3), min_size=10, max_size=60), st.integers(2, 5))
def test_every_row_is_judged_once_and_every_class_is_spread_over_the_folds(labels: list[int], folds: int) -> None:
    codes = np.unique(labels, return_inverse=True)[1]
    parts = splits(len(codes), codes, folds, np.random.default_rng(0))
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(len(codes)))
    for train, test in parts:
        assert set(train).isdisjoint(test)
        assert len(train) + len(test) == len(codes)
        counts = np.bincount(codes[test], minlength=codes.max() + 1)
        assert (np.abs(counts - np.bincount(codes) / folds) < 2).all()


def test_rows_of_classes_that_lie_apart_are_told_by_both_classifiers(rng: np.random.Generator) -> None:
    codes = np.arange(60) % 3
    P = 9.0 * codes[:, None] + rng.standard_normal((60, 2))
    np.testing.assert_array_equal(classification_scores(P[:40], codes[:40], P[40:], codes[40:])[0], 1)
    assert classification_scores(P[:40], codes[:40], P[40:], (codes[40:] + 1) % 3)[0].max() == 0


@pytest.mark.parametrize("classes", [2, 4])
def test_predictions_are_those_of_scikit_learn(rng: np.random.Generator, classes: int) -> None:
    P, codes = rng.standard_normal((90, 2)), rng.integers(0, classes, 90)
    expected = SVC().fit(P[:60], codes[:60]).predict(P[60:])
    np.testing.assert_array_equal(classification_scores(P[:60], codes[:60], P[60:], codes[60:])[1], expected)
    Y = P[:, :1] ** 2 + 5
    mean, spread = Y[:60].mean(), Y[:60].std()
    values = SVR().fit(P[:60], (Y[:60, 0] - mean) / spread).predict(P[60:]) * spread + mean
    np.testing.assert_allclose(regression_scores(P[:60], Y[:60], P[60:], Y[60:])[1][:, 0], values, rtol=1e-12)


def test_scores_of_real_targets_average_to_r2(rng: np.random.Generator) -> None:
    P = rng.standard_normal((300, 2))
    Y = np.column_stack([1_000 + 3 * P[:, 0], P[:, 1]])
    assert regression_scores(P[:200], Y[:200], P[200:], Y[200:])[0].mean() > 0.9
    noise = rng.standard_normal((300, 2))
    assert abs(regression_scores(noise[:200], Y[:200], noise[200:], Y[200:])[0].mean()) < 0.4
