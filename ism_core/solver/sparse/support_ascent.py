"""Ascent on supports: column j of W has entries for the features of its support only, and WᵀBW = I.

The steps are those of `LevelShiftedAscent`: W becomes the best for Φ(W) + ρ BWWᵀB. The best is found column by column:
each becomes the dominant eigenvector among the vectors on its support that are orthogonal to the other columns, until
no column changes.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ism_core.arrays import Array, Ints
from ism_core.objective import Problem
from ism_core.solver.ascent import LevelShiftedAscent, Move, TrialStep, iter_moves
from ism_core.solver.result import Stop, drain

Support = NDArray[np.bool_]

MOST_SWEEPS = 5  # over the columns for one Φ
SMALLEST_SQUARED_SINE = 1e-12  # a smaller one moves a column by rounding only
VANISHED = 0.1  # length left of a unit column on a smaller support below which it is replaced by another direction
RANK_TOLERANCE = 1e-10  # share of the largest singular value below which columns are dependent
EXPECTED_GAIN = 5  # times the last gain: what an ascent may still gain


@dataclass(frozen=True)
class Axes:
    """Columns on their supports, with Φ and J there; `metric` is B."""

    W: Array
    support: Support
    metric: Array
    phi: Array
    objective: float

    @cached_property
    def eigenvalues(self) -> Array:
        """wᵀΦw of each column."""
        values: Array = np.einsum("ij,ij->j", self.W, self.phi @ self.W)
        return values

    @cached_property
    def size(self) -> float:
        """‖Φ‖"""
        return float(np.linalg.norm(self.phi))

    @property
    def gradient(self) -> float:
        """The part of ΦW along the moves that supports and orthogonality allow, relative to ‖Φ‖."""
        squares = 0.0
        for column in range(self.W.shape[1]):
            features = np.flatnonzero(self.support[:, column])
            (back,), (others,) = _constraints(self.W, column, features[None], self.metric)
            gradient = back @ (self.phi @ self.W[:, column])[features]
            own = back @ (self.metric @ self.W[:, column])[features]
            squares += float(np.linalg.norm(gradient - others @ gradient - own * (own @ gradient))) ** 2
        return float(np.sqrt(squares)) / self.size if self.size > 0 else 0.0

    def among(self, features: Ints) -> "Axes":
        """The axes on some of the features, which include those of all supports."""
        square = np.ix_(features, features)
        return replace(
            self, W=self.W[features], support=self.support[features], metric=self.metric[square], phi=self.phi[square]
        )

    def ordered(self) -> "Axes":
        """The columns with the largest eigenvalues first."""
        order = np.argsort(-self.eigenvalues, kind="stable")
        return replace(self, W=self.W[:, order], support=self.support[:, order])


def ascend_on_supports(
    problem: Problem, W: Array, support: Support, metric: Array, gain: float, max_iter: int, above: float = -np.inf
) -> Axes:
    """Climb from W on the same supports.

    Parameters
    ----------
    gain
        The share of J that a step must add for another one to follow.
    max_iter
        The largest number of steps.
    above
        A J that the ascent must reach: it ends as soon as that is out of reach.
    """
    return drain(iter_moves(SupportAscent(problem, support, metric, gain, above), W, max_iter)).point


class SupportAscent(LevelShiftedAscent[Axes]):
    """An ascent method for columns with supports."""

    def __init__(self, problem: Problem, support: Support, metric: Array, gain: float, above: float) -> None:
        self._problem = problem
        self._support = support
        self._metric = metric
        self._gain = gain
        self._above = above

    @property
    def resolution(self) -> float:
        return self._problem.resolution

    def init(self, W: Array) -> Axes:
        return Axes(W, self._support, self._metric, *self._problem.evaluate(W))

    def step(self, here: Axes) -> tuple[Axes, Stop | None]:
        there = self.uphill(here)
        return (here, Stop.FIXED_POINT) if there is None else (there, None)

    def after_step(self, move: Move[Axes]) -> tuple[Axes, Stop | None]:
        here, before = move.point, move.before
        assert before is not None
        gained = here.objective - before.objective
        is_done = gained < self._gain * abs(before.objective) or here.objective + EXPECTED_GAIN * gained < self._above
        return here, Stop.SETTLED if is_done else None

    def propose(self, here: Axes, shift: float) -> TrialStep | None:
        images = here.metric @ here.W
        V = _best_axes(here.phi + shift * images @ images.T, here)
        squared_sines = here.W.shape[1] - float(np.linalg.norm(images.T @ V)) ** 2
        if squared_sines < SMALLEST_SQUARED_SINE:
            return None
        predicted = float(np.vdot(V, here.phi @ V)) - float(here.eigenvalues.sum())
        return TrialStep(V, squared_sines, predicted, lowest_shift=0.0)

    def evaluate(self, here: Axes, W: Array) -> Axes:
        return self.init(W)


def _best_axes(phi: Array, axes: Axes) -> Array:
    """Maximize tr WᵀΦW over one column after the other."""
    W = axes.W
    for _ in range(MOST_SWEEPS):
        moved = 0.0
        for column in range(W.shape[1]):
            features = np.flatnonzero(axes.support[:, column])
            best = best_columns(phi, W, column, features[None], axes.metric)
            if np.isfinite(best.values[0]):
                moved = max(moved, 1 - float(best.vectors[0] @ (axes.metric @ W[:, column])[features]) ** 2)
                W = W.copy()
                W[features, column] = best.vectors[0]
        if moved < SMALLEST_SQUARED_SINE:
            break
    return W


class BestColumns(NamedTuple):
    """The best vector for each of several sets of features, and its wᵀΦw; −∞ if there is none."""

    vectors: Array  # k×m, the entries of the features
    values: Array


def best_columns(phi: Array, W: Array, column: int, features: Ints, metric: Array) -> BestColumns:
    """The unit vector on features (k sets of m), orthogonal to the other columns, with the largest wᵀΦw.

    Of its two signs it has the one nearer to the present column.
    """
    back, others = _constraints(W, column, features, metric)
    inner = back @ phi[features[:, :, None], features[:, None, :]] @ back.mT
    free = np.eye(features.shape[1]) - others
    lowest = np.linalg.norm(inner, axis=(1, 2)) + np.finfo(float).tiny
    values, turns = np.linalg.eigh(free @ inner @ free - 2 * lowest[:, None, None] * others)
    best = (back.mT @ turns[:, :, -1:])[:, :, 0]
    towards = np.einsum("km,km->k", best, (metric @ W[:, column])[features])
    values = np.where(values[:, -1] < -1.5 * lowest, -np.inf, values[:, -1])
    return BestColumns(best * np.where(towards < 0, -1.0, 1.0)[:, None], values)


def _constraints(W: Array, column: int, features: Ints, metric: Array) -> tuple[Array, Array]:
    """For each set of features: R⁻¹ for B = RRᵀ on them, and the projector onto R⁻¹ of the other columns' BW.

    A vector v on the features is R⁻ᵀu with a u of the same length. It is orthogonal to the other columns if the
    projector maps u to 0.
    """
    back = np.linalg.inv(np.linalg.cholesky(metric[features[:, :, None], features[:, None, :]]))
    others = back @ (metric @ np.delete(W, column, axis=1))[features]
    projector: Array = others @ np.linalg.pinv(others, rcond=RANK_TOLERANCE)
    return back, projector


def project_onto_supports(W: Array, support: Support, metric: Array) -> Array | None:
    """Bring the columns of W onto supports, each nearest to what it was and orthogonal to those before.

    A column of which little is left becomes any vector that is allowed; None if there is none.
    """
    found: Array = np.zeros_like(W)
    for column in range(W.shape[1]):
        features = np.flatnonzero(support[:, column])
        (back,), (others,) = _constraints(found[:, : column + 1], column, features[None], metric)
        along = back @ (metric @ W[:, column])[features]
        along -= others @ along
        length = float(np.linalg.norm(along))
        if length < VANISHED:
            values, vectors = np.linalg.eigh(others)
            if values[0] > 0.5:
                return None
            along, length = vectors[:, 0], 1.0
        found[features, column] = back.T @ along / length
    return found


def anchors(W: Array) -> Ints:
    """A feature for each column that no other column has, together those with the largest loadings.

    Supports that hold them allow orthonormal columns: the anchors' own axes.
    """
    rows, columns = linear_sum_assignment(-np.abs(W))
    found: Ints = rows[np.argsort(columns)]
    return found
