"""Plot the results: time and memory over rows, the peers' times, accuracy over time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

from benchmarks.measuring import Row

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D


def draw(sections: dict[str, Row], folder: Path) -> list[Path]:
    """Draw one SVG for each section that has a plot, and return the paths."""
    paths = []
    for name, picture in PICTURES.items():
        tables = list(sections.get(name, {}).get("tables", {}).values())
        if tables:
            figure = picture(tables[0])
            paths.append(folder / f"{name}.svg")
            figure.savefig(paths[-1], bbox_inches="tight")
            plt.close(figure)
    return paths


def _growth(rows: list[Row]) -> Any:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for way in dict.fromkeys(row["solved"] for row in rows):
        own = [row for row in rows if row["solved"] == way]
        style = "o-" if len(own) > 1 else "x"
        for axes, what in ((left, "s"), (right, "peak GiB")):
            axes.plot([row["n"] for row in own], [row[what] for row in own], style, label=way)
    for axes, label in ((left, "seconds"), (right, "peak GiB")):
        axes.set(xscale="log", yscale="log", xlabel="rows of MNIST", ylabel=label)
        axes.grid(which="both", alpha=0.3)
    left.legend(fontsize="small")
    return figure


def _manifolds(rows: list[Row]) -> Any:
    cells = list(dict.fromkeys((row["data"], row["kernel"]) for row in rows))
    figure, axes = plt.subplots(figsize=(9, 4))
    for peer in dict.fromkeys(row["peer"] for row in rows):
        own = [row for row in rows if row["peer"] == peer]
        places = [cells.index((row["data"], row["kernel"])) for row in own]
        axes.plot(places, [row["peer/ISM"] for row in own], "o", alpha=0.7, label=peer)
    axes.axhline(1, color="gray")
    axes.set_xticks(range(len(cells)), [f"{data}\n{kernel}" for data, kernel in cells])
    axes.set(yscale="log", ylabel="time relative to ISM (lower bound if stopped)")
    axes.legend(fontsize="small")
    return figure


def _reductions(rows: list[Row]) -> Any:
    data, methods = (list(dict.fromkeys(row[key] for row in rows)) for key in ("data", "method"))
    figure, panels = plt.subplots(1, len(data), figsize=(3.5 * len(data), 3.5), squeeze=False, layout="constrained")
    for axes, name in zip(panels[0], data, strict=True):
        own = [row for row in rows if row["data"] == name]
        for row in own:
            marker = "o" if row["q"] == max(other["q"] for other in own) else "s"
            axes.plot(row["s"], row["accuracy"], marker, color=f"C{methods.index(row['method'])}")
        axes.set(title=name, xscale="log", xlabel="seconds to fit")
        axes.grid(alpha=0.3)
    panels[0][0].set_ylabel("accuracy of an SVM (● q = classes, ■ q = 2)")
    handles = [Line2D([], [], marker="o", linestyle="", color=f"C{index}") for index in range(len(methods))]
    figure.legend(handles, methods, loc="outside lower center", ncols=len(methods))
    return figure


def _transcription(rows: list[Row]) -> Any:
    figure, axes = plt.subplots(figsize=(5, 4))
    axes.bar([row["kernel"] for row in rows], [row["speed-up"] for row in rows], color="C0", label="with Γ")
    axes.bar(
        [row["kernel"] for row in rows], [row["without Γ"] for row in rows], color="C1", width=0.4, label="without Γ"
    )
    axes.set(yscale="log", ylabel="speed-up over the n×n transcription")
    axes.legend()
    return figure


PICTURES: dict[str, Callable[[list[Row]], Any]] = {
    "growth": _growth,
    "manifolds": _manifolds,
    "reductions": _reductions,
    "transcription": _transcription,
}
