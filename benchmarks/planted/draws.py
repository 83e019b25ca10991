"""The random parts that planted problems are made of: rows, directions, layouts of class means, targets."""

from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array, Ints

LEAST_WEIGHT = 0.6  # the smallest weight of a relevant column on an axis, relative to the largest
LEAST_LOADING = 0.5  # the smallest loading of a relevant column over all axes, relative to the average


def between(rng: np.random.Generator, low: int, high: int) -> int:
    """Draw a whole number, both limits included; all orders of magnitude are equally likely."""
    return int(np.exp(rng.uniform(np.log(low), np.log(high + 1))))


def normal_rows(rng: np.random.Generator, n: int, d: int, correlation: float = 0.0) -> Array:
    """Draw normal rows in which the columns i and j correlate by correlation^|i − j|; their order is random."""
    X = rng.standard_normal((n, d))
    for column in range(1, d):
        X[:, column] = correlation * X[:, column - 1] + sqrt(1 - correlation**2) * X[:, column]
    return X[:, rng.permutation(d)]


def weights(rng: np.random.Generator, count: int) -> Array:
    """Draw weights of similar size and random sign, with norm 1."""
    drawn = rng.uniform(LEAST_WEIGHT, 1, count) * rng.choice([-1.0, 1.0], count)
    return np.asarray(drawn / np.linalg.norm(drawn))


def supports(rng: np.random.Generator, d: int, count: int, sizes: tuple[int, int]) -> list[Ints]:
    """Draw disjoint sets of columns."""
    lengths = rng.integers(sizes[0], sizes[1] + 1, count)
    return list(np.split(rng.permutation(d)[: lengths.sum()], lengths.cumsum()[:-1]))


def standardized(values: Array) -> Array:
    """Return the values with mean 0 and standard deviation 1 in each column."""
    return np.asarray((values - values.mean(axis=0)) / values.std(axis=0))


def index(rng: np.random.Generator, X: Array, support: Ints) -> Array:
    """Return a linear index of some columns, standardized."""
    return standardized(X[:, support] @ weights(rng, len(support)))


def two_classes(rng: np.random.Generator, score: Array, noise: float) -> NDArray[np.str_]:
    """Return "yes" for the half of the rows whose score plus noise is larger."""
    noisy = standardized(score) + noise * rng.standard_normal(len(score))
    return np.where(noisy > np.median(noisy), "yes", "no")


def noisy(rng: np.random.Generator, signal: Array, noise: float) -> Array:
    """Return the standardized signal with normal noise."""
    return standardized(signal) + noise * rng.standard_normal(signal.shape)


def class_means(layout: str, size: int, distance: float) -> Array:
    """Return the class means (classes × axes) at the corners of a regular body.

    The nearest corners have the given distance. The bodies are a "simplex" with `size` corners, a "cross" with ±1 on
    each of `size` axes, and a "cube" with `size` axes. Each axis matters as much as any other.
    """
    match layout:
        case "simplex":
            centered = np.eye(size) - 1 / size
            axes = np.linalg.svd(centered)[2][: size - 1]
            return np.asarray(centered @ axes.T * distance / sqrt(2))
        case "cross":
            return np.vstack([np.eye(size), -np.eye(size)]) * distance / sqrt(2)
        case "cube":
            return np.array(list(product([-1.0, 1.0], repeat=size))) * distance / 2
    raise ValueError(layout)


def loadings(rng: np.random.Generator, count: int, q: int) -> Array:
    """Draw q orthonormal axes of `count` columns, each of which has a fair share of them."""
    while True:
        axes: Array = np.linalg.qr(rng.standard_normal((count, q)))[0]
        if np.linalg.norm(axes, axis=1).min() >= LEAST_LOADING * sqrt(q / count):
            return axes
