"""Measures how well a projection predicts the target of held-out rows, with all axes and without each axis.

There are two measures: J, and the explained variance of a kernel ridge regression. Both change smoothly with the
projection, so they resolve smaller differences than an accuracy does.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array, Ints
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import Kernel
from ism_core.objective import NeighborGamma, kernel_matrix
from ism_core.paradigms import Paradigm, Supervised
from ism_core.solver import Resample, Result

LEARNED_ROWS = 500  # rows of a resample from which the held-out rows are predicted at most
HELD_OUT_ROWS = 500  # rows outside a resample that measure it at most
# An axis is informative if it passes these three limits. docs/interpretation.md says how well they work.
LOST_ERRORS = 0.5  # the loss must exceed this many of its standard errors; without a useless axis it is below 0
SMALLEST_LOSS = 0.01  # the loss must exceed this share of the measure with all axes
WHOLE_ERRORS = 1.0  # the measure with all axes must exceed this many of its standard errors
LANDMARKS = 100  # training rows whose kernel functions the ridge regression combines
PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # ridge penalties per training row, of which cross-validation takes one
SMALLEST_EIGENVALUE = 1e-8  # of the landmarks' kernel matrix, relative to the largest, that is not rounding


@dataclass(frozen=True)
class HeldOut:
    """Projected rows that W was learned from, and held-out rows."""

    P: Array  # rows that W was learned from, n×q
    Y: Array  # their targets, n×t
    P_test: Array
    Y_test: Array
    gamma: Gamma  # of the held-out rows
    kernel: Kernel  # between the held-out rows
    seed: int

    def objectives(self, alone: bool = False) -> tuple[float, Array]:
        """Return J of the held-out rows, and what is lost of it without each axis, or what each axis has alone."""
        q = self.P.shape[1]
        whole = dependence(self.P_test, self.gamma, self.kernel)
        masks = np.eye(q) if alone else 1 - np.eye(q)
        parts = np.array([dependence(self.P_test * axes, self.gamma, self.kernel) for axes in masks])
        return whole, parts if alone else whole - parts

    def scores(self, alone: bool = False) -> tuple[float, Array]:
        """Return the explained variance of the held-out rows, and its parts as for J."""
        axes = np.arange(self.P.shape[1])
        whole = self._score(axes)
        parts = np.array([self._score(axes[[axis]] if alone else np.delete(axes, axis)) for axis in axes])
        return whole, parts if alone else whole - parts

    def drops(self, rows: Ints, moved: Iterable[Array]) -> Array:
        """Return for each array in `moved` how much explained variance is lost if the rows are projected to it."""
        predictor = KernelRidge(self.P, self.Y, self.seed)
        Y = self.Y_test[rows]
        score = explained_variance(predictor.predict(self.P_test[rows]), Y)
        return np.array([score - explained_variance(predictor.predict(each), Y) for each in moved])

    def _score(self, axes: Ints) -> float:
        if not len(axes):
            return 0.0
        predictor = KernelRidge(self.P[:, axes], self.Y, self.seed)
        return explained_variance(predictor.predict(self.P_test[:, axes]), self.Y_test)


@dataclass(frozen=True)
class Losses:
    """A measure of the held-out rows of each resample with all axes, and the part of it that each axis accounts for."""

    whole: Array  # one for each resample
    lost: Array  # resamples × axes

    @staticmethod
    def of(measured: list[tuple[float, Array]]) -> "Losses":
        """Return the measures of all resamples."""
        return Losses(np.array([whole for whole, _ in measured]), np.array([lost for _, lost in measured]))

    @property
    def relative(self) -> Array:
        """The share of the measure that each axis accounts for, between 0 and 1."""
        mean = float(self.whole.mean())
        return np.clip(self.lost.mean(axis=0) / mean, 0, 1) if mean > 0 else np.zeros(self.lost.shape[1])

    @property
    def informative(self) -> NDArray[np.bool_]:
        """Whether each axis is informative.

        The measure exceeds its standard error, and the loss without the axis exceeds 1 % of the measure and half its
        own standard error.
        """
        exceeds = self.lost.mean(axis=0) > LOST_ERRORS * self.lost.std(axis=0)
        is_measurable = self.whole.mean() > WHOLE_ERRORS * self.whole.std()
        found: NDArray[np.bool_] = exceeds & (self.relative > SMALLEST_LOSS) & is_measurable
        return found


@dataclass(frozen=True)
class Target:
    """The target of the axes: its Γ, and columns that a regression can predict."""

    Y: Array
    gamma: Gamma
    result: Result  # with the kernel

    @staticmethod
    def of(paradigm: Paradigm, result: Result) -> "Target":
        """Return the classes, the standardized values, or the clusters that were found."""
        if isinstance(paradigm, Supervised):
            codes, gamma = paradigm.codes, paradigm.target_gamma()
            if codes is None:
                assert paradigm.values is not None
                deviations = paradigm.values.std(axis=0)
                return Target(paradigm.values / np.where(deviations > 0, deviations, 1.0), gamma, result)
            return Target(np.eye(codes.max() + 1)[codes], gamma, result)
        assert result.labels is not None
        codes = np.unique(result.labels, return_inverse=True)[1]
        return Target(np.eye(codes.max() + 1)[codes], LabelGamma.of(codes), result)

    def held_out(self, X: Array, resample: Resample, rng: np.random.Generator) -> tuple[Ints, HeldOut]:
        """Return the rows held out from a resample, and their projections."""
        others = np.setdiff1d(np.arange(len(X)), resample.rows)
        test = others[sample(len(others), HELD_OUT_ROWS, rng)]
        train = resample.rows[sample(len(resample.rows), LEARNED_ROWS, rng)]
        kernel = self.result.kernel.restricted(test, test)
        P, P_test = X[train] @ resample.W, X[test] @ resample.W
        gamma, seed = self.gamma.restricted(test), int(rng.integers(2**31))
        return test, HeldOut(P, self.Y[train], P_test, self.Y[test], gamma, kernel, seed)

    def insample(self, X: Array) -> HeldOut:
        """Return all rows in place of held-out rows."""
        P = X @ self.result.W
        return HeldOut(P, self.Y, P, self.Y, self.gamma, self.result.kernel, 0)


def dependence(P: Array, gamma: Gamma, kernel: Kernel) -> float:
    """Return J of projected rows, less the expectation of J if Γ belonged to shuffled rows.

    It is 0 for a projection without axes, and 0 on average for rows that tell nothing about the target.
    """
    n, K = len(P), kernel_matrix(P, kernel)
    if isinstance(gamma, NeighborGamma):
        np.fill_diagonal(K, 0)
        return gamma.at(K @ gamma.counted)[1] - gamma.by_chance(K)
    U, diagonal = gamma.U - gamma.U.mean(axis=0), float(K.trace())
    objective = float(gamma.s @ np.einsum("ia,ia->a", U, K @ U))
    trace = float(gamma.s @ (U**2).sum(axis=0))
    return objective - trace * (diagonal / n - (float(K.sum()) - diagonal) / (n * (n - 1)))


class KernelRidge:
    """Kernel ridge regression on projected rows, with the kernel functions of a sample of the rows (Nyström).

    The kernel is the Gaussian that scikit-learn's SVC takes by default: γ = 1 / (q · variance). Generalized
    cross-validation chooses the penalty.
    """

    def __init__(self, P: Array, Y: Array, seed: int) -> None:
        n, q = P.shape
        self._width = float(np.sqrt(q * P.var())) or 1.0
        self._landmarks = P[np.random.default_rng(seed).permutation(n)[:LANDMARKS]] / self._width
        values, vectors = np.linalg.eigh(self._values(self._landmarks * self._width))
        kept = values > SMALLEST_EIGENVALUE * values[-1]
        root = vectors[:, kept] / np.sqrt(values[kept])
        F = self._values(P) @ root
        means, target_means = F.mean(axis=0), Y.mean(axis=0)
        F, targets = F - means, Y - target_means
        variances, directions = np.linalg.eigh(F.T @ F)
        variances = np.maximum(variances, np.finfo(float).tiny)
        along = directions.T @ (F.T @ targets)
        explained, total = (along**2).sum(axis=1) / variances, float((targets**2).sum())

        def criterion(penalty: float) -> float:
            """Return the score of generalized cross-validation (Golub, Heath and Wahba 1979), smaller is better."""
            fitted = variances / (variances + penalty * n)
            return float((total - (1 - (1 - fitted) ** 2) @ explained) / (n - fitted.sum()) ** 2)

        penalty = min(PENALTIES, key=criterion)
        coefficients = directions @ (along / (variances + penalty * n)[:, None])
        self._coefficients = root @ coefficients
        self._intercept = target_means - means @ coefficients

    def predict(self, P: Array) -> Array:
        """Return the predicted targets of projected rows."""
        predicted: Array = self._values(P) @ self._coefficients + self._intercept
        return predicted

    def _values(self, P: Array) -> Array:
        """Return the kernel between rows and landmarks."""
        scaled = P / self._width
        squares = (scaled**2).sum(axis=1)[:, None] + (self._landmarks**2).sum(axis=1)
        values: Array = np.exp(np.minimum(2 * (scaled @ self._landmarks.T) - squares, 0))
        return values


def explained_variance(predicted: Array, Y: Array) -> float:
    """Return the share of the targets' variance that the predictions explain: 1 − squared errors / deviations."""
    deviations = float(((Y - Y.mean(axis=0)) ** 2).sum())
    return 1 - float(((Y - predicted) ** 2).sum()) / deviations if deviations > 0 else 0.0


def sample(n: int, count: int, rng: np.random.Generator) -> Ints:
    """Return all row numbers, or those of a sample of `count` rows."""
    return np.arange(n) if n <= count else np.sort(rng.choice(n, count, replace=False))
