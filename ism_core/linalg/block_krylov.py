"""The largest eigenvalues of a symmetric operator from products with it alone.

A block of vectors is multiplied again and again, and the best approximations are taken from all that this spans: no
other method that begins at the same block gets nearer by the same number of products. A few more vectors than are asked
for keep the next eigenvalues out of the way.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array

Product = Callable[[Array], Array]

GUARDS = 5  # vectors beyond those asked for
BLOCKS = 8  # that the space may hold before it is cut down to the best two
SMALLEST_GAP = 1e-3  # of the largest eigenvalue: nearer ones need not be told apart


class Eigenpairs(NamedTuple):
    """Eigenvalues in falling order, their eigenvectors, and the number of products that it took."""

    values: Array
    vectors: Array
    products: int


def largest(operator: Product, first: Array, k: int, tolerance: float, most: int) -> Eigenpairs:
    """The k largest from the block `first`, which has at least k columns.

    It ends when the space of the eigenvectors is off by less than the tolerance, in radians (Davis and Kahan: the
    residual over the gap to the next eigenvalue), or after so many products.
    """
    basis = np.linalg.qr(first)[0]
    width = basis.shape[1]
    images = operator(basis)
    products = 1
    while True:
        values, turn = np.linalg.eigh(basis.T @ images)
        values, turn = values[::-1], turn[:, ::-1]
        best = basis @ turn[:, :width]
        residual = images @ turn[:, :width] - best * values[:width]
        following = values[k] if len(values) > k else 0.0
        gap = max(values[k - 1] - following, SMALLEST_GAP * np.abs(values).max())
        off = float(np.linalg.norm(residual[:, :k], 2))
        room = len(first) - basis.shape[1]
        if off <= tolerance * gap or products >= most or room == 0:
            return Eigenpairs(values[:k], best[:, :k], products)
        if basis.shape[1] == BLOCKS * width:
            basis, images = basis @ turn[:, : 2 * width], images @ turn[:, : 2 * width]
        new = residual[:, :room]
        for _ in range(2):  # once leaves too much of the basis in it
            new = np.linalg.qr(new - basis @ (basis.T @ new))[0]
        basis, images = np.hstack([basis, new]), np.hstack([images, operator(new)])
        products += 1


def block(vectors: Array | None, n: int, k: int, seed: int) -> Array:
    """A block to begin with: vectors near the k eigenvectors, if there are any, and random ones beside them."""
    width = min(n, k + GUARDS)
    known = np.empty((n, 0)) if vectors is None else vectors[:, :k]
    guards = np.random.default_rng(seed).standard_normal((n, width - known.shape[1])) / np.sqrt(n)
    return np.hstack([known, guards])
