"""The family of kernels: f, f′ and what is taken from the data."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from ism_core import Gaussian, InvalidInput, Linear, Multiquadratic, Polynomial, RelativeGaussian, Squared
from ism_core.arrays import Array
from ism_core.kernels.base import Combination, Kernel, parameters
from ism_core.kernels.family import KERNELS as BY_NAME
from ism_core.kernels.family import as_kernel
from tests.ism_core import reference
from tests.ism_core.family import EVERY, KERNELS


def test_the_tests_run_over_every_kernel_of_the_table() -> None:
    assert {type(kernel) for kernel in KERNELS.values()} == set(BY_NAME.values())


def values(kernel: Kernel, beta: Array) -> Array:
    return sum(weight * term.value(beta) for weight, term in kernel.terms)


def derivatives(kernel: Kernel, beta: Array) -> Array:
    return sum(weight * term.derivative(beta, term.value(beta)) for weight, term in kernel.terms)


@pytest.fixture
def betas(rng: np.random.Generator) -> Array:
    return rng.uniform(0.1, 4.0, (23, 23))


@pytest.mark.parametrize("name", EVERY)
def test_derivative_is_the_limit_of_difference_quotients(
    name: str, rows: Array, betas: Array, rng: np.random.Generator
) -> None:
    kernel = EVERY[name].fitted_to(rows, rng)
    step = 1e-5
    numerical = (values(kernel, betas + step) - values(kernel, betas - step)) / (2 * step)
    np.testing.assert_allclose(derivatives(kernel, betas), numerical, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", KERNELS)
def test_value_and_derivative_are_the_formulas_of_the_table(
    name: str, rows: Array, betas: Array, rng: np.random.Generator
) -> None:
    ((weight, term),) = KERNELS[name].fitted_to(rows, rng).terms
    assert weight == 1
    value = term.value(betas)
    derivative = term.derivative(betas, value)
    for i, j in [(0, 0), (3, 17), (22, 1)]:
        assert value[i, j] == pytest.approx(reference.value(term, betas[i, j], i, j), rel=1e-13)
        assert derivative[i, j] == pytest.approx(reference.derivative(term, betas[i, j], i, j), rel=1e-13)


@pytest.mark.parametrize("name", KERNELS)
def test_value_and_derivative_are_written_into_out_and_leave_beta_alone(
    name: str, rows: Array, betas: Array, rng: np.random.Generator
) -> None:
    ((_, term),) = KERNELS[name].fitted_to(rows, rng).terms
    given, buffer, other = betas.copy(), np.full_like(betas, np.nan), np.full_like(betas, np.nan)
    value = term.value(betas, out=buffer)
    derivative = term.derivative(betas, value, out=other)
    assert value is buffer
    assert derivative is other
    np.testing.assert_array_equal(betas, given)
    np.testing.assert_array_equal(value, term.value(betas))
    np.testing.assert_array_equal(derivative, term.derivative(betas, value))


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_is_a_similarity(name: str, rows: Array, betas: Array, rng: np.random.Generator) -> None:
    """It grows with a product and falls with a distance: the sign trap of squared and multiquadratic."""
    ((_, term),) = KERNELS[name].fitted_to(rows, rng).terms
    sign = 1 if term.form == "product" else -1
    assert (sign * term.derivative(betas, term.value(betas)) > 0).all()


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "relative gaussian"])
def test_derivative_at_zero_is_the_formula_of_the_table(name: str) -> None:
    ((_, term),) = KERNELS[name].terms
    assert term.derivative_at_zero == pytest.approx(reference.derivative(term, 0.0, 0, 0), rel=1e-13)


def test_only_gaussians_and_their_sums_are_nonnegative() -> None:
    assert Gaussian().nonnegative
    assert (Gaussian() + RelativeGaussian()).nonnegative
    for kernel in (Linear(), Squared(), Polynomial(degree=2), Multiquadratic(), Gaussian() + Linear()):
        assert not kernel.nonnegative


def test_gaussian_takes_the_median_distance_for_sigma(rows: Array, rng: np.random.Generator) -> None:
    assert Gaussian().fitted_to(rows, rng).sigma == pytest.approx(np.median(pdist(rows)))
    assert Gaussian(sigma=0.3).fitted_to(rows, rng).sigma == 0.3


def test_polynomial_divides_by_the_number_of_columns_that_vary(rows: Array, rng: np.random.Generator) -> None:
    with_constant = np.column_stack([rows, np.full(len(rows), 7.0)])
    assert Polynomial().fitted_to(with_constant, rng).gamma == 1 / 4
    assert Polynomial(gamma=0.9).fitted_to(rows, rng).gamma == 0.9


def test_relative_gaussian_takes_rows_and_columns_apart(rows: Array, rng: np.random.Generator) -> None:
    kernel = RelativeGaussian(neighbors=2).fitted_to(rows, rng)
    beta = rng.uniform(0, 3, (23, 23))
    part = kernel.restricted(slice(2, 5), np.array([7, 1]))
    np.testing.assert_allclose(part.value(beta[2:5][:, [7, 1]]), kernel.value(beta)[2:5][:, [7, 1]], rtol=1e-14)


@pytest.mark.parametrize("kernel", [Gaussian(), Polynomial(), RelativeGaussian()], ids=lambda k: type(k).__name__)
def test_a_kernel_that_waits_for_data_says_so(kernel: Kernel) -> None:
    ((_, term),) = kernel.terms
    with pytest.raises(InvalidInput, match="fitted_to"):
        term.value(np.ones((2, 2)))


@given(st.floats(0.01, 10), st.floats(0.01, 10), st.floats(0.01, 10))
def test_sums_and_products_with_numbers_add_up_weights(a: float, b: float, c: float) -> None:
    kernel = c * (a * Gaussian(1.0) + Linear() * b)
    weights = [weight for weight, _ in kernel.terms]
    assert weights == pytest.approx([c * a, c * b])


def test_a_term_of_weight_zero_is_left_out() -> None:
    kernel = 0 * Gaussian(1.0) + 2 * Linear()
    assert kernel.terms == ((2.0, Linear()),)


def test_binding_a_sum_binds_its_terms(rows: Array, rng: np.random.Generator) -> None:
    kernel = (0.5 * Gaussian() + 2 * Polynomial()).fitted_to(rows, rng)
    assert isinstance(kernel, Combination)
    (half, gaussian), (two, polynomial) = kernel.terms
    assert (half, two) == (0.5, 2.0)
    assert gaussian == Gaussian(sigma=float(np.median(pdist(rows))))
    assert polynomial == Polynomial(gamma=0.25)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_name_stands_for_the_kernel_at_its_defaults(name: str) -> None:
    assert as_kernel(name) == BY_NAME[name]()
    assert as_kernel(as_kernel(name)) == BY_NAME[name]()


def test_parameters_are_those_that_make_the_kernel_again(rows: Array, rng: np.random.Generator) -> None:
    for name, kernel_type in BY_NAME.items():
        assert kernel_type(**parameters(as_kernel(name))) == kernel_type()
    assert "scales" not in parameters(RelativeGaussian().fitted_to(rows, rng))
    assert parameters(Gaussian() + Linear()) == {}


def test_kernels_compare_and_hash_by_value() -> None:
    assert Gaussian(2.0) == Gaussian(2.0) != Gaussian(3.0)
    assert len({Gaussian(2.0), Gaussian(2.0), Polynomial(2), Linear(), Linear()}) == 3


@pytest.mark.parametrize("make", [Gaussian, Multiquadratic, lambda value: Polynomial(3, 1.0, value)])
@pytest.mark.parametrize("value", [1e-51, 1e51])
def test_a_setting_out_of_range_is_refused_with_the_range(make: Callable[[float], Kernel], value: float) -> None:
    with pytest.raises(InvalidInput, match=r"or a number from 1e-50 to 1e\+50\."):
        make(value)
