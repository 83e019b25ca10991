"""The data of a problem whose rows are read again for each sum over them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array, Ints
from ism_core.gamma import Gamma
from ism_core.objective.data import ObjectiveData, ProblemData
from ism_core.objective.feature_sums import Blocks, RowSums, Work, row_coefficients
from ism_core.objective.partitions.kept import Table
from ism_core.objective.partitions.passes import Place, total
from ism_core.objective.partitions.table import Block
from ism_core.objective.truncation import ProjectedNorms

T = TypeVar("T")


class BlockGammas(Protocol):
    """Makes Γ for one block at a time; it can be pickled."""

    @property
    def weights(self) -> Gamma:
        """Γ without rows: its weights s, and what turns the sums of all rows into moments."""

    def of(self, X: Array, y: NDArray[Any] | None) -> Gamma:
        """Return the rows of U that belong to a block with these rows and targets."""

    def of_sample(self, X: Array, y: NDArray[Any] | None) -> Gamma:
        """Return Γ of some rows as if they were all."""


@dataclass(frozen=True)
class PartitionedData(ObjectiveData):
    """The data of a problem whose rows are in partitions, with a sample of them in memory."""

    table: Table
    gammas: BlockGammas
    rows: int
    mean: Array  # of the rows
    scatter_matrix: Array  # of all centered rows
    radius: float  # largest squared distance of a row to the mean
    sums: Array | None  # XᵀU, where the columns of U add up to 0; None for clusterings
    sample: ProblemData
    far_rows: ProblemData  # the rows farthest from the mean

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, len(self.mean)

    @property
    def far(self) -> ProblemData:
        return self.far_rows

    @property
    def most_sampled(self) -> int:
        return len(self.sample.X)

    @cached_property
    def scatter(self) -> Array:
        return self.clean(self.scatter_matrix)

    def sampled(self, count: int, rng: np.random.Generator) -> ProblemData:
        return self.sample.sampled(count, rng)

    def variance_along(self, W: Array) -> float:
        return float(np.vdot(W, self.scatter_matrix @ W)) / self.rows

    def rows_at(self, W: Array, flops: float) -> "PartitionedRows":
        return PartitionedRows(self, W)

    def total(self, work: Work[T], size: int, *args: Any) -> T:
        return total(self.table, _BlockSums(work, None, True, size, self.rows, self.gammas, args), self.options.engine)

    def norms_at(self, W: Array) -> ProjectedNorms:
        return total(self.table, _Norms(W, self.mean, self.radius, self.gammas), self.options.engine).all(self.gamma)

    def target_sums(self, centered: bool) -> Array | None:
        return None if self.sums is None else self.without_null_part(self.sums)

    def with_gammas(self, gammas: BlockGammas) -> "PartitionedData":
        """Return the data with the Γ of another clustering."""
        sample, far = (replace(some, gamma=gammas.of_sample(some.X, None)) for some in (self.sample, self.far_rows))
        return replace(self, gammas=gammas, gamma=gammas.weights, sample=sample, far_rows=far)


@dataclass(frozen=True)
class PartitionedRows(RowSums):
    """The rows of partitions with their projections, which each pass computes again."""

    data: PartitionedData
    W: Array

    @property
    def rows(self) -> int:  # type: ignore[override]
        return self.data.rows

    @property
    def columns(self) -> int:  # type: ignore[override]
        return len(self.data.mean)

    @property
    def center(self) -> Array:  # type: ignore[override]
        center: Array = self.data.mean @ self.W
        return center

    @property
    def gamma(self) -> Gamma:  # type: ignore[override]
        return self.data.gamma

    def total(self, work: Work[T], size: int, *args: Any, reads_X: bool = True) -> T:
        sums = _BlockSums(work, self.W, reads_X, size, self.rows, self.data.gammas, args)
        return total(self.data.table, sums, self.data.options.engine)

    def column_sums(self, size: int, *args: Any) -> Array:
        return self.total(_column_sums, size, *args)


def _column_sums(share: list[int], X: Array, P: Array, gamma: Gamma, blocks: Blocks, *args: Any) -> Array:
    """Return XᵀC over the blocks of a share."""
    C = np.empty_like(P)
    for rows, values in row_coefficients(share, None, P, gamma, blocks, *args):
        C[rows] = values
    return (C.T @ X).T


@dataclass(frozen=True)
class _BlockSums(Generic[T]):
    """The work on one block that is read: all of the smaller blocks in it."""

    work: Callable[..., T]
    W: Array | None  # None: without projections
    reads_X: bool  # noqa: N815
    size: int
    rows: int
    gammas: BlockGammas
    args: tuple[Any, ...]

    def __call__(self, block: Block, place: Place) -> T:
        X, y = np.ascontiguousarray(block[0], dtype=np.float64), block[1]
        share, gamma = list(range(-(-len(X) // self.size))), self.gammas.of(X, y)
        blocks = Blocks(self.size, self.rows)
        if self.W is None:
            return self.work(share, X, gamma, blocks, *self.args)
        return self.work(share, X if self.reads_X else None, X @ self.W, gamma, blocks, *self.args)


@dataclass
class _NormSums:
    edges: Array
    moments: Array
    counts: Ints

    def __iadd__(self, other: "_NormSums") -> "_NormSums":
        self.moments += other.moments
        self.counts += other.counts
        return self

    def all(self, gamma: Gamma) -> ProjectedNorms:
        return ProjectedNorms(self.edges, self.moments, gamma.majorant, self.counts)


@dataclass(frozen=True)
class _Norms:
    """The sums of `ProjectedNorms` over one block."""

    W: Array
    mean: Array
    radius: float
    gammas: BlockGammas

    def __call__(self, block: Block, place: Place) -> _NormSums:
        X, y = np.asarray(block[0], dtype=np.float64), block[1]
        centered = X - self.mean
        norms = np.sqrt(np.einsum("ij,ij->i", centered, centered))
        center = np.zeros(self.W.shape[1])
        found = ProjectedNorms.of(centered @ self.W, norms, self.gammas.of(X, y), None, center, self.radius)
        return _NormSums(found.edges, found.moments, found.counts)
