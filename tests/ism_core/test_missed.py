"""The test of what W misses: calibrated p-values, power, and advice that fits the planted problem."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstest

from ism_core import Gaussian, InvalidInput, Linear, Supervised, missed_dependence, solve
from ism_core.arrays import Array
from ism_core.linalg import standardized
from ism_core.missed import LEVEL, MOST_FEATURES_IN_PRODUCTS, MOST_ROWS, Missed

TRUE = np.array([1.0, 0.8, -0.6]) / np.sqrt(2)
NAMES = [f"x{column}" for column in range(200)]


def axis(d: int) -> Array:
    return np.concatenate([TRUE, np.zeros(d - 3)])[:, None]


def values(seed: int, n: int, d: int, effect: float = 0.0) -> tuple[Array, Array]:
    """Return rows, and a target of noise 1 that depends on the true axis, and on column 5 with the given effect."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 1.5 * np.sin(2 * X[:, :3] @ TRUE) + effect * X[:, 5] + rng.normal(size=n)


def classes(seed: int, n: int, d: int, effect: float = 0.0) -> tuple[Array, Array]:
    """Return the same with three classes; the noise has the variance of the logistic distribution, 3.3."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    latent = 2 * X[:, :3] @ TRUE + 1.8 * effect * X[:, 5] + rng.logistic(size=n)
    return X, np.digitize(latent, [-1, 1])


def uneven(seed: int, n: int, d: int) -> tuple[Array, Array]:
    """Return two targets whose noise varies with a column."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(4, size=(n, d))
    noise = (0.3 + abs(X[:, 4:5])) * rng.normal(size=(n, 2))
    return X, np.column_stack([X[:, :3] @ TRUE, np.tanh(3 * X[:, :3] @ TRUE)]) + noise


