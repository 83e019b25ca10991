"""Feature maps of a whole kernel: weights carried along, and nothing where one term has none."""

import numpy as np
import pytest

from ism_core import Gaussian, Linear, Polynomial, Squared
from ism_core.arrays import Array
from ism_core.features import slope_maps, value_maps
from tests.core.family import EVERY, WITH_FEATURES


@pytest.mark.parametrize("name", EVERY)
def test_a_kernel_has_maps_only_where_all_of_its_terms_have_them(name: str, rows: Array) -> None:
    kernel = EVERY[name].bound(rows, np.random.default_rng(0))
    for maps in (slope_maps(kernel, 2), value_maps(kernel, 2)):
        assert (maps is not None) == (name in WITH_FEATURES)


def test_maps_carry_the_weight_of_their_term(rng: np.random.Generator) -> None:
    P = rng.standard_normal((5, 2))
    ((weight, form, features),) = value_maps(3.0 * Polynomial(2, 1.0, 0.5), 2)
    F = features.of(P)
    assert form == "product"
    np.testing.assert_allclose(weight * F * features.weights @ F.T, 3.0 * (0.5 * P @ P.T + 1) ** 2, rtol=1e-12)


def test_one_term_without_a_map_leaves_the_sum_without() -> None:
    assert value_maps(Linear() + Squared() + Gaussian(1.0), 2) is None
