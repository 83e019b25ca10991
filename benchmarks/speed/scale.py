"""Measure clusterings, wide tables, a million rows and a Dask cluster.

python -m benchmarks unsupervised wide million cluster
"""

from functools import partial

import numpy as np

from benchmarks.datasets import load, mnist_rows, synthetic
from benchmarks.measuring import Row, claim, load_compiled, medians, run_part, say, serve_parts, timed
from ism_core import Supervised, Unsupervised, solve
from ism_core.arrays import Array
from ism_core.engines import LOCAL
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel
from ism_core.metrics import nmi
from ism_core.objective import tiles

FEATURES = 1024  # random features
MILLION = (250_000, 1_000_000)  # rows
SAMPLE = 20_000  # rows of the exact J that the approximate one is compared with
WIDE = (500, 20_000)  # rows and columns


def exact(X: Array, gamma: Gamma, kernel: Kernel, W: Array) -> float:
    """Return J by exact tiles."""
    return tiles.half_gradient(LOCAL.place(X), LOCAL.place(gamma), LOCAL.place(kernel), W)[1]


def clustered(data: str, k: int) -> Row:
    """Time unsupervised solves with q = k, and one exact tiled Φ of as many rows and classes."""
    table = load(data)
    X, gamma = table.standardized, Supervised(table.y).target_gamma()
    row: Row = {}
    load_compiled()
    for kernel in ("gaussian", "polynomial"):
        row[f"{kernel} s"], result = timed(partial(solve, X, Unsupervised(k), kernel, k))
        assert result.labels is not None
        row[f"{kernel} NMI"], row[f"{kernel} stop"] = nmi(table.y, result.labels), result.stop.name
        if kernel == "gaussian":
            placed = LOCAL.place(X), LOCAL.place(gamma), LOCAL.place(result.kernel)
            row["one Φ s"] = medians({"": partial(tiles.evaluate, *placed, result.W)}, repeats=5)[""]
        say(f"{kernel}: {row[f'{kernel} s']:.1f} s, NMI {row[f'{kernel} NMI']:.3f}")
    return row


def unsupervised() -> Row:
    """Check the claims about clusterings of MNIST's 10,000 test rows."""
    row = run_part("speed.scale", "clustered", data="mnist_test", k=10)
    text = "MNIST 10,000, unsupervised, q = k = 10"
    return {
        "claims": [
            claim(f"{text}, gaussian: NMI", row["gaussian NMI"], "≥", 0.45),
            claim(f"{text}, gaussian: time over one exact tiled Φ", row["gaussian s"] / row["one Φ s"], "≤", 12),
            claim(f"{text}, polynomial: time over gaussian's", row["polynomial s"] / row["gaussian s"], "≤", 1),
        ],
        "tables": {text: [row]},
    }


def wide_solved(n: int, d: int, q: int) -> Row:
    """Solve once with the gaussian kernel, to measure the memory."""
    X, y = synthetic(n, d, 5)
    seconds, result = timed(partial(solve, X, Supervised(y), "gaussian", q))
    return {"s": seconds, "method": result.method}


def wide_beside_svd(n: int, d: int, q: int) -> Row:
    """Time the same solve in turns with numpy's thin SVD of X."""
    X, y = synthetic(n, d, 5)
    load_compiled()
    taken = medians(
        {
            "solve s": partial(solve, X, Supervised(y), "gaussian", q),
            "thin SVD s": partial(np.linalg.svd, X, full_matrices=False),
        },
        repeats=5,
    )
    return {**taken, "ratio": taken["solve s"] / taken["thin SVD s"]}


def wide() -> Row:
    """Check the claims about a table with more columns than rows."""
    n, d = WIDE
    alone = run_part("speed.scale", "wide_solved", n=n, d=d, q=5)
    beside = run_part("speed.scale", "wide_beside_svd", n=n, d=d, q=5)
    text = f"{n}×{d:,}, gaussian, q = 5"
    return {
        "claims": [
            claim(f"{text}: peak GiB", alone["peak GiB"], "≤", 2),
            claim(f"{text}: time over the thin SVD of X", beside["ratio"], "≤", 3),
        ],
        "tables": {text: [{**beside, "peak GiB": alone["peak GiB"]}]},
    }


def approximated(n: int, d: int, q: int, features: int, sample: int) -> Row:
    """Solve with random features; compare J/n² with the exact one of a sample of rows."""
    X, y = synthetic(n, d, 5)
    seconds, result = timed(partial(solve, X, Supervised(y), "gaussian", q, approximation={"features": features}))
    rng = np.random.default_rng(1)
    rows = np.concatenate([rng.choice(np.flatnonzero(y == c), sample // 5, replace=False) for c in range(5)])
    J = exact(X[rows], Supervised(y[rows]).target_gamma(), result.kernel, result.W) / sample**2
    ours = result.objective / n**2
    return {
        "n": n,
        "s": seconds,
        "J/n²": ours,
        "exact of sample": J,
        "relative error": abs(ours / J - 1),
        "own estimate": result.error.objective,
    }


def million(sizes: tuple[int, ...] = MILLION, sample: int = SAMPLE) -> Row:
    """Check the claims about random features on a million rows."""
    rows = [run_part("speed.scale", "approximated", n=n, d=50, q=5, features=FEATURES, sample=sample) for n in sizes]
    last = rows[-1]
    text = f"{last['n']:,}×50, {FEATURES} random features"
    growth = float(np.polyfit(np.log(sizes), np.log([row["s"] for row in rows]), 1)[0])
    return {
        "claims": [
            claim(f"{text}: peak GiB", last["peak GiB"], "≤", 3),
            claim(
                f"{text}: relative error of J/n² ({sample:,} exact rows)",
                last["relative error"],
                "≤",
                0.01,
            ),
            claim(f"{text}: time ~ n^p from {sizes[0]:,} rows on, p", growth, "≤", 1.1),
        ],
        "tables": {f"Random features, {FEATURES}, 50 columns, 5 classes, q = 5": rows},
    }


def on_cluster(rows: int, q: int) -> Row:
    """Time a solve on two Dask workers with one thread each, in turns with two local threads."""
    from distributed import Client, LocalCluster

    from ism_core.engines import Dask

    X, y = mnist_rows(rows)
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", env=one_thread) as cluster,
        Client(cluster) as client,
    ):
        engine = Dask(client)
        local = solve(X, Supervised(y), "gaussian", q)
        there = solve(X, Supervised(y), "gaussian", q, engine=engine)
        taken = medians(
            {
                "local s": partial(solve, X, Supervised(y), "gaussian", q),
                "Dask s": partial(solve, X, Supervised(y), "gaussian", q, engine=engine),
            },
            enough=15,
        )
    difference = float(np.abs(local.W - there.W).max())
    return {**taken, "ratio": taken["Dask s"] / taken["local s"], "largest difference in W": difference}


def cluster(rows: int = 20_000) -> Row:
    """Check the claims about a Dask cluster."""
    row = run_part("speed.scale", "on_cluster", rows=rows, q=10)
    text = f"Dask, 2 worker processes, MNIST {rows:,}"
    return {
        "claims": [
            claim(f"{text}: largest difference in W", row["largest difference in W"], "≤", 1e-8),
            claim(f"{text}: time over two local threads", row["ratio"], "≤", 1.3),
        ],
        "tables": {text: [row]},
    }


if __name__ == "__main__":
    serve_parts(clustered, wide_solved, wide_beside_svd, approximated, on_cluster)
