"""Subspaces: what the solver needs of the Grassmann manifold and of the eigenvectors of Φ."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrf
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigsh

from ism_core.arrays import Array
from ism_core.engines.threads import own_threads

LANCZOS = 30  # columns for each eigenvector that is sought: from there on Lanczos steps are cheaper
LANCZOS_COLUMNS = 1_500  # below, it gains nothing over all of A where eigenvalues lie close together
RESTARTS = 10
NARROW = 250  # columns of Φ: with fewer, all of it is decomposed whenever its eigenvectors are asked for
TRACE = 1e-8  # of another matrix that is added: less than Φ has to say, more than rounding
INDEPENDENT = 1e-8  # of the length of a direction: what it must have outside others
RANK_TOLERANCE = 1e-10  # eigenvalues below this share of the largest count as zero; rounding leaves some 1e-14


class Rows(Protocol):
    """What the rows say about directions."""

    @property
    def dimensions(self) -> int:
        """How many directions there are to choose from."""

    @property
    def scatter(self) -> Array:
        """How the rows spread: XᵀX of the centered rows, or of a sample of them."""

    def without_null_directions(self, phi: Array) -> Array:
        """Φ with the directions that are not to be chosen last of all."""


def largest_angle(W: Array, V: Array) -> float:
    """The largest principal angle between two subspaces in radians, by its sine: the cosine loses small angles."""
    return float(np.arcsin(min(1.0, largest_stretch(V - W @ (W.T @ V)))))


def largest_stretch(A: Array) -> float:
    """The largest singular value of a matrix with few columns."""
    return float(np.sqrt(max(np.linalg.eigvalsh(A.T @ A)[-1], 0.0)))


def dominant(phi: Array, q: int, rows: Rows) -> tuple[Array, float]:
    """The q eigenvectors of Φ with the largest eigenvalues among the directions of the rows, and the gap to the next.

    Where the q largest include zeros, any basis of the null space would do: the directions in it along which the rows
    vary most are taken.
    """
    room = rows.dimensions
    values, vectors = eigenpairs(rows.without_null_directions(phi), min(room, q + 1))
    gap = float(values[q - 1] - values[q]) if q < room else np.inf
    size = float(np.linalg.norm(phi))
    zero = _is_zero(values[:q], size)
    if not zero.any():
        return vectors[:, :q], gap
    kept = vectors[:, :q][:, ~zero]
    widest = _widest(phi, kept, int(np.count_nonzero(zero)), size, rows)
    return np.linalg.qr(np.hstack([kept, widest]))[0], gap


def _widest(phi: Array, kept: Array, count: int, size: float, rows: Rows) -> Array:
    """The directions of Φ's null space along which the rows vary most; `kept` are its eigenvectors with λ > 0."""
    if len(phi) < NARROW:
        values, vectors = eigenpairs(rows.without_null_directions(phi), rows.dimensions)
        null = vectors[:, _is_zero(values, size)]
        return null @ eigenpairs(null.T @ rows.scatter @ null, count)[1]
    # All eigenvectors would take long. Instead, a trace of the spread decides where Φ does not.
    traced = phi / (size or 1.0) + TRACE * rows.scatter / (float(np.linalg.norm(rows.scatter)) or 1.0)
    traced -= (kept * (2 + kept.T @ traced @ kept).diagonal()) @ kept.T
    return eigenpairs(rows.without_null_directions(traced), count)[1]


def orthonormal(V: Array, most: int) -> Array:
    """An orthonormal basis of the first columns of V that are not in the span of those before; of so many at most."""
    basis: Array = np.empty((len(V), 0))
    for column in (V / np.maximum(np.linalg.norm(V, axis=0), np.finfo(float).tiny)).T:
        for _ in range(2):  # once leaves some of the basis by rounding
            column = column - basis @ (basis.T @ column)
        length = float(np.linalg.norm(column))
        if length > INDEPENDENT and basis.shape[1] < most:
            basis = np.column_stack([basis, column / length])
    return basis


def corrected(phi: Array, W: Array, half_gradient: Array) -> Array:
    """The symmetric matrix nearest to phi with phi·W = pulled."""
    changed: Array = phi + correction(W, half_gradient - phi @ W)
    return changed


def correction(W: Array, missing: Array) -> Array:
    """The smallest symmetric matrix whose product with W is what was missing."""
    half = (missing - 0.5 * W @ (W.T @ missing)) @ W.T
    smallest: Array = half + half.T
    return smallest


def count_informative(eigenvalues: Array, size: float) -> int:
    """How many directions of W the objective depends on: those whose eigenvalue is not zero beside ‖Φ‖."""
    return int(np.count_nonzero(~_is_zero(eigenvalues, size)))


def eigenpairs(A: Array, count: int) -> tuple[Array, Array]:
    """The largest eigenvalues of a symmetric matrix, in falling order, with their eigenvectors."""
    d = len(A)
    with own_threads():
        few = _few_eigenpairs(A, count) if d >= max(LANCZOS_COLUMNS, LANCZOS * count) else None
        if few is not None:
            return few
        values, vectors = eigh(A, subset_by_index=(d - count, d - 1), check_finite=False)
        if len(values) < count:  # LAPACK may lose some of many equal eigenvalues when asked for a few
            values, vectors = (found[..., -count:] for found in np.linalg.eigh(A))
    return values[::-1], vectors[:, ::-1]


def is_positive_definite(A: Array) -> bool:
    """In a tenth of the time of its eigenvalues."""
    with own_threads():
        return bool(dpotrf(A)[1] == 0)


def _few_eigenpairs(A: Array, count: int) -> tuple[Array, Array] | None:
    """By Lanczos steps, unless the eigenvalues lie so close together that all of A is as cheap."""
    first = np.random.default_rng(0).standard_normal(len(A))
    try:
        values, vectors = eigsh(A, count, which="LA", v0=first, ncv=min(len(A), 3 * count + 10), maxiter=RESTARTS)
    except (ArpackNoConvergence, ArpackError):
        return None
    order = np.argsort(-values)
    return values[order], np.asarray(vectors[:, order], dtype=np.float64)


def with_fixed_signs(W: Array) -> Array:
    """Each column with the sign that makes its entry of largest size positive."""
    largest = W[np.argmax(np.abs(W), axis=0), np.arange(W.shape[1])]
    return W * np.where(largest < 0, -1.0, 1.0)


def _is_zero(values: Array, size: float) -> NDArray[np.bool_]:
    small: NDArray[np.bool_] = np.abs(values) <= RANK_TOLERANCE * size
    return small
