"""The Y step of a table in partitions: Y as a function of the projected row, so that nothing is kept for each row.

With features of the kernel, the normalized affinity of all rows is H R G Diag(w) Gᵀ R H. G has the features of each row
and a constant for the shift, R normalizes (see `spectral`), and H centers. Its eigenvectors are Y = H R G B. B follows
from GᵀR²G and GᵀR1, which are sums over the rows. So a clustering takes two passes: one for the row sums of the
affinity, and one for these products. The diagonal of the affinity is not removed: it changes Y by about 1/n.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from ism_core.arrays import Array, Ints
from ism_core.engines import Engine
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel, TermMap
from ism_core.linalg import Scaling
from ism_core.objective import Block, Place, Table, pass_over
from ism_core.paradigms.affinity import affordable_maps, kernel_diagonal, smallest_value
from ism_core.paradigms.spectral import LEFT_OUT, cosine_scale, inverse_root

MOST_FEATURES = 2_000  # of the affinity: their products take 32 MB on each thread
BLOCK_NUMBERS = 2**20  # features that are made at a time
DEPENDENT = 1e-12  # share of the largest eigenvalue of GᵀR²G below which features depend on others
CENTER_RUNS = 50  # runs of k-means, of which the best counts


@dataclass(frozen=True)
class AffinityFeatures:
    """G for the rows of X: the features of the kernel between projected rows, times the scale of the row, and 1."""

    W: Array
    center: Array  # of the rows
    kernel: Kernel
    maps: tuple[TermMap, ...]
    largest: float  # approximately the largest value of the kernel between a row and itself
    shift: float  # the smallest affinity if that is negative
    size: float  # approximately the largest absolute value of the affinity

    @staticmethod
    def at(W: Array, center: Array, kernel: Kernel, sample: Array, far: Array, error: float) -> "AffinityFeatures":
        """Return the features for which Y has an error of so many radians.

        They are chosen on a sample of the rows; the smallest affinity is sought among these and the far rows.
        """
        P = sample @ W
        maps = affordable_maps(P, kernel, LEFT_OUT * error)
        count = 0 if maps is None else sum(each.value.count for each in maps)
        if maps is None or count > MOST_FEATURES:
            raise InvalidInput(
                "kernel",
                f"To cluster a table in partitions, the kernel needs at most {MOST_FEATURES:,} features. Take a"
                " polynomial or linear kernel, a Gaussian with a larger sigma, a smaller q, or a larger delta.",
            )
        P = np.vstack([P, far @ W])
        scale = cosine_scale(P, kernel)
        shift = 0.0 if kernel.nonnegative else smallest_value(P, kernel, scale)
        own = kernel_diagonal(P, kernel)
        size = max(float(np.abs(scale**2 * own).max()), abs(shift))
        return AffinityFeatures(W, center, kernel, tuple(maps), float(own.max()), shift, size)

    @property
    def weights(self) -> Array:
        """The signed weight of each feature."""
        return np.concatenate([*(each.weight * each.value.weights for each in self.maps), [-self.shift]])

    def of(self, X: Array) -> tuple[Array, Array]:
        """Return G, and the scale of each row."""
        P = X @ self.W
        centered = P - self.center @ self.W
        scale = cosine_scale(P, self.kernel, self.largest)
        features = [each.value.of(P if each.form == "product" else centered) for each in self.maps]
        return np.hstack([*(scale[:, None] * each for each in features), np.ones((len(X), 1))]), scale

    def pieces(self, rows: int) -> list[slice]:
        """Return the rows whose features are made at a time."""
        size = max(1, BLOCK_NUMBERS // len(self.weights))
        return [slice(start, start + size) for start in range(0, rows, size)]


@dataclass(frozen=True)
class NoClusters:
    """Γ before the first clustering: 0."""

    k: int

    @property
    def weights(self) -> Gamma:
        return Gamma(np.empty((0, self.k)), np.ones(self.k))

    def of(self, X: Array, y: NDArray[Any] | None) -> Gamma:
        return Gamma(np.zeros((len(X), self.k)), np.ones(self.k))

    of_sample = of


@dataclass(frozen=True)
class ClusterBlocks:
    """Γ of a clustering, block by block: U and Y are functions of the rows."""

    features: AffinityFeatures
    degrees: Array  # their product with G: the row sums of the affinity
    rows: int
    B: Array  # m×k
    mean: Array  # of the columns of RGB
    eigenvalues: Array

    @property
    def weights(self) -> Gamma:
        k = len(self.mean)
        return Gamma(np.empty((0, k)), np.ones(k))

    def of(self, X: Array, y: NDArray[Any] | None) -> Gamma:
        Y, root = self.embedded(X)
        return Gamma(root[:, None] * Y, np.ones(Y.shape[1]))

    of_sample = of

    def embedded(self, X: Array) -> tuple[Array, Array]:
        """Return Y and the diagonal of R, times the scale, for rows X."""
        Y, roots = np.empty((len(X), len(self.mean))), np.empty(len(X))
        for some in self.features.pieces(len(X)):
            G, scale = self.features.of(X[some])
            root = _roots(G, self.degrees, self.rows * self.features.size)
            Y[some] = root[:, None] * (G @ self.B) - self.mean
            roots[some] = root * scale
        return Y, roots


@dataclass(frozen=True)
class _Degrees:
    """The sums of G over one block."""

    features: AffinityFeatures

    def __call__(self, block: Block, place: Place) -> Array:
        X = np.asarray(block[0], dtype=np.float64)
        sums = np.zeros(len(self.features.weights))
        for some in self.features.pieces(len(X)):
            sums += self.features.of(X[some])[0].sum(axis=0)
        return sums


@dataclass
class _Sums:
    """Sums over rows of which B is made."""

    products: Array  # GᵀR²G
    sums: Array  # GᵀR1
    across: Array  # YᵀRG for the Y of the last clustering

    def __iadd__(self, other: "_Sums") -> Self:
        self.products += other.products
        self.sums += other.sums
        self.across += other.across
        return self


@dataclass(frozen=True)
class _Products:
    """The sums of one block."""

    features: AffinityFeatures
    degrees: Array
    rows: int
    last: ClusterBlocks | None

    def __call__(self, block: Block, place: Place) -> _Sums:
        X, m = np.asarray(block[0], dtype=np.float64), len(self.features.weights)
        k = 0 if self.last is None else len(self.last.mean)
        found = _Sums(np.zeros((m, m)), np.zeros(m), np.zeros((k, m)))
        for some in self.features.pieces(len(X)):
            G = self.features.of(X[some])[0]
            G *= _roots(G, self.degrees, self.rows * self.features.size)[:, None]
            found.products += G.T @ G
            found.sums += G.sum(axis=0)
            if self.last is not None:
                found.across += self.last.embedded(X[some])[0].T @ G
        return found


def _roots(G: Array, degrees: Array, size: float) -> Array:
    return inverse_root(G @ degrees, size)


def cluster_blocks(
    features: AffinityFeatures, k: int, table: Table, last: ClusterBlocks | None, engine: Engine
) -> tuple[ClusterBlocks, float]:
    """Return the clustering of all rows, and the angle by which Y turned since the last one, in radians."""
    sums = pass_over(table, _Degrees(features), engine)
    rows, degrees = round(float(sums[-1])), features.weights * sums
    found = pass_over(table, _Products(features, degrees, rows, last), engine)
    mean = found.sums / rows
    values, B = _eigenvectors(found.products - rows * np.multiply.outer(mean, mean), features.weights, k)
    clustering = ClusterBlocks(features, degrees, rows, B, mean @ B, values)
    if last is None:
        return clustering, np.inf
    cosines = np.linalg.svd(found.across @ B, compute_uv=False)  # both Y are centered and orthonormal
    return clustering, float(np.arccos(np.clip(cosines.min(), 0, 1)))


def _eigenvectors(products: Array, weights: Array, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenvalues of Z Diag(w) Zᵀ, and B with their eigenvectors ZB, given ZᵀZ."""
    lengths, turn = np.linalg.eigh(products)
    kept = lengths > DEPENDENT * lengths[-1]
    roots, turn = np.sqrt(lengths[kept]), turn[:, kept]
    if kept.sum() < k:
        raise InvalidInput(
            "n_clusters", f"The projected rows allow for {kept.sum()} clusters with this kernel; ask for so many."
        )
    inner = (turn * roots).T @ (weights[:, None] * (turn * roots))  # in the basis Z turn / roots
    values, vectors = np.linalg.eigh(inner)
    return values[::-1][:k], turn / roots @ vectors[:, ::-1][:, :k]


