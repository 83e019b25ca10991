"""Measure how time and peak memory grow with the rows of MNIST, and of a table with rare indicators.

    python -m benchmarks growth

Supervised, q = 10, default settings: polynomial, gaussian, and gaussian with exact tiles only (tolerance = 0). Each
runs in its own process, one size after the other. The peak memory is that of the whole process so far, with its
imports. The exponents are least-squares slopes of the logarithms. `far_rows` has the table with rare indicators.
"""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import mnist_rows
from benchmarks.measuring import Row, claim, load_compiled, medians, peak_memory, run_part, say, serve_parts, timed
from benchmarks.speed import far_rows
from ism_core import Result, Supervised, solve
from ism_core.engines import LOCAL
from ism_core.kernels import Gaussian
from ism_core.linalg import largest_angle
from ism_core.objective import tiles

ROWS = (5_000, 10_000, 20_000, 40_000, 60_000)
SHORT_SECONDS = 4.0  # a shorter solve is repeated up to three times, and the median counts
CASES: dict[str, Row] = {  # arguments of `solved`, and the largest exponent of its time
    "polynomial": {"kernel": "polynomial", "exponent": 1.15},
    "gaussian": {"kernel": "gaussian", "exponent": 1.15},
    "gaussian, tiles forced": {"kernel": "gaussian", "tolerance": 0.0, "exponent": 2.05},
}


def imports() -> Row:
    """Do nothing: the peak memory of this part is that of the imports."""
    return {}


def solved(sizes: list[int], kernel: str, q: int, tolerance: float | None = None, save: str | None = None) -> Row:
    """Measure the time and peak memory of `solve` for growing sizes.

    W and sigma of the last size are saved to the file `save`.
    """
    load_compiled()
    rows: list[Row] = []
    for size in sizes:
        row, result = _solved(size, kernel, q, tolerance)
        rows.append(row)
        say(f"{size:,} rows: {row['s']:.2f} s, {row['peak GiB']:.2f} GiB")
    if save:
        ((_, term),) = result.kernel.terms
        np.savez(save, W=result.W, sigma=getattr(term, "sigma", 0.0))
    return {"rows": rows}


def _solved(size: int, kernel: str, q: int, tolerance: float | None) -> tuple[Row, Result]:
    X, y = mnist_rows(size)
    work = partial(solve, X, Supervised(y), kernel, q, tolerance=tolerance)
    seconds, result = timed(work)
    if seconds < SHORT_SECONDS:
        seconds = medians({"": work}, enough=SHORT_SECONDS / 2)[""]
    row = {
        "n": size,
        "s": seconds,
        "J": result.objective,
        "method": result.method,
        "iterations": result.iterations,
        "converged": result.converged,
        "peak GiB": peak_memory() / 2**30,
    }
    return row, result


def one_surrogate(rows: int, saved: str) -> Row:
    """Time one exact Φ and J over all rows, at a saved W."""
    X, y = mnist_rows(rows)
    with np.load(saved) as file:
        W, kernel = file["W"], Gaussian(float(file["sigma"]))
    load_compiled()
    placed = LOCAL.place(X), LOCAL.place(Supervised(y).target_gamma()), LOCAL.place(kernel)
    seconds, (_, J) = timed(partial(tiles.evaluate, *placed, W))
    return {"n": rows, "s": seconds, "J": J}


def exponent(rows: list[Row], what: str) -> float:
    """Return p of the fit: column `what` ~ n^p."""
    return float(np.polyfit(np.log([row["n"] for row in rows]), np.log([row[what] for row in rows]), 1)[0])


def section(sizes: tuple[int, ...] = ROWS) -> Row:
    """Measure all sizes, and check the claims about the largest."""
    base = run_part("speed.growth", "imports")["peak GiB"]
    largest, claims, growth = sizes[-1], [], []
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, list[Row]] = {}
        for case, arguments in CASES.items():
            settings: dict[str, Any] = {key: value for key, value in arguments.items() if key != "exponent"}
            saved = str(Path(folder) / f"{case}.npz")
            found = run_part("speed.growth", "solved", sizes=sizes, q=10, save=saved, **settings)["rows"]
            runs[case] = [{"solved": case, **row} for row in found]
            time_exponent, memory_exponent = exponent(runs[case], "s"), exponent(runs[case], "peak GiB")
            growth.append({"solved": case, "time ~ n^": time_exponent, "memory ~ n^": memory_exponent})
            claims.append(claim(f"{case}: time ~ n^p, p", time_exponent, "≤", arguments["exponent"]))
            claims.append(claim(f"{case}: memory ~ n^p, p", memory_exponent, "≤", 1.05))
        ours, tiled = (str(Path(folder) / f"{case}.npz") for case in ("gaussian", "gaussian, tiles forced"))
        one = {"solved": "one exact tiled Φ", **run_part("speed.growth", "one_surrogate", rows=largest, saved=ours)}
        with np.load(ours) as left, np.load(tiled) as right:
            angle = float(np.degrees(largest_angle(left["W"], right["W"])))
    in_two = {
        kernel: {
            "solved": f"{kernel}, q = 2",
            **run_part("speed.growth", "solved", sizes=[largest], kernel=kernel, q=2)["rows"][0],
        }
        for kernel in ("gaussian", "polynomial")
    }
    claims += _claims_of_all({case: rows[-1] for case, rows in runs.items()}, one, in_two, angle)
    everything = [row for rows in runs.values() for row in rows] + [one, *in_two.values()]
    one.pop("part seconds")
    rare = far_rows.section()
    return {
        "claims": claims + rare["claims"],
        "tables": {
            "Growth on MNIST, supervised, q = 10": everything,
            "Exponents": growth,
            "Rare indicators, 54 columns, 7 classes, gaussian": rare["rows"],
        },
        "notes": [f"Imports alone take {base:.2f} GiB; the peaks include them."],
    }


def _claims_of_all(last: dict[str, Row], one: Row, in_two: dict[str, Row], angle: float) -> list[Row]:
    gaussian, tiled, polynomial = last["gaussian"], last["gaussian, tiles forced"], last["polynomial"]
    data = f"MNIST {gaussian['n']:,}"
    return [
        claim(f"{data}, gaussian: time over one exact tiled Φ", gaussian["s"] / one["s"], "≤", 1),
        claim(f"{data}, gaussian: peak GiB", gaussian["peak GiB"], "≤", 1.5),
        claim(f"{data}, gaussian: relative error of J", abs(gaussian["J"] / one["J"] - 1), "≤", 1e-5),
        claim(f"{data}, gaussian: angle to the subspace by exact tiles, degrees", angle, "≤", 0.5),
        claim(f"{data}, gaussian, tiles forced: time over one exact tiled Φ", tiled["s"] / one["s"], "≤", 4),
        claim(f"{data}, polynomial: time over gaussian's", polynomial["s"] / gaussian["s"], "≤", 0.11),
        claim(
            f"{data}, q = 2, gaussian: time over polynomial's",
            in_two["gaussian"]["s"] / in_two["polynomial"]["s"],
            "≤",
            2,
        ),
    ]


if __name__ == "__main__":
    serve_parts(imports, solved, one_surrogate)
