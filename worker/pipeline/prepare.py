"""Preparation of the rows: imputing missing values and scaling, fitted on training rows only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.linalg import Scale, Scaling
from ism_jobs.data import Missing
from ism_jobs.sentences import named

MEDIAN_COLUMNS = 64  # columns that one call sorts, so that the copies that it needs stay small


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

    def warnings(self, X: Array, features: Sequence[str]) -> list[str]:
        """Name the features of the training rows that have gross cells."""
        return self.scaling.warnings(X, [named(name) for name in features])


def impute(X: Array, missing: Missing) -> Array:
    """Return the rows with missing values replaced, unless `missing` is "refuse" or "drop"."""
    return _impute(X, missing)[1] if np.isnan(X).any() else X


def _impute(X: Array, missing: Missing) -> tuple[Array | None, Array]:
    if missing in ("refuse", "drop"):
        return None, X
    fill = _means(X) if missing == "mean" else _medians(X)
    gaps = np.isnan(X)
    return fill, np.where(gaps, fill, X) if gaps.any() else X


def _medians(X: Array) -> Array:
    """Return the median of the known values of each column; 0 if a fold has none."""
    medians = np.empty(X.shape[1])
    for start in range(0, X.shape[1], MEDIAN_COLUMNS):
        block = X[:, start : start + MEDIAN_COLUMNS]
        medians[start : start + MEDIAN_COLUMNS] = np.median(block, axis=0)  # NaN if a value is missing
    for column in np.flatnonzero(np.isnan(medians)):
        known = X[~np.isnan(X[:, column]), column]
        medians[column] = np.median(known) if len(known) else 0.0
    return medians


def _means(X: Array) -> Array:
    """Return the mean of the known values of each column; 0 if a fold has none."""
    known = ~np.isnan(X)
    counts = np.maximum(known.sum(axis=0), 1)
    means: Array = np.where(known, X, 0.0).sum(axis=0) / counts
    return means