@dataclass(frozen=True)
class Clusters:
    """The clusters of a table in partitions, as a function of its rows.

    Attributes
    ----------
    centers : array of shape (k, k)
        The centers of the clusters among the rows of Y, scaled to length 1.
    """

    blocks: ClusterBlocks
    scaling: Scaling | None
    centers: Array

    @staticmethod
    def of(blocks: ClusterBlocks, scaling: Scaling | None, sample: Array, seed: int) -> "Clusters":
        """Find the centers on a sample of the scaled rows."""
        rows = _unit_rows(blocks.embedded(sample)[0])
        clusters = min(len(blocks.mean), len(np.unique(rows.round(9), axis=0)))
        with threadpool_limits(1, user_api="openmp"):
            means = KMeans(clusters, n_init=CENTER_RUNS, random_state=seed).fit(rows)
        return Clusters(blocks, scaling, means.cluster_centers_)

    def labels(self, X: Array) -> Ints:
        """Return the cluster of each row."""
        rows = np.asarray(X, dtype=np.float64)
        Y = _unit_rows(self.blocks.embedded(rows if self.scaling is None else self.scaling.apply(rows))[0])
        apart = np.einsum("ck,ck->c", self.centers, self.centers) - 2 * Y @ self.centers.T
        labels: Ints = apart.argmin(axis=1)
        return labels


def _unit_rows(Y: Array) -> Array:
    lengths = np.linalg.norm(Y, axis=1, keepdims=True)
    rows: Array = Y / np.where(lengths > 0, lengths, 1)
    return rows
