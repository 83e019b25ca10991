"""ISM for users of scikit-learn: an estimator for each paradigm."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin

from ism_core.arrays import Ints
from ism_core.engines.base import Engine
from ism_core.errors import InvalidInput
from ism_core.estimator import ISM, EngineName
from ism_core.kernels.base import Kernel
from ism_core.objective.tiles import Precision
from ism_core.paradigms.base import Alternative, Paradigm, SemiSupervised, Supervised, Unsupervised
from ism_core.paradigms.targets import Kind, TargetKernel
from ism_core.scaling import Scale
from ism_core.selection.choice import Auto
from ism_core.selection.settings import Starts


class SupervisedISM(ISM):
    """Dimension reduction that keeps what tells classes apart, or what goes with real-valued targets.

    y holds class labels of any type or real values, one column or several; `kind` says which where their type does not.
    With `balance`, rare classes count for more; with `neighbors`, what counts is the share of a row's own class among
    its neighbors. SupervisedISM("auto", "auto") chooses everything by cross-validation.
    """

    def __init__(
        self,
        kernel: Kernel | str = "gaussian",
        q: int | Auto = 2,
        *,
        delta: float | None = None,
        max_iter: int = 300,
        starts: Starts = None,
        scale: Scale | Auto | None = None,
        random_state: Any = 0,
        precision: Precision = "double",
        tolerance: float | None = None,
        approximation: Mapping[str, int] | None = None,
        engine: Engine | EngineName = "local",
        features_per_axis: int | None = None,
        kind: Kind = "auto",
        target_kernel: TargetKernel = "gaussian",
        balance: bool = False,
        neighbors: bool = False,
    ) -> None:
        exactness = (precision, tolerance, approximation, engine)
        super().__init__(kernel, q, delta, max_iter, starts, scale, random_state, *exactness, features_per_axis)
        self.kind = kind
        self.target_kernel = target_kernel
        self.balance = balance
        self.neighbors = neighbors

    def _paradigm(self, y: Any) -> Paradigm:
        return Supervised(_required(y, self), self.kind, self.target_kernel, self.balance, self.neighbors)

    def __sklearn_tags__(self) -> Any:
        return _with_required_target(super().__sklearn_tags__())


class _ClusteringISM(ISM):
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
        q: int | Auto = 2,
        *,
        n_clusters: int = 2,
        delta: float | None = None,
        max_iter: int = 300,
        starts: Starts = None,
        scale: Scale | Auto | None = None,
        random_state: Any = 0,
        precision: Precision = "double",
        tolerance: float | None = None,
        approximation: Mapping[str, int] | None = None,
        engine: Engine | EngineName = "local",
        features_per_axis: int | None = None,
    ) -> None:
        exactness = (precision, tolerance, approximation, engine)
        super().__init__(kernel, q, delta, max_iter, starts, scale, random_state, *exactness, features_per_axis)
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
        q: int | Auto = 2,
        *,
        n_clusters: int = 2,
        mu: float = 5.0,
        delta: float | None = None,
        max_iter: int = 300,
        starts: Starts = None,
        scale: Scale | Auto | None = None,
        random_state: Any = 0,
        precision: Precision = "double",
        tolerance: float | None = None,
        approximation: Mapping[str, int] | None = None,
        engine: Engine | EngineName = "local",
        features_per_axis: int | None = None,
        kind: Kind = "auto",
    ) -> None:
        exactness = (precision, tolerance, approximation, engine)
        super().__init__(kernel, q, delta, max_iter, starts, scale, random_state, *exactness, features_per_axis)
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
        q: int | Auto = 2,
        *,
        n_clusters: int = 2,
        mu: float = 20.0,
        delta: float | None = None,
        max_iter: int = 300,
        starts: Starts = None,
        scale: Scale | Auto | None = None,
        random_state: Any = 0,
        precision: Precision = "double",
        tolerance: float | None = None,
        approximation: Mapping[str, int] | None = None,
        engine: Engine | EngineName = "local",
        features_per_axis: int | None = None,
    ) -> None:
        exactness = (precision, tolerance, approximation, engine)
        super().__init__(kernel, q, delta, max_iter, starts, scale, random_state, *exactness, features_per_axis)
        self.n_clusters = n_clusters
        self.mu = mu

    def _paradigm(self, y: Any) -> Paradigm:
        return Alternative(_required(y, self), self.n_clusters, self.mu)

    def __sklearn_tags__(self) -> Any:
        return _with_required_target(super().__sklearn_tags__())


def _required(y: Any, estimator: ISM) -> Any:
    if y is None:
        raise InvalidInput("y", f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    return y


def _with_required_target(tags: Any) -> Any:
    tags.target_tags.required = True
    return tags
