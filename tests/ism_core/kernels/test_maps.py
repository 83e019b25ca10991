"""Feature maps of a whole kernel: weights carried along, and nothing where one term has none."""

import numpy as np
import pytest

from ism_core import Gaussian, Linear, Multiquadratic, Polynomial, RelativeGaussian, Squared
from ism_core.arrays import Array
from ism_core.kernels.base import exact_maps, random_maps, taylor_maps
from tests.ism_core.family import EVERY, WITH_FEATURES


@pytest.mark.parametrize("name", EVERY)
def test_a_kernel_has_maps_only_where_all_of_its_terms_have_them(name: str, rows: Array) -> None:
    kernel = EVERY[name].fitted_to(rows, np.random.default_rng(0))
    assert (exact_maps(kernel, 2) is not None) == (name in WITH_FEATURES)
    types = {type(term) for _, term in kernel.terms}
    assert (taylor_maps(kernel, 2, 3) is not None) == types.isdisjoint({RelativeGaussian, Multiquadratic})
    assert (random_maps(kernel, 2, 9, 1.0, np.random.default_rng(0)) is not None) == (RelativeGaussian not in types)


def test_maps_carry_the_weight_of_their_term(rng: np.random.Generator) -> None:
    P = rng.standard_normal((5, 2))
    (own,) = exact_maps(3.0 * Polynomial(2, 1.0, 0.5), 2)
    F = own.value.of(P)
    assert own.form == "product"
    np.testing.assert_allclose(own.weight * F * own.value.weights @ F.T, 3.0 * (0.5 * P @ P.T + 1) ** 2, rtol=1e-12)


def test_exact_terms_stay_exact_beside_others() -> None:
    kernel = 2.0 * Linear() + Squared() + 0.5 * Gaussian(1.0)
    exact = exact_maps(2.0 * Linear() + Squared(), 3)
    for maps in (taylor_maps(kernel, 3, 4), random_maps(kernel, 3, 20, 1.0, np.random.default_rng(0))):
        assert maps[:2] == exact
        assert maps[2].weight == 0.5
