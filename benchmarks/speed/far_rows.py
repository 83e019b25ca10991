"""Measure Gaussians on tables with rare indicators, which put a few rows far out, beside scikit-learn's LDA.

    python -m benchmarks growth

Supervised, q = 2 and q = 5, default settings. Each size runs in its own process, next to LDA on the same rows.
"""

import time
from functools import partial

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from benchmarks.datasets import rare_indicators
from benchmarks.measuring import Row, claim, load_compiled, run_part, serve_parts, timed
from ism_core import Supervised, solve
from ism_core.engines import LOCAL
from ism_core.objective import tiles

ROWS = (125_000, 250_000, 500_000)
AXES = (2, 5)
TIMES_LDA, EXPONENT, PEAK_GIB = 10, 1.15, 2  # limits


def discriminants(rows: int) -> Row:
    """Time LDA."""
    X, y = rare_indicators(rows)
    return {"s": timed(partial(LinearDiscriminantAnalysis().fit, X, y))[0]}


def solved(rows: int, q: int, exact: bool = False) -> Row:
    """Time a solve, and compare its J with the exact one of all pairs if asked."""
    X, y = rare_indicators(rows)
    load_compiled()
    began = time.process_time()
    seconds, result = timed(partial(solve, X, Supervised(y), "gaussian", q))
    row: Row = {
        "n": rows,
        "q": q,
        "s": seconds,
        "CPU s": time.process_time() - began,
        "method": result.method,
        "iterations": result.iterations,
        "bound of J": result.error.objective,
        "bound of ΦW": result.error.gradient,
    }
    if exact:
        placed = LOCAL.place(X), LOCAL.place(Supervised(y).target_gamma()), LOCAL.place(result.kernel)
        row["error of J"] = abs(result.objective / tiles.half_gradient(*placed, result.W)[1] - 1)
    return row


def section(sizes: tuple[int, ...] = ROWS) -> Row:
    """Measure all sizes, and check the claims about the largest."""
    found: dict[int, list[Row]] = {q: [] for q in AXES}
    for size in sizes:
        lda = run_part("speed.far_rows", "discriminants", rows=size)["s"]
        for q in AXES:
            row = run_part("speed.far_rows", "solved", rows=size, q=q, exact=size == sizes[0])
            row.pop("part seconds")
            found[q].append({**row, "LDA s": lda, "times LDA": row["s"] / lda})
    claims = []
    for q, rows in found.items():
        text = f"{sizes[-1]:,} rows with rare indicators, gaussian, q = {q}"
        growth = float(np.polyfit(np.log(sizes), np.log([row["s"] for row in rows]), 1)[0])
        claims += [
            claim(f"{text}: time over LDA's", rows[-1]["times LDA"], "≤", TIMES_LDA),
            claim(f"{text}: time ~ n^p, p", growth, "≤", EXPONENT),
            claim(f"{text}: peak GiB", rows[-1]["peak GiB"], "≤", PEAK_GIB),
            claim(f"{text}: relative error of J ({sizes[0]:,} rows)", rows[0].pop("error of J"), "≤", 1e-5),
        ]
    return {"claims": claims, "rows": [row for rows in found.values() for row in rows]}


if __name__ == "__main__":
    serve_parts(discriminants, solved)
