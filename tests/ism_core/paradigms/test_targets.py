"""Labels, real targets and scores: how they are read, and the factor of their kernel."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from ism_core import InvalidInput, Supervised
from ism_core.paradigms.targets import Targets

AS_LABELS = {
    "text": ["a", "b", "a"],
    "booleans": [True, False, True],
    "whole numbers": [3, 1, 3],
    "whole floats": [3.0, 1.0, 3.0],
    "objects": np.array(["a", 2, "a"], dtype=object),
    "one column": [[3], [1], [3]],
}


@pytest.mark.parametrize("name", AS_LABELS)
def test_text_booleans_and_whole_numbers_are_labels(name: str) -> None:
    targets = Targets(AS_LABELS[name], "y")
    assert targets.classes == 2
    assert targets.codes[0] == targets.codes[2] != targets.codes[1]


@pytest.mark.parametrize("values", [[0.5, 1.5, 0.5], [[1, 2], [3, 4], [1, 2]], np.array([1.5, 2, 3], dtype=object)])
def test_fractions_and_several_columns_are_real(values: object) -> None:
    targets = Targets(values, "y")
    assert targets.codes is None
    assert targets.classes == 0


def test_kind_overrides_what_the_values_look_like() -> None:
    assert Targets([3, 1, 2], "y", "values").codes is None
    assert Targets([0.5, 1.5, 0.5], "y", "classes").classes == 2


def test_labels_of_several_types_do_not_merge() -> None:
    assert Targets(np.array([1, "1", 1, "1"], dtype=object), "y").classes == 2


def test_missing_are_nan_none_and_rows_with_any_nan() -> None:
    labels = Targets(np.array(["a", None, "b", np.nan], dtype=object), "scores")
    np.testing.assert_array_equal(labels.missing, [False, True, False, True])
    assert labels.classes == 2
    numbers = Targets([1.0, np.nan, 2.0], "scores")
    np.testing.assert_array_equal(numbers.missing, [False, True, False])
    assert numbers.classes == 2
    table = Targets([[1.0, 2.5], [np.nan, 3.0], [0.0, 1.0]], "scores")
    np.testing.assert_array_equal(table.missing, [False, True, False])


def test_many_classes_are_remarked_on() -> None:
    assert Targets(np.arange(10), "y").warnings()
    assert "10 distinct values in 10 rows" in Targets(np.arange(10), "y").warnings()[0]
    assert not Targets(np.arange(10) % 3, "y").warnings()


def test_real_factor_is_the_centered_gaussian_kernel_of_the_standardized_values(rng: np.random.Generator) -> None:
    y = rng.standard_normal((40, 2)) * [1.0, 100.0] + [5.0, 0.0]
    Z = (y - y.mean(axis=0)) / y.std(axis=0)
    sigma = np.median(pdist(Z))
    K = np.exp(-squareform(pdist(Z, "sqeuclidean")) / (2 * sigma**2))
    H = np.eye(40) - 1 / 40
    L = Targets(y, "y").real_factor()
    np.testing.assert_allclose(L @ L.T, H @ K @ H, atol=1e-4)
    assert L.shape[1] < 40


def test_linear_factor_is_the_standardized_values(rng: np.random.Generator) -> None:
    y = rng.standard_normal(20) + 7
    L = Targets(y, "y").real_factor("linear")
    Z = (y - y.mean()) / y.std()
    np.testing.assert_allclose(L @ L.T, np.outer(Z, Z), atol=1e-10)


def test_supervised_gamma_of_real_targets_is_centered(rng: np.random.Generator) -> None:
    gamma = Supervised(rng.standard_normal(30)).target_gamma()
    np.testing.assert_allclose(gamma.U.sum(axis=0), 0, atol=1e-10)
    assert (gamma.s == 1).all()


def test_rows_without_a_score_have_no_part_in_a_factor(rng: np.random.Generator) -> None:
    values = rng.standard_normal((12, 2))
    values[[1, 5]] = np.nan
    L = Targets(values, "scores").real_factor()
    np.testing.assert_array_equal(L[[1, 5]], 0)
    np.testing.assert_allclose(L, np.insert(Targets(np.delete(values, [1, 5], 0), "s").real_factor(), [1, 4], 0, 0))


def test_infinite_targets_are_refused_with_their_row() -> None:
    with pytest.raises(InvalidInput, match="row 2"):
        Targets([0.5, 1.0, np.inf], "y")


def test_targets_too_large_to_square_are_blamed_on_the_targets_not_on_x() -> None:
    targets = Targets([1.5e308, -1.5e308, 0.5], "y")
    with pytest.raises(InvalidInput) as caught:
        targets.real_factor()
    assert caught.value.parameter == "y"
