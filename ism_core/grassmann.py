"""Subspaces: what the solver needs of the Grassmann manifold and of the eigenvectors of Φ."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from ism_core.arrays import Array
from ism_core.threads import own_threads

RANK_TOLERANCE = 1e-10  # eigenvalues below this share of the largest count as zero; rounding leaves some 1e-14


def largest_angle(W: Array, V: Array) -> float:
    """The largest principal angle between two subspaces in radians, by its sine: the cosine loses small angles."""
    sine = float(np.linalg.norm(V - W @ (W.T @ V), ord=2))
    return float(np.arcsin(min(1.0, sine)))


def dominant(phi: Array, q: int, X: Array) -> tuple[Array, float]:
    """The q eigenvectors of Φ with the largest eigenvalues, and the gap to the next one.

    Where the q largest include zeros, any basis of the null space would do: the directions in it along which X varies
    most are taken.
    """
    d = len(phi)
    values, vectors = eigenpairs(phi, min(d, q + 1))
    gap = float(values[q - 1] - values[q]) if q < d else np.inf
    zero = _is_zero(values, phi)
    empty = int(np.count_nonzero(zero[:q]))
    if empty == 0:
        return vectors[:, :q], gap
    values, vectors = eigenpairs(phi, d)
    null = vectors[:, _is_zero(values, phi)]
    spread = (X - X.mean(axis=0)) @ null
    widest = eigenpairs(spread.T @ spread, empty)[1]
    kept = vectors[:, :q][:, ~zero[:q]]
    return np.linalg.qr(np.hstack([kept, null @ widest]))[0], gap


def count_informative(phi: Array, W: Array) -> int:
    """How many directions of W the objective depends on: those whose eigenvalue of Φ is not zero."""
    zero = _is_zero(np.asarray(np.linalg.eigvalsh(W.T @ phi @ W)), phi)
    return int(W.shape[1] - np.count_nonzero(zero))


def eigenpairs(A: Array, count: int) -> tuple[Array, Array]:
    """The largest eigenvalues of a symmetric matrix, in falling order, with their eigenvectors."""
    d = len(A)
    with own_threads():
        values, vectors = eigh(A, subset_by_index=(d - count, d - 1), check_finite=False)
        if len(values) < count:  # LAPACK may lose some of many equal eigenvalues when asked for a few
            values, vectors = (found[..., -count:] for found in np.linalg.eigh(A))
    return values[::-1], vectors[:, ::-1]


def with_fixed_signs(W: Array) -> Array:
    """Each column with the sign that makes its entry of largest size positive."""
    largest = W[np.argmax(np.abs(W), axis=0), np.arange(W.shape[1])]
    return W * np.where(largest < 0, -1.0, 1.0)


def _is_zero(values: Array, phi: Array) -> NDArray[np.bool_]:
    small: NDArray[np.bool_] = np.abs(values) <= RANK_TOLERANCE * np.linalg.norm(phi)
    return small
