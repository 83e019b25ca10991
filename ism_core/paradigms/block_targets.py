"""Γ of a table in partitions: what the first pass learns about the targets, and U for one block of rows at a time."""

from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.spatial.distance import cdist

from ism_core.arrays import Array, Ints
from ism_core.engines import Engine
from ism_core.errors import InvalidInput
from ism_core.gamma import BalancedGamma, Gamma, LabelGamma
from ism_core.kernels import median_distance
from ism_core.objective import Block, BlockGammas, Partitions, Place, Summary, Table, pass_over
from ism_core.paradigms.supervised import Supervised
from ism_core.paradigms.targets import CHOLESKY_TOLERANCE, FEW_VALUES, LARGEST_RANK, Kind, absent, cholesky

MOST_CLASSES = 10_000  # more distinct values are no class labels
FIRST_ROWS = 5  # rows of each class that are remembered, so that a sample can have some of a rare class
MOST_ROUNDS = 10  # passes that look for values which the factor does not describe yet


@dataclass
class TargetSummary:
    """Statistics of the targets of some blocks; `+=` adds those of others."""

    kinds: set[str]  # "text", "whole" or "real" numbers, "none" without targets
    columns: int
    missing: dict[Place, tuple[int, int]] = field(default_factory=dict)  # how many, and the first row
    # For each class: the number of its rows, their mean, and the first of them. None if there are too many classes.
    classes: dict[Any, tuple[int, Array, list[tuple[Place, int]]]] | None = None
    count: int = 0
    mean: Array = field(default_factory=lambda: np.empty(0))  # of values
    squares: Array = field(default_factory=lambda: np.empty(0))  # sums of squared deviations from the mean

    def __iadd__(self, other: "TargetSummary") -> Self:
        self.kinds |= other.kinds
        if self.columns != other.columns:
            raise InvalidInput("y", f"y has {self.columns} column(s) in some partitions and {other.columns} in others.")
        self.missing |= other.missing
        if len(self.mean) and len(other.mean):
            total, apart = self.count + other.count, other.mean - self.mean
            self.squares = self.squares + other.squares + apart**2 * (self.count * other.count / total)
            self.mean = self.mean + apart * (other.count / total)
        self.count += other.count
        self._add_classes(other.classes)
        return self

    def _add_classes(self, others: dict[Any, tuple[int, Array, list[tuple[Place, int]]]] | None) -> None:
        if self.classes is None or others is None:
            self.classes = None
            return
        for label, (count, mean, first) in others.items():
            own, center, known = self.classes.get(label, (0, mean, []))
            center = center + (mean - center) * (count / (own + count))
            self.classes[label] = own + count, center, sorted([*known, *first])[:FIRST_ROWS]
        if len(self.classes) > MOST_CLASSES:
            self.classes = None


@dataclass(frozen=True)
class Describing:
    """Summarizes rows and targets in one pass."""

    kind: Kind

    def __call__(self, block: Block, place: Place) -> tuple[Summary, TargetSummary]:
        return Summary.of(block, place), self._targets(np.asarray(block[0], dtype=np.float64), block[1], place)

    def _targets(self, X: Array, y: NDArray[Any] | None, place: Place) -> TargetSummary:
        if y is None:
            return TargetSummary({"none"}, 1)
        y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        gone = absent(y)
        found = TargetSummary(_kinds(y[~gone]), 1 if y.ndim == 1 else y.shape[1], count=len(y))
        if gone.any():
            found.missing[place] = int(gone.sum()), int(np.argmax(gone))
            return found
        if "text" not in found.kinds:
            values = y.astype(np.float64).reshape(len(y), -1)
            found.mean = values.mean(axis=0)
            found.squares = ((values - found.mean) ** 2).sum(axis=0)
            if self.kind == "values" or y.ndim == 2 or (self.kind == "auto" and (values != np.round(values)).any()):
                return found
        elif len(found.kinds) > 1 or y.ndim == 2:
            return found
        labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        if len(labels) > MOST_CLASSES:
            return found
        order = np.argsort(codes, kind="stable")
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        with np.errstate(over="ignore", invalid="ignore"):
            means = np.add.reduceat(X[order], starts, axis=0) / counts[:, None]
        found.classes = {
            label: (int(count), mean, [(place, int(row)) for row in order[start : start + min(count, FIRST_ROWS)]])
            for label, count, mean, start in zip(labels.tolist(), counts, means, starts, strict=True)
        }
        return found


