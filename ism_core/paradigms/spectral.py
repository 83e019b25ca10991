"""The Y step: spectral clustering of the projected rows with the kernel as affinity.

Y holds the top-k eigenvectors of H D^(−½) A D^(−½) H, where D holds the row sums of the affinity A. In Γ this scaling
is the diagonal matrix R: D^(−½), times 1/√Kii for a cosine. A is the kernel matrix K with three changes:

- A kernel of product form becomes a cosine, Kij/√(Kii Kjj), because a row far from the origin has large products with
  all others.
- A kernel with negative values is shifted by its minimum, because a degree is a sum of nonnegative affinities.
- The diagonal, which says nothing about neighbors, is zero.

For large tables K is never formed; the eigenvectors come from products with it.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from ism_core.arrays import Array, Ints
from ism_core.engines import LOCAL, Engine, own_threads
from ism_core.kernels import Kernel
from ism_core.linalg import block_krylov, eigenpairs
from ism_core.objective import Precision, kernel_matrix
from ism_core.paradigms.affinity import Affinity, kernel_diagonal
from ism_core.paradigms.links import Links

DENSE_ROWS = 4_000  # rows up to which K is formed as a matrix: at most 128 MB
SAMPLE_ROWS = 2_000  # rows of the subsample that is clustered first if there are more
TOLERANCE = 1e-3  # radians: default error of Y if it is computed by products
LEFT_OUT = 0.1  # share of K that truncation may omit, relative to the tolerance (at 1e-3, Y turns by 4e-4 radians)
PRODUCTS = 60  # products with the affinity at most
MAX_MEANS_STEPS = 300  # steps of constrained k-means at most; it converges in far fewer
LANCZOS_ROWS = 60  # rows per Lanczos restart; after that a full decomposition is as cheap


@dataclass(frozen=True)
class Clustering:
    """A spectral clustering of n rows into k clusters."""

    Y: Array  # n×k
    eigenvalues: Array  # of its columns
    root: Array  # the diagonal R that makes R K R the normalized affinity

    @staticmethod
    def of(Y: Array) -> "Clustering":
        """Return a start for the iteration, of which only Y is known."""
        return Clustering(Y, np.zeros(Y.shape[1]), np.ones(len(Y)))

    def labels(self, seed: int) -> Ints:
        """Return k-means labels of the rows of Y, each scaled to length 1."""
        rows = self._unit_rows()
        distinct = len(np.unique(rows.round(9), axis=0))
        clusters = min(self.Y.shape[1], distinct)
        if len(rows) <= DENSE_ROWS:
            return _labels(_means(rows, clusters, seed, 50 if len(rows) <= 2_000 else 10))
        sample = np.random.default_rng(seed).choice(len(rows), DENSE_ROWS, replace=False)
        best = _means(rows[sample], clusters, seed, 50)
        return _labels(KMeans(clusters, init=best.cluster_centers_, n_init=1).fit(rows))

    def constrained_labels(self, known: Ints) -> tuple[Ints, float]:
        """Return k-means labels that keep rows in their known cluster, and how many of these rows agree with it.

        `known` holds the cluster of each row, −1 if it is unknown. The clusters start at the means of their known rows
        (constrained k-means; Basu, Banerjee and Mooney 2002). Further clusters start at the rows farthest from these.
        A known row agrees if the center of its own cluster, computed without this row, is the nearest one.
        """
        rows, fixed = self._unit_rows(), known >= 0
        centers = _first_centers(rows, known, self.Y.shape[1])
        labels = known
        for _ in range(MAX_MEANS_STEPS):
            last, labels = labels, np.where(fixed, known, cdist(rows, centers, "sqeuclidean").argmin(axis=1))
            if (labels == last).all():
                break
            for cluster in np.unique(labels):
                centers[cluster] = rows[labels == cluster].mean(axis=0)
        distances = cdist(rows[fixed], centers, "sqeuclidean")
        own, sizes = np.arange(len(distances)), np.bincount(labels)[known[fixed]]
        alone = sizes == 1
        distances[own, known[fixed]] *= (sizes / np.where(alone, 1, sizes - 1)) ** 2  # the center without this row
        nearest = distances.argmin(axis=1) == known[fixed]
        return labels, float(np.mean(nearest & ~alone))

    def linked_labels(self, links: Links, seed: int) -> tuple[Ints, int]:
        """Return k-means labels that keep linked rows together, and how many pairs of groups are not kept apart."""
        rows = self._unit_rows()
        free = self.labels(seed)
        centers = [rows[free == cluster].mean(axis=0) for cluster in np.unique(free)]
        return links.assigned(rows, np.array(centers))

    def _unit_rows(self) -> Array:
        """Return the rows of Y, each scaled to length 1."""
        lengths = np.linalg.norm(self.Y, axis=1, keepdims=True)
        rows: Array = self.Y / np.where(lengths > 0, lengths, 1)
        return rows

    def spread(self, rows: Ints, n: int) -> "Clustering":
        """Extend the clustering of a sample to a start for all n rows.

        Other rows have zeros. The first product with the affinity places them (Nyström extension).
        """
        Y, root = np.zeros((n, self.Y.shape[1])), np.zeros(n)
        Y[rows], root[rows] = self.Y, self.root
        return replace(self, Y=Y, root=root)


def named_clusters(labels: Ints, known: Ints) -> tuple[Ints, float]:
    """Number the clusters like the known ones that they share most rows with; move known rows to their own cluster.

    `known` holds the cluster of each row, −1 if it is unknown. Also returns the share of known rows that did not move.
    """
    fixed = known >= 0
    k = max(labels.max(), known.max()) + 1
    shared = np.zeros((k, k))
    np.add.at(shared, (labels[fixed], known[fixed]), 1)
    numbers = linear_sum_assignment(shared, maximize=True)[1]
    named = numbers[labels]
    return np.where(fixed, known, named), float(np.mean(named[fixed] == known[fixed]))


def _means(rows: Array, clusters: int, seed: int, restarts: int) -> KMeans:
    """Return the best of several k-means runs, on one thread: more threads do not pay for so few rows."""
    with threadpool_limits(1, user_api="openmp"):
        return KMeans(clusters, n_init=restarts, random_state=seed).fit(rows)


def _first_centers(rows: Array, known: Ints, clusters: int) -> Array:
    """Return the means of the known rows of each cluster; then, in turn, the row farthest from all centers so far."""
    centers = np.array([rows[known == cluster].mean(axis=0) for cluster in range(known.max() + 1)])
    while len(centers) < clusters:
        farthest = cdist(rows, centers, "sqeuclidean").min(axis=1).argmax()
        centers = np.vstack([centers, rows[farthest]])
    return centers


def _labels(means: KMeans) -> Ints:
    labels: Ints = means.labels_.astype(np.intp)
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

    With a tolerance, or for large tables, Y comes from products with the affinity. They start at the clustering `last`
    and stop when the error of the eigenspace is below the tolerance, in radians. Otherwise Y is exact up to rounding.
    """
    n = len(P)
    scale = cosine_scale(P, kernel)
    if n > DENSE_ROWS:
        tolerance = tolerance or TOLERANCE
        affinity = Affinity.of(P, kernel, scale, LEFT_OUT * tolerance, precision, engine)
        root = inverse_root(affinity.times(np.ones((n, 1)))[:, 0], n * affinity.size)

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
    root = inverse_root(A.sum(axis=1), n * size)
    A *= root
    A *= root[:, None]
    A = _centered(_centered(A).T)
    if tolerance is None:
        values, Y = _largest(A, k, seed)
    else:
        values, Y = _by_products(lambda V: A @ V, n, k, seed, last, tolerance)
    return Clustering(Y, values, root * scale)


