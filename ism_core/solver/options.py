"""What `solve` was given, checked before anything is computed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ism_core.arrays import Array, as_table, extremes, is_whole
from ism_core.engines.base import LOCAL, Engine
from ism_core.errors import InvalidInput
from ism_core.kernels.base import Kernel
from ism_core.kernels.family import Narrowing, as_kernel
from ism_core.objective.options import EvaluationOptions
from ism_core.paradigms import Paradigm

TOLERANCE = 1e-8  # of cut feature maps
LOOSE = 0.01  # times delta: the tolerance where that one would cost more than tiles


@dataclass(frozen=True)
class Arguments:
    """In the form that the solver works with."""

    table: Array
    paradigm: Paradigm
    kernel: Kernel
    q: int
    delta: float
    max_iter: int
    starts: int | Literal["path"] | None
    seed: int
    start: Array | None
    options: EvaluationOptions
    tolerances: tuple[float, ...]  # of cut feature maps, the first that pays is taken
    memory_limit: int | None
    notes: list[str]


def checked(
    X: ArrayLike,
    paradigm: Paradigm,
    kernel: Kernel | str,
    q: int,
    delta: float,
    max_iter: int,
    starts: int | str | None,
    seed: int,
    initial_W: ArrayLike | None,
    precision: str,
    tolerance: float | None,
    approximation: Mapping[str, int] | None,
    engine: Engine | str,
    memory_limit: int | None,
) -> Arguments:
    """The arguments, or InvalidInput."""
    if not isinstance(paradigm, Paradigm):
        raise InvalidInput(
            "paradigm", f"paradigm is {paradigm!r}; it must be one such as Supervised(y) or Unsupervised(3)."
        )
    table = as_table(X)
    d = table.shape[1]
    _check_size(table)
    if not is_whole(q) or not 1 <= q <= d:
        raise InvalidInput(
            "q", f"q is {q!r}; it must be a whole number from 1 to the {d} feature(s) of X (n_features = {d})."
        )
    if not _is_number(delta) or not 0 < delta <= 1:
        raise InvalidInput("delta", f"delta is {delta!r}; it must be a number above 0 and at most 1.")
    _check_whole("max_iter", max_iter, 1)
    given = as_kernel(kernel)
    if starts == "path":
        _check_path(given, paradigm)
    if starts is not None and starts != "path":
        _check_whole("starts", starts, 1, ', "path", or None for the default')
    _check_whole("seed", seed, 0)
    if memory_limit is not None:
        _check_whole("memory_limit", memory_limit, 1, " (bytes), or None for no limit")
    if tolerance is not None and (not _is_number(tolerance) or not 0 <= tolerance <= 0.01):
        raise InvalidInput(
            "tolerance", f"tolerance is {tolerance!r}; it must be a number from 0 to 0.01, or None for the default."
        )
    options = _means(precision, approximation, engine, seed)
    notes = paradigm.check(len(table))
    return Arguments(
        table=table,
        paradigm=paradigm,
        kernel=given,
        q=int(q),
        delta=float(delta),
        max_iter=int(max_iter),
        starts="path" if isinstance(starts, str) else starts,
        seed=int(seed),
        start=None if initial_W is None else _as_start(initial_W, d, q),
        options=options,
        tolerances=(TOLERANCE, LOOSE * float(delta)) if tolerance is None else (float(tolerance),),
        memory_limit=memory_limit,
        notes=notes,
    )


def _check_path(kernel: Kernel, paradigm: Paradigm) -> None:
    if paradigm.alternates:
        raise InvalidInput(
            "starts", 'starts is "path", which leads to a fixed Γ only; for a clustering give a number, or None.'
        )
    if not isinstance(kernel, Narrowing):
        raise InvalidInput(
            "starts",
            'starts is "path", and only gaussian, multiquadratic and polynomial kernels have a width to follow;'
            " give a number, or None for the default.",
        )


def _means(
    precision: str, approximation: Mapping[str, int] | None, engine: Engine | str, seed: int
) -> EvaluationOptions:
    if precision not in ("double", "single"):
        raise InvalidInput("precision", f'precision is {precision!r}; it must be "double" or "single".')
    count = None
    if approximation is not None:
        if not isinstance(approximation, Mapping) or set(approximation) != {"features"}:
            raise InvalidInput(
                "approximation", f'approximation is {approximation!r}; it must be {{"features": 2048}} or the like.'
            )
        count = approximation["features"]
        if not is_whole(count) or not 16 <= count <= 65_536:
            raise InvalidInput(
                "approximation", f"approximation asks for {count!r} features; it must be a whole number, 16 to 65,536."
            )
    return EvaluationOptions(
        precision="single" if precision == "single" else "double", features=count, seed=seed, engine=_engine(engine)
    )


def _engine(engine: Engine | str) -> Engine:
    if isinstance(engine, Engine):
        return engine
    if engine == "local":
        return LOCAL
    if engine == "dask":
        from ism_core.engines.dask import Dask  # which needs a package that others can do without

        return Dask.current()
    raise InvalidInput("engine", f'engine is {engine!r}; it must be "local", "dask" or an Engine.')


def _check_size(table: Array) -> None:
    lowest, highest = extremes(table)
    largest = max(highest, -lowest)
    if largest > 1e20 or 0 < largest < 1e-20:
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


def _as_start(initial_W: ArrayLike, d: int, q: int) -> Array:
    W = as_table(initial_W, "initial_W", min_rows=1)
    if W.shape != (d, q):
        raise InvalidInput("initial_W", f"initial_W has the shape {W.shape}; for this X and q it must be ({d}, {q}).")
    if np.linalg.matrix_rank(W) < q:
        raise InvalidInput(
            "initial_W", f"initial_W has rank {np.linalg.matrix_rank(W)}; its {q} columns must be independent."
        )
    return W
