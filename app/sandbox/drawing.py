"""Draws the plots of a result in a sandbox process."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import ism_plots
from app.links import Plot
from ism_jobs.store import unpack

PlotFormat = Literal["svg", "png"]
# The table of each plot; all other plots need the result document only.
PLOT_SOURCES: dict[Plot, str] = {"embedding": "embedding", "trace": "trace"}


def draw_plot(
    plot: Plot, packed: bytes | None, format: PlotFormat, spec: Mapping[str, Any], result: Mapping[str, Any]
) -> bytes:
    """Draw a plot of a job from its table in `PLOT_SOURCES` and its result document."""
    if plot == "importance":
        return ism_plots.importance_plot(ranked_entries(result), format=format)
    if plot == "loadings":
        errors = result["stability"]["errors"] if result.get("stability") else None
        shares = [each["share"] for each in result.get("contributions") or ()] or None
        errors = None if errors is None else np.array(errors)
        return ism_plots.loadings_plot(result["features"], np.array(result["W"]), errors, format=format, shares=shares)
    table = unpack(packed or b"")
    return _draw_trace(table, format) if plot == "trace" else _draw_embedding(table, format, spec, result)


def ranked_entries(result: Mapping[str, Any]) -> list[ism_plots.Importance]:
    """Return the features and groups of a result, the most important first; a group is one entry."""
    features: Sequence[str] = result["features"]
    places = {name: place for place, name in enumerate(features)}
    groups = [group["features"] for group in result.get("groups") or ()]
    grouped = {name for group in groups for name in group}
    errors, permutation = result.get("importance_errors"), result.get("permutation")
    unclear = set(result.get("unclear") or ())

    def entry(names: Sequence[str]) -> ism_plots.Importance:
        first, rows = places[names[0]], [places[name] for name in names]
        return ism_plots.Importance(
            " / ".join(names),
            sum(result["importance"][row] for row in rows),
            sum(errors[row] for row in rows) if errors else None,
            names[0] in unclear,
            permutation["drop"][first] if permutation else None,
            permutation["error"][first] if permutation else 0.0,
        )

    found = [entry(names) for names in [*groups, *([name] for name in features if name not in grouped)]]
    return sorted(found, key=lambda each: -each.share)


def axis_shares(result: Mapping[str, Any]) -> list[float] | None:
    """Return what each axis contributes, 0 if it is not informative; None if the result does not say it."""
    return [each["share"] if each["informative"] else 0.0 for each in result.get("contributions") or ()] or None


def _draw_embedding(table: pa.Table, format: PlotFormat, spec: Mapping[str, Any], result: Mapping[str, Any]) -> bytes:
    values = table.column("group").to_pylist() if "group" in table.column_names else None
    if spec["paradigm"] == "supervised":
        kind, legend = spec["target_kind"], spec["target"]
    else:
        kind, legend = "classes", "cluster"
    axes = [name for name in table.column_names if name.startswith("axis")]
    shares = axis_shares(result)
    arrows: list[ism_plots.Arrow] = []
    if len(axes) > 1:
        vectors = np.array(result.get("structure") or result["W"])[:, ism_plots.leading_axes(shares, len(axes))]
        groups = [group["features"] for group in result.get("groups") or ()]
        arrows = ism_plots.arrows_of(result["features"], vectors, groups, result.get("importance"))
    return ism_plots.embedding_plot(
        np.column_stack([table.column(name).to_numpy() for name in axes]),
        values,
        spec["label"],
        format=format,
        kind=kind,
        legend=legend if isinstance(legend, str) else None,
        picture=table.column("picture").to_numpy() if "picture" in table.column_names else None,
        shares=shares,
        arrows=arrows,
    )


def _draw_trace(table: pa.Table, format: PlotFormat) -> bytes:
    ascent = table.filter(pc.equal(table["stage"], "ascent"))
    table = ascent if ascent.num_rows else table  # the trace of a job that only searched has no ascent
    count = sum(name.startswith("eigenvalue") for name in table.column_names)
    eigenvalues = [_numbers(table, f"eigenvalue{axis + 1}") for axis in range(count)]
    return ism_plots.trace_plot(
        _numbers(table, "iteration"),
        _numbers(table, "objective"),
        np.array(eigenvalues).reshape(count, table.num_rows).T,
        _numbers(table, "round"),
        format=format,
    )


def _numbers(table: pa.Table, name: str) -> NDArray[np.float64]:
    numbers: NDArray[np.float64] = table[name].to_numpy(zero_copy_only=False).astype(np.float64)
    return numbers
