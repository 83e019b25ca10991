"""The scikit-learn interface of ISM: one estimator for each paradigm."""

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from ism_core.arrays import Array, Ints, PreparedInputMixin
from ism_core.engines import Engine
from ism_core.errors import InvalidInput
from ism_core.interpretation import InterpretedMixin, interpret
from ism_core.kernels import Kernel, KernelParametersMixin
from ism_core.linalg import Scale, clipped, gross_warnings, with_fixed_signs
from ism_core.objective import Partitions, Precision, feature_names, is_partitioned, partitions
from ism_core.paradigms import Alternative, Kind, Linked, SemiSupervised, Supervised, TargetKernel, Unsupervised
from ism_core.selection import (
    CLUSTERS,
    LABELS,
    Auto,
    Fit,
    NeighborScoreMixin,
    Starts,
    UpdatedMixin,
    checked,
    choose_at_scale,
    documented,
    fit_in_memory,
    fit_in_parts,
    has_automatic_settings,
    iter_settings,
)
from ism_core.solver import as_engine, drain

EngineName = Literal["local", "dask"]

KEPT_NUMBERS = 10_000_000  # numbers in the rows up to which they are kept until the result is interpreted, 80 MB
# Parameters of the estimators that `solve` takes under the same name.
PASSED_TO_SOLVE = ("max_iter", "precision", "tolerance", "approximation", "engine", "features_per_axis")


