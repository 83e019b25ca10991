"""What a kernel is, its feature maps, and the distances between rows that set its width."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.neighbors import NearestNeighbors

from ism_core.arrays import Array, Ints
from ism_core.engines import LOCAL
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma
from ism_core.kernels.feature_maps import Form as Form  # re-exported for tiles and features
from ism_core.kernels.feature_maps import TermMap

RowSelection = slice | Ints  # some of the rows, as numpy indexes them

MEDIAN_ROWS = 2_000  # rows that the median distance is estimated from: 2 million pairs
MEDIAN_SAMPLE = 10_000  # distances that show where the median of many is
PRODUCT_COLUMNS = 100  # number of columns from which a matrix product is faster than `pdist`
BLOCK_ROWS = 200  # rows whose distances to all later rows are computed at a time
COINCIDENT = 1e-12  # squared distances below this multiple of the squared norms count as 0, because of rounding


class Kernel(ABC):
    """A member of the family, or a conic combination of members."""

    @property
    @abstractmethod
    def terms(self) -> tuple[tuple[float, "Term"], ...]:
        """The kernel as Σ weight · term."""

    @abstractmethod
    def fitted_to(self, X: Array, rng: np.random.Generator, guidance: Gamma | None = None) -> "Kernel":
        """Return the kernel with numbers for settings that depend on the data, such as sigma="median"."""

    @abstractmethod
    def restricted(self, rows: RowSelection, columns: RowSelection) -> "Kernel":
        """Return the kernel between some of the rows that it was fitted to and some others."""

    @property
    def nonnegative(self) -> bool:
        """Whether f ≥ 0 everywhere, as an affinity of spectral clustering must be."""
        return all(term.is_nonnegative for _, term in self.terms)

    @property
    def has_product_form(self) -> bool:
        """Whether all terms depend on products of projected rows, so that far rows weigh most."""
        return all(term.form == "product" for _, term in self.terms)

    @property
    def derivatives_at_zero(self) -> "list[tuple[Form, float]]":
        """The form and the weighted f′(0) of each term, which make Φ0."""
        derivatives = [(term.form, weight * term.derivative_at_zero) for weight, term in self.terms]
        if any(derivative for _, derivative in derivatives):
            return derivatives
        # if f′(0) = 0, as for (γβ)^p, the sign of f′ is used instead
        return [(form, 1.0 if form == "product" else -1.0) for form, _ in derivatives]

    def __add__(self, other: "Kernel") -> "Combination":
        if not isinstance(other, Kernel):
            return NotImplemented
        return Combination(self.terms + other.terms)

    def __mul__(self, weight: float) -> "Combination":
        if not isinstance(weight, Real) or isinstance(weight, bool):
            return NotImplemented
        return Combination(tuple((weight * own, term) for own, term in self.terms))

    __rmul__ = __mul__


@dataclass(frozen=True)
class Term(Kernel):
    """One kernel of the family."""

    form: ClassVar[Form]
    is_nonnegative: ClassVar[bool] = False
    has_constant_derivative: ClassVar[bool] = False  # whether f′ is constant; then Φ does not depend on W

    @abstractmethod
    def value(self, beta: Array, out: Array | None = None) -> Array:
        """Return f(β), written into `out` if that is given, as in numpy."""

    @abstractmethod
    def derivative(self, beta: Array, value: Array, out: Array | None = None) -> Array:
        """Return f′(β), given f(β)."""

    def exact_map(self, q: int) -> TermMap | None:
        """Return the feature maps of f and f′ on q projected dimensions, if they are finite."""
        return None

    def taylor_map(self, q: int, degree: int) -> TermMap | None:
        """Return the feature maps truncated at a degree, if the error has a bound."""
        return None

    def random_map(self, q: int, count: int, beta: float, rng: np.random.Generator) -> TermMap | None:
        """Return maps with at most `count` random features, optimized for β near `beta`; None if there are none."""
        return None

    @property
    def derivative_at_zero(self) -> float:
        """f′(0)"""
        zero = np.zeros(1)
        return float(self.derivative(zero, self.value(zero))[0])

    @property
    def terms(self) -> "tuple[tuple[float, Term], ...]":
        return ((1.0, self),)

    def fitted_to(self, X: Array, rng: np.random.Generator, guidance: Gamma | None = None) -> Self:
        return self

    def restricted(self, rows: RowSelection, columns: RowSelection) -> Self:
        return self


@dataclass(frozen=True)
class Combination(Kernel):
    """Σ weight · kernel with weights of 0 or more: its Φ is the same sum of their Φs."""

    parts: tuple[tuple[float, Term], ...]

    def __post_init__(self) -> None:
        for weight, term in self.parts:
            if not (math.isfinite(weight) and weight >= 0):
                raise InvalidInput(
                    "weight",
                    f"The weight of {type(term).__name__} in a sum of kernels is {weight}; it must be 0 or more.",
                )

    @property
    def terms(self) -> tuple[tuple[float, Term], ...]:
        return tuple((float(weight), term) for weight, term in self.parts if weight > 0)

    def fitted_to(self, X: Array, rng: np.random.Generator, guidance: Gamma | None = None) -> "Combination":
        return Combination(tuple((weight, term.fitted_to(X, rng, guidance)) for weight, term in self.parts))

    def restricted(self, rows: RowSelection, columns: RowSelection) -> "Combination":
        return Combination(tuple((weight, term.restricted(rows, columns)) for weight, term in self.parts))


def parameters(kernel: Kernel) -> dict[str, Any]:
    """Return the settings of one kernel by name; a combination has none of its own."""
    if not isinstance(kernel, Term):
        return {}
    return {setting.name: getattr(kernel, setting.name) for setting in fields(kernel) if setting.repr}


def with_parameters(kernel: Kernel, values: Mapping[str, Any]) -> Kernel:
    """Return the kernel with other settings."""
    unknown = set(values) - set(parameters(kernel))
    if unknown:
        known = ", ".join(parameters(kernel)) or "none"
        raise InvalidInput("kernel", f"{kernel} has no parameter {min(unknown)!r}; it has {known}.")
    changed: Kernel = replace(kernel, **values)  # type: ignore[type-var]
    return changed


def exact_maps(kernel: Kernel, q: int) -> list[TermMap] | None:
    """Return a map for each term, on q projected dimensions; None if a term has no finite feature map."""
    return _maps(kernel, lambda term: term.exact_map(q))


def taylor_maps(kernel: Kernel, q: int, degree: int) -> list[TermMap] | None:
    """Return a map for each term, with Gaussians truncated at a degree; None if a term has no such map.

    `ism_core.objective.truncation` bounds the error.
    """
    return _maps(kernel, lambda term: term.exact_map(q) or term.taylor_map(q, degree))


def random_maps(kernel: Kernel, q: int, count: int, beta: float, rng: np.random.Generator) -> list[TermMap] | None:
    """Return a map for each term, with `count` random features if it has no exact map; None if a term has neither.

    `beta` is a typical squared distance between projected rows, such as twice the sum of the variances of P. It may be
    wrong by a factor of ten.
    """
    return _maps(kernel, lambda term: term.exact_map(q) or term.random_map(q, count, beta, rng))


def _maps(kernel: Kernel, map_of: Callable[[Term], TermMap | None]) -> list[TermMap] | None:
    maps: list[TermMap] = []
    for weight, term in kernel.terms:
        own = map_of(term)
        if own is None:
            return None
        maps.append(replace(own, weight=weight))
    return maps


def median_distance(X: Array, rng: np.random.Generator) -> float:
    """Return the median distance between distinct rows, from a sample of the rows if there are many."""
    sample = X if len(X) <= MEDIAN_ROWS else X[np.sort(rng.choice(len(X), MEDIAN_ROWS, replace=False))]
    distances = _distances(sample)
    distances = distances[distances > 0]
    if len(distances) == 0:
        raise InvalidInput(
            "sigma",
            f"sigma = 0: all {len(sample)} rows of X coincide, so there is no median distance. Give rows that differ.",
        )
    return _median(distances)


def _median(numbers: Array) -> float:
    """Return the median, of many numbers in a quarter of numpy's time: a sample shows where it is."""
    sample = np.sort(numbers[:: max(1, len(numbers) // MEDIAN_SAMPLE)])
    middle, margin = len(sample) // 2, len(sample) // 50
    low, high = sample[middle - margin], sample[min(middle + margin, len(sample) - 1)]
    inside = numbers[(numbers >= low) & (numbers <= high)]
    ranks = np.array([(len(numbers) - 1) // 2, len(numbers) // 2]) - np.count_nonzero(numbers < low)
    if len(numbers) < 10 * MEDIAN_SAMPLE or ranks[0] < 0 or ranks[1] >= len(inside):
        return float(np.median(numbers))
    inside.partition(ranks)
    return float(inside[ranks].mean())


def _distances(X: Array) -> Array:
    """Return the distances between all pairs of rows; 0 if they may be rounding errors."""
    if X.shape[1] < PRODUCT_COLUMNS:
        return pdist(X)
    centered = X - X.mean(axis=0)
    squares = np.einsum("ij,ij->i", centered, centered)
    return np.concatenate(LOCAL.run(_distance_share, -(-len(X) // BLOCK_ROWS), centered, squares))


def _distance_share(share: list[int], centered: Array, squares: Array) -> Array:
    """Return the distances from the rows of some blocks to all later rows."""
    parts: list[Array] = []
    for index in share:
        start = index * BLOCK_ROWS
        rows = slice(start, start + BLOCK_ROWS)
        sums = squares[rows, None] + squares[start:]
        distances = sums - 2 * (centered[rows] @ centered[start:].T)
        distances[distances <= COINCIDENT * sums] = 0
        parts += [row[first:] for first, row in enumerate(distances, start=1)]
    everything: Array = np.sqrt(np.concatenate(parts))
    return everything


def local_scales(X: Array, neighbors: int, rng: np.random.Generator) -> Array:
    """Return the distance from each row to its `neighbors`-th nearest, or a tenth of the median distance if it is 0."""
    nearest = NearestNeighbors(n_neighbors=min(neighbors, len(X) - 1) + 1).fit(X)
    distance: Array = nearest.kneighbors(X)[0][:, -1]
    return np.where(distance > 0, distance, 0.1 * median_distance(X, rng))
