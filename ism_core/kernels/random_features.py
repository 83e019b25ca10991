"""Random Fourier features of kernels that are mixtures of Gaussians.

Let −f′(β) = Σ a exp(−sβ), with one s for a Gaussian and many for a multiquadratic. exp(−s‖pi − pj‖²) is the mean of
cos ω·(pi − pj) = cos ω·pi cos ω·pj + sin ω·pi sin ω·pj over ω normal with variance 2s (Rahimi and Recht 2007). Here the
directions of ω are random, and orthogonal in sets of q (Yu et al. 2016). Their lengths are not random but stratified:
each set of directions has the length and weight of one quantile range. So f(0) and f′(0) are exact for every draw, and
the expectation of f″(0) is exact. On MNIST (3,334 rows, q = 10, gaussian, 1,024 features) this reduces the error of J
from 0.5 % to 0.04 %, of its gradient from 5 % to 1.5 %.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import exp1, gammainc, gammaincinv

from ism_core.arrays import Array
from ism_core.kernels.feature_maps import Compilable, Differentiable, Recipe

GRID_POINTS = 4_000  # points that the ranges of s are interpolated from
MIXTURE_TERMS = 256  # Gaussians that approximate a multiquadratic


@dataclass(frozen=True, eq=False)
class Fourier(Differentiable, Compilable):
    """constant + Σ amplitudes[k] cos ωk·(pi − pj)"""

    frequencies: Array  # q×k
    amplitudes: Array
    constant: float = 0.0

    @property
    def count(self) -> int:  # type: ignore[override]
        return 2 * len(self.amplitudes) + 1

    @property
    def numbers_per_row(self) -> int:
        return self.count + len(self.amplitudes)

    @property
    def weights(self) -> Array:
        return np.concatenate([self.amplitudes, self.amplitudes, [self.constant]])

    def of(self, P: Array, memory: Array | None = None) -> Array:
        k, n = len(self.amplitudes), len(P)
        memory = np.empty(self.numbers_per_row * n) if memory is None else memory
        F, angles = np.split(memory[: self.numbers_per_row * n].reshape(self.numbers_per_row, n), [self.count])
        np.matmul(self.frequencies.T, P.T, out=angles)
        np.cos(angles, out=F[:k])
        np.sin(angles, out=F[k : 2 * k])
        F[2 * k] = 1
        return F.T

    def recipe(self, P: Array) -> Recipe:
        none = np.empty((0, 4), np.int64)
        return Recipe(np.ascontiguousarray(P), np.empty(len(P)), none, 0, np.ascontiguousarray(self.frequencies))

    def derivatives(self, coefficients: Array) -> Array:
        """Return the derivatives: those of cosines are sines."""
        cosines, sines, _ = np.split(coefficients, np.cumsum([len(self.amplitudes)] * 2), axis=1)
        turned = np.concatenate([sines, -cosines], axis=1)[..., None] * np.tile(self.frequencies, 2).T
        return np.concatenate([turned, np.zeros_like(turned[:, :1])], axis=1)


def gaussian_maps(q: int, count: int, sigma: float, rng: np.random.Generator) -> tuple[Fourier, Fourier]:
    """Return maps of f = exp(−β/2σ²) and f′ with the same features, at most `count`."""
    s = 0.5 / sigma**2
    chances = np.arange(_lengths(q, count) + 1) / _lengths(q, count)
    edges = np.asarray(4 * s * gammaincinv(q / 2 + 1, chances), dtype=np.float64)
    return _maps(q, count, 1.0, np.array([s]), np.array([s]), edges, rng)


def multiquadratic_maps(q: int, count: int, c: float, beta: float, rng: np.random.Generator) -> tuple[Fourier, Fourier]:
    """Return maps of f = −√(β + c²) and f′ with the same features, optimized for distances near `beta`."""
    edges = 2 * (q + 2) * scale_ranges(_lengths(q, count), c, beta)
    return _maps(q, count, -c, *inverse_root_mixture(MIXTURE_TERMS, c, beta), edges, rng)


def scale_ranges(k: int, c: float, beta: float) -> Array:
    """Return the k + 1 edges of ranges of s from 0 to ∞.

    They are finest for 1/β < s < 1/c², which holds most of the weight.
    """
    turn = 1 / (c**2 + beta)
    s = np.concatenate([turn * np.geomspace(1e-9, 1, GRID_POINTS), np.geomspace(turn, 40 / c**2, GRID_POINTS)[1:]])
    share = np.where(s < turn, 2 * np.sqrt(s / turn), 2 + exp1(c**2 * turn) - exp1(c**2 * np.maximum(s, turn)))
    return np.concatenate([[0.0], np.interp(np.arange(1, k) / k, share / share[-1], s), [np.inf]])


def inverse_root_mixture(k: int, c: float, beta: float) -> tuple[Array, Array]:
    """Return s and a of k Gaussians with Σ a exp(−sβ) = ½(β + c²)^(−½) = ∫ s^(−½) exp(−c²s) exp(−sβ) ds / 2√π.

    Each range of s gives its weight and its mean. −√(β + c²) is then −c − Σ a/s (1 − exp(−sβ)).
    """
    edges = c**2 * scale_ranges(k, c, beta)
    mass, mean = (np.asarray(np.diff(gammainc(order, edges)), dtype=np.float64) for order in (0.5, 1.5))
    return mean / mass / (2 * c**2), mass / (2 * c)


def _lengths(q: int, count: int) -> int:
    """Return how many sets of q directions give at most `count` features, with a cosine and a sine each."""
    return max(1, (count - 1) // (2 * q))


def _maps(
    q: int, count: int, f0: float, s: Array, a: Array, edges: Array, rng: np.random.Generator
) -> tuple[Fourier, Fourier]:
    """Return maps of f and f′, with f(0) = f0 and −f′ = Σ a exp(−sβ), for squared lengths between the edges.

    The contribution of a range to the mean of ‖ω‖^j follows from the chi distribution with q + j degrees of freedom.
    The length preserves the fourth moment, and so f″(0). The weight in f preserves the second moment, and so f′(0).
    """
    zeroth, second, fourth = (
        np.diff(gammainc((q + j) / 2, np.divide.outer(edges, 4 * s)), axis=0) @ (a * s ** (j == 4)) for j in (0, 2, 4)
    )
    squares = 2 * (q + 2) * fourth / second
    directions = min(q, max(1, (count - 1) // 2))
    sets = np.linalg.qr(rng.standard_normal((len(squares), q, q)))[0][:, :, :directions]
    frequencies = sets.transpose(1, 0, 2).reshape(q, -1) * np.repeat(np.sqrt(squares), directions)
    value = np.repeat(2 * q * second / squares / directions, directions)
    derivative = np.repeat(zeroth / directions, directions)
    return Fourier(frequencies, value, f0 - float(value.sum())), Fourier(frequencies, -derivative)
