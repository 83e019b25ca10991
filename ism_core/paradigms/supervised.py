"""The supervised paradigm: Γ = H K_Y H from classes or values."""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ism_core.arrays import Array, Ints
from ism_core.errors import InvalidInput
from ism_core.gamma import BalancedGamma, Gamma, LabelGamma
from ism_core.linalg import standardized
from ism_core.objective import ClassNeighborGamma, NeighborGamma, ValueNeighborGamma
from ism_core.paradigms.base import Paradigm, Projected
from ism_core.paradigms.targets import Kind, TargetKernel, Targets


class Supervised(Paradigm):
    """Find the axes that separate the classes, or on which real values depend.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, t), or None
        Class labels of any type, or one or several columns of real values. None if X is a table in partitions, which
        has its targets with it.
    kind : "auto", "classes" or "values", default="auto"
        How to read y. "auto" reads text, booleans and integers as classes, and other numbers as values. Integers stored
        as floats are classes if at most 20 are distinct. Several columns are values.
    target_kernel : "gaussian" or "linear", default="gaussian"
        Kernel between values. The Gaussian has the median distance between values as its width.
    balance : bool, default=False
        Give all classes the same weight, so that frequent classes do not dominate rare ones.
    neighbors : bool, default=False
        Predict each row from its neighbors: maximize the share of its own class among them, or the R² of their mean
        values. Γ then depends on W.
    """

    alternates = False

    def __init__(
        self,
        y: ArrayLike | None = None,
        kind: Kind = "auto",
        target_kernel: TargetKernel = "gaussian",
        balance: bool = False,
        neighbors: bool = False,
    ) -> None:
        if target_kernel not in ("gaussian", "linear"):
            raise InvalidInput(
                "target_kernel", f'target_kernel is {target_kernel!r}; it must be "gaussian" or "linear".'
            )
        for name, flag in (("balance", balance), ("neighbors", neighbors)):
            if not isinstance(flag, bool | np.bool_):
                raise InvalidInput(name, f"{name} is {flag!r}; it must be True or False.")
        self._known = None if y is None else Targets(y, "y", kind)
        self.kind, self.target_kernel = kind, target_kernel
        self.balance, self._neighbors = bool(balance), bool(neighbors)
        if balance and self._known is not None and self._known.codes is None:
            raise InvalidInput(
                "balance", "balance gives classes the same weight, and y holds real values; leave it out."
            )
        if neighbors and balance:
            raise InvalidInput("balance", "balance cannot be combined with neighbors; leave out one of the two.")

    @property
    def _targets(self) -> Targets:
        if self._known is None:
            raise InvalidInput("y", "y is None; Supervised(y) needs one label or value for each row of X.")
        return self._known

    def check(self, n: int) -> list[str]:
        self._targets.check(n)
        if self._targets.missing.any():
            first = int(np.argmax(self._targets.missing))
            count = int(self._targets.missing.sum())
            raise InvalidInput("y", f"y has {count} missing value(s), the first in row {first}. Drop those rows.")
        return self._targets.warnings()

    def gamma(self, projected: Projected) -> tuple[Gamma, None]:
        gamma = self.target_gamma()
        return gamma if projected.rows is None else gamma.restricted(projected.rows), None

    @property
    def rank(self) -> int:
        return self._gamma.rank if isinstance(self._gamma, NeighborGamma) else len(self._gamma.s)

    @property
    def neighbors(self) -> bool:
        """Whether Γ counts nearest neighbors, and so depends on W."""
        return self._neighbors

    @property
    def can_have_neighbors(self) -> bool:
        """Whether this paradigm could count neighbors."""
        return not self.balance

    def target_gamma(self) -> Gamma:
        return self._gamma

    @property
    def codes(self) -> Ints | None:
        """The class of each row as a number; None for values."""
        return self._targets.codes

    @property
    def values(self) -> Array | None:
        """The values of each row; None for classes."""
        return self._targets.values

    def with_neighbors(self, neighbors: bool) -> "Supervised":
        """Return this paradigm with or without a Γ that counts neighbors."""
        if neighbors == self._neighbors:
            return self
        if self.codes is not None:
            return Supervised(self.codes, "classes", balance=self.balance, neighbors=neighbors)
        assert self.values is not None
        return Supervised(self.values, "values", self.target_kernel, neighbors=neighbors)

    def with_target_kernel(self, target_kernel: TargetKernel) -> "Supervised":
        """Return this paradigm with another kernel between values; classes have none."""
        if self._known is None:
            return Supervised(None, self.kind, target_kernel, neighbors=self._neighbors)
        if self.codes is not None:
            return self
        return Supervised(self.values, "values", target_kernel, neighbors=self._neighbors)

    def restricted(self, rows: Ints) -> "Supervised":
        """Return this paradigm for some of the rows."""
        if self.codes is not None:
            return Supervised(self.codes[rows], "classes", balance=self.balance, neighbors=self._neighbors)
        assert self.values is not None
        return Supervised(self.values[rows], "values", self.target_kernel, neighbors=self._neighbors)

    @cached_property
    def _gamma(self) -> Gamma:
        codes = self._targets.codes
        if codes is not None:
            kind = ClassNeighborGamma if self._neighbors else BalancedGamma if self.balance else LabelGamma
            return kind.of(codes)
        U = self._targets.real_factor(self.target_kernel)
        s = np.ones(U.shape[1])
        if not self._neighbors:
            return Gamma(U, s)
        assert self.values is not None
        return ValueNeighborGamma(U, s, standardized(self.values, "y")[0])
