"""Finite feature maps: as many features as promised, and the very function they stand for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ism_core import Linear, Polynomial, Squared
from ism_core.kernels.feature_maps import Constant, FeatureMap, Power, Product
from tests.ism_core import reference
from tests.ism_core.family import KERNELS, WITH_FEATURES

TERMS = [name for name in WITH_FEATURES if name in KERNELS]


def pairs(features: FeatureMap, P: np.ndarray) -> np.ndarray:
    F = features.of(P)
    assert F.shape == (len(P), features.count) == (len(P), len(features.weights))
    return F * features.weights @ F.T


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("q", [1, 2, 5])
def test_value_and_derivative_features_are_f_and_its_derivative(name: str, q: int, rng: np.random.Generator) -> None:
    ((_, term),) = KERNELS[name].terms
    P = rng.standard_normal((8, q))
    own = term.exact_map(q)
    value, derivative = pairs(own.value, P), pairs(own.derivative, P)
    for i in range(8):
        for j in range(8):
            b = reference.beta(term, P[i], P[j], np.eye(q))
            assert value[i, j] == pytest.approx(reference.value(term, b, i, j), rel=1e-11, abs=1e-11)
            assert derivative[i, j] == pytest.approx(reference.derivative(term, b, i, j), rel=1e-11, abs=1e-11)
            along, constant = own.ratio
            assert (along * b + constant) * derivative[i, j] == pytest.approx(value[i, j], rel=1e-11, abs=1e-11)


@given(
    q=st.integers(1, 5),
    degree=st.integers(0, 5),
    gamma=st.floats(0.01, 3),
    c=st.sampled_from([0.0, 0.3, 1.0, 2.5]),
    seed=st.integers(0, 99),
)
def test_monomials_add_up_to_the_power_of_a_product(q: int, degree: int, gamma: float, c: float, seed: int) -> None:
    P = np.random.default_rng(seed).standard_normal((6, q))
    expected = 2.0 * (gamma * P @ P.T + c) ** degree
    np.testing.assert_allclose(pairs(Power(q, degree, gamma, c, 2.0), P), expected, rtol=1e-9, atol=1e-9)


@given(q=st.integers(1, 6), degree=st.integers(0, 5))
def test_monomials_are_as_few_as_they_can_be(q: int, degree: int) -> None:
    assert Power(q, degree, 0.5, 1.0).count == math.comb(q + degree, degree)
    assert Power(q, degree, 0.5, 0.0).count == math.comb(q + degree - 1, degree)  # of full degree only


def test_features_are_counted_without_being_made() -> None:
    """Those of the largest degree and 30 dimensions would not fit in memory."""
    assert Polynomial(degree=20, gamma=1.0).exact_map(30).value.count == math.comb(50, 20)


def test_linear_and_squared_have_one_derivative_feature() -> None:
    assert Linear().exact_map(7).derivative.count == Squared().exact_map(7).derivative.count == 1
    assert Polynomial(gamma=1.0, degree=3).exact_map(4).derivative.count == math.comb(4 + 2, 2)


def test_a_constant_feature_needs_no_projection() -> None:
    np.testing.assert_array_equal(pairs(Constant(-2.5), np.empty((3, 0))), np.full((3, 3), -2.5))


@pytest.mark.parametrize("features", [Power(3, 4, 0.5, 1.0), Power(3, 4, 0.5, 0.0), Constant(2.0), Product(3)])
def test_features_are_the_same_in_memory_that_was_used_before(features: FeatureMap, rng: np.random.Generator) -> None:
    P = rng.standard_normal((6, 3))
    memory = np.full(features.numbers_per_row * 6 + 5, np.nan)
    np.testing.assert_array_equal(features.of(P, memory), features.of(P))


def test_a_weight_too_large_for_a_number_is_infinite() -> None:
    assert np.isinf(Power(2, 8, 1e50, 1e-50).weights).any()
    assert not np.isnan(Power(2, 8, 1e50, 1e-50).weights).any()
