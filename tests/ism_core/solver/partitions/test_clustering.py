"""Clusters of a table in partitions are those of the same rows in memory, as a function of a row."""

import numpy as np
import pytest

from ism_core import (
    Gaussian,
    InvalidInput,
    Polynomial,
    SemiSupervised,
    Squared,
    Unsupervised,
    partitions,
    solve,
)
from ism_core.arrays import Array, Ints
from ism_core.engines import LOCAL
from ism_core.kernels import Kernel
from ism_core.linalg import largest_angle
from ism_core.metrics import nmi
from ism_core.objective import ArrayPartitions, read_again
from ism_core.paradigms import AffinityFeatures, cluster_blocks
from ism_core.paradigms.spectral import spectral
from ism_core.solver import partitioned


@pytest.fixture(scope="module")
def rows() -> tuple[Array, Ints]:
    """Three groups in two of five columns, far from 0."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 5_000)
    X = rng.standard_normal((5_000, 5))
    X[:, 1] += 5 * (groups == 1)
    X[:, 4] += 5 * (groups == 2)
    return (X - X.mean(axis=0)) / X.std(axis=0) + 3, groups


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Polynomial(), Squared(), Gaussian() + 0.1 * Polynomial(2)])
def test_the_embedding_is_that_of_rows_in_memory(kernel: Kernel, rows: tuple[Array, Ints]) -> None:
    X, W = rows[0] - 3, np.eye(5)[:, [1, 4]]
    fitted = kernel.fitted_to(X, np.random.default_rng(0))
    far = X[np.argsort(np.linalg.norm(X, axis=1))[-300:]]
    features = AffinityFeatures.at(W, X.mean(axis=0), fitted, X[::3], far, 1e-4)
    table = read_again(ArrayPartitions(X, None, 1_300, 400), None, LOCAL)
    found, _ = cluster_blocks(features, 2, table, None, LOCAL)
    expected = spectral(X @ W, fitted, 2, 0, tolerance=1e-4)
    Y, root = found.embedded(X)
    np.testing.assert_allclose(Y.T @ Y, np.eye(2), atol=1e-9)
    assert largest_angle(Y, expected.Y) < 2e-3  # the diagonal of the affinity
    np.testing.assert_allclose(root, expected.root, rtol=2e-3)
    again, turned = cluster_blocks(features, 2, table, found, LOCAL)
    assert turned < 1e-6
    np.testing.assert_allclose(again.eigenvalues, found.eigenvalues)


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Polynomial(2)])
def test_the_axes_are_those_of_rows_in_memory(
    kernel: Kernel, rows: tuple[Array, Ints], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitioned, "SAMPLE_ROWS", 1_500)
    X, groups = rows
    found = solve(ArrayPartitions(X, None, 1_300, 400), Unsupervised(3), kernel, 2, delta=1e-3)
    expected = solve(X, Unsupervised(3), kernel, 2, delta=1e-3, initial_W=found.W)
    assert found.converged
    assert found.certificate.gradient < 1e-3
    assert largest_angle(found.W, expected.W) < 1e-3
    assert found.objective == pytest.approx(expected.objective, rel=2e-3)
    labels = found.clusters.labels(X)
    assert nmi(labels, expected.labels) > 0.95
    if kernel == Gaussian(1.5):
        assert nmi(labels, groups) > 0.9


def test_what_needs_rows_in_memory_is_refused_with_a_sentence(rows: tuple[Array, Ints]) -> None:
    X, groups = rows
    cases = [
        (SemiSupervised(groups, 3), Gaussian(), "Unsupervised"),
        (Unsupervised(3), Gaussian(0.01), "larger sigma"),
    ]
    for paradigm, kernel, sentence in cases:
        with pytest.raises(InvalidInput, match=sentence):
            solve(partitions(X), paradigm, kernel, 2)
