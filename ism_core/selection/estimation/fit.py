"""What an estimator does with its settings: scale the rows and solve, in memory or in parts."""

from dataclasses import replace
from typing import Any, NamedTuple

from ism_core.arrays import Array, Ints
from ism_core.linalg import Scaling
from ism_core.objective import Partitions, ScaledPartitions
from ism_core.paradigms import Supervised
from ism_core.selection.settings import Settings
from ism_core.solver import Result, learned_scaling, solve


class Fit(NamedTuple):
    """A result, and the rows that it is interpreted on: all of them, or a sample of a table in partitions."""

    table: Array
    y: Any
    rows: Array  # scaled
    scaling: Scaling
    settings: Settings  # with the paradigm of these rows
    result: Result
    gross: Ints  # the number of gross cells in each column


def fit_in_memory(table: Array, y: Any, settings: Settings, seed: int, options: dict[str, Any]) -> Fit:
    """Scale the rows of a table in memory and solve."""
    scaling, rows = Scaling.learned(table, settings.scale, getattr(settings.paradigm, "codes", None))
    result = _solved(rows, settings, seed, scaling, options)
    return Fit(table, y, rows, scaling, settings, result, scaling.gross_cells(table))


def fit_in_parts(table: Partitions, settings: Settings, seed: int, options: dict[str, Any]) -> Fit:
    """Scale a table in partitions and solve, a pass over the rows for each sum."""
    given = settings.paradigm
    assert isinstance(given, Supervised)
    scaling, sample, gross = learned_scaling(table, settings.scale, given, options["engine"])
    result = _solved(ScaledPartitions(table, scaling), settings, seed, scaling, options)
    paradigm = Supervised(sample.y, given.kind, given.target_kernel, given.balance)
    settings = replace(settings, paradigm=paradigm)
    return Fit(sample.X, sample.y, scaling.apply(sample.X), scaling, settings, result, gross)


def _solved(
    rows: Array | Partitions, settings: Settings, seed: int, scaling: Scaling, options: dict[str, Any]
) -> Result:
    return solve(
        rows,
        settings.paradigm,
        settings.kernel,
        settings.q,
        delta=settings.delta,
        starts=settings.starts,
        seed=seed,
        whitening=scaling.whitening,
        **options,
    )
