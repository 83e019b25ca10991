"""Weights of a sum found by centered alignment with the labels."""

import numpy as np
import pytest

from ism_core import (
    Alternative,
    Gaussian,
    InvalidInput,
    Linear,
    Multiquadratic,
    Polynomial,
    RelativeGaussian,
    SemiSupervised,
    Squared,
    Supervised,
    Unsupervised,
    aligned,
    solve,
)
from ism_core.arrays import Array
from ism_core.kernels import Combination, Kernel
from ism_core.objective import alignment
from tests.ism_core import reference
from tests.ism_core.conftest import Labelled
from tests.ism_core.reference import dense


def centered(K: Array) -> Array:
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def alignment_of(K: Array, target: Array) -> float:
    """The cosine between two centered kernel matrices."""
    return float(np.vdot(centered(K), target) / np.linalg.norm(centered(K)) / np.linalg.norm(target))


def fitted(blobs: Labelled, *kernels: Kernel) -> Combination:
    return aligned(*kernels).fitted_to(blobs.X, np.random.default_rng(0), Supervised(blobs.y).target_gamma())


def test_the_sum_is_better_aligned_than_any_other_sum(blobs: Labelled) -> None:
    few = Labelled(blobs.X[:30], blobs.y[:30])
    kernels = [Gaussian(1.0), Polynomial(2, 1.0, 0.2), Multiquadratic()]
    target = dense(Supervised(few.y).target_gamma())
    found = fitted(few, *kernels)
    parts = {term: weight for weight, term in found.terms}
    Ks = [reference.kernel_matrix(few.X, kernel) for kernel in kernels]
    best = alignment_of(sum(parts.get(kernel, 0.0) * K for kernel, K in zip(kernels, Ks, strict=True)), target)
    rng = np.random.default_rng(1)
    for _ in range(300):
        weights = rng.exponential(size=3) * rng.integers(0, 2, 3) / [np.linalg.norm(centered(K)) for K in Ks]
        if weights.any():
            assert alignment_of(sum(w * K for w, K in zip(weights, Ks, strict=True)), target) <= best + 1e-9


def test_weights_are_not_negative_and_the_result_holds_them(blobs: Labelled) -> None:
    result = solve(blobs.X, Supervised(blobs.y), aligned("gaussian", "polynomial", Squared(), Linear()), 2)
    assert isinstance(result.kernel, Combination)
    assert 1 <= len(result.kernel.terms) <= 4
    assert all(weight > 0 for weight, _ in result.kernel.terms)
    assert result.converged
    np.testing.assert_allclose(result.W.T @ result.W, np.eye(2), atol=1e-12)


def test_a_kernel_that_has_nothing_to_do_with_the_labels_gets_little_weight(rng: np.random.Generator) -> None:
    """The classes are a ring and its middle: distances know it, products at the origin do not."""
    y = np.arange(120) % 2
    angle = rng.uniform(0, 2 * np.pi, 120)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(y == 1, 3.0, 0.3)[:, None]
    X += 0.1 * rng.standard_normal((120, 2))
    kernels = [Gaussian(1.0), Linear()]
    found = aligned(*kernels).fitted_to(X, rng, Supervised(y).target_gamma())
    sizes = {kernel: np.linalg.norm(centered(reference.kernel_matrix(X, kernel))) for kernel in kernels}
    shares = {term: weight * sizes[term] for weight, term in found.terms}
    assert shares.get(Linear(), 0.0) < 0.1 * shares[Gaussian(1.0)]


def test_the_order_of_the_kernels_does_not_matter(blobs: Labelled) -> None:
    one, other = (
        dict(map(reversed, k.terms))
        for k in (
            fitted(blobs, Gaussian(1.0), Polynomial(2, 1.0, 0.2)),
            fitted(blobs, Polynomial(2, 1.0, 0.2), Gaussian(1.0)),
        )
    )
    assert one.keys() == other.keys()
    for term, weight in one.items():
        assert other[term] == pytest.approx(weight, rel=1e-6)


def test_the_unit_of_a_kernel_does_not_matter(blobs: Labelled) -> None:
    plain = fitted(blobs, Gaussian(1.0), Multiquadratic())
    scaled = fitted(blobs, Gaussian(1.0), 1_000 * Multiquadratic())
    for (weight, term), (other, same) in zip(plain.terms, scaled.terms, strict=True):
        assert term == same
        assert weight == pytest.approx(other, rel=1e-6)


def test_sums_and_local_scales_may_be_aligned(blobs: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "ALIGNMENT_ROWS", 40)  # of the 60 rows
    result = solve(
        blobs.X, Supervised(blobs.y), aligned(RelativeGaussian(), Gaussian(1.0) + 0.5 * Gaussian(3.0), "linear"), 2
    )
    assert result.converged


def test_scores_of_a_semi_supervised_clustering_may_guide_the_weights(blobs: Labelled) -> None:
    result = solve(blobs.X, SemiSupervised(blobs.y, 3), aligned("gaussian", "squared"), 2)
    assert isinstance(result.kernel, Combination)


@pytest.mark.parametrize("make", [lambda y: Unsupervised(3)], ids=["unsupervised"])
def test_without_labels_there_is_nothing_to_align_with(make, blobs: Labelled) -> None:
    with pytest.raises(InvalidInput, match="labels") as caught:
        solve(blobs.X, make(blobs.y), aligned("gaussian", "linear"), 2)
    assert caught.value.parameter == "kernel"


def test_a_clustering_to_get_away_from_is_no_guide(blobs: Labelled) -> None:
    with pytest.raises(InvalidInput) as caught:
        solve(blobs.X, Alternative(blobs.y, 3), aligned("gaussian", "linear"), 2)
    assert caught.value.parameter == "kernel"


def test_one_kernel_alone_cannot_be_weighed() -> None:
    with pytest.raises(InvalidInput, match="1 came"):
        aligned(Gaussian())
