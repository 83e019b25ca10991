"""Preparation of the rows: imputing missing values and scaling, fitted on training rows only."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from ism_core import Result
from ism_core.arrays import Array, Ints
from ism_core.linalg import Scale, Scaling, with_fixed_signs
from ism_jobs.data import Missing


@dataclass(frozen=True)
class Preparation:
    """The imputation and scaling that were fitted on training rows."""

    fill: Array | None  # the value imputed in each column; None if missing values are not imputed
    scaling: Scaling

    @classmethod
    def fit(cls, X: Array, missing: Missing, scale: Scale, codes: Ints | None = None) -> tuple[Self, Array]:
        """Fit the preparation on rows in which NaN marks missing values, and return it with the prepared rows.

        `codes` are the class codes; whitening uses the covariance within classes.
        """
        fill, filled = _impute(X, missing)
        scaling, prepared = Scaling.learnt(filled, scale, codes)
        return cls(fill, scaling), prepared

    def apply(self, X: Array) -> Array:
        """Prepare other rows in the same way."""
        filled = X if self.fill is None else np.where(np.isnan(X), self.fill, X)
        return self.scaling.apply(filled)


def impute(X: Array, missing: Missing) -> Array:
    """Return the rows with missing values replaced by column means, if `missing` is "mean"."""
    return _impute(X, missing)[1]


def standardized_W(result: Result, scaling: Scaling) -> Array:  # noqa: N802
    """Convert the W of whitened rows into weights of the standardized features. Features outside the support get 0."""
    if scaling.whitening is None:
        return result.W
    W = scaling.outside(result.W)
    return with_fixed_signs(W if result.sparsity is None else W * result.sparsity.support)


def _impute(X: Array, missing: Missing) -> tuple[Array | None, Array]:
    fill = _means(X) if missing == "mean" else None
    return fill, X if fill is None else np.where(np.isnan(X), fill, X)


def _means(X: Array) -> Array:
    """Return the mean of the known values of each column; 0 if a fold has none."""
    known = ~np.isnan(X)
    counts = np.maximum(known.sum(axis=0), 1)
    means: Array = np.where(known, X, 0.0).sum(axis=0) / counts
    return means
