"""Sums over features: the compiled ones are those of a matrix of features."""

import numpy as np
import pytest

from ism_core.arrays import Array
from ism_core.kernels import Taylor
from ism_core.kernels.feature_maps import FeatureMap, Power, Product
from ism_core.kernels.random_features import gaussian_maps
from ism_core.objective import feature_blocks
from ism_core.objective.feature_blocks import CompiledFeatures, FeatureMatrix, features_of

MANY = 10**9  # rows: of so many, some are summed up by what is compiled

MAPS: dict[str, tuple[int, FeatureMap]] = {  # with the number of coordinates
    "gaussian": (2, Taylor(2, 3, 1.5)),
    "many": (10, Taylor(10, 4, 2.0)),
    "one": (1, Taylor(1, 0, 1.0)),
    "polynomial": (3, Power(3, 2, 0.5, 1.0)),
    "homogeneous": (3, Power(3, 3, 0.5, 0.0)),
    "long rows": (30, Power(30, 2, 0.1, 1.0)),
    "random": (3, gaussian_maps(3, 65, 0.3, np.random.default_rng(0))[0]),
    "many random": (10, gaussian_maps(10, 1_024, 2.0, np.random.default_rng(0))[1]),
}


@pytest.mark.parametrize("columns", [1, 8, 12, 17, 24, 61])
@pytest.mark.parametrize("rows", [1, 7, 16, 130, 300])
@pytest.mark.parametrize("name", MAPS)
def test_compiled_sums_are_those_of_a_matrix(name: str, rows: int, columns: int, rng: np.random.Generator) -> None:
    pytest.importorskip("numba")
    q, map = MAPS[name]
    P = rng.standard_normal((rows, q))
    X, G = rng.standard_normal((rows, columns)), rng.standard_normal((map.count, columns))
    F = map.of(P)
    found = features_of(map, P, MANY)
    assert isinstance(found, CompiledFeatures)
    assert_equal(found.gathered(X), F.T @ X)
    assert_equal(found.times(G), F @ G)
    some = slice(rows // 3, rows // 3 + max(1, rows // 2))
    assert_equal(found[some].gathered(X[some]), F[some].T @ X[some])
    assert_equal(found[some].times(G), F[some] @ G)


def test_sums_of_arrays_in_any_order_in_memory_are_the_same(rng: np.random.Generator) -> None:
    P, X, G = (np.asfortranarray(rng.standard_normal(shape)) for shape in ((40, 2), (40, 5), (10, 5)))
    for rows in (40, MANY):
        found = features_of(Taylor(2, 3, 1.0), P, rows)
        F = Taylor(2, 3, 1.0).of(P)
        assert_equal(found.gathered(X), F.T @ X)
        assert_equal(found.times(G), F @ G)


def test_what_is_compiled_is_for_many_features_only() -> None:
    pytest.importorskip("numba")
    P = np.ones((5, 2))
    taylor, power = Taylor(2, 3, 1.0), Power(2, 3, 1.0, 1.0)
    assert isinstance(features_of(taylor, P, 5), FeatureMatrix)
    assert isinstance(features_of(taylor, P, int(feature_blocks.COMPILED_NUMBERS_OF_GAUSSIANS) // 10), CompiledFeatures)
    assert isinstance(features_of(power, P, int(feature_blocks.COMPILED_NUMBERS_OF_GAUSSIANS) // 10), FeatureMatrix)
    assert isinstance(features_of(power, P, int(feature_blocks.COMPILED_NUMBERS) // 10), CompiledFeatures)
    assert isinstance(features_of(Product(2), P, MANY), FeatureMatrix)


def test_numpy_does_it_where_nothing_can_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_blocks, "load_compiled", lambda name: None)
    assert isinstance(features_of(Taylor(2, 3, 1.0), np.ones((5, 2)), MANY), FeatureMatrix)
    assert not feature_blocks.are_compiled([Taylor(2, 3, 1.0)], MANY)


def assert_equal(found: Array, expected: Array) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
