"""Time and peak memory as MNIST's training set grows to its 60,000 rows, and what is claimed of all of them.

    python -m benchmarks growth

Supervised, q = 10, at the defaults: polynomial, gaussian, and gaussian with exact tiles only (tolerance = 0). Each has
a process of its own, for one size after the other, whose peak is what the operating system has counted up to then;
nothing is taken off it. Exponents are the slopes of straight lines through the logarithms, by least squares.
"""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import mnist_rows
from benchmarks.measuring import Row, claim, load_compiled, medians, peak_memory, run_part, say, serve_parts, timed
from ism_core import Result, Supervised, solve
from ism_core.engines.base import LOCAL
from ism_core.kernels import Gaussian
from ism_core.linalg.subspaces import largest_angle
from ism_core.objective import tiles

ROWS = (5_000, 10_000, 20_000, 40_000, 60_000)
SHORT = 4.0  # seconds: what takes less is repeated, up to three times, and the median counts
WAYS: dict[str, Row] = {  # what is solved, and the exponent that its time may have
    "polynomial": {"kernel": "polynomial", "exponent": 1.15},
    "gaussian": {"kernel": "gaussian", "exponent": 1.15},
    "gaussian, tiles forced": {"kernel": "gaussian", "tolerance": 0.0, "exponent": 2.05},
}


def imports() -> Row:
    """Nothing but what was imported: the memory that every other part has too."""
    return {}


def solved(sizes: list[int], kernel: str, q: int, tolerance: float | None = None, save: str | None = None) -> Row:
    """Time of `solve` and the peak of memory up to its end, for one size after the other, each larger than the last.

    W of the last, and what the kernel was bound to, are saved.
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
    if seconds < SHORT:
        seconds = medians({"": work}, enough=SHORT / 2)[""]
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
    """Time of one exact Φ and J over all rows, at a W that was saved."""
    X, y = mnist_rows(rows)
    with np.load(saved) as file:
        W, kernel = file["W"], Gaussian(float(file["sigma"]))
    load_compiled()
    placed = LOCAL.place(X), LOCAL.place(Supervised(y).guidance()), LOCAL.place(kernel)
    seconds, (_, J) = timed(partial(tiles.evaluate, *placed, W))
    return {"n": rows, "s": seconds, "J": J}


def exponent(rows: list[Row], what: str) -> float:
    """p of what ~ n^p"""
    return float(np.polyfit(np.log([row["n"] for row in rows]), np.log([row[what] for row in rows]), 1)[0])


def section(sizes: tuple[int, ...] = ROWS) -> Row:
    """All sizes, then what is claimed of the largest."""
    base = run_part("speed.growth", "imports")["peak GiB"]
    largest, claims, growth = sizes[-1], [], []
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, list[Row]] = {}
        for way, arguments in WAYS.items():
            settings: dict[str, Any] = {key: value for key, value in arguments.items() if key != "exponent"}
            saved = str(Path(folder) / f"{way}.npz")
            found = run_part("speed.growth", "solved", sizes=sizes, q=10, save=saved, **settings)["rows"]
            runs[way] = [{"solved": way, **row} for row in found]
            time_exponent, memory_exponent = exponent(runs[way], "s"), exponent(runs[way], "peak GiB")
            growth.append({"solved": way, "time ~ n^": time_exponent, "memory ~ n^": memory_exponent})
            claims.append(claim(f"{way}: time ~ n^p, p", time_exponent, "≤", arguments["exponent"]))
            claims.append(claim(f"{way}: memory ~ n^p, p", memory_exponent, "≤", 1.05))
        ours, tiled = (str(Path(folder) / f"{way}.npz") for way in ("gaussian", "gaussian, tiles forced"))
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
    claims += _claims_of_all({way: rows[-1] for way, rows in runs.items()}, one, in_two, angle)
    everything = [row for rows in runs.values() for row in rows] + [one, *in_two.values()]
    one.pop("part seconds")
    return {
        "claims": claims,
        "tables": {"Growth on MNIST, supervised, q = 10": everything, "Exponents": growth},
        "notes": [f"Imports alone take {base:.2f} GiB; the peaks include them."],
    }


def _claims_of_all(last: dict[str, Row], one: Row, in_two: dict[str, Row], angle: float) -> list[Row]:
    gaussian, tiled, polynomial = last["gaussian"], last["gaussian, tiles forced"], last["polynomial"]
    data = f"MNIST {gaussian['n']:,}"
    return [
        claim(f"{data}, gaussian: time over one exact tiled Φ", gaussian["s"] / one["s"], "≤", 1),
        claim(f"{data}, gaussian: peak GiB", gaussian["peak GiB"], "≤", 1.5),
        claim(
            f"{data}, gaussian: relative distance of J from the exact J", abs(gaussian["J"] / one["J"] - 1), "≤", 1e-5
        ),
        claim(f"{data}, gaussian: degrees from the subspace by exact tiles", angle, "≤", 0.5),
        claim(f"{data}, gaussian, tiles forced: time over one exact tiled Φ", tiled["s"] / one["s"], "≤", 4),
        claim(f"{data}, polynomial: time over gaussian's", polynomial["s"] / gaussian["s"], "≤", 0.1),
        claim(
            f"{data}, q = 2, gaussian: time over polynomial's",
            in_two["gaussian"]["s"] / in_two["polynomial"]["s"],
            "≤",
            2,
        ),
    ]


if __name__ == "__main__":
    serve_parts(imports, solved, one_surrogate)
