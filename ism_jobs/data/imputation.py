"""Missing values: the value that replaces them in each column, from the known values of training rows."""

from typing import Literal

import numpy as np

from ism_jobs.data.source import Array

Missing = Literal["auto", "refuse", "mean", "median", "drop"]

MEDIAN_COLUMNS = 64  # columns that one call sorts, so that the copies that it needs stay small


def imputed(X: Array, missing: Missing) -> tuple[Array | None, Array]:
    """Return the value that replaces missing ones in each column, and the filled rows.

    With "refuse" and "drop" nothing is filled in, and the value is None.
    """
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
