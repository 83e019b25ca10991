"""Axes that a person can read: at most m features in each column of W, with as little loss of J as can be found.

J depends on the subspace alone, and what is sparse in one basis of it is not in another. So W is first turned to the
basis whose columns have few large entries (varimax). Then each column loses its weakest features, a fifth or two at a
time, and all columns adapt after each cut. At last a feature of a column gives way to one outside for as long as that
raises J. The cuts alone are greedy: on WDBC (gaussian, q = 2, m = 5) they keep 60 % of J, with the exchanges it is
74 %.

Where X was whitened, features are those before: X = FL with the whitening L, and V = LW is to be sparse. Its columns
are orthonormal in the metric B = L⁻², since VᵀBV = WᵀW = I; without whitening B is the identity.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dpstrf

from ism_core.arrays import Array, Ints
from ism_core.engines.threads import own_threads
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel
from ism_core.objective import EvaluationOptions, Problem
from ism_core.scaling import Whitening
from ism_core.solver.sparse.support_ascent import Axes, Support, anchors, at, best_columns, climbed, onto

POOL = 200  # features with the largest loadings, or four times m: no others are considered
KEPT = (0.6, 0.8)  # of a column's features in each cut: they lead to different ends, of which the best is taken
SEARCH_FLOPS = 3e8  # of the Φ of the sample of rows that supports are sought on, where there are more
SEARCH_ROWS = 300  # at least
SEARCH_GAIN, GAIN = 1e-4, 1e-8  # of J: what a step must add for there to be another, in the search and in the end
SEARCH_STEPS, STEPS = 10, 100
TRIAL_STEPS = 4  # of an exchange that is tried
LEAVERS, NEWCOMERS = 8, 8  # features of a column that may go, the weakest, and that may come, by their gradients
TRIALS = 4  # exchanges of a column that are tried, those that promise most
WORTH = 1e-5  # of J: what an exchange must add
EXCHANGES = 20  # for each column, on average
INDEPENDENT = 1e-10  # what a feature adds to the others (squared, of length 1): less is rounding
ROUNDING = 1e-10
VARIMAX_STEPS = 100


@dataclass(frozen=True)
class Features:
    """What a problem on some of the features is made of. X holds the rows as they are projected, whitened or not."""

    X: Array
    gamma: Gamma
    kernel: Kernel
    q: int
    options: EvaluationOptions
    whitening: Whitening | None

    def loadings(self, W: Array) -> Array:
        """V of a W for the rows as they are projected."""
        return W if self.whitening is None else self.whitening.times(W)

    def projecting(self, V: Array) -> Array:
        """W of a V."""
        return V if self.whitening is None else self.whitening.solve(V)

    def rows(self, features: Ints) -> Array:
        """The rows in these features."""
        if self.whitening is None:
            return self.X[:, features]
        rows: Array = self.X @ self._images(features)
        return rows

    def metric(self, features: Ints) -> Array:
        """B among these features."""
        if self.whitening is None:
            return np.eye(len(features))
        images = self._images(features)
        metric: Array = images.T @ images
        return metric

    def problem(self, features: Ints) -> Problem:
        """The problem with these features alone."""
        rows = np.ascontiguousarray(self.rows(features))
        return Problem.of(rows, self.gamma, self.kernel, self.q, options=self.options)

    def _images(self, features: Ints) -> Array:
        axes = np.zeros((self.X.shape[1], len(features)))
        axes[features, np.arange(len(features))] = 1
        return self.projecting(axes)


@dataclass(frozen=True)
class Sparse:
    """Axes on some of the d features, and the problem with no others."""

    problem: Problem
    axes: Axes
    features: Ints
    d: int

    @property
    def loadings(self) -> Array:
        """V, in all features."""
        loadings: Array = np.zeros((self.d, self.axes.W.shape[1]))
        loadings[self.features] = self.axes.W
        return loadings

    @property
    def support(self) -> Support:
        """Which features each axis may have, among all."""
        support: Support = np.zeros((self.d, self.axes.W.shape[1]), dtype=bool)
        support[self.features] = self.axes.support
        return support

    def settled(self, problem: Problem) -> "Sparse":
        """The best on the same supports for a problem with these features; the axes with the largest values first."""
        with own_threads():
            start = at(problem, self.axes.W, self.axes.support, self.axes.metric)
            return replace(self, problem=problem, axes=climbed(problem, start, GAIN, STEPS).ordered())

    def narrowed(self) -> "Sparse":
        """Without the features that no axis has."""
        used = np.flatnonzero(self.axes.support.any(axis=1))
        return replace(self, axes=self.axes.among(used), features=self.features[used])


def sparsified(
    given: Features, W: Array, most: int, tolerances: tuple[float, ...], rng: np.random.Generator
) -> Generator[Sparse, None, Sparse]:
    """From W to axes of at most so many features; yields each better one on the way.

    The supports are sought among the features with the largest loadings and, where the rows are many, on a sample of
    them. Then the axes settle on all rows.
    """
    V = given.loadings(W)
    pool = _pool(given, V, max(POOL, 4 * most))
    if len(pool) < given.q:
        raise InvalidInput(
            "features_per_axis",
            f"Only {len(pool)} of the features of X are independent of each other, too few for {given.q} axes;"
            f" lower q to {len(pool)}, or leave out features_per_axis.",
        )
    with own_threads():
        few = given.problem(pool)
        few = few.sampled(max(few.rows_within(SEARCH_FLOPS), SEARCH_ROWS), rng)
        everywhere: Support = np.ones((len(pool), given.q), dtype=bool)
        metric = given.metric(pool)
        start = onto(_turned(V[pool]), everywhere, metric)
        assert start is not None  # there are as many independent features as axes
        first = Sparse(few, at(few, start, everywhere, metric), pool, len(V))
    best = None
    for kept in KEPT:
        found = yield from _searched(first, most, kept)
        best = found if best is None or found.axes.objective > best.axes.objective else best
    assert best is not None
    best = best.narrowed()
    return best.settled(given.problem(best.features).within(tolerances, best.axes.W))


def _searched(best: Sparse, most: int, kept: float) -> Generator[Sparse, None, Sparse]:
    """Cut by cut to as few features as that, then by exchanges upwards."""
    size, q = len(best.features), best.problem.q
    while size > most:
        size = max(most, int(kept * size))
        with own_threads():
            best = replace(best, axes=_cut(best.problem, best.axes, size))
        yield best
    column, since = 0, 0
    for _ in range(EXCHANGES * q):
        with own_threads():
            better = _exchanged(best.problem, best.axes, column)
        column, since = (column + 1) % q, since + 1
        if better is not None:
            best, since = replace(best, axes=better), 0
            yield best
        if since == q:
            break
    return best


def _pool(given: Features, V: Array, most: int) -> Ints:
    """The features with the largest loadings, in their own order.

    One that is a sum of others gives way to these: on copies of a feature, a column could be one less the other, an
    axis on which all rows coincide.
    """
    order = np.argsort(-np.linalg.norm(V, axis=1), kind="stable")[:most]
    rows = given.rows(order)
    rows = rows - rows.mean(axis=0)
    lengths = np.linalg.norm(rows, axis=0)
    varying = lengths > ROUNDING * lengths.max()
    unit = rows[:, varying] / lengths[varying]
    _, pivots, rank, _ = dpstrf(unit.T @ unit, tol=INDEPENDENT, lower=0)
    pool: Ints = np.sort(order[varying][pivots[:rank] - 1])
    return pool


def _turned(V: Array) -> Array:
    """V turned, as a basis of the same subspace, to columns with few large entries: varimax (Kaiser 1958)."""
    turn = np.eye(V.shape[1])
    before = 0.0
    for _ in range(VARIMAX_STEPS):
        L = V @ turn
        left, sizes, right = np.linalg.svd(V.T @ (L**3 - L * (L**2).mean(axis=0)))
        turn = left @ right
        if sizes.sum() < before * (1 + 1e-8):
            break
        before = sizes.sum()
    turned: Array = V @ turn
    return turned


def _cut(problem: Problem, axes: Axes, size: int) -> Axes:
    """With so many features in each column, those that keep most of its length."""
    support = np.zeros_like(axes.support)
    own = anchors(axes.W)
    for column in range(axes.W.shape[1]):
        weights = _weights(axes, column)
        weights[own[column]] = np.inf
        support[np.argsort(-weights, kind="stable")[:size], column] = True
    W = onto(axes.W, support, axes.metric)
    if W is None:  # only with an identity as metric: otherwise there are as many features as axes
        W = np.zeros_like(axes.W)
        W[own, np.arange(len(own))] = 1
    return climbed(problem, at(problem, W, support, axes.metric), SEARCH_GAIN, SEARCH_STEPS)


def _weights(axes: Axes, column: int) -> Array:
    """By how much the squared length of a column shrinks when it loses a feature and the others make up for it."""
    features = np.flatnonzero(axes.support[:, column])
    weights: Array = np.full(len(axes.W), -1.0)
    inverse = np.linalg.inv(axes.metric[np.ix_(features, features)])
    weights[features] = axes.W[features, column] ** 2 / inverse.diagonal()
    return weights


def _exchanged(problem: Problem, axes: Axes, column: int) -> Axes | None:
    """Better axes with another feature in one column; None where none are found."""
    leavers, newcomers = _exchanges(axes, column)
    kept = np.flatnonzero(axes.support[:, column])
    kept = np.array([kept[kept != leaver] for leaver in leavers])
    features = np.column_stack([np.repeat(kept, len(newcomers), axis=0), np.tile(newcomers, len(leavers))])
    best = best_columns(axes.phi, axes.W, column, features, axes.metric)
    least = axes.objective + WORTH * abs(axes.objective)
    for place in np.argsort(-best.values, kind="stable")[:TRIALS]:
        if best.values[place] <= axes.values[column]:
            break
        W, support = axes.W.copy(), axes.support.copy()
        W[:, column], support[:, column] = 0, False
        W[features[place], column], support[features[place], column] = best.vectors[place], True
        start = at(problem, W, support, axes.metric)
        there = climbed(problem, start, SEARCH_GAIN, TRIAL_STEPS, above=least)
        if there.objective > least:
            return there
    return None


def _exchanges(axes: Axes, column: int) -> tuple[Ints, Ints]:
    """The features of a column that may go, and those that may come."""
    inside = axes.support[:, column]
    half_gradient = axes.phi @ axes.W[:, column]
    half_gradient -= axes.metric @ (axes.W @ (axes.W.T @ half_gradient))
    strength = np.where(inside, -1.0, half_gradient**2 / axes.metric.diagonal())
    weights = np.where(inside, _weights(axes, column), np.inf)
    leavers = np.argsort(weights, kind="stable")[: min(LEAVERS, np.count_nonzero(inside))]
    return leavers, np.argsort(-strength, kind="stable")[: min(NEWCOMERS, np.count_nonzero(~inside))]
