"""Time over the number of rows: the paper's figure, continued to all of MNIST's training set.

Supervised, polynomial kernel of degree 3, q = 20 as in the paper's figure; ISM with the gaussian kernel too. ISM runs
as it does by default, from several starts, and from the paper's start alone, as each competitor runs from one. A
competitor that reaches its limit at some number of rows is not run on more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from benchmarks.datasets import mnist_rows, synthetic
from benchmarks.measuring import Row, medians, timed
from benchmarks.paper.cells import Part
from benchmarks.paper.experiments.competitors import COMPETITORS, Objective
from benchmarks.paper.tables import table
from benchmarks.speed.growth import exponent
from ism_core import Supervised, solve
from ism_core.arrays import Array, Ints
from ism_core.kernels import as_kernel

matplotlib.use("Agg")
from matplotlib import pyplot as plt

SHORT = 3.0  # seconds: shorter runs are repeated, and the median counts
ISM, ONE_START, GAUSSIAN = "ISM", "ISM, one start", "ISM, gaussian"
STYLES = {  # Okabe and Ito's colors
    ISM: ("#0072B2", "o-"),
    ONE_START: ("#0072B2", "o:"),
    "DG": ("#D55E00", "^--"),
    "SM": ("#009E73", "v--"),
    "GM": ("#CC79A7", "D--"),
    GAUSSIAN: ("#56B4E9", "s-"),
}


ASIDE = {"DG": 0.95, "GM": 1.05}  # horizontal offset of marks over the limit, so that none hides another


@dataclass(frozen=True)
class Growth:
    """The data, sizes and limits of a run."""

    rows: Callable[[int], tuple[Array, Ints]]
    data: tuple[str, ...]
    described: str
    sizes: tuple[int, ...]
    fitted: int  # smallest number of rows in the fit of exponents; below it fixed costs matter
    q: dict[str, int]  # for each kernel
    limit: float  # time limit of a competitor for each size, in seconds


FULL = Growth(
    mnist_rows,
    ("mnist_train",),
    "the first rows of MNIST's training set, the pixels that vary among them standardized",
    (250, 500, 1_000, 2_000, 4_000, 10_000, 20_000, 40_000, 60_000),
    1_000,
    {"polynomial": 20, "gaussian": 10},
    20.0,
)
FAST = Growth(
    partial(synthetic, columns=20, classes=4),
    (),
    "synthetic rows of 20 columns",
    (250, 500, 1_000),
    250,
    {"polynomial": 4, "gaussian": 4},
    1.0,
)


def parts(fast: bool) -> list[Part]:
    """Return one part for each line of the figure."""
    growth = _growth(fast)
    named: dict[str, tuple[Callable[[], Row], float]] = {
        ISM: (partial(_ours, "polynomial", None, fast), 75.0),
        ONE_START: (partial(_ours, "polynomial", 1, fast), 60.0),
        GAUSSIAN: (partial(_ours, "gaussian", None, fast), 60.0),
        **{name: (partial(_theirs, name, fast), 2.5 * growth.limit) for name in COMPETITORS},
    }
    return [
        Part(_name(line, fast), compute, growth.data, 3.0 if fast else seconds)
        for line, (compute, seconds) in named.items()
    ]


def figures(rows: dict[str, Row], folder: Path) -> None:
    """Draw seconds over rows, both on logarithmic axes of base 2."""
    fast = _name(ISM, True) in rows
    lines, limit = _lines(rows, fast), _growth(fast).limit
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for line, points in lines.items():
        _draw(axes, line, points, limit)
    sizes = sorted({point["n"] for points in lines.values() for point in points})
    longest = max(point["s"] for points in lines.values() for point in points)
    axes.axhline(limit, color="gray", linewidth=1)
    axes.text(
        sizes[0], 1.05 * limit, f"limit of a competitor, {limit:g} s (open marks: over)", fontsize=10, color="dimgray"
    )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_ylim(top=2 * max(longest, limit))
    axes.set_xticks(sizes, [f"{n:,}" for n in sizes], rotation=30)
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda seconds, _: f"{seconds:.3g}")
    axes.set_xlabel("rows", fontsize=12)
    axes.set_ylabel("seconds", fontsize=12)
    axes.tick_params(labelsize=11)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=11)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "scalability.png", dpi=150)
    plt.close(figure)


def _draw(axes: Any, line: str, points: list[Row], limit: float) -> None:
    """Draw a line. If its last point is over the limit, end it there with an open mark and an arrow."""
    color, style = STYLES[line]
    done = [(point["n"], point["s"]) for point in points if point["finished"]]
    axes.plot([n for n, _ in done], [s for _, s in done], style, color=color, label=line, markersize=7)
    for n in (point["n"] * ASIDE.get(line, 1.0) for point in points if not point["finished"]):
        axes.plot(*np.transpose([*done[-1:], (n, limit)]), style[1:], color=color)
        axes.plot(n, limit, style[0], color=color, markerfacecolor="white", markersize=8)
        arrow = {"color": color, "arrowstyle": "->", "linewidth": 1.5}
        axes.annotate("", (n, 1.7 * limit), (n, 1.1 * limit), arrowprops=arrow)


def section(rows: dict[str, Row], fast: bool) -> str:
    """Return the section: figure, times, J relative to ours, evaluations and exponents."""
    growth, lines = _growth(fast), _lines(rows, fast)
    of = {line: {point["n"]: point for point in points} for line, points in lines.items()}
    one_start = [line for line in lines if line not in (ISM, GAUSSIAN)]
    polynomial = [line for line in lines if line != GAUSSIAN]
    heights = [
        [f"{n:,}", *(_height(of[line].get(n), of.get(ISM, {}).get(n)) for line in one_start)] for n in growth.sizes
    ]
    counts = [[f"{n:,}", *(_count(of[line].get(n)) for line in polynomial)] for n in growth.sizes]
    times = [[f"{n:,}", *(_time(of[line].get(n), growth.limit) for line in lines)] for n in growth.sizes]
    return "\n\n".join(
        [
            "## Scalability",
            f"Supervised on {growth.described}; polynomial kernel with q = {growth.q['polynomial']} (the paper: 20), "
            f"gaussian with q = {growth.q['gaussian']}. The paper's figure has no numbers to compare with. It shows "
            "straight lines of similar slope, O(n²), for its four methods, with ISM lowest.",
            "Here all methods use the same code for J and its gradient, which is linear in the number of rows for the "
            "polynomial kernel. Methods therefore differ in the number and kind of evaluations, not in the cost of "
            f"one. A competitor has {growth.limit:g} s for each number of rows; once it exceeds them, it is not run on "
            "more rows. ISM runs with default settings, and also from the paper's start alone, because each "
            "competitor has one start.",
            "![Seconds over rows](images/paper/scalability.png)",
            "Seconds:",
            table(["rows", *lines], times),
            "J relative to ISM with default settings, minus 1 (\\*: stopped at the limit):",
            table(["rows", *one_start], heights),
            "Evaluations of J and its gradient. For ISM: iterations after the search for a start, each with one Φ:",
            table(["rows", *polynomial], counts),
            f"Exponents p of seconds ~ n^p, fitted by least squares to the completed runs from {growth.fitted:,} rows"
            " on. They are rough, because the number of evaluations changes with the rows too:",
            table(["", "rows", "p"], _exponents(lines, growth.fitted)),
        ]
    )


def _ours(kernel: str, starts: int | None, fast: bool) -> Row:
    growth = _growth(fast)
    points: list[Row] = []
    for n in growth.sizes:
        X, y = growth.rows(n)
        work = partial(solve, X, Supervised(y), kernel, growth.q[kernel], starts=starts)
        if not points:
            work()  # warm-up: loads and compiles
        seconds, result = timed(work)
        if seconds < SHORT:
            seconds = medians({"": work})[""]
        point = {"n": n, "s": seconds, "J": result.objective, "finished": result.converged}
        points.append({**point, "evaluations": result.iterations})
    return {"points": points}


def _theirs(name: str, fast: bool) -> Row:
    growth, kernel = _growth(fast), as_kernel("polynomial")
    q = growth.q["polynomial"]
    points: list[Row] = []
    for n in growth.sizes:
        X, y = growth.rows(n)
        objective = Objective(X, Supervised(y).target_gamma(), kernel.fitted_to(X, np.random.default_rng(0)))
        objective.value_and_gradient(np.eye(X.shape[1], q))  # warm-up: loads and compiles
        found = COMPETITORS[name](objective, q, growth.limit)
        point = {"n": n, "s": found.seconds, "J": found.objective, "finished": found.finished}
        points.append({**point, "evaluations": found.evaluations})
        if not found.finished:
            break
    return {"points": points}


def _growth(fast: bool) -> Growth:
    return FAST if fast else FULL


def _name(line: str, fast: bool) -> str:
    return f"scalability{'/fast' if fast else ''}/{line}"


def _lines(rows: dict[str, Row], fast: bool) -> dict[str, list[Row]]:
    """Return the points of each line that was measured."""
    found = {line: rows[_name(line, fast)].get("points", []) for line in STYLES}
    return {line: points for line, points in found.items() if points}


def _exponents(lines: dict[str, list[Row]], least: int) -> list[list[str]]:
    found = []
    for line, points in lines.items():
        done = [point for point in points if point["finished"] and point["n"] >= least]
        if len(done) > 2:
            found.append([line, f"{done[0]['n']:,} to {done[-1]['n']:,}", f"{exponent(done, 's'):.2f}"])
    return found


def _time(point: Row | None, limit: float) -> str:
    if point is None:
        return "–"
    return f"{point['s']:.3g}" if point["finished"] else f"> {limit:g}"


def _height(point: Row | None, ours: Row | None) -> str:
    if point is None or ours is None:
        return "–"
    mark = "" if point["finished"] else " \\*"
    return f"{point['J'] / ours['J'] - 1:+.1e}{mark}"


def _count(point: Row | None) -> str:
    return "–" if point is None else f"{point['evaluations']:,}"
