"""Sums of products of coordinates over the rows, from which J and Φ of polynomial kernels follow at every W.

The sums are those of x̂ = (x − center) / unit, with the mean and the standard deviation of the first rows. They give the
sums of rows that are standardized by any other mean and scale, so that standardizing stays exact as rows arrive.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ism_core.arrays import Array
from ism_core.engines import Engine
from ism_core.errors import InvalidInput
from ism_core.kernels import Kernel, Linear, Polynomial, Power, Squared
from ism_core.linalg import Scale, Scaling, clipped
from ism_core.objective import Block, BlockGammas, Blocks, Partitions, Place, pass_over
from ism_core.paradigms import ClassBlocks, Describing, Supervised, ValueBlocks, check_known
from ism_core.solver.ascent import ROWS_AT_A_TIME, add_row_moments, full_tensors
from ism_core.solver.updates.target_functions import ClassFunctions, TargetFunctions, ValueFunctions

MOST_ENTRIES = 1e7  # numbers in the tensors of all target functions, 80 MB
CONSTANT = 10 * float(np.finfo(np.float64).eps)  # of the mean: a smaller standard deviation is rounding


class PowerTerm(NamedTuple):
    """weight · (γβ + c)^degree, a term of a kernel."""

    weight: float
    degree: int
    gamma: float
    c: float


def power_terms(kernel: Kernel) -> list[PowerTerm] | None:
    """Return the terms of a fitted kernel as powers of inner products; None if one is none.

    A squared distance counts as 2 pi·pj, because the rows of Γ add up to 0.
    """
    terms = []
    for weight, term in kernel.terms:
        if isinstance(term, Polynomial):
            terms.append(PowerTerm(weight, term.degree, float(term.gamma), float(term.c)))
        elif isinstance(term, Linear | Squared):
            terms.append(PowerTerm(weight * (1 if isinstance(term, Linear) else 2), 1, 1.0, 0.0))
        else:
            return None
    return terms


def check_updatable(kernel: Kernel | str, scale: str | None, neighbors: bool) -> None:
    """Raise InvalidInput if a model with these settings cannot be updated; settings that are "auto" may be chosen so.

    Raises
    ------
    InvalidInput
        J of a Gaussian kernel depends on each row at each W: no sums over the rows give it at another W.
    """
    terms = () if isinstance(kernel, str) else kernel.terms
    others = [type(term).__name__ for _, term in terms if not isinstance(term, Polynomial | Linear | Squared)]
    if isinstance(kernel, str) and kernel not in ("polynomial", "linear", "squared", "auto"):
        others = [kernel]
    if others:
        raise InvalidInput(
            "kernel",
            f"A model with the kernel {others[0]} cannot be updated: its objective at another W depends on every row,"
            " not on sums over the rows. Take a polynomial, linear or squared kernel, or fit all rows again.",
        )
    if scale == "whiten":
        raise InvalidInput("scale", 'A model with the scale "whiten" cannot be updated; take "standard" or "none".')
    if neighbors:
        raise InvalidInput("neighbors", "A model with neighbors cannot be updated, because it compares rows in pairs.")


@dataclass(frozen=True)
class RowMoments:
    """Sums over the rows of a model, weighted with functions of their targets."""

    terms: tuple[PowerTerm, ...]
    targets: TargetFunctions
    paradigm: Supervised  # without targets
    scale: Scale
    limits: Array | None  # to which gross cells are moved
    center: Array
    unit: Array
    sums: Array  # k×m×(d + 1): of the products of up to degree − 1 coordinates of x̂, times [x̂, 1]

    @staticmethod
    def none(kernel: Kernel, scaling: Scaling, scale: Scale, paradigm: Supervised, gammas: BlockGammas) -> "RowMoments":
        """Return the sums of no rows, for rows like those that a scaling was learned from.

        `gammas` has the classes, or the factor of the kernel between the values, of the first rows.
        """
        terms = tuple(power_terms(kernel) or ())
        assert terms
        targets: TargetFunctions
        if isinstance(gammas, ClassBlocks):
            targets = ClassFunctions(gammas.labels, gammas.balance)
        else:
            assert isinstance(gammas, ValueBlocks)
            targets = ValueFunctions(replace(gammas, center=np.zeros_like(gammas.center)))
        d, degree = len(scaling.mean), max(2, *(term.degree for term in terms))
        entries = len(targets.one) * float(d + 1) ** degree
        if entries > MOST_ENTRIES:
            raise InvalidInput(
                "kernel",
                f"A model of {d} columns with a kernel of degree {degree} needs {entries:.2g} sums to be updated; the"
                f" limit is {MOST_ENTRIES:.2g}. Take fewer columns or a lower degree, or fit all rows again.",
            )
        count = Power(d, degree - 1, 1.0, 1.0).count
        sums = np.zeros((len(targets.one), count, d + 1))
        return RowMoments(terms, targets, paradigm, scale, scaling.limits, scaling.mean, scaling.scale, sums)

    @property
    def labels(self) -> list[Any]:
        """The classes; none if the targets are values."""
        return self.targets.labels.tolist() if isinstance(self.targets, ClassFunctions) else []

    @property
    def has_classes(self) -> bool:
        """Whether the targets are classes."""
        return isinstance(self.targets, ClassFunctions)

    @property
    def degree(self) -> int:
        """The number of coordinates in the longest products."""
        return max(2, *(term.degree for term in self.terms))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return round(float(self.targets.one @ self.sums[:, 0, -1]))

    @property
    def counts(self) -> Array:
        """The sum of each function of the targets over the rows: the number of rows of each class."""
        counts: Array = self.sums[:, 0, -1]
        return counts

    def changed(self, table: Partitions, engine: Engine, sign: int = 1) -> "RowMoments":
        """Return the sums after rows are added, or removed if the sign is −1."""
        summary, found = pass_over(table, Describing(self.paradigm.kind), engine)
        summary.check(fewest=1)
        check_known(found, summary)
        targets, places = self.targets.extended(found)
        sums = np.zeros((len(targets.one), *self.sums.shape[1:]))
        sums[places] = self.sums
        work = _Summing(targets, self.center, self.unit, self.limits, self.degree)
        sums += sign * pass_over(table, work, engine)
        if isinstance(targets, ClassFunctions):
            if (sums[:, 0, -1] < 0).any():
                label = targets.labels.tolist()[int(np.argmin(sums[:, 0, -1]))]
                raise InvalidInput("y", f"More rows of class {label!r} would be removed than the model has.")
            kept = sums[:, 0, -1] > 0
            targets, sums = replace(targets, labels=targets.labels[kept]), sums[kept]
        changed = replace(self, targets=targets, sums=sums)
        if changed.rows < 2:
            raise InvalidInput("X", f"The model would have {max(changed.rows, 0)} row(s) left; at least 2 are needed.")
        return changed

    def scaling(self) -> Scaling:
        """Return the scaling of the present rows."""
        d = len(self.center)
        if self.scale == "none":
            return Scaling(np.zeros(d), np.ones(d), None, self.limits)
        totals = np.tensordot(self.targets.one, self.sums, axes=1) / self.rows
        mean, squares = totals[0, :d], totals[1 : d + 1, :d].diagonal()
        deviations = self.unit * np.sqrt(np.maximum(squares - mean**2, 0))
        center = self.center + self.unit * mean
        return Scaling(center, np.where(deviations > CONSTANT * np.abs(center), deviations, 1.0), None, self.limits)

    def tensors(self, scaling: Scaling) -> Array:
        """Return Σ ψa(y) z̃ ⊗ … ⊗ z̃ for z̃ = [1, z] and rows z that are scaled so, k×(d + 1)×…×(d + 1)."""
        tensors = full_tensors(np.roll(self.sums, 1, axis=2), len(self.center), self.degree)
        shift = np.append(0.0, (scaling.mean - self.center) / self.unit)
        ratio = np.append(1.0, self.unit / scaling.scale)
        for axis in range(1, self.degree + 1):
            along = [-1 if place == axis else 1 for place in range(self.degree + 1)]
            tensors = tensors - shift.reshape(along) * tensors.take([0], axis)
            tensors *= ratio.reshape(along)
        return tensors


@dataclass(frozen=True)
class _Summing:
    """The sums over one block."""

    targets: TargetFunctions
    center: Array
    unit: Array
    limits: Array | None
    degree: int

    def __call__(self, block: Block, place: Place) -> Array:
        X = (clipped(np.asarray(block[0], dtype=np.float64), self.limits) - self.center) / self.unit
        n, d = X.shape
        share = list(range(-(-n // ROWS_AT_A_TIME)))
        maps = [Power(d, self.degree - 1, 1.0, 1.0)]
        sums = add_row_moments(share, X, self.targets.of(block[1]), Blocks(ROWS_AT_A_TIME, n), None, maps, None)[0]
        return np.ascontiguousarray(sums[0])
