"""A test of what W misses: does the target still depend on the rows X beyond the projected rows P = XW?

R are the residuals of the target after kernel ridge regression on P. If P has all that X knows about the target, R is
uncorrelated with every function h(X) − E[h(X) | P]. Three statistics look for such functions: the strongest feature,
the strongest product of two features (maximizing HSIC can miss these, Liu and Ruan 2024), and random Fourier features.

The null distribution comes from random signs of the residuals (wild bootstrap, Liu 1988), so that their variance may
differ between rows. The statistics share the signs. Their p-values are divided by weights, and the smallest is compared
with those of the draws (Westfall and Young 1993). If deviations of W between resamples are given, each draw also turns
W by a random combination of them. So a W that is wrong by no more than its standard error is not rejected.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist, pdist

from ism_core.arrays import Array, Ints, Tile, as_table
from ism_core.engines import own_threads
from ism_core.errors import InvalidInput
from ism_core.kernels import Kernel
from ism_core.linalg import orthonormal, standardized
from ism_core.objective import Problem
from ism_core.paradigms import Kind, Supervised

Advice = Literal["more_axes", "another_kernel", "nothing"]

LEVEL = 0.05  # p-value up to which something is missed
WEIGHTS = (4.0, 1.0, 1.0)  # of the three statistics: 2/3 of the level is for single features, the usual miss
DRAWS = 399  # random signs; the p-value is a multiple of 1/400
MOST_ROWS = 1_000  # rows of the sample that is tested; a missed effect of 0.3 needs 500
FEWEST_ROWS = 20  # rows that the test needs, and at least ROWS_PER_AXIS for each axis
ROWS_PER_AXIS = 5
MOST_OUTPUTS = 10  # principal components of the residuals that are tested
PRODUCT_OUTPUTS = 3  # of these, tested with products, which take most of the time
LANDMARKS = 120  # centers of the Gaussian functions of P that the target is regressed on
WIDTHS = (1.0, 0.5, 0.25)  # of these functions, as multiples of the median distance
PENALTIES = np.logspace(-4, 3, 22)  # of the ridge regression; generalized cross-validation takes one
LARGEST_LEVERAGE = 0.75  # that the correction of residuals uses; with a larger leverage the residual is almost 0
FREQUENCIES = 100  # random Fourier frequencies
MOST_FEATURES_IN_PRODUCTS = 64  # if there are more, half of the rows select this many, and the other half tests them
MOST_SCREENED = 500  # features with the largest weights; the selection is made among them
BLOCK_COLUMNS = 1_000  # functions that are tested at a time, to save memory
TINY = 1e-4  # share of a function's variance that P must leave unexplained for the function to be tested
LEAST_GAIN = 0.05  # relative gain of J on other rows that counts as a gain; a noise axis gains up to 0.03 on 300 rows
SCALES = (1.0, 0.7, 0.5)  # of the rows at which J is compared, since more axes need a wider kernel
LARGEST_DEVIATION = 0.25  # largest RMS deviation of an axis that the draws use, in radians; larger ones are scaled down


@dataclass(frozen=True)
class Missed:
    """The outcome of the test."""

    p_value: float
    rows: int  # number of rows that were tested
    advice: Advice
    features: tuple[int, ...]  # the feature, or the two features together, with the strongest dependence; may be empty

    def sentence(self, names: Sequence[str], target: str = "the target") -> str:
        """Say the outcome in a sentence or two. `names` are those of the columns of X."""
        p = f"p = {self.p_value:.2g}, {self.rows} rows"
        if self.advice == "nothing":
            return f"The test found no dependence of {target} on the features beyond the axes ({p})."
        found = [names[feature] for feature in self.features]
        where = "the features"
        if found:
            where += f", most on {found[0]}" if len(found) == 1 else f", most on {' and '.join(found)} together"
        claim = f"The axes miss something: {target} still depends on {where} ({p})."
        if len(found) == 2:
            claim += " Maximizing HSIC can miss features that matter only together."
        if self.advice == "more_axes":
            return f"{claim} More axes would show it."
        return f"{claim} More axes did not increase J on held-out rows; try another kernel or scale."


def missed_dependence(
    X: ArrayLike,
    y: ArrayLike,
    W: ArrayLike,
    kernel: Kernel,
    *,
    kind: Kind = "auto",
    deviations: Sequence[Array] = (),
    seed: int = 0,
) -> Missed:
    """Test whether classes or values y depend on the rows X beyond XW, and advise what to do.

    Parameters
    ----------
    X, W, kernel
        The rows that were given to `solve`, and the W and the kernel of its result.
    kind
        How to read y, as in Supervised.
    deviations
        Differences between W and the W of resamples, d×q each, whose mean square is the variance of W. Without them, W
        counts as exact: on the rows that it was fitted to, its own error can then be taken for a missed dependence.
    seed
        Seed of the sample of rows, of the random signs and of the random frequencies.
    """
    table, weights = as_table(X), as_table(W, "W", min_rows=1)
    if len(weights) != table.shape[1]:
        raise InvalidInput("W", f"W has {len(weights)} rows but X has {table.shape[1]} columns; they must be as many.")
    paradigm = Supervised(y, kind)
    paradigm.check(len(table))
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(len(table))[:MOST_ROWS])
    needed = max(FEWEST_ROWS, ROWS_PER_AXIS * (weights.shape[1] + 1))
    if len(rows) < needed:
        raise InvalidInput("X", f"X has {len(rows)} rows; the test needs at least {needed}.")
    with own_threads():
        test = _Test(table[rows], paradigm.restricted(rows), weights, kernel.restricted(rows, rows), rng)
        return test.run(deviations)


class _Test:
    def __init__(self, X: Array, target: Supervised, W: Array, kernel: Kernel, rng: np.random.Generator) -> None:
        self._X, self._target, self._W, self._kernel, self._rng = X, target, W, kernel, rng
        self._Z = standardized(X)[0]
        Y = np.eye(target.codes.max() + 1)[target.codes] if target.codes is not None else target.values
        assert Y is not None
        self._smoother, self._R, self._slopes = _regression(X @ W, standardized(Y)[0], rng)

    def run(self, deviations: Sequence[Array]) -> Missed:
        signed = self._signed(deviations)
        if not signed:  # the axes determine the target
            return Missed(1.0, len(self._X), "nothing", ())
        pairs, paired = self._products()
        of_features, feature = self._strongest(self._Z, signed)
        of_products, pair = self._strongest(paired, signed[:PRODUCT_OUTPUTS])
        statistics = of_features, of_products, self._kernel_statistic(signed)
        weighted = np.array([_p_values(each) / weight for each, weight in zip(statistics, WEIGHTS, strict=True)])
        p_value = float((weighted.min(axis=0) <= weighted[:, 0].min()).mean())
        advice: Advice = "nothing"
        found: tuple[int, ...] = ()
        if p_value <= LEVEL:
            strongest = int(weighted[:, 0].argmin())
            found = ((feature,), tuple(sorted(set(pairs[pair].tolist()))), ())[strongest]
            advice = "more_axes" if self._gains(found if strongest == 1 else None) else "another_kernel"
        return Missed(p_value, len(self._X), advice, found)

    def _signed(self, deviations: Sequence[Array]) -> list[Tile]:
        """Return for each output the residuals, and below them those of the draws; single precision suffices."""
        signs = self._rng.choice([-1.0, 1.0], size=(DRAWS, len(self._X)))
        leverages = np.minimum(self._smoother.U**2 @ self._smoother.h, LARGEST_LEVERAGE)
        shrinkage = np.sqrt(1 - leverages)  # of residuals against errors (MacKinnon and White 1985, HC2)
        draws = [signs * (R / shrinkage) for R in self._R.T]
        if len(deviations):
            turns = np.array(deviations, dtype=np.float64)
            sizes = np.sqrt((turns**2).sum(axis=1).mean(axis=0))
            turns *= np.minimum(1, LARGEST_DEVIATION / np.maximum(sizes, LARGEST_DEVIATION))
            weights = self._rng.normal(size=(DRAWS, len(turns))) / np.sqrt(len(turns))
            shifts = np.einsum("br,rna->abn", weights, self._X @ turns, optimize=True)  # of the rows on each axis
            draws = [
                draw + np.einsum("na,abn->bn", slopes, shifts, optimize=True)
                for draw, slopes in zip(draws, self._slopes, strict=True)
            ]
        return [np.vstack([R, draw]).astype(np.float32) for R, draw in zip(self._R.T, draws, strict=True)]

    def _strongest(self, H: Array, signed: list[Tile]) -> tuple[Array, int]:
        """Return the largest squared studentized correlation with a column for each draw, and the observed column."""
        statistics, best = np.zeros(DRAWS + 1), 0
        for start in range(0, H.shape[1], BLOCK_COLUMNS):
            columns = self._residual(H[:, start : start + BLOCK_COLUMNS]).astype(np.float32)
            variances = sum(each[0] ** 2 @ columns**2 for each in signed)
            squares = sum((each @ columns) ** 2 for each in signed)
            scores = np.divide(squares, variances, out=np.zeros_like(squares), where=np.asarray(variances) > 0)
            if scores[0].max() > statistics[0]:
                best = start + int(scores[0].argmax())
            statistics = np.maximum(statistics, scores.max(axis=1))
        return statistics, best

    def _residual(self, H: Array) -> Array:
        """Return H minus its regression on P; 0 for columns that P explains."""
        centered = H - H.mean(axis=0)
        left: Array = self._smoother.residual(centered)
        explained = (left**2).sum(axis=0) <= TINY * np.maximum((centered**2).sum(axis=0), TINY)
        left[:, explained] = 0
        return left

    def _products(self) -> tuple[Ints, Array]:
        """Return pairs of features and their products; rows that select features get 0, so they are not tested."""
        n, d = self._Z.shape
        chosen, weight = np.arange(d), np.ones(n)
        if d > MOST_FEATURES_IN_PRODUCTS:
            screened = np.sort(np.argsort(-(self._W**2).sum(axis=1), kind="stable")[:MOST_SCREENED])
            half = self._rng.permutation(n)[: n // 2]
            Z, R = self._Z[half][:, screened], self._R[half]
            squares = sum(((Z.T * each) @ Z) ** 2 for each in R.T)
            variances = (Z.T**2 * (R**2).sum(axis=1)) @ Z**2
            best = (squares / np.maximum(variances, np.finfo(float).tiny)).max(axis=1)
            chosen = np.sort(screened[np.argsort(-best, kind="stable")[:MOST_FEATURES_IN_PRODUCTS]])
            weight[half] = 0
        first, second = np.triu_indices(len(chosen))
        pairs = np.column_stack([chosen[first], chosen[second]])
        products = self._Z[:, pairs[:, 0]] * self._Z[:, pairs[:, 1]]
        kept = weight > 0
        products[kept] -= products[kept].mean(axis=0)
        return pairs, products * weight[:, None]

    def _kernel_statistic(self, signed: list[Tile]) -> Array:
        distances = pdist(self._Z[:300])
        frequencies = self._rng.normal(size=(self._Z.shape[1], FREQUENCIES)) / (np.median(distances) or 1.0)
        angles = self._Z @ frequencies
        H = self._residual(np.column_stack([np.cos(angles), np.sin(angles)])).astype(np.float32)
        statistics = np.zeros(DRAWS + 1)
        for each in signed:
            statistics += ((each @ H) ** 2).sum(axis=1)
        return statistics

    def _gains(self, pair: tuple[int, ...] | None) -> bool:
        """Return whether J on held-out rows rises if W gets the pair, or the direction most correlated with R."""
        order = self._rng.permutation(len(self._X))
        found, held_out = np.sort(order[::2]), np.sort(order[1::2])
        if pair is None:
            scores = self._residual(self._X)[found].T @ self._R[found]
            V = np.linalg.svd(scores, full_matrices=False)[0][:, :1]
        else:
            V = np.eye(self._X.shape[1])[:, list(pair)]
        more = orthonormal(np.column_stack([self._W, V]), self._W.shape[1] + V.shape[1])
        before, after = (max(self._objective(held_out, scale * each) for scale in SCALES) for each in (self._W, more))
        return after > before + LEAST_GAIN * abs(before)

    def _objective(self, rows: Ints, W: Array) -> float:
        P = np.ascontiguousarray(self._X[rows] @ W)
        q = P.shape[1]
        gamma = self._target.with_neighbors(False).restricted(rows).target_gamma()
        return Problem.of(P, gamma, self._kernel.restricted(rows, rows), q).objective(np.eye(q))


@dataclass(frozen=True)
class _Smoother:
    """The linear smoother S = U diag(h) Uᵀ."""

    U: Array
    h: Array

    def residual(self, A: Array) -> Array:
        """Return (I − S)A."""
        left: Array = A - self.U @ (self.h[:, None] * (self.U.T @ A))
        return left


def _regression(P: Array, Y: Array, rng: np.random.Generator) -> tuple[_Smoother, Array, Array]:
    """Regress Y on P; return the smoother, the residuals' principal components R, and ∂(fit)/∂P, k×n×q.

    The fit is a linear function of P without penalty, plus Gaussian functions of P with a ridge penalty.
    """
    n = len(P)
    Z, _, scale = standardized(P)
    centers = Z[np.sort(rng.permutation(n)[:LANDMARKS])]
    distances, between = cdist(Z, centers, "sqeuclidean"), cdist(centers, centers, "sqeuclidean")
    median = np.sqrt(np.median(between[between > 0])) if between.any() else 1.0
    linear = np.column_stack([np.ones(n), Z])
    basis, sizes, _ = np.linalg.svd(linear, full_matrices=False)
    basis = basis[:, sizes > 1e-8 * sizes[0]]
    Y_left = Y - basis @ (basis.T @ Y)
    best_score, best = np.inf, None
    for width in WIDTHS:
        exponent = 2 * (width * median) ** 2
        values, vectors = np.linalg.eigh(np.exp(-between / exponent))
        kept = values > 1e-8 * values[-1]
        into = vectors[:, kept] / np.sqrt(values[kept])
        F = np.exp(-distances / exponent) @ into
        U, s, Vt = np.linalg.svd(F - basis @ (basis.T @ F), full_matrices=False)
        kept = s > 1e-6 * np.sqrt(n)
        U, s, Vt = U[:, kept], s[kept], Vt[kept]
        explained = ((U.T @ Y_left) ** 2).sum(axis=1)
        unexplained = (Y_left**2).sum() - explained.sum()
        shrunk = s**2 / (s**2 + PENALTIES[:, None])
        freedom = basis.shape[1] + shrunk.sum(axis=1)
        errors = unexplained + ((1 - shrunk) ** 2 * explained).sum(axis=1)
        scores = np.where(freedom <= n / 3, errors / np.maximum(1 - freedom / n, 1e-9) ** 2, np.inf)
        scores[-1] = min(scores[-1], np.finfo(float).max)  # the linear function remains if rows are few
        place = int(scores.argmin())
        if scores[place] < best_score:
            best_score, best = float(scores[place]), (U, shrunk[place], into @ (Vt.T / s), exponent)
    assert best is not None
    U, h, into, exponent = best
    smoother = _Smoother(np.column_stack([basis, U]), np.concatenate([np.ones(basis.shape[1]), h]))
    left, sizes, right = np.linalg.svd(smoother.residual(Y), full_matrices=False)
    kept = np.flatnonzero(sizes > 1e-6 * np.sqrt(n))[:MOST_OUTPUTS]
    heights = into @ (h[:, None] * (U.T @ Y_left)) @ right[kept].T  # of the Gaussian functions, for each output
    bells = np.exp(-distances / exponent)
    coefficients = np.linalg.lstsq(linear, Y @ right[kept].T - bells @ heights, rcond=None)[0][1:]
    slopes = [
        b + 2 / exponent * ((bells * height) @ centers - (bells @ height)[:, None] * Z)
        for b, height in zip(coefficients.T, heights.T, strict=True)
    ]
    return smoother, left[:, kept] * sizes[kept], np.array(slopes).reshape(len(kept), *P.shape) / scale


def _p_values(statistics: Array) -> Array:
    """Return for each statistic the share of all that are at least as large."""
    shares: Array = 1 - np.searchsorted(np.sort(statistics), statistics, side="left") / len(statistics)
    return shares
