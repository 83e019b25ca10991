"""Measures of a projection on held-out rows."""

import numpy as np
import pytest

from ism_core import Gaussian, Linear
from ism_core.gamma import LabelGamma
from ism_core.kernels import Kernel
from ism_core.objective import ClassNeighborGamma
from ism_core.selection.held_out import KernelRidge, dependence, explained_variance


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear()])
@pytest.mark.parametrize("gamma", [LabelGamma, ClassNeighborGamma])
def test_dependence_is_zero_on_average_for_shuffled_classes(
    kernel: Kernel, gamma: type[LabelGamma | ClassNeighborGamma], rng: np.random.Generator
) -> None:
    if gamma is ClassNeighborGamma and isinstance(kernel, Linear):
        pytest.skip("neighbors need a kernel that measures nearness")
    P, codes = rng.standard_normal((60, 2)), np.arange(60) % 3
    found = [dependence(P, gamma.of(rng.permutation(codes)), kernel) for _ in range(300)]
    assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(len(found))


@pytest.mark.parametrize("gamma", [LabelGamma, ClassNeighborGamma])
def test_dependence_is_zero_without_axes(gamma: type[LabelGamma | ClassNeighborGamma]) -> None:
    assert dependence(np.zeros((30, 2)), gamma.of(np.arange(30) % 3), Gaussian(1.0)) == pytest.approx(0, abs=0.01)


def test_ridge_regression_predicts_a_smooth_function(rng: np.random.Generator) -> None:
    P = rng.standard_normal((400, 2))
    Y = np.column_stack([np.sin(2 * P[:, 0]), P[:, 0] * P[:, 1]])
    predicted = KernelRidge(P[:300], Y[:300], seed=0).predict(P[300:])
    assert explained_variance(predicted, Y[300:]) > 0.9


def test_ridge_regression_of_noise_explains_about_nothing(rng: np.random.Generator) -> None:
    P, Y = rng.standard_normal((400, 2)), rng.standard_normal((400, 1))
    assert abs(explained_variance(KernelRidge(P[:300], Y[:300], seed=0).predict(P[300:]), Y[300:])) < 0.15


def test_ridge_regression_far_from_the_origin_stays_finite(rng: np.random.Generator) -> None:
    P, Y = 1e9 + rng.standard_normal((40, 1)), rng.standard_normal((40, 1))
    assert np.isfinite(KernelRidge(P, Y, seed=0).predict(P + 10)).all()