def _kinds(known: NDArray[Any]) -> set[str]:
    """Return which kinds of values there are."""
    if known.dtype.kind in "US":
        return {"text"}
    if known.dtype == object:
        real = [isinstance(value, Real) for value in known.ravel()]
        return {kind for kind, there in (("real", any(real)), ("text", not all(real))) if there}
    return {"whole"} if known.dtype.kind in "iub" else {"real"}


@dataclass(frozen=True)
class ClassBlocks:
    """Γ of class labels, block by block."""

    labels: NDArray[Any]  # sorted
    counts: Ints
    balance: bool

    @property
    def weights(self) -> Gamma:
        return self._gamma(np.empty(0, dtype=np.intp))

    def of(self, X: Array, y: NDArray[Any] | None) -> Gamma:
        return self._gamma(self.codes(y))

    def codes(self, y: NDArray[Any] | None) -> Ints:
        """Return the number of the class of each row."""
        assert y is not None
        return np.searchsorted(self.labels, y.reshape(len(y)).astype(self.labels.dtype)).astype(np.intp)

    def _gamma(self, codes: Ints) -> Gamma:
        k, shares = len(self.counts), self.counts / self.counts.sum()
        if self.balance:
            return Gamma(np.eye(k)[codes] - shares, self.counts.sum() / (k * self.counts))
        return LabelGamma(np.empty((len(codes), 0)), np.ones(k), codes, shares)  # its sums need no U

    def of_sample(self, X: Array, y: NDArray[Any] | None) -> Gamma:
        """Return Γ of some rows as if they were all."""
        codes = np.unique(self.codes(y), return_inverse=True)[1].astype(np.intp)
        return BalancedGamma.of(codes) if self.balance else LabelGamma.of(codes)


@dataclass(frozen=True)
class ValueBlocks:
    """Γ of real values, block by block: U has the values themselves, or a factor of a Gaussian kernel between them."""

    mean: Array
    scale: Array
    sigma: float | None  # None: a linear kernel
    pivots: Array  # standardized values whose kernel functions span the factor
    root: Array  # the factor of the pivots themselves, lower triangular
    center: Array  # the mean of the columns of the factor

    @property
    def weights(self) -> Gamma:
        return Gamma(np.empty((0, len(self.center))), np.ones(len(self.center)))

    def of(self, X: Array, y: NDArray[Any] | None) -> Gamma:
        assert y is not None
        factor = self.factor(self.standardized(y))
        return Gamma(factor - self.center, np.ones(factor.shape[1]))

    def of_sample(self, X: Array, y: NDArray[Any] | None) -> Gamma:
        """Return Γ of some rows as if they were all."""
        U = self.of(X, y).U
        return Gamma(U - U.mean(axis=0), np.ones(U.shape[1]))

    def standardized(self, y: NDArray[Any]) -> Array:
        """Return values with mean 0 and variance 1."""
        values: Array = (y.astype(np.float64).reshape(len(y), -1) - self.mean) / self.scale
        return values

    def factor(self, values: Array) -> Array:
        """Return the factor before it is centered."""
        if self.sigma is None:
            return values
        kernel = np.exp(cdist(values, self.pivots, "sqeuclidean") / (-2 * self.sigma**2))
        return np.asarray(solve_triangular(self.root, kernel.T, lower=True).T)


@dataclass
class _FactorSums:
    sums: Array  # of the columns of the factor
    products: Array  # of the centered rows and the factor
    left: float  # share of the trace that the factor leaves out, times the number of rows
    worst: list[tuple[float, Array]]  # the values of which it leaves out most

    def __iadd__(self, other: "_FactorSums") -> Self:
        self.sums += other.sums
        self.products += other.products
        self.left += other.left
        self.worst = sorted([*self.worst, *other.worst], key=lambda found: -found[0])[:FIRST_ROWS]
        return self


@dataclass(frozen=True)
class _Factoring:
    blocks: ValueBlocks
    mean: Array  # of the rows

    def __call__(self, block: Block, place: Place) -> _FactorSums:
        X, y = np.asarray(block[0], dtype=np.float64), block[1]
        assert y is not None
        values = self.blocks.standardized(y)
        factor = self.blocks.factor(values)
        left = np.maximum(1 - np.einsum("ir,ir->i", factor, factor), 0) if self.blocks.sigma else np.zeros(len(X))
        worst = int(np.argmax(left))
        products = (X - self.mean).T @ factor
        return _FactorSums(factor.sum(axis=0), products, float(left.sum()), [(float(left[worst]), values[worst])])


