"""Axes of few features: within the limit, orthonormal, and with as much of J as other ways of choosing them keep."""

from itertools import combinations, product

import numpy as np
import pytest

from ism_core import Gaussian, InvalidInput, Supervised, Unsupervised, iter_solve, solve
from ism_core.arrays import Array
from ism_core.gamma import LabelGamma
from ism_core.kernels import KERNELS, as_kernel
from ism_core.linalg import Scaling, standardized
from ism_core.objective import Problem
from ism_core.solver.sparse.support_ascent import Axes, ascend_on_supports, project_onto_supports
from tests.ism_core.conftest import Labelled, TwoClusterings
from tests.support.pairwise import with_thorough


def problem_of(data: Labelled, kernel: str, q: int) -> Problem:
    fitted = as_kernel(kernel).fitted_to(data.X, np.random.default_rng(0))
    return Problem.of(data.X, LabelGamma.of(data.y), fitted, q)


def axes_on(problem: Problem, supports: tuple[tuple[int, ...], ...], start: Array) -> Axes | None:
    """The best that a climb finds on given supports."""
    support = np.zeros(start.shape, dtype=bool)
    for column, features in enumerate(supports):
        support[list(features), column] = True
    metric = np.eye(len(start))
    W = project_onto_supports(start, support, metric)
    return None if W is None else ascend_on_supports(problem, W, support, metric, 1e-9, 100)


LIMITS = [(2, 5), (3, 2), (4, 1)]  # q, and the features of an axis
CASES = [(kernel, *limit) for kernel in KERNELS for limit in LIMITS]


@pytest.mark.parametrize(("kernel", "q", "most"), with_thorough(CASES, CASES[::4]))
def test_no_axis_has_more_features_than_asked_and_axes_are_orthonormal(
    kernel: str, q: int, most: int, wine: Labelled
) -> None:
    result = solve(wine.X, Supervised(wine.y), kernel, q, features_per_axis=most)
    assert (np.count_nonzero(result.W, axis=0) <= most).all()
    np.testing.assert_allclose(result.W.T @ result.W, np.eye(q), atol=1e-12)
    assert (np.diff(result.eigenvalues) <= 0).all()
    assert (result.W[np.argmax(np.abs(result.W), axis=0), np.arange(q)] > 0).all()


@pytest.mark.parametrize(
    "kernel", with_thorough(["gaussian", "linear", "polynomial", "multiquadratic"], ["gaussian", "linear"])
)
def test_what_it_cost_is_told(kernel: str, wine: Labelled) -> None:
    dense = solve(wine.X, Supervised(wine.y), kernel, 2)
    result = solve(wine.X, Supervised(wine.y), kernel, 2, features_per_axis=4)
    sparsity = result.sparsity
    assert sparsity is not None
    assert dense.sparsity is None
    assert sparsity.dense_objective == dense.objective
    assert result.objective == pytest.approx(problem_of(wine, kernel, 2).objective(result.W), rel=1e-9)
    assert sparsity.loss(result.objective) == pytest.approx(1 - result.objective / dense.objective)
    assert 0 < (sparsity.loss(result.objective) or 0) < 0.5
    assert not result.W[~sparsity.support].any()
    assert result.certificate.gradient < 1e-4
    assert result.certificate.orthonormality < 1e-12


@pytest.mark.parametrize(
    ("kernel", "most"),
    with_thorough(
        list(product(["gaussian", "polynomial", "linear"], [1, 2])), [("gaussian", 2), ("polynomial", 1), ("linear", 2)]
    ),
)
def test_no_other_features_keep_more_of_the_objective(kernel: str, most: int, blobs: Labelled) -> None:
    problem = problem_of(blobs, kernel, 2)
    dense = solve(blobs.X, Supervised(blobs.y), kernel, 2)
    found = solve(blobs.X, Supervised(blobs.y), kernel, 2, features_per_axis=most)
    sets = list(combinations(range(5), most))
    tried = [axes_on(problem, pair, dense.W) for pair in product(sets, sets)]
    best = max(axes.objective for axes in tried if axes is not None)
    assert found.objective >= best * (1 - 1e-3)


@pytest.mark.parametrize("kernel", with_thorough(["gaussian", "multiquadratic"], ["multiquadratic"]))
def test_it_keeps_more_than_cutting_off_the_small_loadings(kernel: str, wdbc: Labelled) -> None:
    problem = problem_of(wdbc, kernel, 2)
    dense = solve(wdbc.X, Supervised(wdbc.y), kernel, 2)
    found = solve(wdbc.X, Supervised(wdbc.y), kernel, 2, features_per_axis=5)
    largest = tuple(tuple(np.argsort(-np.abs(column))[:5]) for column in dense.W.T)
    cut = axes_on(problem, largest, dense.W)
    assert cut is not None
    assert found.objective > 1.1 * cut.objective


def test_features_that_tell_nothing_are_left_out(rng: np.random.Generator) -> None:
    y = np.arange(200) % 3
    X = rng.standard_normal((200, 12))
    X[:, [1, 4, 7, 9]] += 2.0 * rng.standard_normal((3, 4))[y]
    result = solve(standardized(X)[0], Supervised(y), "gaussian", 2, features_per_axis=2)
    assert set(np.flatnonzero(result.W.any(axis=1))) <= {1, 4, 7, 9}


