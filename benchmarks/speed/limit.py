"""Compare one exact Φ and J with the limit of the machine: the time of one GEMM with as many flops.

    python -m benchmarks limit

The flops are those of the matrix products that Φ needs: n²d for the upper triangle of pairs times X, and 2nd² for Xᵀ
times the result. numpy does as many flops as one product of square matrices, in the same precision and on as many
cores. The time of Φ also includes all other work, above all f and f′ of every pair. n = 10,000, q = 10, 10 classes.
"""

from typing import get_args

import numpy as np

from benchmarks.datasets import synthetic
from benchmarks.measuring import Row, claim, medians, run_part, serve_parts
from ism_core import Gaussian, Multiquadratic
from ism_core.engines import LOCAL
from ism_core.gamma import LabelGamma
from ism_core.objective import Precision, tiles
from ism_core.objective.data import DTYPES

ROWS, Q, CLASSES = 10_000, 10, 10
LIMITS = {784: 1.35, 54: 4.0}  # largest ratio for each number of columns
REPEATS = {784: 5, 54: 9}  # measurements for each median: the speed of a shared machine varies by a fifth
REST_SECONDS = 0.1  # before each measurement: after a product, BLAS threads spin on the cores for some 30 ms


def ratios(columns: int, precision: Precision, rows: int = ROWS) -> Row:
    """Time Φ and J, and ΦW and J, of two kernels in turns with the GEMM."""
    table, y = synthetic(rows, columns, CLASSES)
    X, gamma = LOCAL.place(table), LOCAL.place(LabelGamma.of(y))
    W = np.linalg.qr(np.random.default_rng(0).standard_normal((columns, Q)))[0]
    flops = rows * rows * columns + 2 * rows * columns**2
    side = round((flops / 2) ** (1 / 3))
    square = np.random.default_rng(1).standard_normal((side, side)).astype(DTYPES[precision])
    works = {"GEMM": lambda: square @ square}
    for name, term in (("gaussian", Gaussian(float(np.sqrt(2 * columns)))), ("multiquadratic", Multiquadratic())):
        kernel = LOCAL.place(term)
        works[name] = lambda kernel=kernel: tiles.evaluate(X, gamma, kernel, W, precision=precision)[0]
        works[f"{name}, half gradient"] = lambda kernel=kernel: tiles.half_gradient(
            X, gamma, kernel, W, precision=precision
        )[0]
    for work in works.values():
        work()  # the first call loads and compiles
    seconds = medians(works, REPEATS.get(columns, 3), enough=60, rest=REST_SECONDS)
    gemm = seconds["GEMM"]
    return {
        "rows": [
            {
                "d": columns,
                "precision": precision,
                "kernel": kernel,
                "GEMM s": gemm,
                "GEMM Gflop/s": flops / gemm / 1e9,
                "Φ, J s": seconds[kernel],
                "Φ, J / GEMM": seconds[kernel] / gemm,
                "ΦW, J s": seconds[f"{kernel}, half gradient"],
            }
            for kernel in ("gaussian", "multiquadratic")
        ]
    }


def section() -> Row:
    """Measure both numbers of columns in both precisions."""
    rows: list[Row] = []
    for columns in LIMITS:
        for precision in get_args(Precision):
            rows += run_part("speed.limit", "ratios", columns=columns, precision=precision)["rows"]
    claims = [
        claim(
            f"Φ and J over the GEMM of the same flops, d = {row['d']}, {row['kernel']}, {row['precision']}",
            row["Φ, J / GEMM"],
            "≤",
            LIMITS[row["d"]],
        )
        for row in rows
    ]
    return {"claims": claims, "tables": {f"One exact Φ and J, n = {ROWS:,}, q = {Q}": rows}, "notes": []}


if __name__ == "__main__":
    serve_parts(ratios)
