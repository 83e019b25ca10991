"""Importance finds the planted features: through axes that count, in groups, with errors."""

import pickle

import numpy as np
import pytest

from ism_core import Gaussian, Supervised, SupervisedISM, Unsupervised, solve
from ism_core.arrays import Array, Ints
from ism_core.gamma import LabelGamma
from ism_core.interpretation import Interpretation, _contributions, interpret
from ism_core.linalg import Scale, Scaling
from ism_core.selection import HeldOut
from tests.ism_core.conftest import Labelled, Planted


def planted_classes(seed: int = 0, rows: int = 600) -> Labelled:
    """Two classes along three of 30 columns; two irrelevant columns are nearly equal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 30))
    X[:, 28] = X[:, 27] + 0.05 * rng.standard_normal(rows)
    y = X[:, 0] + 0.8 * X[:, 1] - 0.6 * X[:, 2] + 0.5 * rng.standard_normal(rows) > 0
    return Labelled(X, y.astype(np.intp))


def interpreted(X: Array, paradigm: Supervised, q: int, scale: Scale = "standard") -> Interpretation:
    scaling, rows = Scaling.learned(X, scale, paradigm.codes)
    result = solve(rows, paradigm, "gaussian", q, whitening=scaling.whitening)
    return interpret(rows, paradigm, result, whitening=scaling.whitening)


def informative(found: Interpretation) -> list[bool]:
    return [each.informative for each in found.contributions]


@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("scale", ["standard", "whiten"])
def test_collinear_noise_does_not_count_whatever_q_is(q: int, scale: Scale) -> None:
    data = planted_classes()
    found = interpreted(data.X, Supervised(data.y), q, scale)
    assert set(np.argsort(-found.importance)[:3]) == {0, 1, 2}
    assert found.importance[:3].sum() > 0.9
    assert found.importance.sum() == pytest.approx(1)
    assert informative(found) == [True] + [False] * (q - 1)
    assert not found.unclear[:3].any()
    assert [group.tolist() for group in found.groups] == [[27, 28]]


def test_the_automatic_choice_ranks_the_planted_features_first() -> None:
    data = planted_classes(1, 300)
    found = SupervisedISM("auto", "auto", scale="standard").fit(data.X, data.y).feature_importances_
    assert found[:3].sum() > 0.9


def test_axes_beyond_the_planted_ones_are_for_the_picture_only(rng: np.random.Generator) -> None:
    codes = np.arange(400) % 4
    X = rng.standard_normal((400, 10))
    X[:, :3] += 3.0 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])[codes]
    found = interpreted(X, Supervised(codes), 4)
    assert informative(found) == [True, True, True, False]
    assert found.contributions[3].share == 0
    assert found.importance[:3].sum() > 0.9


def test_a_target_of_values_finds_a_weak_axis_too(rng: np.random.Generator) -> None:
    X = rng.standard_normal((500, 8))
    y = X[:, 0] + X[:, 1] ** 2 + 0.2 * rng.standard_normal(500)
    found = interpreted(X, Supervised(y), 3)
    assert set(np.argsort(-found.importance)[:2]) == {0, 1}
    assert sum(informative(found)) == 2


def test_copies_of_a_true_feature_share_its_importance(rng: np.random.Generator) -> None:
    X = rng.standard_normal((400, 8))
    X[:, 5] = X[:, 0] + 0.05 * rng.standard_normal(400)
    y = (X[:, 0] + 0.8 * X[:, 1] + 0.3 * rng.standard_normal(400) > 0).astype(np.intp)
    found = interpreted(X, Supervised(y), 2)
    assert [group.tolist() for group in found.groups] == [[0, 5]]
    assert found.importance[0] == pytest.approx(found.importance[5], rel=0.05)
    assert found.permutation is not None
    assert found.permutation.drop[0] == found.permutation.drop[5] > found.permutation.drop[1] > 0.1
    assert np.abs(found.permutation.drop[[2, 3, 4, 6, 7]]).max() < 0.05


def test_structure_is_the_correlation_with_the_axes(wine: Labelled) -> None:
    result = solve(wine.X, Supervised(wine.y), "gaussian", 2)
    found = interpret(wine.X, Supervised(wine.y), result)
    expected = np.corrcoef(wine.X.T, (wine.X @ result.W).T)[:13, 13:]
    np.testing.assert_allclose(found.structure, expected, atol=1e-9)


def test_the_picture_of_one_axis_is_uncorrelated_with_it(wdbc: Labelled) -> None:
    found = interpreted(wdbc.X, Supervised(wdbc.y), 1)
    rows = Scaling.learned(wdbc.X, "standard")[1]
    result = solve(rows, Supervised(wdbc.y), "gaussian", 1)
    assert found.picture is not None
    assert np.corrcoef(rows @ found.picture, rows @ result.W[:, 0])[0, 1] == pytest.approx(0, abs=1e-6)
    assert interpreted(wdbc.X, Supervised(wdbc.y), 2).picture is None


def test_noise_alone_leaves_every_feature_unclear(rng: np.random.Generator) -> None:
    found = interpreted(rng.standard_normal((300, 12)), Supervised(rng.integers(0, 2, 300)), 2)
    assert informative(found) == [False, False]
    assert found.unclear.all()


def test_clusters_that_were_found_are_the_target_of_a_clustering(planted: Planted) -> None:
    result = solve(planted.X, Unsupervised(3), "gaussian", 3)
    found = interpret(planted.X, Unsupervised(3), result)
    assert informative(found) == [True, True, False]
    in_plane = (planted.axes**2).sum(axis=1)
    assert np.corrcoef(found.importance, in_plane)[0, 1] > 0.7


def test_errors_shrink_with_the_number_of_rows() -> None:
    sizes = []
    for rows in (200, 1_800):  # more rows than are resampled
        data = planted_classes(0, rows)
        errors = interpreted(data.X, Supervised(data.y), 1).importance_errors
        assert errors is not None
        sizes.append(float(np.linalg.norm(errors)))
    assert 1.5 < sizes[0] / sizes[1] < 6


def test_few_rows_are_interpreted_without_errors(blobs: Labelled) -> None:
    few: tuple[Array, Ints] = blobs.X[:12], blobs.y[:12]
    found = interpret(few[0], Supervised(few[1]), solve(few[0], Supervised(few[1]), "gaussian", 2))
    assert found.importance.sum() == pytest.approx(1)
    assert found.importance_errors is None
    assert all(each.error is None and each.score is None for each in found.contributions)


def test_an_interpretation_is_the_same_after_pickling(blobs: Labelled) -> None:
    fitted = SupervisedISM("gaussian", q=2).fit(blobs.X, blobs.y)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.feature_importances_, fitted.feature_importances_)


def test_axes_that_can_replace_each_other_are_judged_alone(rng: np.random.Generator) -> None:
    truth = rng.standard_normal((400, 1))
    P = np.column_stack([truth + 0.01 * rng.standard_normal((400, 1)), truth])
    codes = (truth[:, 0] > 0).astype(int)
    Y, gamma = np.eye(2)[codes], LabelGamma.of(codes[200:])
    judged = [HeldOut(P[:200], Y[:200], P[200:], Y[200:], gamma, Gaussian(0.3), seed) for seed in range(4)]
    assert all(each.informative and each.share > 0.3 for each in _contributions(judged))
