"""Columns with supports: W whose column j has entries for the features of its support only, and WᵀBW = I.

They climb as in `solver.ascent`: W becomes the best for Φ(W) + ρ BWWᵀB, where ρ is the curvature that the last step
has shown, and a step that lowers J is taken again with a larger ρ. The best is found column by column: each becomes
the dominant eigenvector among the vectors on its support that are orthogonal to the other columns, until none moves.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ism_core.arrays import Array, Ints
from ism_core.objective import Problem

Support = NDArray[np.bool_]

SWEEPS = 5  # over the columns for one Φ
STILL = 1e-12  # the squared sine below which a step moves a column by rounding only
VANISHED = 0.1  # of a column of length 1: with less left of it on a smaller support, it begins anew
ROUNDING = 1e-13  # the share of J below which two values of it are the same
RANK = 1e-10  # of the largest singular value: columns are dependent below it
REACH = 5  # times the last gain: what a climb may still gain
REFUSALS = 40  # of a step: each at least doubles ρ


@dataclass(frozen=True)
class Axes:
    """Columns on their supports, with Φ and J there; `metric` is B."""

    W: Array
    support: Support
    metric: Array
    phi: Array
    objective: float

    @property
    def values(self) -> Array:
        """wᵀΦw of each column."""
        values: Array = np.einsum("ij,ij->j", self.W, self.phi @ self.W)
        return values

    @property
    def gradient(self) -> float:
        """What is left of ΦW along the moves that supports and orthogonality allow, over ‖Φ‖."""
        size = float(np.linalg.norm(self.phi))
        left = 0.0
        for column in range(self.W.shape[1]):
            features = np.flatnonzero(self.support[:, column])
            (back,), (apart,) = _allowed(self.W, column, features[None], self.metric)
            half_gradient = back @ (self.phi @ self.W[:, column])[features]
            own = back @ (self.metric @ self.W[:, column])[features]
            left += float(np.linalg.norm(half_gradient - apart @ half_gradient - own * (own @ half_gradient))) ** 2
        return float(np.sqrt(left)) / size if size > 0 else 0.0

    def among(self, features: Ints) -> "Axes":
        """On some of the features, which include those of all supports."""
        square = np.ix_(features, features)
        return replace(
            self,
            W=self.W[features],
            support=self.support[features],
            metric=self.metric[square],
            phi=self.phi[square],
        )

    def ordered(self) -> "Axes":
        """The columns with the largest values first."""
        order = np.argsort(-self.values, kind="stable")
        return replace(self, W=self.W[:, order], support=self.support[:, order])


def at(problem: Problem, W: Array, support: Support, metric: Array) -> Axes:
    """These columns, with Φ and J of the problem."""
    return Axes(W, support, metric, *problem.evaluate(W))


def climbed(problem: Problem, axes: Axes, gain: float, steps: int, above: float = -np.inf) -> Axes:
    """Up from there on the same supports, until a step adds less than that share of J.

    Also as soon as it is clear that it will not get `above` so much, if that is asked for.
    """
    shift = 0.0
    for _ in range(steps):
        better = _step(problem, axes, shift)
        if better is None:
            break
        before, (axes, shift) = axes.objective, better
        gained = axes.objective - before
        if gained < gain * abs(before) or axes.objective + REACH * gained < above:
            break
    return axes


def _step(problem: Problem, here: Axes, shift: float) -> tuple[Axes, float] | None:
    """The next axes and the shift to go on with; None where every step is down to rounding."""
    q = here.W.shape[1]
    images = here.metric @ here.W
    least = ROUNDING * float(np.linalg.norm(here.phi))
    for _ in range(REFUSALS):
        V = _best(here.phi + shift * images @ images.T, here)
        moved = q - float(np.linalg.norm(images.T @ V)) ** 2
        if moved < STILL:
            return None
        there = at(problem, V, here.support, here.metric)
        gained = there.objective - here.objective
        predicted = float(np.vdot(V, here.phi @ V)) - float(here.values.sum())
        curvature = (predicted - gained) / moved
        if gained >= -max(ROUNDING, problem.resolution) * abs(here.objective):
            return there, max(curvature, 0.0)
        shift = max(2 * shift, curvature, least)
    return None


def _best(phi: Array, axes: Axes) -> Array:
    """The columns, one after the other, that make tr WᵀΦW largest."""
    W = axes.W
    for _ in range(SWEEPS):
        moved = 0.0
        for column in range(W.shape[1]):
            features = np.flatnonzero(axes.support[:, column])
            best = best_columns(phi, W, column, features[None], axes.metric)
            if np.isfinite(best.values[0]):
                moved = max(moved, 1 - float(best.vectors[0] @ (axes.metric @ W[:, column])[features]) ** 2)
                W = W.copy()
                W[features, column] = best.vectors[0]
        if moved < STILL:
            break
    return W


class Best(NamedTuple):
    """For each of several sets of features the best vector, and its wᵀΦw; −∞ where there is none."""

    vectors: Array  # k×m, the entries of the features
    values: Array


def best_columns(phi: Array, W: Array, column: int, features: Ints, metric: Array) -> Best:
    """The unit vector on features (k sets of m), orthogonal to the other columns, with the largest wᵀΦw.

    Of its two signs the one that is nearer to the column as it is.
    """
    back, apart = _allowed(W, column, features, metric)
    inner = back @ phi[features[:, :, None], features[:, None, :]] @ back.mT
    free = np.eye(features.shape[1]) - apart
    lowest = np.linalg.norm(inner, axis=(1, 2)) + np.finfo(float).tiny
    values, turns = np.linalg.eigh(free @ inner @ free - 2 * lowest[:, None, None] * apart)
    best = (back.mT @ turns[:, :, -1:])[:, :, 0]
    towards = np.einsum("km,km->k", best, (metric @ W[:, column])[features])
    values = np.where(values[:, -1] < -1.5 * lowest, -np.inf, values[:, -1])
    return Best(best * np.where(towards < 0, -1.0, 1.0)[:, None], values)


def _allowed(W: Array, column: int, features: Ints, metric: Array) -> tuple[Array, Array]:
    """For each set of features: with B = RRᵀ on them, R⁻¹, and the projector onto R⁻¹ of the other columns' BW.

    A vector v on the features is R⁻ᵀu with a u of the same length; it is orthogonal to the other columns where u has
    nothing of the projector's space.
    """
    back = np.linalg.inv(np.linalg.cholesky(metric[features[:, :, None], features[:, None, :]]))
    others = back @ (metric @ np.delete(W, column, axis=1))[features]
    projector: Array = others @ np.linalg.pinv(others, rcond=RANK)
    return back, projector


def onto(W: Array, support: Support, metric: Array) -> Array | None:
    """The columns of W brought onto supports, each nearest to what it was and orthogonal to those before.

    One of which little is left becomes an allowed vector of any direction; None where there is none.
    """
    found: Array = np.zeros_like(W)
    for column in range(W.shape[1]):
        features = np.flatnonzero(support[:, column])
        (back,), (apart,) = _allowed(found[:, : column + 1], column, features[None], metric)
        along = back @ (metric @ W[:, column])[features]
        along -= apart @ along
        length = float(np.linalg.norm(along))
        if length < VANISHED:
            values, vectors = np.linalg.eigh(apart)
            if values[0] > 0.5:
                return None
            along, length = vectors[:, 0], 1.0
        found[features, column] = back.T @ along / length
    return found


def anchors(W: Array) -> Ints:
    """A feature for each column that is no other column's, together those with the largest loadings.

    With supports that hold them there are orthonormal columns: the anchors' own axes.
    """
    rows, columns = linear_sum_assignment(-np.abs(W))
    found: Ints = rows[np.argsort(columns)]
    return found
