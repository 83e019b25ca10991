"""Moments of the rows for polynomial kernels: after one pass over the rows, the cost of J and Φ in a subspace of few
dimensions does not depend on n.

Let z be the coordinates of a row in the subspace and W = QV, so that p = Vᵀz. With a constant coordinate,
z̃ = (√c, √γ z), the kernel is a power of an inner product, and so an inner product of tensors:

    (γ pi·pj + c)^k = (p̃i·p̃j)^k = ⟨p̃i ⊗ … ⊗ p̃i, p̃j ⊗ … ⊗ p̃j⟩,        p̃ = Ṽᵀz̃,  Ṽ = diag(1, V)

Hence J = Σa sa ‖Ta(Ṽ, …, Ṽ)‖² with the moments Ta = Σi uai z̃i ⊗ … ⊗ z̃i, and Φ = k Σa sa Ma Maᵀ with
Ma = Ta(·, Ṽ, …, Ṽ) without its first row.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, TypeGuard

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.engines import Threads
from ism_core.gamma import Gamma
from ism_core.kernels import FeatureMap, Power, TermMap, exact_maps, monomials
from ism_core.linalg import row_passes
from ism_core.objective import Blocks, Problem, ProblemData, features_of

ROWS_AT_A_TIME = 384
MOST_ENTRIES = 3e6  # most entries in the tensors of one term; contracting them takes about 10 ms
FEW_ENTRIES = 1e5  # entries of a term's tensors whose contraction takes less than a pass over a few hundred rows
LEAP_COST = 6  # largest cost of a leap, in evaluations of Φ(W)W
LEAP_EVALUATIONS = 20  # evaluations of Φ from the moments in a typical leap
FURTHER_DIRECTIONS = 10  # directions of a leap in addition to W and the gradient


@dataclass(frozen=True)
class PolynomialMoments:
    """The problem for W = basis · V, with the interface that an ascent needs."""

    basis: Array  # d×s, orthonormal
    powers: "list[_Power]"
    scatter: Array  # of the rows in these coordinates
    q: int

    is_small: ClassVar[bool] = True  # Φ is computed at every step
    flops: ClassVar[float] = 0.0  # negligible compared with a pass over the rows
    half_gradient_flops: ClassVar[float] = 0.0
    resolution: ClassVar[float] = 0.0

    @staticmethod
    def of(problem: Problem, basis: Array) -> "PolynomialMoments | None":
        """Compute the moments; return None if a term of the kernel is not polynomial, or the tensors are too large."""
        s = basis.shape[1]
        if not has_moments(problem, s):
            return None
        maps = exact_maps(problem.kernel, s)
        assert maps is not None
        moments, scatter = _moments(problem, maps, basis)
        powers = []
        for each, own in zip(maps, moments, strict=True):
            assert isinstance(each.value, Power)
            powers.append(_Power.of(each.value, own, each.weight * problem.gamma.s))
        return PolynomialMoments(basis, powers, scatter, problem.q)

    @staticmethod
    def of_tensors(terms: Sequence[tuple[Power, Array]], s: Array, scatter: Array, q: int) -> "PolynomialMoments":
        """Return the moments in all directions.

        Parameters
        ----------
        terms
            For each term of the kernel its value, with its weight as factor, and the sums Σ ua z̃ ⊗ … ⊗ z̃ over the rows
            for z̃ = [1, z], r×(d + 1)×…×(d + 1).
        s
            The weights of Γ.
        """
        powers = [_Power.of_tensor(value, tensor, s) for value, tensor in terms]
        return PolynomialMoments(np.eye(len(scatter)), powers, scatter, q)

    @property
    def dimensions(self) -> int:
        """The dimension of the space in which W is sought."""
        return int(self.basis.shape[1])

    @property
    def null_directions(self) -> Array:
        """There are none."""
        return np.empty((self.dimensions, 0))

    def with_null_directions_last(self, phi: Array) -> Array:
        """Φ itself: there are no null directions."""
        return phi

    def evaluate(self, V: Array, half_gradient: tuple[Array, float] | None = None) -> tuple[Array, float]:
        """Φ and J"""
        phi, objective = np.zeros((len(V), len(V))), 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            for power in self.powers:
                own, value = power.evaluate(V)
                phi += own
                objective += value
        return phi, objective

    def half_gradient(self, V: Array) -> tuple[Array, float]:
        """ΦV and J"""
        phi, objective = self.evaluate(V)
        return phi @ V, objective

    def objective(self, V: Array) -> float:
        """J"""
        return self.evaluate(V)[1]


def _moments(problem: Problem, maps: list[TermMap], basis: Array) -> tuple[list[Array], Array]:
    """Return the moments of each term and the scatter matrix of the rows z in a basis.

    The moments are sums of the features of z times [z, 1], weighted by each column of U, r×m×(s + 1).
    """
    derivatives = [each.derivative for each in maps]
    n, data = problem.shape[0], problem.data
    shared = isinstance(problem.options.engine, Threads) and isinstance(data, ProblemData)
    kept = np.empty((n, basis.shape[1])) if shared else None  # by threads of this process
    with np.errstate(over="ignore", invalid="ignore"):
        totals, squares = data.total(add_row_moments, ROWS_AT_A_TIME, basis, derivatives, kept)
        if kept is not None:
            problem.projections.remember(basis, kept)
        squares, sums = squares[:-1, :-1], squares[-1, :-1]
        return [problem.gamma.finished(total) for total in totals], squares - np.outer(sums, sums) / n


def add_row_moments(
    share: list[int],
    X: Array,
    gamma: Gamma,
    blocks: Blocks,
    basis: Array | None,
    derivatives: Sequence[FeatureMap],
    kept: Array | None,
) -> tuple[list[Array], Array]:
    """Return the moments and the sum of [z, 1]ᵀ[z, 1] over the blocks of a share; write z into `kept` if given.

    Without a basis, z is the row itself.
    """
    s = X.shape[1] if basis is None else basis.shape[1]
    totals = [gamma.no_moments(each.count, s + 1) for each in derivatives]
    squares = np.zeros((s + 1, s + 1))
    columns = np.ones((blocks.size, s + 1))
    for block in row_passes.blocks_of(share, len(X), blocks.size):
        Z = columns[: block.stop - block.start]
        rows = gamma.rows(block)
        Z[:, :s] = X[rows] if basis is None else X[rows] @ basis
        if kept is not None:
            kept[rows] = Z[:, :s]
        squares += Z.T @ Z
        for total, each in zip(totals, derivatives, strict=True):
            gamma.add_moments(total, block, features_of(each, Z[:, :s], blocks.rows), Z)
    return totals, squares


def full_tensors(sums: Array, d: int, degree: int) -> Array:
    """Return sums of z̃ ⊗ … ⊗ z̃ for z̃ = [1, z], a×(d + 1)×…×(d + 1).

    `sums` has those of the products of up to degree − 1 coordinates of z, times z̃.
    """
    full: Array = sums[:, _places(d, degree - 1, 1)]
    return full


def has_moments(problem: Problem, s: int, entries: float = MOST_ENTRIES) -> bool:
    """Return whether the kernel is a sum of powers whose moments in s directions have at most `entries` entries."""
    maps = exact_maps(problem.kernel, s)
    return maps is not None and all(
        isinstance(each.value, Power) and each.value.degree > 1 and _entries(problem, each.value, s) <= entries
        for each in maps
    )


def _entries(problem: Problem, value: Power, s: int) -> float:
    """Return the number of entries of the moments, or of the largest intermediate tensor if that is larger."""
    monomials = math.comb(s + value.degree - 1, s)
    turned = float(s + 1) ** (value.degree - 1) * (problem.q + 1)
    return len(problem.gamma.s) * max(float(monomials * (s + 1)), turned)


def moments_in_all_directions(problem: Problem) -> PolynomialMoments | None:
    """Return the moments in all directions if they have few entries, else None."""
    if problem.null_directions.shape[1] > 0 or not has_moments(problem, problem.dimensions, FEW_ENTRIES):
        return None
    return PolynomialMoments.of(problem, np.eye(problem.dimensions))


def moments_flops(problem: Problem, s: int, evaluations: int) -> float:
    """Return the flops of the moments in s directions and of the given number of evaluations of Φ and J."""
    n, d = problem.shape
    r = len(problem.gamma.s)
    maps = exact_maps(problem.kernel, s) or []
    sums = sum(problem.gamma.moment_flops(n, s + 2, each.derivative.count) + n * each.derivative.count for each in maps)
    turns = sum(2 * r * (problem.q + 1) * (s + 1) * each.derivative.count for each in maps)
    return float(sums + 2 * n * d * s + evaluations * turns)


def can_leap(problem: object) -> TypeGuard[Problem]:
    """Return whether the kernel has moments that cost less than the steps that they save."""
    if not isinstance(problem, Problem) or problem.is_small:
        return False
    s = min(2 * problem.q + FURTHER_DIRECTIONS, problem.dimensions)
    most = LEAP_COST * problem.half_gradient_flops
    return has_moments(problem, s) and moments_flops(problem, s, LEAP_EVALUATIONS) < most


@dataclass(frozen=True)
class _Power:
    """One term of the kernel.

    Its tensors are symmetric, so only entries whose indices but the last are sorted are stored.
    """

    degree: int
    tensors: Array  # r×m×s̃: one row for each monomial of z̃ of degree `degree` − 1
    s: Array  # the weight of each column of U: that of the term times s of Γ
    constant: int  # 1 if z̃ has a constant coordinate, else 0

    @staticmethod
    def of(value: Power, moments: Array, s: Array) -> "_Power":
        """Return the term, given the sums over the rows of each monomial of degree `degree` − 1 times [z, 1]."""
        constant = int(value.c > 0)
        columns = [value.q] * constant + list(range(value.q))
        scale = np.sqrt([value.c] * constant + [value.gamma] * value.q)
        products = np.ones(moments.shape[1])
        for index in _indices(value.q, value.degree - 1, constant).T:
            products *= scale[index]
        tensors = moments[..., columns] * products[:, None]
        tensors *= scale
        return _Power(value.degree, tensors, s, constant)

    @staticmethod
    def of_tensor(value: Power, tensor: Array, s: Array) -> "_Power":
        """Return the term, given the sums of z̃ ⊗ … ⊗ z̃ for z̃ = [1, z]."""
        constant = int(value.c > 0)
        scale = np.sqrt([value.c] * constant + [value.gamma] * value.q)
        for axis in range(1, tensor.ndim):
            tensor = np.moveaxis(np.moveaxis(tensor, axis, -1)[..., 1 - constant :] * scale, -1, axis)
        if value.degree > 1:
            tensor = tensor[(slice(None), *_indices(value.q, value.degree - 1, constant).T)]
        return _Power(value.degree, np.ascontiguousarray(tensor), value.factor * s, constant)

    def evaluate(self, V: Array) -> tuple[Array, float]:
        """Return the term's part of Φ and J."""
        s = len(V)
        if self.degree == 1:
            rows = self.tensors[:, self.constant :]
            linear: Array = (rows.T * self.s) @ rows
            return linear, float(np.vdot(V, linear @ V))  # the constant adds nothing: the columns of U add up to 0
        extended = np.pad(V, (self.constant, 0))
        extended[: self.constant, : self.constant] = 1
        r, m, width = self.tensors.shape
        turned = (self.tensors.reshape(-1, width) @ extended).reshape(r, m, -1)
        turned = turned[:, _places(s, self.degree - 1, self.constant)]
        rest = extended.shape[1]
        for _ in range(self.degree - 2):  # contract the indices from the last but one to the second
            turned = extended.T @ turned.reshape(-1, width, rest)
            rest *= extended.shape[1]
        turned = turned.reshape(r, width, rest)
        core = extended.T @ turned
        rows = turned[:, self.constant :].transpose(1, 0, 2)
        phi = self.degree * (rows * self.s[:, None]).reshape(s, -1) @ rows.reshape(s, -1).T
        return phi, float(self.s @ np.einsum("aqm,aqm->a", core, core))


@lru_cache(maxsize=32)
def _indices(s: int, degree: int, constant: int) -> Ints:
    """Return the sorted indices of the factors of each monomial of z̃, m×degree."""
    known = monomials(s, degree)
    exponents = known.exponents if constant else known.exponents[known.last]
    return np.array(
        [[0] * (degree - int(row.sum())) + np.repeat(np.arange(s) + constant, row).tolist() for row in exponents]
    )


@lru_cache(maxsize=32)
def _places(s: int, degree: int, constant: int) -> Ints:
    """Return the index of the monomial for each tuple of coordinates of z̃, s̃×…×s̃."""
    indices = _indices(s, degree, constant)
    shape = (s + constant,) * degree
    places = np.zeros(shape, dtype=np.int64)
    places[tuple(indices.T)] = np.arange(len(indices))
    everywhere = np.sort(np.indices(shape).reshape(degree, -1), axis=0)
    unsorted: Ints = places[tuple(everywhere)].reshape(shape)
    return unsorted
