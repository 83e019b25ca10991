"""Problems that are symmetric, badly scaled or without a scale of their own: they end, and with the right answer."""

import multiprocessing

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine

from ism_core import (
    Alternative,
    Gaussian,
    SemiSupervised,
    Supervised,
    SupervisedISM,
    Unsupervised,
    solve,
)
from ism_core.arrays import Array
from ism_core.engines.base import own_threads
from ism_core.linalg.subspaces import eigenpairs
from ism_core.metrics import hsic
from ism_core.paradigms import Targets


@pytest.mark.parametrize("draw", range(16))
def test_columns_of_any_scale_end_in_a_result(draw: int) -> None:
    """Where rounding in Φ outweighs J, a step that seems to lower it must not be tried again for ever."""
    rng = np.random.default_rng(draw)
    X = rng.standard_normal((9, 8)) * 10.0 ** rng.integers(-6, 6, 8)
    result = solve(X, Alternative(np.arange(9) % 2, 5), "linear", 4, max_iter=20)
    np.testing.assert_allclose(result.W.T @ result.W, np.eye(4), atol=1e-10)


@pytest.mark.parametrize(
    ("X", "k", "q", "kernel"),
    [
        (np.eye(23, 5), 4, 2, "multiquadratic"),
        (np.eye(24, 8), 5, 3, "gaussian"),
        (np.eye(4)[np.arange(100) % 4], 4, 2, "linear"),
    ],
)
def test_many_equal_eigenvalues_lose_no_direction(X: Array, k: int, q: int, kernel: str) -> None:
    result = solve(X, Unsupervised(k), kernel, q)
    assert result.W.shape == (X.shape[1], q)
    assert len(result.labels) == len(X)


def test_all_eigenpairs_of_a_multiple_of_the_identity_are_found() -> None:
    for d in range(2, 30):
        values, vectors = eigenpairs(60.0 * np.eye(d), 1 + d // 3)
        assert len(values) == vectors.shape[1] == 1 + d // 3


def test_many_whole_numbers_stored_as_fractions_are_measurements() -> None:
    y = load_diabetes(return_X_y=True)[1]
    assert Targets(y, "y").codes is None
    assert Targets(y.astype(int), "y").codes is not None
    assert Targets([0.0, 1.0, 1.0], "y").codes is not None


@pytest.mark.parametrize(
    "labels",
    [
        ["a", float("nan"), "b", "a"],
        ["a", None, "b", "a"],
        pd.Series(["a", pd.NA, "b", "a"], dtype="string"),
        np.array(["2020-01-01", "NaT", "2021-01-01", "2020-01-01"], dtype="datetime64[D]"),
    ],
    ids=["nan", "none", "NA", "NaT"],
)
def test_a_missing_label_is_no_class(labels: object) -> None:
    targets = Targets(labels, "scores")
    assert targets.missing.tolist() == [False, True, False, False]
    assert targets.classes == 2


def test_a_rare_class_is_in_every_sample_that_starts_are_tried_on() -> None:
    y = np.arange(2000) < 3
    assert all(y[Supervised(y).target_gamma().sample(50, np.random.default_rng(seed))].sum() == 3 for seed in range(20))


def test_normalized_hsic_does_not_cancel_where_the_kernel_is_almost_constant() -> None:
    X, y = load_wine(return_X_y=True)
    P = ((X - X.mean(0)) / X.std(0))[:, :3]
    wide = [hsic(P, y, Gaussian(sigma=sigma), normalized=True) for sigma in (1e2, 1e3, 1e4)]
    np.testing.assert_allclose(wide, hsic(P, y, "squared", normalized=True), rtol=1e-3)


def test_a_fitted_model_keeps_its_own_number_of_features() -> None:
    X, y = load_wine(return_X_y=True)
    ism = SupervisedISM("linear", q=2).fit(X, y)
    projected = ism.transform(X)
    ism.set_params(q=3)
    assert ism.inverse_transform(projected).shape == X.shape


def test_real_scores_may_be_missing_for_some_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    scores = np.where(rng.random(60) < 0.5, np.nan, X[:, 0])
    assert solve(X, SemiSupervised(scores, 2, mu=20.0), "gaussian", 1).W[0, 0] ** 2 > 0.7


def _threads_in_child(answer: "multiprocessing.Queue[int]") -> None:
    with own_threads() as threads:
        answer.put(threads)


def test_a_fork_under_a_hold_does_not_inherit_it() -> None:
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    with own_threads() as threads:
        child = context.Process(target=_threads_in_child, args=(answer,))
        child.start()
        assert answer.get(timeout=20) == threads
        child.join(20)
