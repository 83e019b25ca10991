"""The Y step: spectral clustering of the projected rows with the kernel as affinity.

Y holds the top-k eigenvectors of H D^(−½) A D^(−½) H, where the affinity A is the kernel matrix K made fit for degrees:
- a kernel of product form is taken as a cosine, Kij/√(Kii Kjj), since a row far from the origin has a large product
  with every other, alike or not;
- a kernel that goes negative is shifted by its smallest value, since a degree is a sum of affinities of 0 or more;
- the diagonal, which says nothing about neighbours, is zeroed.
With many rows K is never a matrix, only products with it.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, eigsh, lobpcg
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from ism_core import features, tiles
from ism_core.arrays import Array, Ints
from ism_core.grassmann import eigenpairs
from ism_core.kernel import Kernel

DENSE_ROWS = 4_000  # up to here K is a matrix: at most 128 MB
TOLERANCE = 1e-6  # of eigenvectors found by products only, relative to the largest eigenvalue
PRODUCTS = 60
LANCZOS_ROWS = 60  # Lanczos may restart once for so many rows; then all eigenvalues at once are as cheap
FEATURE_ROWS = 8  # a feature map is used for products with K where it has a feature for this many rows at the most

Product = Callable[[Array], Array]


@dataclass(frozen=True)
class Clustering:
    """A spectral clustering."""

    Y: Array  # n×k
    eigenvalues: Array  # of its columns
    root: Array  # the diagonal R that makes R K R the normalised affinity

    def labels(self, seed: int) -> Ints:
        """k-means of the rows of Y, each scaled to length 1."""
        lengths = np.linalg.norm(self.Y, axis=1, keepdims=True)
        rows = self.Y / np.where(lengths > 0, lengths, 1)
        distinct = len(np.unique(rows.round(9), axis=0))
        restarts = 50 if len(rows) <= 2_000 else 10  # the lowest of many is surer to be the lowest there is
        means = KMeans(min(self.Y.shape[1], distinct), n_init=restarts, random_state=seed)
        # Threads do not pay on few rows, and wait for each other at length on a busy machine.
        with threadpool_limits(1 if len(rows) <= 2_000 else None, user_api="openmp"):
            found: Ints = means.fit(rows).labels_.astype(np.intp)
        return found


def spectral(P: Array, kernel: Kernel, k: int, seed: int, start: Array | None = None) -> Clustering:
    """Cluster the projected rows P; `start` is a Y from before, near the new one."""
    n = len(P)
    scale = _cosine_scale(P, kernel)
    if n <= DENSE_ROWS:
        A = tiles.kernel_matrix(P, kernel)
        A *= scale
        A *= scale[:, None]
        size = float(np.abs(A).max())
        if not kernel.nonnegative:
            A -= A.min()
        np.fill_diagonal(A, 0)
        root = _root(A.sum(axis=1), n * size)
        A *= root
        A *= root[:, None]
        values, Y = _largest(_centred(_centred(A).T), k, seed)
    else:
        affinity, size = _affinity(P, kernel, scale)
        root = _root(affinity(np.ones((n, 1)))[:, 0], n * size)
        first = np.random.default_rng(seed).standard_normal((n, k)) if start is None else start
        values, Y = _largest_by_products(
            lambda V: _centred(root[:, None] * affinity(root[:, None] * _centred(V))), first
        )
    return Clustering(Y, values, root * scale)


def _cosine_scale(P: Array, kernel: Kernel) -> Array:
    """1/√Kii for terms of product form; 1 without them, or beside distances, which leave Kii with no sign."""
    terms = [term for _, term in kernel.terms]
    products = [term for term in terms if term.form == "product"]
    if not products or any(term not in products and not term.is_nonnegative for term in terms):
        return np.ones(len(P))
    diagonal = tiles.kernel_diagonal(P, kernel)
    return _root(diagonal, float(diagonal.max()))


def _affinity(P: Array, kernel: Kernel, scale: Array) -> tuple[Product, float]:
    """V ↦ A V, and the size of the entries that A was made from."""
    shift = 0.0 if kernel.nonnegative else tiles.smallest_value(P, kernel, scale)
    own = scale**2 * tiles.kernel_diagonal(P, kernel)
    size = max(float(np.abs(own).max()), abs(shift))
    diagonal = own - shift
    column = scale[:, None]
    maps = features.value_maps(kernel, P.shape[1])
    if maps is None or sum(m.count for _, _, m in maps) > len(P) / FEATURE_ROWS:

        def by_tiles(V: Array) -> Array:
            product = column * tiles.kernel_product(P, kernel, column * V)
            product -= shift * V.sum(axis=0) + diagonal[:, None] * V
            return product

        return by_tiles, size
    F = column * np.hstack([m.of(P) for _, _, m in maps])
    weights = np.concatenate([weight * m.weights for weight, _, m in maps])

    def by_features(V: Array) -> Array:
        product: Array = F @ (weights[:, None] * (F.T @ V))
        product -= shift * V.sum(axis=0) + diagonal[:, None] * V
        return product

    return by_features, size


def _root(values: Array, size: float) -> Array:
    """values^(−½), finite for a row that is like no other: what is less than the rounding of `size` counts as that."""
    root: Array = 1 / np.sqrt(np.maximum(values, 1e-12 * size)) if size > 0 else np.ones_like(values)
    return root


def _centred(V: Array) -> Array:
    centred: Array = V - V.mean(axis=0)
    return centred


def _largest(A: Array, k: int, seed: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of a symmetric matrix, falling, and their eigenvectors.

    Lanczos where it has room, else all at once; and all at once where eigenvalues lie so close together that Lanczos
    has already cost as much (digits, q = 2: a quarter of the time).
    """
    n = len(A)
    if n > max(200, 4 * k):
        first = np.random.default_rng(seed).standard_normal(n)
        try:
            values, vectors = eigsh(A, k, which="LA", tol=1e-9, v0=first, maxiter=max(4, n // LANCZOS_ROWS))
        except ArpackNoConvergence:
            return eigenpairs(A, k)
        order = np.argsort(-values)
        return values[order], np.asarray(vectors[:, order], dtype=np.float64)
    return eigenpairs(A, k)


def _largest_by_products(operator: Product, first: Array) -> tuple[Array, Array]:
    """The same from products alone, beginning at `first`."""
    scale = float(np.linalg.norm(operator(first[:, :1]))) / float(np.linalg.norm(first[:, :1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the tolerance was not reached: the next round goes on
        values, vectors = lobpcg(operator, first, largest=True, tol=TOLERANCE * max(scale, 1e-12), maxiter=PRODUCTS)
    order = np.argsort(-values)
    return values[order], np.asarray(vectors[:, order], dtype=np.float64)