def _by_products(
    operator: block_krylov.Product, n: int, k: int, seed: int, last: Clustering | None, tolerance: float
) -> tuple[Array, Array]:
    first = block_krylov.block(None if last is None else last.Y, n, k, seed)
    with own_threads():  # blocks have few columns, too few for BLAS threads
        values, Y, _ = block_krylov.largest(operator, first, k, tolerance, PRODUCTS)
    return values, Y


def cosine_scale(P: Array, kernel: Kernel, largest: float | None = None) -> Array:
    """Return 1/√Kii for kernels of product form; 1 for others, and for sums whose Kii has no fixed sign.

    Some of the rows need the largest Kii of all.
    """
    terms = [term for _, term in kernel.terms]
    products = [term for term in terms if term.form == "product"]
    if not products or any(term not in products and not term.is_nonnegative for term in terms):
        return np.ones(len(P))
    diagonal = kernel_diagonal(P, kernel)
    return inverse_root(diagonal, float(diagonal.max()) if largest is None else largest)


def inverse_root(values: Array, size: float) -> Array:
    """Return values^(−½).

    Smaller values are replaced by the rounding error of `size`, so that isolated rows stay finite.
    """
    root: Array = 1 / np.sqrt(np.maximum(values, 1e-12 * size)) if size > 0 else np.ones_like(values)
    return root


def _centered(V: Array) -> Array:
    centered: Array = V - V.mean(axis=0)
    return centered


def _largest(A: Array, k: int, seed: int) -> tuple[Array, Array]:
    """Return the k largest eigenvalues of a symmetric matrix, in descending order, and their eigenvectors.

    Lanczos comes first, unless the matrix is small. If close eigenvalues make it restart too often, a full
    decomposition takes over (digits, q = 2: a quarter of the time).
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