def test_copies_of_a_feature_make_no_empty_axis(blobs: Labelled) -> None:
    X = np.hstack([blobs.X, blobs.X[:, :3], np.zeros((60, 1))])
    result = solve(X, Supervised(blobs.y), "gaussian", 3, features_per_axis=2)
    assert ((X @ result.W).std(axis=0) > 0.1).all()


def test_whitened_axes_are_sparse_in_the_features_before(wine: Labelled) -> None:
    scaling, Z = Scaling.learned(wine.X, "whiten", wine.y)
    dense = solve(Z, Supervised(wine.y), Gaussian(), 2)
    result = solve(Z, Supervised(wine.y), Gaussian(), 2, features_per_axis=4, whitening=scaling.whitening)
    V = scaling.outside(result.W)
    assert result.sparsity is not None
    assert (result.sparsity.support.sum(axis=0) == 4).all()
    assert np.abs(V[~result.sparsity.support]).max() < 1e-12
    np.testing.assert_allclose(result.W.T @ result.W, np.eye(2), atol=1e-12)
    assert 0.8 * dense.objective < result.objective < dense.objective


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "multiquadratic"])
def test_the_objective_never_goes_down_on_given_supports(kernel: str, wine: Labelled, rng: np.random.Generator) -> None:
    problem = problem_of(wine, kernel, 3)
    support = rng.random((13, 3)) < 0.5
    W = project_onto_supports(rng.standard_normal((13, 3)), support, np.eye(13))
    assert W is not None
    axes = ascend_on_supports(problem, W, support, np.eye(13), 0.0, 0)
    for _ in range(20):
        there = ascend_on_supports(problem, axes.W, support, np.eye(13), 0.0, 1)
        assert there.objective >= axes.objective * (1 - 1e-12)
        assert not there.W[~support].any()
        np.testing.assert_allclose(there.W.T @ there.W, np.eye(3), atol=1e-10)
        axes = there
    assert axes.gradient < 0.01


def test_labels_of_a_clustering_belong_to_its_sparse_axes(two_clusterings: TwoClusterings) -> None:
    X = two_clusterings.X @ np.linalg.qr(two_clusterings.axes, mode="complete")[0]  # the clear one along a feature
    result = solve(X, Unsupervised(2), "gaussian", 1, features_per_axis=1)
    assert result.labels is not None
    assert np.count_nonzero(result.W) == 1
    projected = (X @ result.W)[:, 0]
    low, high = sorted((projected[result.labels == label] for label in (0, 1)), key=np.mean)
    assert low.max() < high.min()
    assert len(set(zip(result.labels, two_clusterings.clear, strict=True))) == 2


def test_the_limit_is_kept_where_supports_are_sought_on_a_sample(digits: Labelled) -> None:
    result = solve(digits.X, Supervised(digits.y), "gaussian", 2, features_per_axis=3, delta=0.1)
    kernel = result.kernel
    whole = Problem.of(digits.X, LabelGamma.of(digits.y), kernel, 2).objective(result.W)
    assert (np.count_nonzero(result.W, axis=0) == 3).all()
    assert result.objective == pytest.approx(whole, rel=1e-6)


def test_steps_tell_of_it_and_are_no_part_of_the_ascent(wine: Labelled) -> None:
    steps = iter_solve(wine.X, Supervised(wine.y), "gaussian", 2, features_per_axis=3)
    stages = [step.stage for step in steps]
    assert "ascent" in stages
    assert stages[-1] == "sparsity"
    result = solve(wine.X, Supervised(wine.y), "gaussian", 2, features_per_axis=3)
    assert {step.stage for step in result.steps} == {"ascent"}


def test_the_same_seed_gives_the_same_axes(wine: Labelled) -> None:
    first, second = (
        solve(wine.X, Supervised(wine.y), "multiquadratic", 3, features_per_axis=3, seed=4) for _ in range(2)
    )
    assert (first.W == second.W).all()


def test_a_limit_beyond_the_features_is_none(blobs: Labelled) -> None:
    dense = solve(blobs.X, Supervised(blobs.y), "gaussian", 2)
    assert (solve(blobs.X, Supervised(blobs.y), "gaussian", 2, features_per_axis=5).W == dense.W).all()


@pytest.mark.parametrize("most", [0, -1, 2.5, True, "3"])
def test_a_number_that_is_none_is_refused(most: object, blobs: Labelled) -> None:
    with pytest.raises(InvalidInput, match=r"features_per_axis is .*; it must be a whole number of 1 or more"):
        solve(blobs.X, Supervised(blobs.y), "gaussian", 2, features_per_axis=most)  # type: ignore[arg-type]


def test_whitened_rows_need_as_many_features_as_axes(wine: Labelled) -> None:
    scaling, Z = Scaling.learned(wine.X, "whiten", wine.y)
    with pytest.raises(InvalidInput, match=r"features_per_axis is 2 and q is 3; .* Raise it to 3, or set scale"):
        solve(Z, Supervised(wine.y), "gaussian", 3, features_per_axis=2, whitening=scaling.whitening)


def test_too_few_independent_features_are_told(blobs: Labelled) -> None:
    X = np.hstack([blobs.X[:, :1], 2 * blobs.X[:, :1], -blobs.X[:, :1]])
    with pytest.raises(InvalidInput, match=r"Only 1 of the features .* lower q to 1"):
        solve(X, Supervised(blobs.y), "gaussian", 2, features_per_axis=1)
