"""Geometry of subspaces (the Grassmann manifold) and the dominant eigenvectors of Φ."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigsh

from ism_core.arrays import Array
from ism_core.engines import own_threads

# Columns of a matrix, and columns per eigenvector, from which Lanczos is cheaper than a full decomposition. Close
# eigenvalues make it restart, so that smaller matrices need fewer eigenvectors (measured on MNIST and Face).
LANCZOS_FROM = ((250, 200), (1_500, 30))
RESTARTS = 10  # Lanczos restarts before the full decomposition takes over
NARROW = 250  # columns of Φ below which it is decomposed in full every time (measured on digits and MNIST)
TIE_BREAK = (
    1e-8  # weight of the scatter matrix that breaks ties in Φ's null space: above rounding, below Φ's own values
)
INDEPENDENT = 1e-8  # relative length outside the others that makes a direction linearly independent
RANK_TOLERANCE = 1e-10  # eigenvalues below this share of ‖Φ‖ count as zero; rounding leaves about 1e-14


class RowStatistics(Protocol):
    """What the choice of eigenvectors needs to know about the rows."""

    @property
    def dimensions(self) -> int:
        """Number of directions to choose from."""

    @property
    def scatter(self) -> Array:
        """The scatter matrix XᵀX of the centered rows, or of a sample of them."""

    def with_null_directions_last(self, phi: Array) -> Array:
        """Φ with eigenvalues for the null directions that are below all others."""


def largest_angle(W: Array, V: Array) -> float:
    """Return the largest principal angle between two subspaces, in radians. The sine resolves small angles."""
    return float(np.arcsin(min(1.0, spectral_norm(project_out(W, V)))))


def project_out(W: Array, V: Array) -> Array:
    """Return V − W(WᵀV), the part of V that is orthogonal to the orthonormal columns of W."""
    outside: Array = V - W @ (W.T @ V)
    return outside


def procrustes_rotation(W: Array, target: Array) -> Array:
    """Return the orthogonal R that brings WR nearest to the target."""
    left, _, right = np.linalg.svd(W.T @ target)
    rotation: Array = left @ right
    return rotation


def spectral_norm(A: Array) -> float:
    """Return the largest singular value of a matrix with few columns."""
    return float(np.sqrt(max(np.linalg.eigvalsh(A.T @ A)[-1], 0.0)))


def dominant(phi: Array, q: int, rows: RowStatistics) -> tuple[Array, float]:
    """Return the q eigenvectors of Φ with the largest eigenvalues, and the gap to the next eigenvalue.

    If the q largest eigenvalues include zeros, any vectors of the null space are equally good. The function then takes
    those along which the rows vary most.
    """
    room = rows.dimensions
    values, vectors = eigenpairs(rows.with_null_directions_last(phi), min(room, q + 1))
    gap = float(values[q - 1] - values[q]) if q < room else np.inf
    size = float(np.linalg.norm(phi))
    zero = _is_zero(values[:q], size)
    if not zero.any():
        return vectors[:, :q], gap
    kept = vectors[:, :q][:, ~zero]
    varying = _most_varying(phi, kept, int(np.count_nonzero(zero)), size, rows)
    return np.linalg.qr(np.hstack([kept, varying]))[0], gap


def _most_varying(phi: Array, kept: Array, count: int, size: float, rows: RowStatistics) -> Array:
    """Return the directions of Φ's null space along which the rows vary most; `kept` are eigenvectors with λ > 0."""
    if len(phi) < NARROW:
        values, vectors = eigenpairs(rows.with_null_directions_last(phi), rows.dimensions)
        null = vectors[:, _is_zero(values, size)]
        return null @ eigenpairs(null.T @ rows.scatter @ null, count)[1]
    # A full decomposition is expensive here. A small multiple of the scatter matrix breaks the ties instead.
    tie_broken = phi / (size or 1.0) + TIE_BREAK * rows.scatter / (float(np.linalg.norm(rows.scatter)) or 1.0)
    tie_broken -= (kept * (2 + kept.T @ tie_broken @ kept).diagonal()) @ kept.T
    return eigenpairs(rows.with_null_directions_last(tie_broken), count)[1]


def orthonormal(V: Array, most: int) -> Array:
    """Return an orthonormal basis of the linearly independent columns of V, in their order and `most` at most."""
    basis: Array = np.empty((len(V), 0))
    for column in (V / np.maximum(np.linalg.norm(V, axis=0), np.finfo(float).tiny)).T:
        for _ in range(2):  # twice: rounding leaves a component along the basis after the first time
            column = project_out(basis, column)
        length = float(np.linalg.norm(column))
        if length > INDEPENDENT and basis.shape[1] < most:
            basis = np.column_stack([basis, column / length])
    return basis


def corrected(phi: Array, W: Array, half_gradient: Array) -> Array:
    """Return the symmetric matrix nearest to phi whose product with W is the half gradient."""
    changed: Array = phi + correction(W, half_gradient - phi @ W)
    return changed


def correction(W: Array, missing: Array) -> Array:
    """Return the smallest symmetric matrix whose product with W is `missing`."""
    half = (missing - 0.5 * W @ (W.T @ missing)) @ W.T
    smallest: Array = half + half.T
    return smallest


def count_nonzero_eigenvalues(eigenvalues: Array, size: float) -> int:
    """Count the eigenvalues that are not zero compared with ‖Φ‖; J does not depend on the other axes."""
    return int(np.count_nonzero(~_is_zero(eigenvalues, size)))


def eigenpairs(A: Array, count: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues of a symmetric matrix, in descending order, with their eigenvectors."""
    d = len(A)
    with own_threads():
        pays = any(d >= max(columns, each * count) for columns, each in LANCZOS_FROM)
        few = _few_eigenpairs(A, count) if pays else None
        if few is not None:
            return few
        values, vectors = eigh(A, subset_by_index=(d - count, d - 1), check_finite=False)
        if len(values) < count:  # LAPACK can miss some of many equal eigenvalues if it is asked for a few
            values, vectors = (found[..., -count:] for found in np.linalg.eigh(A))
    return values[::-1], vectors[:, ::-1]


def _few_eigenpairs(A: Array, count: int) -> tuple[Array, Array] | None:
    """Use Lanczos; return None if the eigenvalues are so close that a full decomposition is as cheap."""
    # No seed of the caller: any start vector leads to the same eigenvectors.
    first = np.random.default_rng(0).standard_normal(len(A))
    try:
        values, vectors = eigsh(A, count, which="LA", v0=first, ncv=min(len(A), 3 * count + 10), maxiter=RESTARTS)
    except (ArpackNoConvergence, ArpackError):
        return None
    order = np.argsort(-values)
    return values[order], np.asarray(vectors[:, order], dtype=np.float64)


def with_fixed_signs(W: Array) -> Array:
    """Return W with the sign of each column that makes its largest entry positive."""
    largest = W[np.argmax(np.abs(W), axis=0), np.arange(W.shape[1])]
    return W * np.where(largest < 0, -1.0, 1.0)


def _is_zero(values: Array, size: float) -> NDArray[np.bool_]:
    small: NDArray[np.bool_] = np.abs(values) <= RANK_TOLERANCE * size
    return small
