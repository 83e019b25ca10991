"""The search for axes of few features: at most m features in each column of W, with a small loss of J.

J depends on the subspace alone, and what is sparse in one basis of it is not in another. So W is first turned to the
basis whose columns have few large entries (varimax). Then each column loses its weakest features, a fifth or two at a
time, and all columns adapt after each cut. At last a feature of a column gives way to one outside as long as J rises.
The cuts alone are greedy: on WDBC (gaussian, q = 2, m = 5) they keep 58 % of J, with the exchanges it is 74 %.

If X was whitened, features are those before: X = FL with the whitening L, and V = LW is to be sparse. Its columns are
orthonormal in the metric B = L⁻², since VᵀBV = WᵀW = I. Without whitening B is the identity.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dpstrf

from ism_core.arrays import Array, Ints
from ism_core.engines import own_threads
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel
from ism_core.linalg import Whitening
from ism_core.objective import EvaluationOptions, Problem
from ism_core.solver.sparse.support_ascent import (
    Axes,
    Support,
    anchors,
    ascend_on_supports,
    best_columns,
    project_onto_supports,
)

POOL = 200  # features with the largest loadings that are considered, or four times m if that is more
CUT_RATIOS = (0.6, 0.8)  # share of a column's features that a cut keeps; each ratio is tried, the best end is taken
SEARCH_FLOPS = 3e8  # flops of Φ beyond which supports are sought on a sample of the rows
SEARCH_ROWS = 300  # rows of that sample at least
SEARCH_GAIN, FINAL_GAIN = 1e-4, 1e-8  # share of J that a step must add for another to follow
SEARCH_STEPS, FINAL_STEPS = 10, 100  # steps of an ascent at most
TRIAL_STEPS = 4  # steps of an ascent after an exchange that is tried
LEAVING, ENTERING = 8, 8  # features of a column that may leave (the weakest) and enter (by their gradients)
TRIALS = 4  # exchanges of a column that are tried, those with the largest predicted gain
EXCHANGE_GAIN = 1e-5  # share of J that an exchange must add
EXCHANGES_PER_COLUMN = 20  # on average at most
INDEPENDENT = 1e-10  # squared length that a unit feature must add to the others
CONSTANT_FEATURE = 1e-10  # share of the longest feature's length below which a feature does not vary
VARIMAX_STEPS = 100  # iterations of varimax at most
VARIMAX_GAIN = 1e-8  # relative gain below which varimax has converged


@dataclass(frozen=True)
class FeatureProblems:
    """Problems on some of the features. X holds the rows as they are projected, whitened or not."""

    X: Array
    gamma: Gamma
    kernel: Kernel
    q: int
    options: EvaluationOptions
    whitening: Whitening | None

    def loadings(self, W: Array) -> Array:
        """The V of a W."""
        return W if self.whitening is None else self.whitening.times(W)

    def projection(self, V: Array) -> Array:
        """The W of a V."""
        return V if self.whitening is None else self.whitening.solve(V)

    def rows(self, features: Ints) -> Array:
        """The rows with these features alone."""
        if self.whitening is None:
            return self.X[:, features]
        rows: Array = self.X @ self._images(features)
        return rows

    def metric(self, features: Ints) -> Array:
        """B for these features."""
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
        return self.projection(axes)


@dataclass(frozen=True)
class Sparse:
    """Axes on some of the d features, and the problem with these alone."""

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
        """Climb to the end on the same supports, for a problem with these features; largest eigenvalues first."""
        axes = self.axes
        axes = ascend_on_supports(problem, axes.W, axes.support, axes.metric, FINAL_GAIN, FINAL_STEPS)
        return replace(self, problem=problem, axes=axes.ordered())

    def narrowed(self) -> "Sparse":
        """Without the features that no axis has."""
        used = np.flatnonzero(self.axes.support.any(axis=1))
        return replace(self, axes=self.axes.among(used), features=self.features[used])


def iter_sparsify(
    given: FeatureProblems, W: Array, most: int, tolerances: tuple[float, ...], rng: np.random.Generator
) -> Generator[Sparse, None, Sparse]:
    """Find axes of at most `most` features from W; yield each better one.

    The supports are sought among the features with the largest loadings and, if there are many rows, on a sample of
    them. Then the axes are optimized on all rows.
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
        start = project_onto_supports(_varimax(V[pool]), everywhere, metric)
        assert start is not None  # there are as many independent features as axes
        first = Sparse(few, Axes(start, everywhere, metric, *few.evaluate(start)), pool, len(V))
    best = None
    for ratio in CUT_RATIOS:
        found = yield from _iter_supports(first, most, ratio)
        best = found if best is None or found.axes.objective > best.axes.objective else best
    assert best is not None
    best = best.narrowed()
    return best.settled(given.problem(best.features).within(tolerances, best.axes.W))