def block_gammas(
    paradigm: Supervised,
    found: TargetSummary,
    table: Partitions | Table,
    summary: Summary,
    y_of_median: NDArray[Any] | None,
    engine: Engine,
) -> tuple[BlockGammas, Array]:
    """Return Γ by blocks and XᵀU; `y_of_median` are the targets of the rows that the median distance comes from."""
    classes = class_blocks(paradigm, found, summary)
    if classes is not None:
        assert found.classes is not None
        means = np.array([found.classes[label][1] for label in classes.labels.tolist()])
        return classes, (classes.counts[:, None] * (means - summary.mean)).T
    scale = np.sqrt(found.squares / found.count)
    plain = ValueBlocks(found.mean, np.where(scale > 0, scale, 1.0), None, np.empty((0, 0)), np.empty((0, 0)), scale)
    if paradigm.target_kernel == "linear":
        sums = pass_over(table, _Factoring(plain, summary.mean), engine)
        return replace(plain, center=sums.sums / found.count), sums.products
    assert y_of_median is not None
    candidates = plain.standardized(y_of_median)
    sigma = median_distance(candidates, np.random.default_rng(0))
    blocks = plain
    for _ in range(MOST_ROUNDS):
        factor, pivots = cholesky(candidates, sigma)
        root, zero = np.tril(factor[pivots]), np.zeros(len(pivots))
        blocks = replace(plain, sigma=sigma, pivots=candidates[pivots], root=root, center=zero)
        sums = pass_over(table, _Factoring(blocks, summary.mean), engine)
        if sums.left <= 2 * CHOLESKY_TOLERANCE * found.count or len(pivots) >= LARGEST_RANK:
            break
        candidates = np.vstack([candidates, *(values for _, values in sums.worst)])
    return replace(blocks, center=sums.sums / found.count), sums.products


def class_blocks(paradigm: Supervised, found: TargetSummary, summary: Summary) -> ClassBlocks | None:
    """Return Γ by blocks if the targets are classes, None if they are values; raise InvalidInput for wrong targets."""
    check(paradigm, found, summary)
    if not _are_classes(paradigm, found):
        return None
    assert found.classes is not None
    labels = sorted(found.classes)
    return ClassBlocks(np.array(labels), np.array([found.classes[label][0] for label in labels]), paradigm.balance)


def check_known(found: TargetSummary, summary: Summary) -> None:
    """Raise InvalidInput if targets are missing or mixed."""
    if "none" in found.kinds:
        raise InvalidInput("y", "The partitions have no targets; pass y, or name the column of the targets.")
    if found.missing:
        place, count = min(found.missing), sum(count for count, _ in found.missing.values())
        row = summary.first_rows()[place] + found.missing[place][1]
        raise InvalidInput("y", f"y has {count} missing value(s), the first in row {row}. Drop those rows.")
    if "text" in found.kinds and len(found.kinds) > 1:
        raise InvalidInput("y", "y holds text in some rows and numbers in others; give all labels the same type.")


def check(paradigm: Supervised, found: TargetSummary, summary: Summary) -> None:
    """Raise InvalidInput if the targets are missing, mixed or do not vary."""
    check_known(found, summary)
    if _are_classes(paradigm, found):
        classes = found.classes or {}
        if len(classes) < 2:
            raise InvalidInput("y", f"y has {len(classes)} class; at least 2 classes are needed.")
        return
    if "text" in found.kinds and paradigm.kind == "values":
        raise InvalidInput("y", "y must hold numbers to be read as real values; it holds text.")
    if paradigm.kind == "classes" or "text" in found.kinds or _are_whole(paradigm, found):
        raise InvalidInput(
            "y",
            f"y has more than {MOST_CLASSES:,} distinct values, too many for class labels; if they are measurements,"
            ' pass numbers and kind="values".',
        )
    if paradigm.balance:
        raise InvalidInput("balance", "balance gives classes the same weight, and y holds real values; leave it out.")
    if not found.squares.any():
        raise InvalidInput("y", "y is the same number in all rows; it must vary.")


def _are_whole(paradigm: Supervised, found: TargetSummary) -> bool:
    return paradigm.kind == "auto" and found.kinds == {"whole"} and found.columns == 1


def _are_classes(paradigm: Supervised, found: TargetSummary) -> bool:
    if found.classes is None or paradigm.kind == "values":
        return False
    return paradigm.kind == "classes" or "real" not in found.kinds or len(found.classes) <= FEW_VALUES
