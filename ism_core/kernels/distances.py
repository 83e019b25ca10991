"""Distances between rows, from which kernels take their widths."""

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.neighbors import NearestNeighbors

from ism_core.arrays import Array
from ism_core.engines import LOCAL
from ism_core.errors import InvalidInput

MEDIAN_ROWS = 2_000  # rows that the median distance is estimated from: 2 million pairs
PRODUCT_COLUMNS = 100  # from so many columns on, a matrix product is faster than `pdist`
BLOCK_ROWS = 200  # rows whose distances to all later rows are computed at a time
COINCIDENT = 1e-12  # squared distance, relative to the squared norms, that may be rounding error


def median_distance(X: Array, rng: np.random.Generator) -> float:
    """Return the median distance between distinct rows, from a sample of the rows if there are many."""
    sample = X if len(X) <= MEDIAN_ROWS else X[np.sort(rng.choice(len(X), MEDIAN_ROWS, replace=False))]
    distances = _distances(sample)
    distances = distances[distances > 0]
    if len(distances) == 0:
        raise InvalidInput(
            "sigma",
            f"sigma = 0: all {len(sample)} rows of X coincide, so there is no median distance. Give rows that differ.",
        )
    return float(np.median(distances))


def _distances(X: Array) -> Array:
    """Return the distances between all pairs of rows; 0 if they may be rounding errors."""
    if X.shape[1] < PRODUCT_COLUMNS:
        return pdist(X)
    centered = X - X.mean(axis=0)
    squares = np.einsum("ij,ij->i", centered, centered)
    return np.concatenate(LOCAL.run(_distance_share, -(-len(X) // BLOCK_ROWS), centered, squares))


def _distance_share(share: list[int], centered: Array, squares: Array) -> Array:
    """Return the distances from the rows of some blocks to all later rows."""
    parts: list[Array] = []
    for index in share:
        start = index * BLOCK_ROWS
        rows = slice(start, start + BLOCK_ROWS)
        sums = squares[rows, None] + squares[start:]
        distances = sums - 2 * (centered[rows] @ centered[start:].T)
        distances[distances <= COINCIDENT * sums] = 0
        parts += [row[first:] for first, row in enumerate(distances, start=1)]
    everything: Array = np.sqrt(np.concatenate(parts))
    return everything


def local_scales(X: Array, neighbors: int, rng: np.random.Generator) -> Array:
    """Return the distance from each row to its `neighbors`-th nearest, or a tenth of the median distance if it is 0."""
    nearest = NearestNeighbors(n_neighbors=min(neighbors, len(X) - 1) + 1).fit(X)
    distance: Array = nearest.kneighbors(X)[0][:, -1]
    return np.where(distance > 0, distance, 0.1 * median_distance(X, rng))
