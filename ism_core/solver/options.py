"""The options of `solve` and the validation of all its arguments, before anything is computed."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ism_core.arrays import Array, as_table, extremes, is_whole
from ism_core.engines import LOCAL, Engine
from ism_core.errors import InvalidInput
from ism_core.kernels import Kernel, KernelWithWidth, as_kernel
from ism_core.linalg import Whitening
from ism_core.objective import EvaluationOptions
from ism_core.paradigms import Paradigm

DEFAULT_TOLERANCE = 1e-8  # largest relative error of J and Φ(W)W that truncation may cause, by default
LOOSE_TOLERANCE_PER_DELTA = 0.01  # times delta: tolerance to try next if tiles are cheaper
LARGEST_VALUE, SMALLEST_VALUE = 1e20, 1e-20  # of |X|: products of several values beyond these over- or underflow


@dataclass(frozen=True)
class SolveOptions:
    """The keyword arguments of `solve`, under the same names and with the same defaults."""

    delta: float = 0.01
    max_iter: int = 300
    starts: int | Literal["path", "interactions"] | None = None
    seed: int = 0
    initial_W: ArrayLike | None = field(default=None, repr=False)  # noqa: N815
    precision: Literal["double", "single"] = "double"
    tolerance: float | None = None
    approximation: Mapping[str, int] | None = None
    engine: Engine | Literal["local", "dask"] = "local"
    memory_limit: int | None = None
    features_per_axis: int | None = None
    whitening: Whitening | None = None

    @property
    def tolerances(self) -> tuple[float, ...]:
        """Tolerances of truncated feature maps; the first one that makes features cheaper than tiles is used."""
        if self.tolerance is not None:
            return (self.tolerance,)
        return DEFAULT_TOLERANCE, LOOSE_TOLERANCE_PER_DELTA * self.delta

    def check(self, q: int, paradigm: Paradigm, kernel: Kernel) -> None:
        """Raise InvalidInput if an option is invalid for every table."""
        if not _is_number(self.delta) or not 0 < self.delta <= 1:
            raise InvalidInput("delta", f"delta is {self.delta!r}; it must be a number above 0 and at most 1.")
        _check_whole("max_iter", self.max_iter, 1)
        if self.starts in ("path", "interactions"):
            _check_path(self.starts, kernel, paradigm)
        elif self.starts is not None:
            _check_whole("starts", self.starts, 1, ', "path", "interactions", or None for the default')
        _check_whole("seed", self.seed, 0)
        if self.memory_limit is not None:
            _check_whole("memory_limit", self.memory_limit, 1, " (bytes), or None for no limit")
        if self.tolerance is not None and (not _is_number(self.tolerance) or not 0 <= self.tolerance <= 0.01):
            raise InvalidInput(
                "tolerance",
                f"tolerance is {self.tolerance!r}; it must be a number from 0 to 0.01, or None for the default.",
            )
        if self.precision not in ("double", "single"):
            raise InvalidInput("precision", f'precision is {self.precision!r}; it must be "double" or "single".')
        _check_approximation(self.approximation)
        _check_features_per_axis(self.features_per_axis, q, self.whitening)

    def evaluation(self) -> EvaluationOptions:
        """Return the options for evaluating J and Φ."""
        count = None if self.approximation is None else self.approximation["features"]
        return EvaluationOptions(self.precision, features=count, seed=self.seed, engine=as_engine(self.engine))


@dataclass(frozen=True)
class SolveInput:
    """The validated arguments of a solve."""

    X: Array
    paradigm: Paradigm
    kernel: Kernel
    q: int
    options: SolveOptions
    evaluation: EvaluationOptions
    initial_W: Array | None  # noqa: N815
    warnings: list[str]  # about the paradigm's data

    @staticmethod
    def of(X: ArrayLike, paradigm: Paradigm, kernel: Kernel | str, q: int, options: SolveOptions) -> "SolveInput":
        """Validate the arguments; raise InvalidInput if one is wrong."""
        if not isinstance(paradigm, Paradigm):
            raise InvalidInput(
                "paradigm", f"paradigm is {paradigm!r}; it must be one such as Supervised(y) or Unsupervised(3)."
            )
        table = as_table(X)
        d = table.shape[1]
        _check_magnitude(table)
        check_q(q, d)
        named = as_kernel(kernel)
        options.check(q, paradigm, named)
        evaluation = options.evaluation()
        warnings = paradigm.check(len(table))
        initial_W = None if options.initial_W is None else checked_initial(options.initial_W, d, q)
        options = replace(
            options,
            delta=float(options.delta),
            max_iter=int(options.max_iter),
            starts=options.starts if isinstance(options.starts, str | None) else int(options.starts),
            seed=int(options.seed),
        )
        return SolveInput(table, paradigm, named, int(q), options, evaluation, initial_W, warnings)


def check_q(q: int, d: int) -> None:
    """Raise InvalidInput unless q axes can be chosen in d dimensions."""
    if not is_whole(q) or not 1 <= q <= d:
        raise InvalidInput(
            "q", f"q is {q!r}; it must be a whole number from 1 to the {d} feature(s) of X (n_features = {d})."
        )


def _check_path(starts: str, kernel: Kernel, paradigm: Paradigm) -> None:
    if paradigm.alternates:
        raise InvalidInput(
            "starts", f'starts is "{starts}", which is not available for clusterings; give a number, or None.'
        )
    if starts == "path" and not isinstance(kernel, KernelWithWidth):
        raise InvalidInput(
            "starts",
            'starts is "path", and only Gaussian, multiquadratic and polynomial kernels have a width;'
            " give a number, or None for the default.",
        )


def _check_approximation(approximation: Any) -> None:
    if approximation is None:
        return
    if not isinstance(approximation, Mapping) or set(approximation) != {"features"}:
        raise InvalidInput(
            "approximation", f'approximation is {approximation!r}; it must be {{"features": 2048}} or the like.'
        )
    count = approximation["features"]
    if not is_whole(count) or not 16 <= count <= 65_536:
        raise InvalidInput(
            "approximation", f"approximation asks for {count!r} features; it must be a whole number, 16 to 65,536."
        )


def _check_features_per_axis(limit: int | None, q: int, whitening: Whitening | None) -> None:
    if limit is None:
        return
    if not is_whole(limit) or limit < 1:
        raise InvalidInput(
            "features_per_axis",
            f"features_per_axis is {limit!r}; it must be a whole number of 1 or more, or None for no limit.",
        )
    if whitening is not None and limit < q:
        raise InvalidInput(
            "features_per_axis",
            f"features_per_axis is {limit} and q is {q}; if X is whitened, each axis needs at least q features to be"
            f' uncorrelated with the others. Raise it to {q}, or set scale to "standard".',
        )


def as_engine(engine: Engine | str) -> Engine:
    """Return an engine, given itself or its name."""
    if isinstance(engine, Engine):
        return engine
    if engine == "local":
        return LOCAL
    if engine == "dask":
        from ism_core.engines import Dask  # imported here because distributed is an optional dependency

        return Dask.current()
    raise InvalidInput("engine", f'engine is {engine!r}; it must be "local", "dask" or an Engine.')


def _check_magnitude(table: Array) -> None:
    lowest, highest = extremes(table)
    largest = max(highest, -lowest)
    if largest > LARGEST_VALUE or 0 < largest < SMALLEST_VALUE:
        raise InvalidInput(
            "X",
            f"The largest value of X is {largest:.3g}, too {'large' if largest > 1 else 'small'} to compute with;"
            " standardize X, or scale it to between 1e-20 and 1e20.",
        )


def _check_whole(name: str, value: Any, least: int, otherwise: str = "") -> None:
    if not is_whole(value) or value < least:
        raise InvalidInput(name, f"{name} is {value!r}; it must be a whole number of {least} or more{otherwise}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def checked_initial(initial_W: ArrayLike, d: int, q: int) -> Array:
    """Return a given W as an array; raise InvalidInput unless it is d×q and of full rank."""
    W = as_table(initial_W, "initial_W", min_rows=1)
    if W.shape != (d, q):
        raise InvalidInput("initial_W", f"initial_W has the shape {W.shape}; for this X and q it must be ({d}, {q}).")
    if np.linalg.matrix_rank(W) < q:
        raise InvalidInput(
            "initial_W", f"initial_W has rank {np.linalg.matrix_rank(W)}; its {q} columns must be independent."
        )
    return W
