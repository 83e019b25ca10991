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
from ism_core.linalg import Scale, Scaling, clipped, with_fixed_signs
from ism_core.objective import Precision
from ism_core.paradigms import Alternative, Kind, Linked, SemiSupervised, Supervised, TargetKernel, Unsupervised
from ism_core.selection import Auto, NeighborScoreMixin, Starts, iter_settings
from ism_core.solver import drain, solve

EngineName = Literal["local", "dask"]

KEPT_NUMBERS = 10_000_000  # numbers in the rows up to which they are kept until the result is interpreted, 80 MB
# Parameters of the estimators that `solve` takes under the same name.
PASSED_TO_SOLVE = ("max_iter", "precision", "tolerance", "approximation", "engine", "features_per_axis")

# The parameters and attributes that all estimators have, for their docstrings; below, those of some estimators.
PARAMETERS = """
    Parameters
    ----------
    kernel : Kernel or str, default="gaussian"
        A kernel such as ``Gaussian(sigma=2.0)``, its name, or "auto", which chooses one from the data.
    q : int or "auto", default=2
        Number of axes.
    delta : float, optional
        Convergence tolerance. None means 0.01, or 0.1 if a supervised estimator chooses the width of its kernel.
    max_iter : int, default=300
        Largest number of iterations.
    starts : int, "path" or "interactions", optional
        Number of starts, "path" for continuation from a wide kernel to a narrow one, or "interactions" for a start from
        products of two features that y depends on. None lets the solver decide.
    scale : "standard", "whiten", "none" or "auto", optional
        Preprocessing of X. None means "auto" if `kernel` is "auto", else "standard".
    random_state : int, RandomState or None, default=0
    precision : "double" or "single", default="double"
        Floating-point precision of sums over pairs of rows.
    tolerance : float, optional
        Largest relative error of the gradient if a Gaussian's Taylor series is truncated. 0 disables truncation.
    approximation : dict, optional
        ``{"features": m}`` replaces pairs of rows by m random features.
    engine : "local" (threads of this machine), "dask" (a cluster) or Engine, default="local"
    features_per_axis : int, optional
        Largest number of features with a nonzero loading on each axis.
    prepare : "auto", sequence of str or None, default="auto"
        For frames (pandas, polars, pyarrow) "auto" leaves out row numbers, identifiers, dates, constants and copies of
        y, encodes text, and fills in missing values; warnings name all of it. A list names the columns to use. None
        takes the values as they are, as for arrays. It needs pyarrow and pydantic.
"""
ATTRIBUTES = """
    Attributes
    ----------
    components_ : ndarray of shape (q, d)
        The columns of W as rows, for standardized features. They are orthonormal unless the rows were whitened.
    eigenvalues_ : ndarray of shape (q,), of Φ(W)
    objective_ : float
        J at the optimum.
    feature_importances_ : ndarray of shape (d,), or a named series if X was a pandas frame
        Share of each feature in the informative axes; the shares add up to 1. Computed when it is first read.
    interpretation_ : Interpretation
        Contributions of the axes, and standard errors, structure, groups and permutation drops of the features.
    features_ : ndarray of shape (d,)
        Names of the features, the columns of `components_`: columns of X, or levels of text such as "color=red".
    n_iter_ : int
        Number of iterations.
    mean_, scale_ : ndarray of shape (d,)
        Means and standard deviations that standardize the columns.
    limits_ : ndarray of shape (2, d) or None
        Smallest and largest values, to which gross cells are moved before; None if no column has gross cells.
    choice_ : Choice or None
        The settings that were chosen, with all candidates; None if everything was given.
    result_ : Result
        Steps, certificate, error and warnings of the solver, for the scaled rows (whitened, if scale is "whiten").
"""
CLUSTERS = """    n_clusters : int, default=2
        Number of clusters.
"""
LABELS = """    labels_ : ndarray of shape (n,)
        Cluster of each row.
"""


def _documented(own_parameters: str = "", own_attributes: str = "", example: str = "") -> Any:
    """Complete an estimator's docstring with the parameters and attributes that all estimators share."""

    def complete(cls: type) -> type:
        cls.__doc__ = f"{cls.__doc__ or ''}\n{PARAMETERS}{own_parameters}{ATTRIBUTES}{own_attributes}{example}"
        return cls

    return complete


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

    kernel: Kernel | str = "gaussian"
    q: int | Auto = 2
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

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn W from the rows of X."""
        table = self._learned_input(X, y if isinstance(self, SupervisedISM) else None)
        paradigm, seed = self._paradigm(y, len(table)), self._seed()
        options: dict[str, Any] = {"delta": self.delta, "starts": self.starts, "seed": seed}
        settings = drain(iter_settings(table, paradigm, self.kernel, self.q, self.scale, **options))
        scaling, rows = Scaling.learned(table, settings.scale, getattr(paradigm, "codes", None))
        options = {"delta": settings.delta, "seed": seed, "whitening": scaling.whitening}
        own = {"starts": settings.starts} | {name: getattr(self, name) for name in PASSED_TO_SOLVE}
        result = solve(rows, settings.paradigm, settings.kernel, settings.q, **options, **own)
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
        for text in scaling.warnings(table, self.features_.tolist()):
            warnings.warn(text, UserWarning, stacklevel=2)
        if not result.converged:
            warnings.warn(result.stop.value, ConvergenceWarning, stacklevel=2)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Project rows onto the q axes."""
        check_is_fitted(self)
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


@_documented(
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
    example="""
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> reduction = SupervisedISM(q=1).fit(X, y)
    >>> reduction.transform(X).shape
    (150, 1)
    >>> bool(reduction.feature_importances_[[2, 3]].sum() > 0.8)
    True
""",
)
@dataclass(eq=False, repr=False)
class SupervisedISM(NeighborScoreMixin, _ISM):
    """Dimension reduction to the axes that separate classes or predict real-valued targets."""

    kind: Kind = field(default="auto", kw_only=True)
    target_kernel: TargetKernel = field(default="gaussian", kw_only=True)
    balance: bool = field(default=False, kw_only=True)
    neighbors: bool = field(default=False, kw_only=True)

    def _paradigm(self, y: Any, rows: int) -> Supervised:
        return Supervised(self._required(y), self.kind, self.target_kernel, self.balance, self.neighbors)


@dataclass(eq=False, repr=False)
class _ClusteringISM(_ISM):
    """The base class of the three clustering estimators."""

    n_clusters: int = field(default=2, kw_only=True)

    def fit_predict(self, X: ArrayLike, y: ArrayLike | None = None) -> Ints:
        """Learn W from the rows of X and return the cluster of each row."""
        return self.fit(X, y).labels_


@_documented(CLUSTERS, LABELS)
@dataclass(eq=False, repr=False)
class UnsupervisedISM(ClusterMixin, _ClusteringISM):  # type: ignore[misc]
    """Clustering, with the projection that shows the clusters best."""

    def _paradigm(self, y: Any, rows: int) -> Unsupervised:
        return Unsupervised(self.n_clusters)


@_documented(
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


@_documented(f"{CLUSTERS}    mu : float, default=20.0\n        Weight of the penalty for agreement.\n", LABELS)
@dataclass(eq=False, repr=False)
class AlternativeISM(_ClusteringISM):
    """Clustering that differs from a known clustering y."""

    mu: float = field(default=20.0, kw_only=True)

    def _paradigm(self, y: Any, rows: int) -> Unsupervised:
        return Alternative(self._required(y), self.n_clusters, self.mu)
