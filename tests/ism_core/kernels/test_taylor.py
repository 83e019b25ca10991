"""Gaussian features cut at a degree."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.special import gammainc

from ism_core import Gaussian
from ism_core.kernels.taylor import Taylor


def pairs(features: Taylor, P: np.ndarray) -> np.ndarray:
    F = features.of(P)
    assert F.shape == (len(P), features.count) == (len(P), len(features.weights))
    return F * features.weights @ F.T


@given(q=st.integers(1, 4), degree=st.integers(0, 9), sigma=st.floats(0.3, 30), seed=st.integers(0, 99))
def test_what_is_left_out_is_semidefinite_and_known_on_the_diagonal(
    q: int, degree: int, sigma: float, seed: int
) -> None:
    P = np.random.default_rng(seed).standard_normal((8, q))
    left = np.exp(-cdist(P, P, "sqeuclidean") / (2 * sigma**2)) - pairs(Taylor(q, degree, sigma), P)
    r = gammainc(degree + 1, np.sum(P**2, axis=1) / sigma**2)
    np.testing.assert_allclose(left.diagonal(), r, atol=1e-12)
    assert (np.abs(left) <= np.sqrt(np.multiply.outer(r, r)) + 1e-12).all()
    assert np.linalg.eigvalsh(left)[0] >= -1e-12


@pytest.mark.parametrize(("q", "degree"), [(1, 100), (2, 40), (3, 25)])
def test_with_enough_features_it_is_the_gaussian(q: int, degree: int, rng: np.random.Generator) -> None:
    P = rng.standard_normal((20, q))
    expected = np.exp(-cdist(P, P, "sqeuclidean") / 2)
    np.testing.assert_allclose(pairs(Taylor(q, degree, 1.0), P), expected, atol=1e-9)
    np.testing.assert_allclose(pairs(Taylor(q, degree, 1.0, -0.5), P), -0.5 * expected, atol=1e-9)


def test_rows_far_away_have_no_features_left() -> None:
    assert not Taylor(2, 5, 1.0).of(np.array([[80.0, 0.0], [1e9, 1e9]])).any()


def test_f_and_its_derivative_share_their_features() -> None:
    own = Gaussian(2.0).taylor_map(3, 4)
    assert own.derivative.count == own.value.count == math.comb(7, 4)
    np.testing.assert_allclose(own.derivative.weights, -own.value.weights / 8)
    assert own.ratio == (0.0, -8.0)