def xor(seed: int, n: int, d: int) -> tuple[Array, Array]:
    """Return classes with a strong main effect of column 0; columns 3 and 4 matter only together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (2.5 * X[:, 0] + 2.5 * np.sign(X[:, 3] * X[:, 4]) + rng.logistic(size=n) > 0).astype(int)


def test_p_values_are_uniform_if_nothing_is_missed() -> None:
    problems = [(values, classes, uneven)[seed % 3](seed, 200, 6) for seed in range(210)]
    found = [missed_dependence(X, y, axis(6), Linear(), seed=seed).p_value for seed, (X, y) in enumerate(problems)]
    assert kstest(found, "uniform").pvalue > 0.05


@pytest.mark.parametrize(("problem", "d"), [(values, 10), (values, 100), (classes, 10)])
def test_a_missed_feature_of_effect_0_3_is_noticed_in_500_rows(problem, d: int) -> None:
    found = [missed_dependence(*problem(seed, 500, d, 0.3), axis(d), Linear(), seed=seed) for seed in range(10)]
    assert np.mean([each.p_value <= LEVEL for each in found]) >= 0.8
    named = [each.features for each in found if each.features]
    assert np.mean([each == (5,) for each in named]) > 0.8


@pytest.mark.parametrize("problem", [values, classes])
def test_a_fitted_w_raises_no_false_alarms(problem) -> None:
    alarms = 0
    for seed in range(20):
        X, y = problem(seed, 300, 8)
        result = solve(X, Supervised(y), Gaussian(), 1)
        alarms += missed_dependence(X, y, result.W, result.kernel, seed=seed).p_value <= LEVEL
    assert alarms <= 2


def test_errors_of_w_within_its_standard_error_are_no_evidence() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    y = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=600)
    turned = np.eye(6)[:, :2] + 0.05 * rng.normal(size=(6, 2))
    W = np.linalg.qr(turned)[0]
    assert missed_dependence(X, y, W, Gaussian(2.0)).advice != "nothing"
    deviations = 0.07 * rng.normal(size=(8, 6, 2))
    assert missed_dependence(X, y, W, Gaussian(2.0), deviations=deviations).advice == "nothing"


def test_an_undefined_axis_does_not_excuse_what_is_missed() -> None:
    X, y = xor(0, 600, 10)
    W, deviations = np.eye(10)[:, [0, 9]], np.random.default_rng(1).normal(size=(8, 10, 2))
    assert missed_dependence(X, y, W, Gaussian(3.0), deviations=deviations).features == (3, 4)


@pytest.mark.parametrize("d", [10, MOST_FEATURES_IN_PRODUCTS + 40])
def test_features_that_matter_only_together_are_noticed_and_the_sentence_warns(d: int) -> None:
    X, y = xor(0, 800, d)
    result = solve(X, Supervised(y), Gaussian(), 1)
    missed = missed_dependence(X, y, result.W, result.kernel)
    assert missed.features == (3, 4)
    assert missed.advice == "another_kernel"
    assert "most on x3 and x4 together" in missed.sentence(NAMES)
    assert "HSIC can miss features that matter only together" in missed.sentence(NAMES)


def test_a_second_axis_that_the_kernel_sees_is_asked_for_until_it_is_there() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8))
    centers = 2 * np.column_stack([X[:, 0], X[:, 1] - X[:, 0], -X[:, 1]])
    y = np.argmax(centers + rng.gumbel(size=(500, 3)), axis=1)
    first, both = (solve(X, Supervised(y), Gaussian(), q) for q in (1, 2))
    missed = missed_dependence(X, y, first.W, first.kernel)
    assert missed.advice == "more_axes"
    assert missed.sentence(NAMES, "the class").endswith("More axes would show it.")
    missed = missed_dependence(X, y, both.W, both.kernel)
    assert missed.advice == "nothing"
    assert missed.sentence(NAMES).startswith("The test found no dependence")


def test_a_kernel_that_cannot_see_the_rest_is_said_to_be_the_cause() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    y = 2 * X[:, 0] + 0.7 * X[:, 5] ** 2 + rng.normal(size=500)
    result = solve(X, Supervised(y), Linear(), 1)
    missed = missed_dependence(X, y, result.W, result.kernel)
    assert (missed.advice, missed.features) == ("another_kernel", (5,))
    assert missed.sentence(NAMES).endswith("try another kernel or scale.")


def test_large_tables_are_sampled_and_the_same_seed_gives_the_same_p() -> None:
    X, y = values(0, 3 * MOST_ROWS, 6)
    first, again = (missed_dependence(X, y, axis(6), Linear(), seed=3) for _ in range(2))
    assert first == again
    assert first.rows == MOST_ROWS
    assert missed_dependence(X, y, axis(6), Linear(), seed=4).p_value != first.p_value


def test_nothing_is_missed_if_the_axes_have_all_of_x() -> None:
    X, y = classes(0, 200, 6, effect=1.0)
    assert missed_dependence(X, y, np.eye(6), Linear()).advice == "nothing"


def test_nothing_is_missed_if_the_axes_determine_the_target() -> None:
    X, _ = values(0, 200, 6)
    assert missed_dependence(X, X[:, 0], np.eye(6)[:, :1], Linear()).p_value == 1


def test_constant_columns_copies_and_many_classes_do_no_harm() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    X = np.column_stack([X, X[:, 0], np.ones(120), X[:, 1] > 0])
    y = np.digitize(X[:, 0], np.linspace(-1.5, 1.5, 14))
    W = np.eye(7)[:, :1]
    assert 0 < missed_dependence(X, y, W, Gaussian(1.0)).p_value <= 1


def test_the_scale_of_the_columns_does_not_matter() -> None:
    X, y = values(1, 300, 6, effect=0.3)
    Z = standardized(X)[0]
    factors = 10.0 ** np.arange(6)
    raw, scaled = (
        missed_dependence(*each, Linear()) for each in ((Z, y, axis(6)), (Z * factors, y, axis(6) / factors[:, None]))
    )
    assert raw.p_value == scaled.p_value


@pytest.mark.parametrize(
    ("n", "W", "parameter"), [(15, np.eye(4)[:, :1], "X"), (40, np.eye(5)[:, :1], "W"), (20, np.eye(4), "X")]
)
def test_what_cannot_be_tested_is_refused(n: int, W: Array, parameter: str) -> None:
    X, y = values(0, n, 6)
    with pytest.raises(InvalidInput) as error:
        missed_dependence(X[:, :4], y, W, Linear())
    assert error.value.parameter == parameter


def test_a_sentence_without_features_names_none() -> None:
    missed = Missed(0.01, 100, "another_kernel", ())
    assert "depends on the features (p = 0.01, 100 rows)" in missed.sentence(NAMES)
    assert "more_axes" not in replace(missed, advice="more_axes").sentence(NAMES)
