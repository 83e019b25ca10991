"""The method as it is defined, by plain loops over pairs of rows: slow, and too simple to be wrong."""

import math
from collections.abc import Iterator

import numpy as np

from ism_core import Gaussian, Linear, Multiquadratic, Polynomial, RelativeGaussian, Squared
from ism_core.arrays import Array
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel, Term


def dense(gamma: Gamma) -> Array:
    """Γ as a matrix."""
    return gamma.U @ np.diag(gamma.s) @ gamma.U.T


def beta(term: Term, x: Array, z: Array, W: Array) -> float:
    if isinstance(term, Linear | Polynomial):
        return float(x @ W @ W.T @ z)
    return float(np.sum((W.T @ (x - z)) ** 2))


def value(term: Term, b: float, i: int, j: int) -> float:
    """f(β), from the table of kernels in the design."""
    match term:
        case Linear():
            return b
        case Squared():
            return -b
        case Polynomial(degree, c, gamma):
            return (gamma * b + c) ** degree
        case Gaussian(sigma):
            return math.exp(-b / (2 * sigma**2))
        case RelativeGaussian():
            return math.exp(-b / (2 * term.scales[0][i] * term.scales[1][j]))
        case Multiquadratic(c):
            return -math.sqrt(b + c**2)
    raise AssertionError(term)


def derivative(term: Term, b: float, i: int, j: int) -> float:
    """f′(β), from the same table."""
    match term:
        case Linear():
            return 1.0
        case Squared():
            return -1.0
        case Polynomial(degree, c, gamma):
            return degree * gamma * (gamma * b + c) ** (degree - 1)
        case Gaussian(sigma):
            return -math.exp(-b / (2 * sigma**2)) / (2 * sigma**2)
        case RelativeGaussian():
            scale = 2 * term.scales[0][i] * term.scales[1][j]
            return -math.exp(-b / scale) / scale
        case Multiquadratic(c):
            return -0.5 / math.sqrt(b + c**2)
    raise AssertionError(term)


def kernel_matrix(P: Array, kernel: Kernel) -> Array:
    """K of the projected rows."""
    q = P.shape[1]
    K = np.zeros((len(P), len(P)))
    for weight, term, i, j in _pairs(len(P), kernel):
        K[i, j] += weight * value(term, beta(term, P[i], P[j], np.eye(q)), i, j)
    return K


def objective(X: Array, gamma: Gamma, kernel: Kernel, W: Array) -> float:
    """J(W) = Σij Γij f(βij)"""
    G = dense(gamma)
    return sum(
        G[i, j] * weight * value(term, beta(term, X[i], X[j], W), i, j) for weight, term, i, j in _pairs(len(X), kernel)
    )


def evaluate(X: Array, gamma: Gamma, kernel: Kernel, W: Array) -> Array:
    """Φ(W) = Σij Γij f′(βij) Aij, Aij = xi xjᵀ made symmetric, or (xi − xj)(xi − xj)ᵀ"""
    G = dense(gamma)
    phi = np.zeros((X.shape[1], X.shape[1]))
    for weight, term, i, j in _pairs(len(X), kernel):
        phi += G[i, j] * weight * derivative(term, beta(term, X[i], X[j], W), i, j) * _outer(term, X[i], X[j])
    return phi


def initial_surrogate(X: Array, gamma: Gamma, kernel: Kernel) -> Array:
    """Φ0: the same with f′(0) for f′(β); for local scales, that of the mean inverse scale."""
    G = dense(gamma)
    phi = np.zeros((X.shape[1], X.shape[1]))
    for weight, term, i, j in _pairs(len(X), kernel):
        at_zero = (
            -0.5 * np.mean(1 / term.scales[0]) ** 2
            if isinstance(term, RelativeGaussian)
            else derivative(term, 0.0, i, j)
        )
        phi += G[i, j] * weight * at_zero * _outer(term, X[i], X[j])
    return phi


def numerical_gradient(X: Array, gamma: Gamma, kernel: Kernel, W: Array, step: float = 1e-5) -> Array:
    """∂J/∂W by central differences."""
    gradient = np.zeros_like(W)
    for index in np.ndindex(W.shape):
        move = np.zeros_like(W)
        move[index] = step
        above, below = objective(X, gamma, kernel, W + move), objective(X, gamma, kernel, W - move)
        gradient[index] = (above - below) / (2 * step)
    return gradient


def _outer(term: Term, x: Array, z: Array) -> Array:
    if isinstance(term, Linear | Polynomial):
        return (np.outer(x, z) + np.outer(z, x)) / 2
    return np.outer(x - z, x - z)


def _pairs(n: int, kernel: Kernel) -> Iterator[tuple[float, Term, int, int]]:
    for weight, term in kernel.terms:
        for i in range(n):
            for j in range(n):
                yield weight, term, i, j
