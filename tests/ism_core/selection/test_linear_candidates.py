"""Candidates without a width: a squared kernel, for values with a linear kernel between them."""

import numpy as np
import pytest

from ism_core import Squared, Supervised, SupervisedISM, choose
from ism_core.arrays import Array


@pytest.fixture
def linear() -> tuple[Array, Array]:
    """Few rows of many correlated columns, and values that are linear in them up to noise."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 60)) * 2 + rng.standard_normal((80, 60))
    y = X @ rng.standard_normal(60)
    return X, y / y.std() + 0.6 * rng.standard_normal(80)


def test_few_rows_of_many_columns_get_the_axis_of_a_linear_regression(linear: tuple[Array, Array]) -> None:
    X, y = linear
    model = SupervisedISM("auto", 2).fit(X, y)
    assert model.choice_ is not None
    chosen = model.choice_.chosen
    assert chosen.linear
    assert chosen.kernel == Squared()
    again = SupervisedISM(Squared(), 2, scale=chosen.scale, target_kernel="linear").fit(X, y)
    np.testing.assert_allclose(again.components_, model.components_, atol=1e-9)
    shares = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=1e-2)[0]
    assert abs(np.corrcoef(model.transform(X)[:, 0], X @ shares)[0, 1]) > 0.8


def test_classes_have_linear_candidates_too(rng: np.random.Generator) -> None:
    X, y = rng.standard_normal((60, 20)), np.arange(60) % 2
    X[:, 0] += y
    choice = choose(X, Supervised(y), "auto", 1)
    linear = [candidate for candidate in choice.candidates if candidate.linear]
    assert {(str(candidate.kernel), candidate.scale) for candidate in linear} == {
        ("Squared()", "standard"),
        ("Squared()", "whiten"),
    }
    assert choice.chosen.linear
    model = SupervisedISM("auto", 1).fit(X, y)
    again = SupervisedISM(Squared(), 1, scale=choice.chosen.scale).fit(X, y)
    np.testing.assert_allclose(again.components_, model.components_, atol=1e-9)


def test_values_that_are_not_linear_are_chosen_by_their_score(rng: np.random.Generator) -> None:
    X = rng.uniform(-2, 2, (150, 4))
    choice = choose(X, Supervised(np.cos(2 * X[:, 0]) + 0.1 * rng.standard_normal(150)), "auto", 1)
    assert {candidate.linear for candidate in choice.candidates} == {False, True}
    assert not choice.chosen.linear


def test_only_kernels_that_are_not_given_are_replaced(linear: tuple[Array, Array]) -> None:
    X, y = linear
    for kernel, neighbors in (("gaussian", False), ("auto", True)):
        choice = choose(X[:50, :5], Supervised(y[:50], neighbors=neighbors), kernel, 1, scale="auto")
        assert not any(candidate.linear for candidate in choice.candidates)


def test_several_values_at_once_have_linear_candidates_and_neighbors(rng: np.random.Generator) -> None:
    X = rng.standard_normal((120, 6))
    Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1]]) + 0.1 * rng.standard_normal((120, 2))
    model = SupervisedISM("auto", 2).fit(X, Y)
    assert model.choice_ is not None
    kinds = {(candidate.neighbors, candidate.linear) for candidate in model.choice_.candidates}
    assert kinds == {(False, False), (False, True), (True, False)}
    assert np.linalg.norm(model.components_[:, :2], axis=0).min() > 0.9
    assert model.choice_.out_of_fold is not None
    assert model.choice_.out_of_fold.predictions.shape == (120, 2)