@dataclass(eq=False, repr=False)
class _ISM(
    InterpretedMixin,
    PreparedInputMixin,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    KernelParametersMixin,
):
    """The base class of the four estimators.

    The dataclass generates the explicit `__init__` signature that scikit-learn requires.
    """

    kernel: Kernel | str = "auto"
    q: int | Auto | None = None
    delta: float | None = field(default=None, kw_only=True)
    max_iter: int = field(default=300, kw_only=True)
    starts: Starts = field(default=None, kw_only=True)
    scale: Scale | Auto | None = field(default=None, kw_only=True)
    random_state: Any = field(default=0, kw_only=True)
    precision: Precision = field(default="double", kw_only=True)
    tolerance: float | None = field(default=None, kw_only=True)
    approximation: Mapping[str, int] | None = field(default=None, kw_only=True)
    engine: Engine | EngineName = field(default="local", kw_only=True)
    features_per_axis: int | None = field(default=None, kw_only=True)
    prepare: Literal["auto"] | Sequence[str] | None = field(default="auto", kw_only=True)

    @abstractmethod
    def _paradigm(self, y: Any, rows: int) -> Supervised | Unsupervised:
        """Return the paradigm for the given y and number of rows."""

    def fit(self, X: ArrayLike | Partitions, y: ArrayLike | str | None = None) -> Self:
        """Learn W from the rows of X; y may name a column if X is read in parts, as `partitions` reads it."""
        seed = self._seed()
        fit = self._new_fit(X, y, seed)
        self.__dict__.pop("_kept", None)  # sums over other rows
        few = fit.rows.size <= KEPT_NUMBERS and not is_partitioned(X)
        self._latest_fit = fit._replace(table=fit.table[:0]) if few and hasattr(self, "partial_fit") else None
        return self._keep(fit, seed)

    def _new_fit(self, X: Any, y: Any, seed: int) -> Fit:
        if is_partitioned(X):
            return self._fit_in_parts(partitions(X, y), seed)
        table = self._learned_input(X, y if isinstance(self, SupervisedISM) else None)
        options: dict[str, Any] = {"delta": self.delta, "starts": self.starts, "seed": seed}
        paradigm = self._paradigm(y, len(table))
        settings = drain(iter_settings(table, paradigm, self.kernel, self._q, self.scale, **options))
        return fit_in_memory(table, y, settings, seed, self._passed())

    def _fit_in_parts(self, table: Partitions, seed: int) -> Fit:
        """Fit a table that is read in parts, which only supervised estimators can."""
        raise InvalidInput("X", f"{type(self).__name__} needs X in memory; SupervisedISM takes tables in partitions.")

    @property
    def _q(self) -> int | Auto:
        """The number of axes; the default depends on the kernel, as in a job."""
        is_auto = isinstance(self.kernel, str) and self.kernel == "auto"
        return ("auto" if is_auto else 2) if self.q is None else self.q

    def _passed(self) -> dict[str, Any]:
        """Return the parameters that `solve` takes under the same name."""
        return {name: getattr(self, name) for name in PASSED_TO_SOLVE}

    def _keep(self, fit: Fit, seed: int) -> Self:
        """Set the attributes of a fit."""
        table, y, rows, scaling, settings, result = fit[:6]
        options: dict[str, Any] = {"delta": settings.delta, "seed": seed, "whitening": scaling.whitening}
        W = with_fixed_signs(result.loadings(scaling.whitening))
        self.mean_, self.scale_, self.limits_ = scaling.mean, scaling.scale, scaling.limits
        self.choice_, self.result_, self.components_ = settings.choice, result, W.T
        self._learned = self._projected(table), y
        self._back = W.T if scaling.whitening is None else scaling.inside(scaling.inside(W)).T
        self.eigenvalues_, self.objective_ = result.eigenvalues, result.objective
        self.n_iter_ = max(1, result.iterations)
        later = partial(interpret, rows, settings.paradigm, result, precision=self.precision, **options)
        self._interpretation = later if rows.size <= KEPT_NUMBERS else later()
        self._n_features_out = settings.q
        if result.labels is not None:
            self.labels_ = result.labels
        for text in gross_warnings(fit.gross, self.features_.tolist()):
            warnings.warn(text, UserWarning, stacklevel=3)
        if not result.converged:
            warnings.warn(result.stop.value, ConvergenceWarning, stacklevel=3)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Project rows onto the q axes."""
        check_is_fitted(self)
        if is_partitioned(X):
            table = partitions(X, columns=getattr(self, "feature_names_in_", None))
            blocks = (block for index in range(len(table)) for block, _ in table.blocks(index))
            if table.columns != self.n_features_in_:
                raise InvalidInput("X", f"X has {table.columns} features; {self.n_features_in_} are needed.")
            return np.concatenate([self._projected(check_array(block, dtype=np.float64)) for block in blocks])
        return self._projected(self._input(X))

    def _projected(self, table: Array) -> Array:
        return np.asarray((clipped(table, self.limits_) - self.mean_) / self.scale_ @ self.components_.T)

    def plot(self, X: ArrayLike, y: Any = None) -> str:
        """Draw rows in the axes, with features as arrows: an SVG that notebooks show. It needs the extra `plots`."""
        from ism_plots import estimator_plot

        return estimator_plot(self, X, y)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return the rows in the original features that are nearest to the given projections."""
        check_is_fitted(self)
        projected, axes = check_array(X, dtype=np.float64), len(self.components_)
        if projected.shape[1] != axes:
            raise InvalidInput("X", f"X has {projected.shape[1]} columns; {axes} are needed, one for each axis.")
        return np.asarray(projected @ self._back * self.scale_ + self.mean_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = not isinstance(self, UnsupervisedISM)
        return tags

    def _required(self, y: Any) -> Any:
        if y is None:
            raise InvalidInput("y", f"{type(self).__name__} requires y to be passed, but the target y is None.")
        return y

    def _seed(self) -> int:
        given = self.random_state
        return int(given if isinstance(given, int | np.integer) else check_random_state(given).randint(2**31))


@documented(
    """    kind : "auto", "classes" or "values", default="auto"
        Whether y holds class labels or real values. "auto" means classes for text, booleans and integers, and for
        floats if they are whole numbers with at most 20 distinct values; else values.
    target_kernel : "gaussian" or "linear", default="gaussian"
        Kernel between real targets.
    balance : bool, default=False
        Give rare classes the same weight as frequent ones.
    neighbors : bool, default=False
        Maximize the share of each row's own class among its neighbors, or the R² of predicting its values from them.
""",
    """    update_ : Update
        What the last call of `partial_fit` or `remove_rows` changed, and whether a new choice of the settings is due.
""",
    example="""
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> reduction = SupervisedISM("gaussian", 1).fit(X, y)
    >>> reduction.transform(X).shape
    (150, 1)
    >>> bool(reduction.feature_importances_[[2, 3]].sum() > 0.8)
    True
""",
)
@dataclass(eq=False, repr=False)
class SupervisedISM(UpdatedMixin, NeighborScoreMixin, _ISM):
    """Dimension reduction to the axes that separate classes or predict real-valued targets."""

    kind: Kind = field(default="auto", kw_only=True)
    target_kernel: TargetKernel = field(default="gaussian", kw_only=True)
    balance: bool = field(default=False, kw_only=True)
    neighbors: bool = field(default=False, kw_only=True)

    def _paradigm(self, y: Any, rows: int) -> Supervised:
        return Supervised(self._required(y), self.kind, self.target_kernel, self.balance, self.neighbors)

    def _fit_in_parts(self, table: Partitions, seed: int) -> Fit:
        self._learned_names(feature_names(table), table.columns)
        paradigm = Supervised(None, self.kind, self.target_kernel, self.balance, self.neighbors)
        given = self.kernel, self._q, self.scale
        options: dict[str, Any] = {"delta": self.delta, "starts": self.starts, "seed": seed}
        if not has_automatic_settings(*given):
            return fit_in_parts(table, drain(iter_settings(table, paradigm, *given, **options)), seed, self._passed())
        chosen = choose_at_scale(table, paradigm, *given, **options, engine=as_engine(self.engine))
        return checked(fit_in_parts(table, chosen.settings, seed, self._passed()), chosen)


@dataclass(eq=False, repr=False)
class _ClusteringISM(_ISM):
    """The base class of the three clustering estimators."""

    n_clusters: int = field(default=2, kw_only=True)

    def fit_predict(self, X: ArrayLike, y: ArrayLike | None = None) -> Ints:
        """Learn W from the rows of X and return the cluster of each row."""
        return self.fit(X, y).labels_


@documented(CLUSTERS, LABELS)
@dataclass(eq=False, repr=False)
class UnsupervisedISM(ClusterMixin, _ClusteringISM):  # type: ignore[misc]
    """Clustering, with the projection that shows the clusters best."""

    def _paradigm(self, y: Any, rows: int) -> Unsupervised:
        return Unsupervised(self.n_clusters)


@documented(
    f"""{CLUSTERS}    mu : float or "auto", default="auto"
        Weight of the scores. "auto" is 50 for labels and 5 for real scores, divided by the share of rows with a score.
        Rows with a label are then in the cluster of their class.
    kind : "auto", "classes" or "values", default="auto"
        Whether the scores are class labels or real values; "auto" is as in SupervisedISM.
    must_link, cannot_link : array-like of shape (p, 2), optional
        Pairs of rows of X in the same cluster, or in different ones, which take the place of y.
""",
    LABELS,
)
@dataclass(eq=False, repr=False)
class SemiSupervisedISM(_ClusteringISM):
    """Clustering that agrees with expert scores y, which are labels or real values, or with pairs of rows.

    NaN marks a row without a score.
    """

    mu: float | Auto = field(default="auto", kw_only=True)
    kind: Kind = field(default="auto", kw_only=True)
    must_link: ArrayLike | None = field(default=None, kw_only=True)
    cannot_link: ArrayLike | None = field(default=None, kw_only=True)

    def _paradigm(self, y: Any, rows: int) -> Unsupervised:
        if self.must_link is None and self.cannot_link is None:
            return SemiSupervised(self._required(y), self.n_clusters, self.mu, self.kind)
        if y is not None:
            raise InvalidInput("y", "y cannot be combined with must_link and cannot_link; give one of the two.")
        return Linked(self.must_link, self.cannot_link, self.n_clusters, rows, self.mu)


@documented(f"{CLUSTERS}    mu : float, default=20.0\n        Weight of the penalty for agreement.\n", LABELS)
@dataclass(eq=False, repr=False)
class AlternativeISM(_ClusteringISM):
    """Clustering that differs from a known clustering y."""

    mu: float = field(default=20.0, kw_only=True)

    def _paradigm(self, y: Any, rows: int) -> Unsupervised:
        return Alternative(self._required(y), self.n_clusters, self.mu)
