"""The ISM family of kernels: functions f of one number β for each pair of projected rows.

A kernel states its form (how β is computed), f and f′. It never computes Φ: `ism_core.objective` does, for all kernels.

    product form       βij = xiᵀ W Wᵀ xj
    difference form    βij = ‖Wᵀ(xi − xj)‖²

Maximizing J = Σ Γij f(βij) makes f large for pairs with Γij > 0. So f must be a *similarity*: it increases with a
product and decreases with a distance. Squared and Multiquadratic are usually defined as distances, hence the minus.

If f and f′ are finite sums Σm wm φm(pi) φm(pj) over the projected rows p, the kernel gives that feature map, and Φ
costs time linear in n. To add a kernel, write a class like those below.
"""

import math
import re
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np

from ism_core.arrays import Array, is_whole
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma
from ism_core.kernels.base import Kernel, RowSelection, Term, local_scales, median_distance
from ism_core.kernels.feature_maps import Constant, NegativeSquare, Power, Product, TermMap
from ism_core.kernels.random_features import gaussian_maps, multiquadratic_maps
from ism_core.kernels.taylor import Taylor

SMALLEST, LARGEST = 1e-50, 1e50  # bounds of a kernel parameter, within which its powers and inverses are finite


@dataclass(frozen=True)
class Linear(Term):
    """f = β"""

    form = "product"
    has_constant_derivative = True

    def value(self, beta: Array, out: Array | None = None) -> Array:
        return np.positive(beta, out=out)

    def derivative(self, beta: Array, value: Array, out: Array | None = None) -> Array:
        return _filled(1.0, beta, out)

    def exact_map(self, q: int) -> TermMap:
        return TermMap(self.form, Constant(1.0), Product(q), (1.0, 0.0))


@dataclass(frozen=True)
class Squared(Term):
    """f = −β, the negative squared distance"""

    form = "difference"
    has_constant_derivative = True

    def value(self, beta: Array, out: Array | None = None) -> Array:
        return np.negative(beta, out=out)

    def derivative(self, beta: Array, value: Array, out: Array | None = None) -> Array:
        return _filled(-1.0, beta, out)

    def exact_map(self, q: int) -> TermMap:
        return TermMap(self.form, Constant(-1.0), NegativeSquare(q), (1.0, 0.0))


@dataclass(frozen=True)
class Polynomial(Term):
    """f = (γβ + c)^degree.

    γ "1/d" is 1 over the number of columns that vary: on standardized data, γ = 1 would let a few outliers dominate.
    γ "auto" is chosen from the data by `choose`, from "1/d" upwards.
    """

    degree: int = 3
    c: float = 1.0
    gamma: float | Literal["1/d", "auto"] = "1/d"

    form = "product"

    def __post_init__(self) -> None:
        if not is_whole(self.degree) or not 1 <= self.degree <= 20:
            raise InvalidInput(
                "degree", f"The polynomial's degree is {self.degree!r}; it must be a whole number from 1 to 20."
            )
        _check_number("polynomial", "c", self.c, zero_allowed=True)
        if self.gamma not in ("1/d", "auto"):
            _check_number("polynomial", "gamma", self.gamma, "1/d", "auto")

    def fitted_to(self, X: Array, rng: np.random.Generator, guidance: Gamma | None = None) -> Self:
        if self.gamma == "auto":
            raise _unchosen("gamma")
        return (
            replace(self, gamma=1 / max(1, int(np.count_nonzero(np.ptp(X, axis=0))))) if self.gamma == "1/d" else self
        )

    def value(self, beta: Array, out: Array | None = None) -> Array:
        return self._power(beta, self.degree, 1.0, out)

    def derivative(self, beta: Array, value: Array, out: Array | None = None) -> Array:
        return self._power(beta, self.degree - 1, self.degree * self._gamma, out)

    def exact_map(self, q: int) -> TermMap:
        c, factor = float(self.c), self.degree * self._gamma
        derivative, value = Power(q, self.degree - 1, self._gamma, c, factor), Power(q, self.degree, self._gamma, c)
        return TermMap(self.form, derivative, value, (1 / self.degree, c / factor))

    @property
    def _gamma(self) -> float:
        return _number(self.gamma, "gamma")

    def _power(self, beta: Array, exponent: int, factor: float, out: Array | None) -> Array:
        base = self._gamma * beta + self.c
        power = _filled(factor, beta, out)
        for _ in range(exponent):
            power *= base
        return power


@dataclass(frozen=True)
class Gaussian(Term):
    """f = exp(−β/2σ²).

    σ "median" is the median distance between rows of X. σ "auto" is chosen from the data by `choose`.
    """

    sigma: float | Literal["median", "auto"] = "median"

    form = "difference"
    is_nonnegative = True

    def __post_init__(self) -> None:
        if self.sigma not in ("median", "auto"):
            _check_number("gaussian", "sigma", self.sigma, "median", "auto")

    def fitted_to(self, X: Array, rng: np.random.Generator, guidance: Gamma | None = None) -> Self:
        if self.sigma == "auto":
            raise _unchosen("sigma")
        return replace(self, sigma=median_distance(X, rng)) if self.sigma == "median" else self

    def value(self, beta: Array, out: Array | None = None) -> Array:
        exponent = np.multiply(beta, -0.5 / self._sigma**2, out=out)
        return np.exp(exponent, out=exponent)

    def derivative(self, beta: Array, value: Array, out: Array | None = None) -> Array:
        return np.multiply(value, -0.5 / self._sigma**2, out=out)

    def taylor_map(self, q: int, degree: int) -> TermMap:
        factor = -0.5 / self._sigma**2
        derivative, value = Taylor(q, degree, self._sigma, factor), Taylor(q, degree, self._sigma)
        return TermMap(self.form, derivative, value, (0.0, 1 / factor))

    def random_map(self, q: int, count: int, beta: float, rng: np.random.Generator) -> TermMap:
        value, derivative = gaussian_maps(q, count, self._sigma, rng)
        return TermMap(self.form, derivative, value, None)

    @property
    def _sigma(self) -> float:
        return _number(self.sigma, "sigma")


