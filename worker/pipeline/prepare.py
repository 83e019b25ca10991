"""What the rows of a fit teach about rows in general: what to fill in, and how to scale."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from ism_core import Result
from ism_core.arrays import Array, Ints
from ism_core.linalg.subspaces import with_fixed_signs
from ism_core.scaling import Scale, Scaling
from ism_jobs.data import Missing


@dataclass(frozen=True)
class Preparation:
    """Learnt from training rows only, so that a test row never teaches."""

    fill: Array | None
    scaling: Scaling

    @classmethod
    def learnt(cls, X: Array, missing: Missing, scale: Scale, codes: Ints | None = None) -> tuple[Self, Array]:
        """The preparation of these rows, and the rows prepared. NaN is a missing value; whitening is within classes."""
        fill, filled = _filled(X, missing)
        scaling, prepared = Scaling.learnt(filled, scale, codes)
        return cls(fill, scaling), prepared

    def apply(self, X: Array) -> Array:
        """Other rows, prepared alike."""
        filled = X if self.fill is None else np.where(np.isnan(X), self.fill, X)
        return self.scaling.apply(filled)


def filled(X: Array, missing: Missing) -> Array:
    """The rows without gaps, as far as these are filled."""
    return _filled(X, missing)[1]


def published(result: Result, scaling: Scaling) -> Array:
    """The W of prepared rows as one of the standardized features; those that an axis does without have no weight."""
    if scaling.whitening is None:
        return result.W
    W = scaling.outside(result.W)
    return with_fixed_signs(W if result.sparsity is None else W * result.sparsity.support)


def _filled(X: Array, missing: Missing) -> tuple[Array | None, Array]:
    fill = _means(X) if missing == "mean" else None
    return fill, X if fill is None else np.where(np.isnan(X), fill, X)


def _means(X: Array) -> Array:
    """The mean of what is there in each column; 0 where nothing is, as may happen in a fold."""
    there = ~np.isnan(X)
    counts = np.maximum(there.sum(axis=0), 1)
    means: Array = np.where(there, X, 0.0).sum(axis=0) / counts
    return means
