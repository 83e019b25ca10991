"""Functions of the targets that sums over the rows are weighted with, from which U of all rows follows at any time."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array, Ints
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma, LabelGamma
from ism_core.paradigms import ClassBlocks, TargetSummary, ValueBlocks


class Weights(NamedTuple):
    """Γ = U diag(s) Uᵀ with U = ΨCᵀ, where Ψ has the functions of the targets as columns."""

    C: Array  # r×k
    s: Array  # r


class TargetFunctions(Protocol):
    """k functions of the target of a row. Some combination of them is 1 for each row."""

    def of(self, y: NDArray[Any] | None) -> Gamma:
        """Return a Γ whose `add_moments` adds sums that are weighted with each function."""

    @property
    def one(self) -> Array:
        """The coefficients of the combination that is 1 for each row."""

    def weights(self, sums: Array) -> Weights:
        """Return the weights of all rows, given the sum of each function over them."""

    def extended(self, found: TargetSummary) -> "tuple[Self, Ints]":
        """Return the functions for further rows too, and the places of the present functions among them."""


@dataclass(frozen=True)
class ClassFunctions:
    """A function for each class: whether a row has it."""

    labels: NDArray[Any]  # sorted
    balance: bool

    def of(self, y: NDArray[Any] | None) -> Gamma:
        assert y is not None
        k = len(self.labels)
        codes = ClassBlocks(self.labels, np.ones(k, dtype=np.intp), False).codes(y)
        return LabelGamma(np.empty((len(y), 0)), np.ones(k), codes, np.zeros(k))

    @property
    def one(self) -> Array:
        return np.ones(len(self.labels))

    def weights(self, sums: Array) -> Weights:
        kept = sums > 0
        if kept.sum() < 2:
            raise InvalidInput("y", f"The rows have {kept.sum()} class(es); at least 2 classes are needed.")
        n = sums.sum()
        C = (np.eye(len(sums)) - (sums / n)[:, None])[kept]
        return Weights(C, n / (kept.sum() * sums[kept]) if self.balance else np.ones(len(C)))

    def extended(self, found: TargetSummary) -> "tuple[ClassFunctions, Ints]":
        is_text = self.labels.dtype.kind == "U"
        if found.classes is None or ("text" in found.kinds) != is_text:
            kind = "text" if is_text else "numbers"
            raise InvalidInput(
                "y", f"The classes of the model are {kind}, and those of these rows are of another kind."
            )
        labels = np.union1d(self.labels, sorted(found.classes))
        return replace(self, labels=labels), np.searchsorted(labels, self.labels).astype(np.intp)


@dataclass(frozen=True)
class ValueFunctions:
    """The columns of a factor of the kernel between values, and 1; for a linear kernel their squares, too.

    The factor stays that of the first rows.
    """

    blocks: ValueBlocks

    def of(self, y: NDArray[Any] | None) -> Gamma:
        assert y is not None
        factor = self.blocks.factor(self.blocks.standardized(y))
        squares = [] if self.blocks.sigma else [factor**2]
        U = np.column_stack([factor, *squares, np.ones(len(y))])
        return Gamma(U, np.ones(U.shape[1]))

    @property
    def one(self) -> Array:
        r = len(self.blocks.center)
        coefficients: Array = np.eye(r + 1 if self.blocks.sigma else 2 * r + 1)[-1]
        return coefficients

    def weights(self, sums: Array) -> Weights:
        n, r = sums[-1], len(self.blocks.center)
        means = sums[:r] / n
        C = np.eye(len(sums))[:r]
        C[:, -1] = -means
        if self.blocks.sigma:
            return Weights(C, np.ones(r))
        variances = sums[r : 2 * r] / n - means**2
        if (variances <= 0).all():
            raise InvalidInput("y", "y is the same number in all rows; it must vary.")
        return Weights(C, np.where(variances > 0, 1 / np.where(variances > 0, variances, 1.0), 0.0))

    def extended(self, found: TargetSummary) -> "tuple[ValueFunctions, Ints]":
        if "text" in found.kinds:
            raise InvalidInput("y", "The targets of the model are numbers, and those of these rows are text.")
        if len(found.mean) != len(self.blocks.mean):
            raise InvalidInput(
                "y", f"y has {len(found.mean)} column(s); the targets of the model have {len(self.blocks.mean)}."
            )
        return self, np.arange(len(self.one))
