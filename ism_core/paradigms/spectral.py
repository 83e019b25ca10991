"""The Y step: spectral clustering of the projected rows with the kernel as affinity.

Y holds the top-k eigenvectors of H D^(−½) A D^(−½) H, where the affinity A is the kernel matrix K made fit for degrees:
- a kernel of product form is taken as a cosine, Kij/√(Kii Kjj), since a row far from the origin has a large product
  with every other, alike or not;
- a kernel that goes negative is shifted by its smallest value, since a degree is a sum of affinities of 0 or more;
- the diagonal, which says nothing about neighbors, is zeroed.
With many rows K is never a matrix, only products with it.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from ism_core.arrays import Array, Ints
from ism_core.engines.base import LOCAL, Engine
from ism_core.engines.threads import own_threads
from ism_core.kernels import Kernel
from ism_core.linalg import block_krylov as krylov
from ism_core.linalg.subspaces import eigenpairs
from ism_core.objective import Precision, kernel_matrix
from ism_core.paradigms.affinity import Affinity, kernel_diagonal

DENSE_ROWS = 4_000  # up to here K is a matrix: at most 128 MB
SAMPLE_ROWS = 2_000  # that are clustered first where there are more than that
TOLERANCE = 1e-3  # radians that Y may be off by products, where nobody asks for another
LEFT_OUT = (
    0.1  # times the tolerance: what cut features may leave out of K. Measured: Y turns by 4e-4 for a tolerance of 1e-3
)
PRODUCTS = 60
LANCZOS_ROWS = 60  # Lanczos may restart once for so many rows; then all eigenvalues at once are as cheap


@dataclass(frozen=True)
class Clustering:
    """A spectral clustering."""

    Y: Array  # n×k
    eigenvalues: Array  # of its columns
    root: Array  # the diagonal R that makes R K R the normalized affinity

    @staticmethod
    def of(Y: Array) -> "Clustering":
        """One to begin with, of which Y is known."""
        return Clustering(Y, np.zeros(Y.shape[1]), np.ones(len(Y)))

    def labels(self, seed: int) -> Ints:
        """k-means of the rows of Y, each scaled to length 1."""
        lengths = np.linalg.norm(self.Y, axis=1, keepdims=True)
        rows = self.Y / np.where(lengths > 0, lengths, 1)
        distinct = len(np.unique(rows.round(9), axis=0))
        clusters = min(self.Y.shape[1], distinct)
        if len(rows) <= DENSE_ROWS:
            return _labels(_means(rows, clusters, seed, 50 if len(rows) <= 2_000 else 10))
        sample = np.random.default_rng(seed).choice(len(rows), DENSE_ROWS, replace=False)
        best = _means(rows[sample], clusters, seed, 50)
        return _labels(KMeans(clusters, init=best.cluster_centers_, n_init=1).fit(rows))

    def spread(self, rows: Ints, n: int) -> "Clustering":
        """The clustering of a sample as one to begin with for all n rows, of which the others are not in it yet.

        The first product with their affinity gives them their places (Nyström's extension).
        """
        Y, root = np.zeros((n, self.Y.shape[1])), np.zeros(n)
        Y[rows], root[rows] = self.Y, self.root
        return replace(self, Y=Y, root=root)


def _means(rows: Array, clusters: int, seed: int, restarts: int) -> KMeans:
    """The lowest of several k-means. Threads do not pay on so few rows, and wait for each other on a busy machine."""
    with threadpool_limits(1, user_api="openmp"):
        return KMeans(clusters, n_init=restarts, random_state=seed).fit(rows)


def _labels(options: KMeans) -> Ints:
    labels: Ints = options.labels_.astype(np.intp)
    return labels


def spectral(
    P: Array,
    kernel: Kernel,
    k: int,
    seed: int,
    last: Clustering | None = None,
    *,
    tolerance: float | None = None,
    precision: Precision = "double",
    engine: Engine = LOCAL,
) -> Clustering:
    """Cluster the projected rows P.

    Y is found by products with the affinity, from the `last` one that is near, until its space is off by no more than
    the tolerance, in radians. Without a tolerance it is exact up to rounding where the rows are few.
    """
    n = len(P)
    scale = _cosine_scale(P, kernel)
    if n > DENSE_ROWS:
        tolerance = tolerance or TOLERANCE
        affinity = Affinity.of(P, kernel, scale, LEFT_OUT * tolerance, precision, engine)
        root = _root(affinity.times(np.ones((n, 1)))[:, 0], n * affinity.size)

        def normalized(V: Array) -> Array:
            return _centered(root[:, None] * affinity.times(root[:, None] * _centered(V)))

        values, Y = _by_products(normalized, n, k, seed, last, tolerance)
        return Clustering(Y, values, root * scale)
    A = kernel_matrix(P, kernel)
    A *= scale
    A *= scale[:, None]
    size = float(np.abs(A).max())
    if not kernel.nonnegative:
        A -= A.min()
    np.fill_diagonal(A, 0)
    root = _root(A.sum(axis=1), n * size)
    A *= root
    A *= root[:, None]
    A = _centered(_centered(A).T)
    if tolerance is None:
        values, Y = _largest(A, k, seed)
    else:
        values, Y = _by_products(lambda V: A @ V, n, k, seed, last, tolerance)
    return Clustering(Y, values, root * scale)


def _by_products(
    operator: krylov.Product, n: int, k: int, seed: int, last: Clustering | None, tolerance: float
) -> tuple[Array, Array]:
    first = krylov.block(None if last is None else last.Y, n, k, seed)
    with own_threads():  # blocks of a few columns: threads of the BLAS would wait for each other
        values, Y, _ = krylov.largest(operator, first, k, tolerance, PRODUCTS)
    return values, Y


def _cosine_scale(P: Array, kernel: Kernel) -> Array:
    """1/√Kii for terms of product form; 1 without them, or beside distances, which leave Kii with no sign."""
    terms = [term for _, term in kernel.terms]
    products = [term for term in terms if term.form == "product"]
    if not products or any(term not in products and not term.is_nonnegative for term in terms):
        return np.ones(len(P))
    diagonal = kernel_diagonal(P, kernel)
    return _root(diagonal, float(diagonal.max()))


def _root(values: Array, size: float) -> Array:
    """values^(−½), finite for a row that is like no other: what is less than the rounding of `size` counts as that."""
    root: Array = 1 / np.sqrt(np.maximum(values, 1e-12 * size)) if size > 0 else np.ones_like(values)
    return root


def _centered(V: Array) -> Array:
    centered: Array = V - V.mean(axis=0)
    return centered


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
