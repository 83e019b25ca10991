"""What the estimators for users of scikit-learn share: fit, transform, and the attributes they expect."""

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ism_core.arrays import Array
from ism_core.engines.base import Engine
from ism_core.errors import InvalidInput
from ism_core.kernels.base import Kernel
from ism_core.kernels.family import KERNELS, as_kernel, parameters
from ism_core.linalg.subspaces import with_fixed_signs
from ism_core.objective.tiles import Precision
from ism_core.paradigms.base import Paradigm, Supervised
from ism_core.scaling import Scale, Scaling
from ism_core.selection.choice import Auto
from ism_core.selection.settings import Starts, deciding
from ism_core.solver.ascent.spectral import drain
from ism_core.solver.solve import solve

EngineName = Literal["local", "dask"]

GIVEN_ON = (
    "max_iter",
    "precision",
    "tolerance",
    "approximation",
    "engine",
    "features_per_axis",
)  # to `solve`, as it is


class ISM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What the four estimators share.

    Parameters are those of `solve`, with `scale` for what is done to X first ("standard", "whiten" or "none"), and
    `random_state` (a number, so that a fit can be repeated) for its seed. `precision`, `tolerance` and `approximation`
    say how exact it is to be, `engine` where the work is done, `features_per_axis` how many features an axis may have.
    `kernel`, `q` and `scale` may be "auto"; with kernel="auto" a scale of None is too. A `delta` of None is 0.01, or
    0.1 where the kernel's width is chosen.

    Attributes after `fit`: `components_` (q×d, the columns of W as rows, in the standardized features; orthonormal
    unless these were whitened), `eigenvalues_`, `objective_`, `feature_importances_` (each feature's share of the
    axes, adding up to 1), `n_iter_`, `mean_`, `scale_`, `choice_` (what was chosen and from what; None where all was
    given) and `result_` with the steps, the certificate, the error and the warnings, in the coordinates of the solver.
    """

    def __init__(
        self,
        kernel: Any,
        q: int | Auto,
        delta: float | None,
        max_iter: int,
        starts: Starts,
        scale: Scale | Auto | None,
        random_state: Any,
        precision: Precision,
        tolerance: float | None,
        approximation: Mapping[str, int] | None,
        engine: Engine | EngineName,
        features_per_axis: int | None,
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
        self.features_per_axis = features_per_axis

    @abstractmethod
    def _paradigm(self, y: Any) -> Paradigm:
        """The paradigm for what was given as y."""

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn W from the rows of X."""
        table = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        paradigm, seed = self._paradigm(y), self._seed()
        decision = drain(
            deciding(
                table,
                paradigm,
                self.kernel,
                self.q,
                scale=self.scale,
                delta=self.delta,
                starts=self.starts,
                seed=seed,
            )
        )
        codes = paradigm.codes if isinstance(paradigm, Supervised) else None
        scaling, rows = Scaling.learnt(table, decision.scale, codes)
        result = solve(
            rows,
            decision.paradigm,
            decision.kernel,
            decision.q,
            delta=decision.delta,
            starts=decision.starts,
            seed=seed,
            whitening=scaling.whitening,
            **{name: getattr(self, name) for name in GIVEN_ON},
        )
        W = result.W
        if scaling.whitening is not None:
            outside = scaling.outside(W)
            W = with_fixed_signs(outside if result.sparsity is None else outside * result.sparsity.support)
        self.mean_, self.scale_ = scaling.mean, scaling.scale
        self.choice_ = decision.choice
        self.result_ = result
        self.components_ = W.T
        self._back = W.T if scaling.whitening is None else scaling.inside(scaling.inside(W)).T
        self.eigenvalues_ = result.eigenvalues
        self.objective_ = result.objective
        self.n_iter_ = max(1, result.iterations)
        self.feature_importances_ = (W**2).sum(axis=1) / (W**2).sum()
        self._n_features_out = decision.q
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
        back: Array = projected @ self._back * self.scale_ + self.mean_
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
