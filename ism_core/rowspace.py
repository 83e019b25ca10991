"""The directions along which the rows of X lie: W is sought there and nowhere else.

A direction outside (a constant column, the excess of d over n, a copy of another column) gives an empty axis: XW is
zero on it. Some kernels would even prefer it, since an axis that separates nothing also blurs nothing. Inside, the
solver works in at most min(n, d) coordinates.
"""

from dataclasses import dataclass

import numpy as np

from ism_core.arrays import Array

TOLERANCE = 1e-10  # singular values below this share of the largest are rounding


@dataclass(frozen=True)
class RowSpace:
    """X in coordinates of its row space: X = Z basisᵀ."""

    Z: Array
    basis: Array | None  # d×r with orthonormal columns; None where it would be the identity
    rank: int

    @staticmethod
    def of(X: Array, q: int) -> "RowSpace":
        """The row space, with arbitrary directions added where it has fewer than q."""
        n, d = X.shape
        lengths = np.linalg.norm(X, axis=0)
        used = lengths > 0
        rank = int(np.count_nonzero(used))
        if rank <= n and rank > 0:
            unit = X[:, used] / lengths[used]
            smallest = np.linalg.eigvalsh(unit.T @ unit)[0]
            if smallest > TOLERANCE:  # independent columns: leaving out the empty ones is enough
                if rank == d:
                    return RowSpace(X, None, rank)
                if rank >= q:
                    return RowSpace(np.ascontiguousarray(X[:, used]), np.eye(d)[:, used], rank)
        _, sizes, directions = np.linalg.svd(X, full_matrices=False)
        rank = int(np.count_nonzero(sizes > TOLERANCE * sizes[0])) if sizes[0] > 0 else 0
        basis = directions[:rank].T
        if rank < q:
            others = np.random.default_rng(0).standard_normal((d, q - rank))
            basis = np.hstack([basis, np.linalg.qr(np.hstack([basis, others]))[0][:, rank:]])
        return RowSpace(X @ basis, basis, rank)

    def out(self, W: Array) -> Array:
        """From these coordinates to those of the columns of X."""
        return W if self.basis is None else self.basis @ W

    def into(self, W: Array) -> Array:
        """The orthonormal W nearest to the part of a given W that lies in these coordinates."""
        inside = W if self.basis is None else self.basis.T @ W
        left, _, right = np.linalg.svd(inside, full_matrices=False)
        nearest: Array = left @ right
        return nearest
