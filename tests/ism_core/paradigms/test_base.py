"""Each paradigm finds what was planted for it."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from ism_core import Alternative, Gaussian, InvalidInput, SemiSupervised, Supervised, Unsupervised, solve
from ism_core.arrays import Array
from ism_core.linalg.subspaces import largest_angle
from ism_core.metrics import nmi
from ism_core.paradigms.base import Paradigm, Projected
from tests.ism_core.conftest import Labelled, Planted, TwoClusterings
from tests.ism_core.family import NAMES
from tests.ism_core.reference import dense


def random_angles(d: int, q: int) -> Array:
    """What a W that knows nothing would score."""
    rng = np.random.default_rng(0)
    return np.array([largest_angle(np.eye(d)[:, :q], np.linalg.qr(rng.standard_normal((d, q)))[0]) for _ in range(200)])


def test_a_random_subspace_would_fail_the_tests_below() -> None:
    assert np.quantile(random_angles(7, 2), 0.01) > 0.6
    assert np.quantile(random_angles(7, 1), 0.01) > 0.6
    assert np.quantile(random_angles(5, 1), 0.01) > 0.4


# ---- supervised


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("text", [False, True])
def test_supervised_finds_the_plane_of_the_classes(kernel: str, text: bool, planted: Planted) -> None:
    labels = np.array(["red", "green", "blue"])[planted.labels] if text else planted.labels
    result = solve(planted.X, Supervised(labels), kernel, 2)
    assert largest_angle(planted.axes, result.W) < 0.4
    assert result.labels is None


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("target_kernel", ["gaussian", "linear"])
def test_supervised_finds_the_axis_of_a_real_target(kernel: str, target_kernel: str, planted: Planted) -> None:
    target = planted.hidden[:, 0] + 0.1 * np.random.default_rng(0).standard_normal(150)
    result = solve(planted.X, Supervised(target, target_kernel=target_kernel), kernel, 1)
    assert largest_angle(planted.axes[:, :1], result.W) < 0.35


@pytest.mark.parametrize("kernel", NAMES)
def test_supervised_finds_the_plane_of_several_targets(kernel: str, planted: Planted) -> None:
    result = solve(planted.X, Supervised(planted.hidden), kernel, 2)
    assert largest_angle(planted.axes, result.W) < 0.4


def test_supervised_finds_an_axis_that_a_target_depends_on_in_a_curve(rng: np.random.Generator) -> None:
    """No correlation at all: the target is even in the axis."""
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    hidden = rng.standard_normal((250, 5))
    result = solve(hidden @ turn.T, Supervised(hidden[:, 0] ** 2 + 0.05), Gaussian(1.0), 1)
    assert abs(np.corrcoef(hidden[:, 0], hidden[:, 0] ** 2)[0, 1]) < 0.3
    assert largest_angle(turn[:, :1], result.W) < 0.2


def test_whole_numbers_may_be_read_as_measurements(planted: Planted) -> None:
    target = np.round(20 * planted.hidden[:, 0]).astype(int)
    result = solve(planted.X, Supervised(target, kind="values"), "gaussian", 1)
    assert largest_angle(planted.axes[:, :1], result.W) < 0.4
    by_chance = solve(planted.X, Supervised(np.arange(150)), "gaussian", 1)
    assert any('kind="values"' in warning for warning in by_chance.warnings)


def test_the_type_of_labels_does_not_matter(blobs: Labelled) -> None:
    plain = solve(blobs.X, Supervised(blobs.y), "gaussian", 2)
    for labels in (blobs.y.astype(float), blobs.y[:, None], np.array(["x", "y", "z"])[blobs.y], list(blobs.y + 7)):
        np.testing.assert_allclose(solve(blobs.X, Supervised(labels), "gaussian", 2).W, plain.W, atol=1e-12)


# ---- clusterings


@pytest.mark.parametrize("kernel", NAMES)
def test_unsupervised_finds_the_clusters_and_their_plane(kernel: str, planted: Planted) -> None:
    inside = planted.X @ planted.axes @ planted.axes.T
    result = solve(inside + 0.5 * (planted.X - inside), Unsupervised(3), kernel, 2)
    assert nmi(result.labels, planted.labels) > 0.9
    assert largest_angle(planted.axes, result.W) < 0.4
    assert result.spectral.shape == (150, 3)


@pytest.mark.parametrize("kernel", NAMES)
def test_unsupervised_finds_the_clear_clustering(kernel: str, two_clusterings: TwoClusterings) -> None:
    result = solve(two_clusterings.X, Unsupervised(2), kernel, 1)
    assert nmi(result.labels, two_clusterings.clear) > 0.9
    assert largest_angle(two_clusterings.axes[:, :1], result.W) < 0.4


@pytest.mark.parametrize("kernel", ["polynomial", "gaussian", "multiquadratic"])
@pytest.mark.parametrize("wanted", ["clear", "faint"])
@pytest.mark.parametrize("given", ["labels", "some labels", "some scores"])
def test_scores_choose_between_two_clusterings(
    kernel: str, wanted: str, given: str, two_clusterings: TwoClusterings
) -> None:
    truth = getattr(two_clusterings, wanted)
    rng = np.random.default_rng(5)
    scores: Array = truth.astype(object)
    if "scores" in given:
        scores = truth + 0.1 * rng.standard_normal(len(truth))
    if "some" in given:
        scores[rng.permutation(len(truth))[:40]] = None if given == "some labels" else np.nan
    result = solve(two_clusterings.X, SemiSupervised(scores, 2), kernel, 1)
    axis = 0 if wanted == "clear" else 1
    assert nmi(result.labels, truth) > 0.9
    assert largest_angle(two_clusterings.axes[:, [axis]], result.W) < 0.3


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize(("known", "other"), [("clear", "faint"), ("faint", "clear")])
def test_an_alternative_is_the_clustering_that_was_not_given(
    kernel: str, known: str, other: str, two_clusterings: TwoClusterings
) -> None:
    given, wanted = getattr(two_clusterings, known), getattr(two_clusterings, other)
    result = solve(two_clusterings.X, Alternative(given, 2), kernel, 1)
    assert nmi(result.labels, wanted) > 0.9
    assert nmi(result.labels, given) < 0.1
    axis = 0 if other == "clear" else 1
    assert largest_angle(two_clusterings.axes[:, [axis]], result.W) < 0.3


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "gaussian"])
def test_guidance_of_weight_zero_is_no_guidance(kernel: str, blobs: Labelled) -> None:
    free = solve(blobs.X, Unsupervised(3), kernel, 2)
    scored = np.where(np.arange(len(blobs.y)) < 20, free.labels, np.nan)
    guided: list[Paradigm] = [SemiSupervised(scored, 3, mu=0), Alternative(blobs.y, 3, mu=0)]
    for paradigm in guided:
        result = solve(blobs.X, paradigm, kernel, 2)
        assert largest_angle(free.W, result.W) < 1e-6
        assert nmi(free.labels, result.labels) == pytest.approx(1)


def test_rows_without_a_score_carry_no_guidance(rng: np.random.Generator, blobs: Labelled) -> None:
    real = rng.standard_normal((60, 2))
    real[10:20] = np.nan
    real[25, 1] = np.nan
    labels = blobs.y.astype(object)
    labels[[3, 4, 50]] = None
    for scores, unknown in ((real, [*range(10, 20), 25]), (labels, [3, 4, 50])):
        U = SemiSupervised(scores, 3).target_gamma().U
        np.testing.assert_array_equal(U[unknown], 0)
        assert (np.abs(np.delete(U, unknown, axis=0)).max(axis=1) > 0).all()
        np.testing.assert_allclose(U.sum(axis=0), 0, atol=1e-10)
        result = solve(blobs.X, SemiSupervised(scores, 3), "gaussian", 2)
        np.testing.assert_allclose(result.W.T @ result.W, np.eye(2), atol=1e-12)
        assert len(result.labels) == 60


def test_gamma_of_a_clustering_is_the_formula(blobs: Labelled) -> None:
    """D^(−½) H (YYᵀ + μ K_Ŷ) H D^(−½), with Y the top eigenvectors of H D^(−½) K D^(−½) H, K without diagonal."""
    n, k, mu = 60, 3, 0.7
    K = np.exp(-squareform(pdist(blobs.X, "sqeuclidean")) / (2 * 2.0**2))
    np.fill_diagonal(K, 0)
    root = np.diag(K.sum(axis=1) ** -0.5)
    H = np.eye(n) - 1 / n
    Y = np.linalg.eigh(H @ root @ K @ root @ H)[1][:, -k:]
    onehot = np.eye(3)[blobs.y]
    shares = onehot / np.sqrt(onehot.sum(axis=0))  # class indicators of length 1
    for sign, paradigm in (
        (1, SemiSupervised(blobs.y, k, mu)),
        (-1, Alternative(blobs.y, k, mu)),
        (0, Unsupervised(k)),
    ):
        gamma, _ = paradigm.gamma(Projected(blobs.X, Gaussian(2.0), 0))
        expected = root @ H @ (Y @ Y.T + sign * mu * shares @ shares.T) @ H @ root
        np.testing.assert_allclose(dense(gamma), expected, atol=1e-9)


@pytest.mark.parametrize("mu", [0.0, 1.0])
def test_guidance_does_not_grow_with_the_number_of_rows(mu: float, rng: np.random.Generator) -> None:
    for n in (20, 200):
        for scores in (np.arange(n) % 4, rng.standard_normal((n, 2))):
            U = SemiSupervised(scores, 2, mu).target_gamma().U
            assert np.linalg.norm(U, ord=2) == pytest.approx(1, rel=0.1)


def test_one_cluster_may_be_asked_for(blobs: Labelled) -> None:
    result = solve(blobs.X, Unsupervised(1), "gaussian", 2)
    assert set(result.labels) == {0}


@pytest.mark.parametrize("real", [False, True])
def test_a_sample_is_guided_like_all_rows(real: bool, blobs: Labelled, rng: np.random.Generator) -> None:
    """Every row twice, so that every other row is a sample just like the whole."""
    X, y = np.repeat(blobs.X, 2, axis=0), np.repeat(blobs.y, 2)
    scores: Array = y + 0.1 * np.repeat(rng.standard_normal(60), 2) if real else y
    rows = np.arange(0, 120, 2)
    for paradigm, of_sample in (
        (SemiSupervised(scores, 3), SemiSupervised(scores[rows], 3)),
        (Alternative(y, 3), Alternative(y[rows], 3)),
        (Unsupervised(3), Unsupervised(3)),
    ):
        found, _ = paradigm.gamma(Projected(X[rows], Gaussian(2.0), 0, rows=rows))
        expected, _ = of_sample.gamma(Projected(X[rows], Gaussian(2.0), 0))
        np.testing.assert_allclose(dense(found), dense(expected), atol=1e-8)


def test_balance_keeps_a_rare_class_apart_where_plain_labels_lose_it(rng: np.random.Generator) -> None:
    """Two large classes along one axis, a small one along another, and one direction to find."""
    y = np.repeat([0, 1, 2], [200, 200, 30])
    X = rng.standard_normal((430, 4))
    X[:, 0] += 1.5 * (y == 1)
    X[:, 1] += 5 * (y == 2)
    plain, balanced = (solve(X, Supervised(y, balance=each), "gaussian", 1).W[:, 0] for each in (False, True))
    assert abs(plain[0]) > 0.9
    assert abs(balanced[1]) > 0.7


def test_real_targets_cannot_be_balanced(rng: np.random.Generator) -> None:
    with pytest.raises(InvalidInput, match="y holds real values; leave it out"):
        Supervised(rng.standard_normal(20), balance=True)
    with pytest.raises(InvalidInput, match="balance is 'yes'; it must be True or False"):
        Supervised(np.arange(20) % 2, balance="yes")  # type: ignore[arg-type]
