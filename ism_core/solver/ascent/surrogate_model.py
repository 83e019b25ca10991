"""What is known of Φ while W moves: a Φ that was computed, set right along each W since, and its dominant eigenvectors.

With many columns, to decompose all of Φ costs more than Φ(W)W. Its dominant eigenvectors are then sought in a space of
some dozen directions that is carried along: the dominant ones of the Φ that was computed, and what each Φ(W)W has
added. Where that does not do, it is widened by the residuals (Davidson's method).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array
from ism_core.engines.threads import own_threads
from ism_core.linalg.subspaces import (
    NARROW,
    RANK_TOLERANCE,
    Rows,
    correction,
    dominant,
    eigenpairs,
    is_positive_definite,
    largest_angle,
    spectral_norm,
)

BESIDE = 30  # dominant eigenvectors beyond the q, to begin with
WIDE = 4  # times the first space: of fewer columns likewise, and no space gets wider
WIDENINGS = 3  # after which they are taken as they are
EXACT = 0.05  # how far the eigenvectors may be off, over how far they are from W
SMALLEST_ANGLE = 1e-8  # radians that matter
SMALLEST_GAP = 1e-3  # of the largest eigenvalue: nearer ones need not be told apart
ROUNDING = 1e-10


class Space(NamedTuple):
    """Some directions, what the Φ that was computed makes of them, and how it was changed among them since."""

    basis: Array  # d×m, orthonormal
    images: Array  # d×m
    change: Array  # m×m

    def outside(self, V: Array) -> Array:
        """An orthonormal basis of what V has outside."""
        outside = V - self.basis @ (self.basis.T @ V)
        outside = outside[:, np.linalg.norm(outside, axis=0) > ROUNDING * np.linalg.norm(V, axis=0)]
        outside, sizes = np.linalg.qr(outside)
        outside = outside[:, np.abs(sizes.diagonal()) > ROUNDING * np.abs(sizes).max(initial=0)]
        outside -= self.basis @ (self.basis.T @ outside)  # once leaves some of the basis by rounding
        return np.linalg.qr(outside)[0]


class Dominant(NamedTuple):
    """The q dominant eigenvectors, the gap to the next, and the model with a space that holds them."""

    vectors: Array
    gap: float
    model: "SurrogateModel"


@dataclass(frozen=True)
class SurrogateModel:
    """Φ = base + basis · change · basisᵀ; or base alone, where there is no space."""

    base: Array
    rows: Rows
    q: int
    space: Space | None = None

    @staticmethod
    def of(phi: Array, rows: Rows, q: int, near: "SurrogateModel | None" = None) -> "SurrogateModel":
        """With the space of a model like this, if there is one."""
        first = q + BESIDE
        if len(phi) < max(NARROW, WIDE * first):
            return SurrogateModel(phi, rows, q)
        if near is not None and near.space is not None:
            images = phi @ near.space.basis
            turn = eigenpairs(near.space.basis.T @ images, first)[1]
            basis, images = near.space.basis @ turn, images @ turn
        else:
            basis = eigenpairs(rows.without_null_directions(phi), first)[1]
            images = phi @ basis
        return SurrogateModel(phi, rows, q, Space(basis, images, np.zeros((first, first))))

    @cached_property
    @own_threads()
    def size(self) -> float:
        """‖Φ‖, as it was computed."""
        return float(np.linalg.norm(self.base))

    @property
    def matrix(self) -> Array:
        """All of it."""
        if self.space is None:
            return self.base
        whole: Array = self.base + self.space.basis @ self.space.change @ self.space.basis.T
        return whole

    def times(self, W: Array) -> Array:
        """ΦW"""
        product: Array = self.base @ W
        if self.space is not None:
            product += self.space.basis @ (self.space.change @ (self.space.basis.T @ W))
        return product

    def scaled(self, factor: float) -> "SurrogateModel":
        """Times a number."""
        space = self.space
        if space is not None:
            space = Space(space.basis, factor * space.images, factor * space.change)
        return replace(self, base=factor * self.base, space=space)

    def padded(self, more: int) -> "SurrogateModel":
        """With directions of which nothing is known."""
        space = self.space
        if space is not None:
            basis, images = (np.pad(columns, ((0, more), (0, 0))) for columns in space[:2])
            space = Space(basis, images, space.change)
        return replace(self, base=np.pad(self.base, (0, more)), space=space)

    def corrected(self, W: Array, missing: Array) -> "SurrogateModel":
        """With the smallest symmetric change that adds to ΦW what was missing."""
        if self.space is None:
            return replace(self, base=self.base + correction(W, missing))
        model, space = self._widened(self.space, np.hstack([W, missing]))
        change = correction(space.basis.T @ W, space.basis.T @ missing)
        return replace(model, space=space._replace(change=space.change + change))

    def directions(self, count: int) -> Array:
        """The dominant eigenvectors, as far as the space knows them; of no more directions than it has."""
        if self.space is None:
            return eigenpairs(self.rows.without_null_directions(self.base), min(count, self.rows.dimensions))[1]
        basis, images, change = self.space
        return basis @ eigenpairs(basis.T @ images + change, min(count, len(change)))[1]

    def dominant(self, W: Array, shift: float = 0.0) -> Dominant:
        """Of Φ + shift · WWᵀ; the more exactly the nearer they are to W."""
        model, more = self, W
        for left in reversed(range(WIDENINGS if self.space is not None else 0)):
            assert model.space is not None
            model, space = model._widened(model.space, more)
            basis, images, change = space
            along = basis.T @ W
            values, turn = eigenpairs(basis.T @ images + change + shift * along @ along.T, self.q + 1)
            if values[-1] <= RANK_TOLERANCE * self.size:  # zeros, of which a space does not hold all
                break
            turn, gap = turn[:, : self.q], float(values[self.q - 1] - values[self.q])
            V, residual = basis @ turn, images @ turn
            residual -= basis @ (basis.T @ residual)
            off = spectral_norm(residual) / max(gap, SMALLEST_GAP * float(values[0]))
            if left == 0 or off <= max(EXACT * largest_angle(W, V), SMALLEST_ANGLE):
                return Dominant(V, gap, model)
            more = np.hstack([W, residual])
        return Dominant(*dominant(self.matrix + shift * (W @ W.T), self.q, self.rows), self)

    def is_beside(self, V: Array, distance: float) -> bool:
        """Whether all eigenvalues but V's are lower than those by that distance for certain, far from the space too.

        Where Φ less a large part along V is below a number, all but q eigenvalues of Φ are (Cauchy's interlacing).
        """
        if self.space is None:
            return True  # they were compared
        phi = self.matrix
        lowest = float(np.linalg.eigvalsh(V.T @ phi @ V)[0])
        rest = (
            (lowest - distance) * np.eye(len(phi)) - self.rows.without_null_directions(phi) + 2 * self.size * (V @ V.T)
        )
        return is_positive_definite(rest)

    def _widened(self, space: Space, V: Array) -> tuple["SurrogateModel", Space]:
        """With a space that holds V; first only the dominant part of it is kept where that would be too wide."""
        directions = space.outside(V)
        if directions.shape[1] == 0:
            return self, space
        if len(space.change) + directions.shape[1] > WIDE * (self.q + BESIDE):
            again = SurrogateModel.of(self.matrix, self.rows, self.q, self)
            assert again.space is not None
            return again._widened(again.space, V)
        wider = Space(
            np.hstack([space.basis, directions]),
            np.hstack([space.images, self.base @ directions]),
            np.pad(space.change, (0, directions.shape[1])),
        )
        return replace(self, space=wider), wider
