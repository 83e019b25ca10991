"""Block Krylov iteration: the largest eigenvalues of a symmetric operator that is known by its products only.

Each round multiplies a block of vectors by the operator and takes the best approximations (Rayleigh–Ritz) from the
space that all blocks span. A few guard vectors speed up convergence if the next eigenvalues are close.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg.subspaces import project_out

Product = Callable[[Array], Array]

GUARDS = 5  # guard vectors beyond the k that are wanted
BLOCKS = 8  # maximum number of blocks in the space; then it restarts from the best two
SMALLEST_GAP = 1e-3  # relative eigenvalue gap below which two eigenvectors need not be separated


class Eigenpairs(NamedTuple):
    """Eigenvalues in descending order, their eigenvectors, and the number of products with the operator."""

    values: Array
    vectors: Array
    products: int


def largest(operator: Product, first: Array, k: int, tolerance: float, most: int) -> Eigenpairs:
    """Return the k largest eigenpairs, starting from the block `first` of at least k columns.

    The iteration stops when the angle error of the eigenspace is below the tolerance, in radians, or after `most`
    products. The Davis–Kahan theorem bounds the angle by the residual over the gap to the next eigenvalue.
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
        for _ in range(2):  # twice: rounding leaves a component along the basis after the first time
            new = np.linalg.qr(project_out(basis, new))[0]
        basis, images = np.hstack([basis, new]), np.hstack([images, operator(new)])
        products += 1


def block(vectors: Array | None, n: int, k: int, seed: int) -> Array:
    """Return a start block: known approximations of the k eigenvectors, if there are any, and random vectors."""
    width = min(n, k + GUARDS)
    known = np.empty((n, 0)) if vectors is None else vectors[:, :k]
    guards = np.random.default_rng(seed).standard_normal((n, width - known.shape[1])) / np.sqrt(n)
    return np.hstack([known, guards])
