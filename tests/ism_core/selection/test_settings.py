"""What is solved: settings as given, and as chosen."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from ism_core import Gaussian, Supervised, SupervisedISM, Unsupervised, UnsupervisedISM
from ism_core.linalg.subspaces import largest_angle
from ism_core.selection.settings import iter_settings
from ism_core.solver.result import drain


def test_nothing_is_tried_where_all_is_given() -> None:
    X, y = load_wine(return_X_y=True)
    assert list(iter_settings(X, Supervised(y), "gaussian", 2)) == []
    decision = drain(iter_settings(X, Supervised(y), "gaussian", 2))
    assert (decision.kernel, decision.q, decision.scale) == ("gaussian", 2, "standard")
    assert (decision.delta, decision.starts, decision.choice) == (0.01, None, None)


def test_an_estimator_that_chooses_beats_the_median_where_that_is_too_wide() -> None:
    """Two rings of ten columns; accuracies on rows that neither the choice nor W has seen."""
    rng = np.random.default_rng(1)
    y = np.arange(200) % 2
    angle = rng.uniform(0, 2 * np.pi, 200)
    X = rng.standard_normal((200, 12))
    X[:, :2] = (0.5 + 1.5 * y)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    auto, median = (
        cross_val_score(make_pipeline(SupervisedISM(kernel, 2), SVC()), X, y, cv=3).mean()
        for kernel in ("auto", "gaussian")
    )
    assert auto > 0.9
    assert auto >= median


def test_what_was_chosen_can_be_given_and_finds_the_same() -> None:
    X, y = load_wine(return_X_y=True)
    chosen = SupervisedISM("auto", "auto").fit(X, y)
    assert chosen.choice_ is not None
    decision = chosen.choice_.chosen
    given = SupervisedISM(decision.kernel, decision.q, scale=decision.scale, starts="path", delta=0.1).fit(X, y)
    assert given.choice_ is None
    np.testing.assert_array_equal(given.components_, chosen.components_)
    assert chosen.transform(X).shape == (178, decision.q)


def test_a_whitened_w_is_given_in_the_features_that_came() -> None:
    X, y = load_wine(return_X_y=True)
    fitted = SupervisedISM("gaussian", 2, scale="whiten").fit(X, y)
    P = fitted.transform(X)
    np.testing.assert_allclose((X - fitted.mean_) / fitted.scale_ @ fitted.components_.T, P, atol=1e-12)
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    back = fitted.inverse_transform(P)
    np.testing.assert_allclose(fitted.transform(back), P, atol=1e-9)
    within = np.vstack([P[y == c] - P[y == c].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(within.T @ within / 178, np.eye(2), atol=0.15)


def test_whitening_without_classes_is_by_the_spread_of_all_rows() -> None:
    X, _ = load_wine(return_X_y=True)
    P = UnsupervisedISM("gaussian", 2, n_clusters=3, scale="whiten").fit_transform(X)
    np.testing.assert_allclose(np.cov(P.T, bias=True), np.eye(2), atol=0.15)


def test_units_of_the_columns_do_not_matter_to_a_whitened_model() -> None:
    X, y = load_wine(return_X_y=True)
    plain = SupervisedISM(Gaussian("median"), 2, scale="whiten", starts=1).fit(X, y).transform(X)
    other = SupervisedISM(Gaussian("median"), 2, scale="whiten", starts=1).fit(1e3 * X + 5, y).transform(1e3 * X + 5)
    assert largest_angle(np.linalg.qr(plain)[0], np.linalg.qr(other)[0]) < 1e-6


def test_a_clustering_that_was_chosen_is_solved_as_one_that_was_given() -> None:
    X, _ = load_wine(return_X_y=True)
    decision = drain(iter_settings(X, Unsupervised(3), "auto", "auto"))
    assert (decision.q, decision.scale, decision.delta, decision.starts) == (3, "standard", 0.01, 1)
    assert decision.choice is not None
    assert decision.kernel == decision.choice.chosen.kernel
