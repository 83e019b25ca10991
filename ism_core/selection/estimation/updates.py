"""Estimators that rows are added to and removed from, without the rows of earlier calls."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ism_core.arrays import Array, Ints
from ism_core.errors import InvalidInput
from ism_core.kernels import Kernel
from ism_core.linalg import MAX_GROSS_SHARE, largest_angle
from ism_core.objective import ArrayPartitions, Partitions, is_partitioned, partitions, pass_over
from ism_core.paradigms import Describing, Supervised, block_gammas
from ism_core.selection.estimation.fit import Fit
from ism_core.selection.estimation.kept import Losses, RowSample, Update
from ism_core.selection.scoring import losses
from ism_core.selection.settings import Settings
from ism_core.solver import RowMoments, as_engine, check_updatable, solve_moments

PARTITION_ROWS = 2**14  # rows of an update that a thread takes at a time
TESTED_ROWS = 2_000  # arriving rows that are predicted before they are added


@dataclass(frozen=True)
class Kept:
    """What a model keeps in place of its rows."""

    settings: Settings
    kernel: Kernel  # with numbers
    moments: RowMoments
    sample: RowSample
    first_axes: Array  # for rows that are not scaled
    losses: Losses | None  # of the rows that arrived since
    changes: int  # how many there were


def _can_be_updated(estimator: Any) -> bool:
    """Tell whether the settings that are given allow updates; raise InvalidInput, which says why not."""
    check_updatable(estimator.kernel, estimator.scale, estimator.neighbors)
    return True


class UpdatedMixin:
    """Adds rows to a supervised estimator, and removes rows, with sums over the rows that it keeps."""

    kernel: Kernel | str
    engine: Any
    kind: Any
    target_kernel: Any
    balance: bool
    components_: Array
    scale_: Array
    n_features_in_: int
    features_: Any
    _learned: tuple[Array, Any]
    _kept: Kept
    _latest_fit: Fit | None
    update_: Update
    _new_fit: Callable[[Any, Any, int], Fit]
    _input: Callable[[Any], Array]
    _projected: Callable[[Array], Array]
    _required: Callable[[Any], Any]
    _seed: Callable[[], int]
    _keep: Callable[[Fit, int], Any]

    @available_if(_can_be_updated)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: ArrayLike | Partitions, y: ArrayLike | str | None = None) -> Self:
        """Add rows: W becomes that of a fit on all rows, if the ascent from the present W leads to the same maximum.

        The first call fits its rows, unless there is a fit already (of 10,000,000 numbers at most, in memory). The
        kernel with its numbers, q, the limits of gross cells and a Gaussian kernel between values stay those of the
        first rows; means, scales and classes are those of all rows. `update_` says what changed, and whether a new
        choice of the settings is due. Kernels are polynomial, linear or squared. Others have no `partial_fit`, because
        J at another W depends on every row.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from ism_core import Polynomial, SupervisedISM
        >>> X, y = load_iris(return_X_y=True)
        >>> model = SupervisedISM(Polynomial(2), q=1).partial_fit(X[::2], y[::2])
        >>> model.partial_fit(X[1::2], y[1::2]).update_.rows
        150
        >>> model.update_.settings_hold, model.update_.angle < 0.1
        (True, True)
        """
        if not hasattr(self, "components_"):
            fit = self._new_fit(X, y, self._seed())
            return self._first_fit(fit, self._table(X, y) if is_partitioned(X) else _in_parts(fit.table, fit.y))
        table, kept = self._table(X, y), self._present()
        moments = kept.moments.changed(table, as_engine(self.engine))
        sample = RowSample.of(table, np.random.default_rng([self._seed(), kept.changes + 1]))
        arriving = self._losses_of(sample)
        reasons = self._reasons(moments, sample, arriving)
        earlier = kept.losses
        kept = replace(
            kept,
            sample=kept.sample.joined(sample),
            losses=arriving if earlier is None else earlier.joined(arriving),
        )
        self._change(kept, moments, self.components_.T / self.scale_[:, None], reasons)
        self.update_ = replace(self.update_, loss=arriving.mean, earlier_loss=None if earlier is None else earlier.mean)
        return self

    @available_if(_can_be_updated)  # type: ignore[untyped-decorator]
    def remove_rows(self, X: ArrayLike | Partitions, y: ArrayLike | str | None = None) -> Self:
        """Remove rows that `partial_fit` has added: W becomes that of a fit on the other rows.

        Whether the model has had these rows is checked only by the number of rows of each class.
        """
        check_is_fitted(self)
        table, kept = self._table(X, y), self._present()
        moments = kept.moments.changed(table, as_engine(self.engine), sign=-1)
        gone = [label for label in kept.moments.labels if label not in moments.labels]
        reasons = tuple(f"Class {label!r} has no rows any more." for label in gone)
        kept = replace(kept, sample=kept.sample.without(table))
        self._change(kept, moments, self.components_.T / self.scale_[:, None], reasons)
        return self

    def _present(self) -> Kept:
        """Return what is kept of the rows; compute it if there was a fit."""
        if not hasattr(self, "_kept"):
            fit = self._latest_fit
            if fit is None:
                raise InvalidInput(
                    "X",
                    "The model was fitted by fit, which keeps no sums over so many rows; begin with partial_fit on a"
                    " new estimator, which fits its first rows.",
                )
            self._first_fit(fit, _in_parts(fit.rows * fit.scaling.scale + fit.scaling.mean, fit.y))
        return self._kept

    def _first_fit(self, fit: Fit, table: Partitions) -> Self:
        """Compute the sums over the rows of a fit, and solve with them."""
        seed, engine = self._seed(), as_engine(self.engine)
        check_updatable(fit.result.kernel, fit.settings.scale, getattr(fit.settings.paradigm, "neighbors", False))
        target_kernel = getattr(fit.settings.paradigm, "target_kernel", self.target_kernel)
        paradigm = Supervised(None, self.kind, target_kernel, self.balance)
        summary, found = pass_over(table, Describing(self.kind), engine)
        gammas = block_gammas(paradigm, found, table, summary, np.asarray(fit.y), engine)[0]
        none = RowMoments.none(fit.result.kernel, fit.scaling, fit.settings.scale, paradigm, gammas)
        sample = RowSample.of(table, np.random.default_rng([seed, 0]))
        axes = fit.result.W / fit.scaling.scale[:, None]
        kept = Kept(fit.settings, fit.result.kernel, none, sample, axes, None, -1)
        self._change(kept, none.changed(table, engine), axes, (), fit.gross)
        self._kept = replace(self._kept, first_axes=self.components_.T / self.scale_[:, None])
        return self

    def _change(
        self, kept: Kept, moments: RowMoments, before: Array, reasons: tuple[str, ...], gross: Ints | None = None
    ) -> None:
        """Solve with other sums over the rows; `before` has the present axes for rows that are not scaled."""
        seed, sample, rows = self._seed(), kept.sample, kept.moments.rows
        scaling, result = solve_moments(moments, kept.kernel, before, seed)
        target_kernel = getattr(kept.settings.paradigm, "target_kernel", self.target_kernel)
        paradigm = Supervised(sample.y, self.kind, target_kernel, self.balance)
        settings = replace(kept.settings, paradigm=paradigm)
        none = np.zeros(len(before), dtype=np.intp)
        table, scaled = sample.X, scaling.apply(sample.X)
        self._keep(Fit(table, sample.y, scaled, scaling, settings, result, none if gross is None else gross), seed)

        def turned(axes: Array) -> float:
            return largest_angle(np.linalg.qr(axes * scaling.scale[:, None])[0], result.W)

        self._kept = replace(kept, moments=moments, changes=kept.changes + 1)
        self.update_ = Update(
            rows=moments.rows,
            added=max(moments.rows - rows, 0),
            removed=max(rows - moments.rows, 0),
            angle=turned(before),
            angle_since_choice=turned(kept.first_axes),
            loss=None,
            earlier_loss=None,
            reasons=reasons,
        )

    def _table(self, X: Any, y: Any) -> Partitions:
        """Return rows that arrive or go, encoded like those of the fit."""
        if not is_partitioned(X):
            return _in_parts(self._input(X), self._required(y))
        table = partitions(X, y, getattr(self, "feature_names_in_", None))
        if table.columns != self.n_features_in_:
            raise InvalidInput("X", f"X has {table.columns} features; {self.n_features_in_} are needed.")
        return table

    def _losses_of(self, sample: RowSample) -> Losses:
        """Return the losses of arriving rows, which the present model predicts."""
        P, y = self._learned
        tested = self._projected(sample.X[:TESTED_ROWS]), sample.y[:TESTED_ROWS]
        return Losses.of(losses(P, y, *tested, are_classes=self._kept.moments.has_classes))

    def _reasons(self, moments: RowMoments, sample: RowSample, arriving: Losses) -> tuple[str, ...]:
        """Return why a new choice of the settings is due after rows have arrived."""
        kept = self._kept
        reasons = [f"Class {label!r} is new." for label in moments.labels if label not in kept.moments.labels]
        earlier = kept.losses
        if earlier is not None and arriving.exceed(earlier):
            what = "share of wrong predictions" if kept.moments.has_classes else "relative squared error"
            reasons.append(f"The {what} of arriving rows rose to {arriving.mean:.3g}, from {earlier.mean:.3g} before.")
        limits = kept.moments.limits
        if limits is not None:
            low, high = limits
            shares = ((low > sample.X) | (high < sample.X)).mean(axis=0)
            reasons += [
                f"{shares[column]:.0%} of the arriving cells of {self.features_[column]} are beyond the limits of gross"
                " cells."
                for column in np.flatnonzero(shares > MAX_GROSS_SHARE)
            ]
        return tuple(reasons)


def _in_parts(X: Array, y: Any) -> Partitions:
    """Return rows in memory in parts that are small enough for each thread to have some."""
    targets = np.asarray(y)
    partitions(X, targets)  # checks the number of targets
    return ArrayPartitions(X, targets, PARTITION_ROWS)
