"""Monomials up to a degree: each once, and its value the product that its exponents say."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ism_core.kernels.monomials import monomials


@given(q=st.integers(1, 6), degree=st.integers(0, 5), seed=st.integers(0, 99))
def test_each_monomial_is_there_once_and_is_the_product_of_its_powers(q: int, degree: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    P, first = rng.standard_normal((4, q)), rng.standard_normal(4)
    table = monomials(q, degree)
    assert table.count == math.comb(q + degree, degree) == len({tuple(row) for row in table.exponents})
    assert table.exponents.sum(axis=1).max() == degree
    values = table.of(P, first, np.empty(table.count * 4 + 3))  # memory may be more than is needed
    expected = first * np.prod(P[None] ** table.exponents[:, None], axis=2)
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)


@given(q=st.integers(1, 5), degree=st.integers(0, 5))
def test_the_last_are_those_of_full_degree(q: int, degree: int) -> None:
    orders = monomials(q, degree).exponents.sum(axis=1)
    np.testing.assert_array_equal(np.arange(len(orders))[monomials(q, degree).last], np.flatnonzero(orders == degree))
