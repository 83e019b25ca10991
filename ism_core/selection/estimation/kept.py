"""What an estimator keeps of its rows to be updated: a sample of them, and how well arriving rows were predicted."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array
from ism_core.linalg import MAX_QUANTILE_ROWS
from ism_core.objective import Partitions

DRIFT_ERRORS = 3.0  # standard errors by which the loss must exceed the earlier one, as in Gama et al. (2004)


@dataclass(frozen=True)
class Update:
    """What `partial_fit` or `remove_rows` did to a model.

    Attributes
    ----------
    rows, added, removed : int
        The number of rows that the model has now, and of those that were added and removed.
    angle : float
        The largest principal angle between the axes before and after, in radians.
    angle_since_choice : float
        The same between the axes when the settings were chosen or given, and those now.
    loss, earlier_loss : float or None
        The share of wrong predictions of the arriving rows by the model before they were added; for values, the squared
        error relative to the variance. And that of all rows that arrived in earlier updates.
    reasons : tuple of str
        Why a new choice of the settings is due; empty if they still hold.
    settings_hold : bool
        Whether there is no such reason.
    """

    rows: int
    added: int
    removed: int
    angle: float
    angle_since_choice: float
    loss: float | None
    earlier_loss: float | None
    reasons: tuple[str, ...]

    @property
    def settings_hold(self) -> bool:
        return not self.reasons


class Losses(NamedTuple):
    """The number, mean and variance of some losses."""

    rows: int
    mean: float
    variance: float

    @staticmethod
    def of(values: Array) -> "Losses":
        """Summarize the losses of some rows."""
        return Losses(len(values), float(values.mean()), float(values.var()))

    def joined(self, other: "Losses") -> "Losses":
        """Return the summary of both."""
        n = self.rows + other.rows
        share, apart = other.rows / n, other.mean - self.mean
        variance = (1 - share) * self.variance + share * other.variance + share * (1 - share) * apart**2
        return Losses(n, self.mean + share * apart, variance)

    def exceed(self, earlier: "Losses") -> bool:
        """Tell whether these losses are larger than earlier ones by more than chance."""
        error = np.sqrt(self.variance / self.rows + earlier.variance / earlier.rows)
        return self.mean - earlier.mean > DRIFT_ERRORS * float(error)


@dataclass(frozen=True)
class RowSample:
    """A uniform sample of the rows of a model: those with the smallest of random numbers, one for each row."""

    X: Array
    y: NDArray[Any]
    order: Array  # the random numbers, ascending

    @staticmethod
    def of(table: Partitions, rng: np.random.Generator) -> "RowSample":
        """Return a sample of a table."""
        found: RowSample | None = None
        for index in range(len(table)):
            for X, y in table.blocks(index):
                assert y is not None
                part = RowSample(np.asarray(X, dtype=np.float64), y, rng.random(len(X)))._smallest()
                found = part if found is None else found.joined(part)
        assert found is not None
        return found

    def joined(self, other: "RowSample") -> "RowSample":
        """Return the sample of the rows of both."""
        y = np.concatenate([self.y, other.y])
        return RowSample(np.vstack([self.X, other.X]), y, np.append(self.order, other.order))._smallest()

    def without(self, table: Partitions) -> "RowSample":
        """Return the sample without removed rows; each of them removes one row that equals it."""
        places: dict[bytes, list[int]] = {}
        for place, row in enumerate(self.X):
            places.setdefault(row.tobytes(), []).append(place)
        kept = np.ones(len(self.X), dtype=bool)
        for index in range(len(table)):
            for X, _ in table.blocks(index):
                for row in np.asarray(X, dtype=np.float64):
                    if found := places.get(row.tobytes()):
                        kept[found.pop()] = False
        return RowSample(self.X[kept], self.y[kept], self.order[kept])

    def _smallest(self) -> "RowSample":
        chosen = np.argsort(self.order, kind="stable")[:MAX_QUANTILE_ROWS]
        return RowSample(self.X[chosen], self.y[chosen], self.order[chosen])
