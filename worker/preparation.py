"""What the rows of a fit teach about rows in general: what to fill in, what to subtract, what to divide by."""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from ism_core.arrays import Array
from ism_core.scaling import standardised
from ism_jobs.model import Missing


@dataclass(frozen=True)
class Preparation:
    """Learnt from training rows only, so that a test row never teaches."""

    fill: Array | None
    mean: Array
    scale: Array

    @classmethod
    def learnt(cls, X: Array, missing: Missing, scale: Literal["standard", "none"]) -> tuple[Self, Array]:
        """The preparation of these rows, and the rows prepared. NaN is a missing value."""
        fill = _means(X) if missing == "mean" else None
        filled = X if fill is None else np.where(np.isnan(X), fill, X)
        if scale == "none":
            d = X.shape[1]
            return cls(fill, np.zeros(d), np.ones(d)), filled
        prepared, mean, spread = standardised(filled)
        return cls(fill, mean, spread), prepared

    def apply(self, X: Array) -> Array:
        """Other rows, prepared alike."""
        filled = X if self.fill is None else np.where(np.isnan(X), self.fill, X)
        prepared: Array = (filled - self.mean) / self.scale
        return prepared


def _means(X: Array) -> Array:
    """The mean of what is there in each column; 0 where nothing is, as may happen in a fold."""
    there = ~np.isnan(X)
    counts = np.maximum(there.sum(axis=0), 1)
    means: Array = np.where(there, X, 0.0).sum(axis=0) / counts
    return means