@dataclass(frozen=True)
class RelativeGaussian(Term):
    """f = exp(−β/2σiσj); σi is the distance from row i to its `neighbors`-th nearest (Zelnik-Manor and Perona 2004)."""

    neighbors: int = 7
    # local scales σi of the rows and columns of a tile; None until it is fitted
    scales: tuple[Array, Array] | None = field(default=None, repr=False, compare=False)

    form = "difference"
    is_nonnegative = True

    def __post_init__(self) -> None:
        if not is_whole(self.neighbors) or self.neighbors < 1:
            raise InvalidInput(
                "neighbors",
                f"The relative Gaussian's neighbors is {self.neighbors!r}; it must be a whole number of 1 or more.",
            )

    def fitted_to(self, X: Array, rng: np.random.Generator, guidance: Gamma | None = None) -> Self:
        sigma = local_scales(X, self.neighbors, rng)
        return replace(self, scales=(sigma, sigma))

    def restricted(self, rows: RowSelection, columns: RowSelection) -> Self:
        left, right = self._scales
        return replace(self, scales=(left[rows], right[columns]))

    def value(self, beta: Array, out: Array | None = None) -> Array:
        exponent = np.multiply(beta, self._factor, out=out)
        return np.exp(exponent, out=exponent)

    def derivative(self, beta: Array, value: Array, out: Array | None = None) -> Array:
        return np.multiply(value, self._factor, out=out)

    @property
    def derivative_at_zero(self) -> float:
        return -0.5 * float(np.mean(1 / self._scales[0]) ** 2)

    @property
    def _factor(self) -> Array:
        left, right = self._scales
        factor: Array = np.multiply.outer(-0.5 / left, 1 / right)
        return factor

    @property
    def _scales(self) -> tuple[Array, Array]:
        if self.scales is None:
            raise InvalidInput(
                "kernel",
                "The relative Gaussian kernel takes its local scales from the data: call fitted_to(X, rng) first.",
            )
        return self.scales


@dataclass(frozen=True)
class Multiquadratic(Term):
    """f = −√(β + c²), the negative multiquadric distance. c "auto" is chosen from the data by `choose`."""

    c: float | Literal["auto"] = 1.0

    form = "difference"

    def __post_init__(self) -> None:
        if self.c != "auto":
            _check_number("multiquadratic", "c", self.c, "auto")  # for c = 0, f has no derivative at β = 0

    def fitted_to(self, X: Array, rng: np.random.Generator, guidance: Gamma | None = None) -> Self:
        if self.c == "auto":
            raise _unchosen("c")
        return self

    def value(self, beta: Array, out: Array | None = None) -> Array:
        root = np.add(beta, float(self.c) ** 2, out=out)
        return np.negative(np.sqrt(root, out=root), out=root)

    def derivative(self, beta: Array, value: Array, out: Array | None = None) -> Array:
        return np.divide(0.5, value, out=out)

    def random_map(self, q: int, count: int, beta: float, rng: np.random.Generator) -> TermMap:
        value, derivative = multiquadratic_maps(q, count, float(self.c), beta, rng)
        return TermMap(self.form, derivative, value, None)


KernelWithWidth = Gaussian | Multiquadratic | Polynomial  # kernels with a width that continuation narrows


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


# The kernels by name: RelativeGaussian is "relative_gaussian". To add a kernel, add a class above.
KERNELS: dict[str, type[Term]] = {_snake_case(kernel.__name__): kernel for kernel in Term.__subclasses__()}


def as_kernel(kernel: "Kernel | str") -> Kernel:
    """Return a kernel, given the kernel itself or its name."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]()
    names = ", ".join(KERNELS)
    raise InvalidInput("kernel", f"kernel is {kernel!r}; it must be a kernel such as Gaussian(), or one of {names}.")


def _filled(number: float, like: Array, out: Array | None) -> Array:
    filled = np.empty_like(like) if out is None else out
    filled.fill(number)
    return filled


def _number(value: float | str, name: str) -> float:
    if isinstance(value, str):
        raise InvalidInput(
            "kernel", f'The kernel\'s {name} = "{value}" is taken from the data: call fitted_to(X, rng) first.'
        )
    return float(value)


def _unchosen(name: str) -> InvalidInput:
    return InvalidInput(
        name,
        f'{name} is "auto", which is chosen from the data before the kernel is used: call `choose`, use an estimator,'
        " or give a number.",
    )


def _check_number(kernel: str, name: str, value: Any, *others: str, zero_allowed: bool = False) -> None:
    """Refuse a setting that is neither a number from SMALLEST to LARGEST nor a word that the caller accepts."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not (SMALLEST <= value <= LARGEST or (value == 0 and zero_allowed)):
        words = [*(f'"{word}"' for word in others), "0"] if zero_allowed else [f'"{word}"' for word in others]
        allowed = " or ".join([*words, f"a number from {SMALLEST:g} to {LARGEST:g}"])
        raise InvalidInput(name, f"The {kernel} kernel's {name} is {value!r}; it must be {allowed}.")