def _iter_supports(best: Sparse, most: int, ratio: float) -> Generator[Sparse, None, Sparse]:
    """Cut the columns to `most` features, then exchange features."""
    size, q = len(best.features), best.problem.q
    while size > most:
        size = max(most, int(ratio * size))
        with own_threads():
            best = replace(best, axes=_cut(best.problem, best.axes, size))
        yield best
    column, since = 0, 0
    for _ in range(EXCHANGES_PER_COLUMN * q):
        with own_threads():
            better = _exchanged(best.problem, best.axes, column)
        column, since = (column + 1) % q, since + 1
        if better is not None:
            best, since = replace(best, axes=better), 0
            yield best
        if since == q:
            break
    return best


def _pool(given: FeatureProblems, V: Array, most: int) -> Ints:
    """The independent features among those with the largest loadings, in their own order.

    With two copies of a feature, a column could be their difference, an axis on which all rows coincide.
    """
    order = np.argsort(-np.linalg.norm(V, axis=1), kind="stable")[:most]
    rows = given.rows(order)
    rows = rows - rows.mean(axis=0)
    lengths = np.linalg.norm(rows, axis=0)
    varying = lengths > CONSTANT_FEATURE * lengths.max()
    unit = rows[:, varying] / lengths[varying]
    _, pivots, rank, _ = dpstrf(unit.T @ unit, tol=INDEPENDENT, lower=0)
    pool: Ints = np.sort(order[varying][pivots[:rank] - 1])
    return pool


def _varimax(V: Array) -> Array:
    """Turn V to the basis of its span whose columns have few large entries (Kaiser, 1958)."""
    turn = np.eye(V.shape[1])
    before = 0.0
    for _ in range(VARIMAX_STEPS):
        L = V @ turn
        left, sizes, right = np.linalg.svd(V.T @ (L**3 - L * (L**2).mean(axis=0)))
        turn = left @ right
        if sizes.sum() < before * (1 + VARIMAX_GAIN):
            break
        before = sizes.sum()
    turned: Array = V @ turn
    return turned


def _cut(problem: Problem, axes: Axes, size: int) -> Axes:
    """Keep `size` features in each column, those that keep most of its length."""
    support = np.zeros_like(axes.support)
    own = anchors(axes.W)
    for column in range(axes.W.shape[1]):
        weights = _weights(axes, column)
        weights[own[column]] = np.inf
        support[np.argsort(-weights, kind="stable")[:size], column] = True
    W = project_onto_supports(axes.W, support, axes.metric)
    if W is None:  # only without whitening: with it, each column has at least q features
        W = np.zeros_like(axes.W)
        W[own, np.arange(len(own))] = 1
    return ascend_on_supports(problem, W, support, axes.metric, SEARCH_GAIN, SEARCH_STEPS)


def _weights(axes: Axes, column: int) -> Array:
    """By how much the squared length of a column shrinks if it loses a feature and the others adapt."""
    features = np.flatnonzero(axes.support[:, column])
    weights: Array = np.full(len(axes.W), -1.0)
    inverse = np.linalg.inv(axes.metric[np.ix_(features, features)])
    weights[features] = axes.W[features, column] ** 2 / inverse.diagonal()
    return weights


def _exchanged(problem: Problem, axes: Axes, column: int) -> Axes | None:
    """Better axes with another feature in one column; None if there are none."""
    leaving, entering = _exchanges(axes, column)
    kept = np.flatnonzero(axes.support[:, column])
    kept = np.array([kept[kept != feature] for feature in leaving])
    features = np.column_stack([np.repeat(kept, len(entering), axis=0), np.tile(entering, len(leaving))])
    best = best_columns(axes.phi, axes.W, column, features, axes.metric)
    least = axes.objective + EXCHANGE_GAIN * abs(axes.objective)
    for place in np.argsort(-best.values, kind="stable")[:TRIALS]:
        if best.values[place] <= axes.eigenvalues[column]:
            break
        W, support = axes.W.copy(), axes.support.copy()
        W[:, column], support[:, column] = 0, False
        W[features[place], column], support[features[place], column] = best.vectors[place], True
        there = ascend_on_supports(problem, W, support, axes.metric, SEARCH_GAIN, TRIAL_STEPS, above=least)
        if there.objective > least:
            return there
    return None


def _exchanges(axes: Axes, column: int) -> tuple[Ints, Ints]:
    """The features of a column that may leave, and those that may enter."""
    inside = axes.support[:, column]
    half_gradient = axes.phi @ axes.W[:, column]
    half_gradient -= axes.metric @ (axes.W @ (axes.W.T @ half_gradient))
    strength = np.where(inside, -1.0, half_gradient**2 / axes.metric.diagonal())
    weights = np.where(inside, _weights(axes, column), np.inf)
    leaving = np.argsort(weights, kind="stable")[: min(LEAVING, np.count_nonzero(inside))]
    return leaving, np.argsort(-strength, kind="stable")[: min(ENTERING, np.count_nonzero(~inside))]
