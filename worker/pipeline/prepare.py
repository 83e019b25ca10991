"""Preparation of the rows: imputing missing values and scaling, fitted on training rows only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.linalg import Scale, Scaling
from ism_jobs.data import Missing, imputed
from ism_jobs.sentences import named


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
        fill, filled = imputed(X, missing)
        scaling, prepared = Scaling.learned(filled, scale, codes)
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
    return imputed(X, missing)[1] if np.isnan(X).any() else X
