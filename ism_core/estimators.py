"""ISM for users of scikit-learn: fit, transform, and the attributes they expect."""

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ism_core.arrays import Array, Ints
from ism_core.engine import Engine
from ism_core.errors import InvalidInput
from ism_core.kernel import Kernel
from ism_core.kernels import KERNELS, as_kernel, parameters
from ism_core.paradigms import Alternative, Paradigm, SemiSupervised, Supervised, Unsupervised
from ism_core.scaling import standardised
from ism_core.solver import solve
from ism_core.targets import Kind, TargetKernel
from ism_core.tiles import Precision

Scale = Literal["standard", "none"]
EngineName = Literal["local", "dask"]

GIVEN_ON = ("delta", "max_iter", "starts", "precision", "tolerance", "approximation", "engine")  # to `solve`, as it is


class _ISM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What the four estimators share.

    Parameters are those of `solve`, with `scale` ("standard" or "none") for what is done to X first, and
    `random_state` (a number, so that a fit can be repeated) for its seed. `precision`, `tolerance` and `approximation`
    say how exact it is to be, `engine` where the work is done. Attributes after `fit`: `components_` (q×d, the columns
    of W as rows), `eigenvalues_`, `objective_`, `feature_importances_` (each feature's share of the subspace, adding up
    to 1), `n_iter_`, `mean_`, `scale_`, and `result_` with the steps, the certificate, the error and the warnings.
    """

    def __init__(
        self,
        kernel: Any,
        q: int,
        delta: float,
        max_iter: int,
        starts: int | None,
        scale: Scale,
        random_state: Any,
        precision: Precision,
        tolerance: float | None,
        approximation: Mapping[str, int] | None,
        engine: Engine | EngineName,
    ) -> None:
        self.kernel = kernel
        self.q = q
        self.delta = delta
        self.max_iter = max_iter
        self.starts = starts
        self.scale = scale
        self.random_state = random_state
        self.precision = precision
        self.tolerance = tolerance
        self.approximation = approximation
        self.engine = engine

    @abstractmethod
    def _paradigm(self, y: Any) -> Paradigm:
        """The paradigm for what was given as y."""

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn W from the rows of X."""
        table = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if self.scale not in ("standard", "none"):
            raise InvalidInput("scale", f'scale is {self.scale!r}; it must be "standard" or "none".')
        if self.scale == "standard":
            table, self.mean_, self.scale_ = standardised(table)
        else:
            self.mean_, self.scale_ = np.zeros(table.shape[1]), np.ones(table.shape[1])
        given = {name: getattr(self, name) for name in GIVEN_ON}
        result = solve(table, self._paradigm(y), self.kernel, self.q, seed=self._seed(), **given)
        self.result_ = result
        self.components_ = result.W.T
        self.eigenvalues_ = result.eigenvalues
        self.objective_ = result.objective
        self.n_iter_ = max(1, result.iterations)
        self.feature_importances_ = (result.W**2).sum(axis=1) / self.q
        self._n_features_out = self.q
        if result.labels is not None:
            self.labels_ = result.labels
        if not result.converged:
            warnings.warn(result.stop.value, ConvergenceWarning, stacklevel=2)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """The rows in the q new features."""
        check_is_fitted(self)
        table = validate_data(self, X, dtype=np.float64, reset=False)
        projected: Array = (table - self.mean_) / self.scale_ @ self.components_.T
        return projected

    def inverse_transform(self, X: ArrayLike) -> Array:
        """The rows in the original features that are nearest to these new features."""
        check_is_fitted(self)
        projected = check_array(X, dtype=np.float64)
        if projected.shape[1] != len(self.components_):
            raise InvalidInput(
                "X",
                f"X has {projected.shape[1]} columns; {len(self.components_)} are needed, one for each new feature.",
            )
        back: Array = projected @ self.components_ * self.scale_ + self.mean_
        return back

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, and with `deep` those of the kernel as kernel__sigma and the like."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep and (isinstance(self.kernel, Kernel) or (isinstance(self.kernel, str) and self.kernel in KERNELS)):
            params |= {f"kernel__{name}": value for name, value in parameters(as_kernel(self.kernel)).items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; kernel__sigma and the like give the kernel a new value."""
        of_kernel = {
            name.removeprefix("kernel__"): params.pop(name) for name in list(params) if name.startswith("kernel__")
        }
        super().set_params(**params)
        if of_kernel:
            kernel = as_kernel(self.kernel)
            unknown = set(of_kernel) - set(parameters(kernel))
            if unknown:
                raise InvalidInput(
                    "kernel",
                    f"{kernel} has no parameter {min(unknown)!r}; it has {', '.join(parameters(kernel)) or 'none'}.",
                )
            self.kernel = replace(kernel, **of_kernel)  # type: ignore[type-var]
        return self

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))


class SupervisedISM(_ISM):
    """Dimension reduction that keeps what tells classes apart, or what goes with real-valued targets.

    y holds class labels of any type or real values, one column or several; `kind` says which where their type does not.
    """

    def __init__(
        self,
        kernel: Kernel | str = "gaussian",
        q: int = 2,
        *,
        delta: float = 0.01,
        max_iter: int = 300,
        starts: int | None = None,
        scale: Scale = "standard",
        random_state: Any = 0,
        precision: Precision = "double",
        tolerance: float | None = None,
        approximation: Mapping[str, int] | None = None,
        engine: Engine | EngineName = "local",
        kind: Kind = "auto",
        target_kernel: TargetKernel = "gaussian",
    ) -> None:
        shared = (delta, max_iter, starts, scale, random_state, precision, tolerance, approximation, engine)
        super().__init__(kernel, q, *shared)
        self.kind = kind
        self.target_kernel = target_kernel

    def _paradigm(self, y: Any) -> Paradigm:
        return Supervised(_required(y, self), self.kind, self.target_kernel)

    def __sklearn_tags__(self) -> Any:
        return _with_required_target(super().__sklearn_tags__())


class _ClusteringISM(_ISM):
    """What the three that find clusters share."""

    labels_: Ints

    def fit_predict(self, X: ArrayLike, y: ArrayLike | None = None) -> Ints:
        """Learn W from the rows of X, and give each row's cluster."""
        return self.fit(X, y).labels_


class UnsupervisedISM(ClusterMixin, _ClusteringISM):  # type: ignore[misc]
    """Clusters, and the projection that shows them best. `labels_` holds each row's cluster."""

    def __init__(
        self,
        kernel: Kernel | str = "gaussian",
        q: int = 2,
        *,
        n_clusters: int = 2,
        delta: float = 0.01,
        max_iter: int = 300,
        starts: int | None = None,
        scale: Scale = "standard",
        random_state: Any = 0,
        precision: Precision = "double",
        tolerance: float | None = None,
        approximation: Mapping[str, int] | None = None,
        engine: Engine | EngineName = "local",
    ) -> None:
        shared = (delta, max_iter, starts, scale, random_state, precision, tolerance, approximation, engine)
        super().__init__(kernel, q, *shared)
        self.n_clusters = n_clusters

    def _paradigm(self, y: Any) -> Paradigm:
        return Unsupervised(self.n_clusters)


class SemiSupervisedISM(_ClusteringISM):
    """Clusters that agree with expert scores y, and the projection that shows them best.

    The scores are labels or real columns, missing (NaN) where nobody gave one. `mu` is how much they weigh, and
    `labels_` holds each row's cluster.
    """

    def __init__(
        self,
        kernel: Kernel | str = "gaussian",
        q: int = 2,
        *,
        n_clusters: int = 2,
        mu: float = 5.0,
        delta: float = 0.01,
        max_iter: int = 300,
        starts: int | None = None,
        scale: Scale = "standard",
        random_state: Any = 0,
        precision: Precision = "double",
        tolerance: float | None = None,
        approximation: Mapping[str, int] | None = None,
        engine: Engine | EngineName = "local",
        kind: Kind = "auto",
    ) -> None:
        shared = (delta, max_iter, starts, scale, random_state, precision, tolerance, approximation, engine)
        super().__init__(kernel, q, *shared)
        self.n_clusters = n_clusters
        self.mu = mu
        self.kind = kind

    def _paradigm(self, y: Any) -> Paradigm:
        return SemiSupervised(_required(y, self), self.n_clusters, self.mu, self.kind)

    def __sklearn_tags__(self) -> Any:
        return _with_required_target(super().__sklearn_tags__())


class AlternativeISM(_ClusteringISM):
    """Clusters that a known clustering y does not show.

    `mu` is how firmly it is avoided, `labels_` are the clusters.
    """

    def __init__(
        self,
        kernel: Kernel | str = "gaussian",
        q: int = 2,
        *,
        n_clusters: int = 2,
        mu: float = 20.0,
        delta: float = 0.01,
        max_iter: int = 300,
        starts: int | None = None,
        scale: Scale = "standard",
        random_state: Any = 0,
        precision: Precision = "double",
        tolerance: float | None = None,
        approximation: Mapping[str, int] | None = None,
        engine: Engine | EngineName = "local",
    ) -> None:
        shared = (delta, max_iter, starts, scale, random_state, precision, tolerance, approximation, engine)
        super().__init__(kernel, q, *shared)
        self.n_clusters = n_clusters
        self.mu = mu

    def _paradigm(self, y: Any) -> Paradigm:
        return Alternative(_required(y, self), self.n_clusters, self.mu)

    def __sklearn_tags__(self) -> Any:
        return _with_required_target(super().__sklearn_tags__())


def _required(y: Any, estimator: _ISM) -> Any:
    if y is None:
        raise InvalidInput("y", f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    return y


def _with_required_target(tags: Any) -> Any:
    tags.target_tags.required = True
    return tags
