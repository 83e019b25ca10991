"""Peers: PCA of scikit-learn and of dask-ml on the same files, and exact sums over all pairs of rows by KeOps.

dask-ml and pykeops are in the dependency group `peers`: `pip install --group peers`. KeOps compiles each formula with
the C++ compiler of the machine when it is first used.
"""

import time
from typing import Any

import numpy as np

from benchmarks.measuring import Row, load_compiled, serve_parts, timed
from benchmarks.out_of_core import files
from benchmarks.out_of_core.solves import Q
from ism_core import Gaussian, Supervised
from ism_core.engines import LOCAL, allowed_threads
from ism_core.linalg import largest_angle
from ism_core.objective import tiles

SIGMA = 4.0


def incremental_pca(folder: str, count: int) -> Row:
    """Read the files once, and update scikit-learn's IncrementalPCA with each batch."""
    from sklearn.decomposition import IncrementalPCA

    def fit() -> Any:
        model = IncrementalPCA(Q)
        for batch in files.batches(folder, count):
            if batch.num_rows >= Q:
                model.partial_fit(files.as_rows(batch))
        return model

    return _measured("scikit-learn IncrementalPCA", fit, folder, count)


def dask_pca(folder: str, count: int) -> Row:
    """Fit dask-ml's PCA on a dask array of the files, on threads of this process."""
    import dask.array
    from dask.delayed import delayed
    from dask_ml.decomposition import PCA

    def fit() -> Any:
        fragments = files.dataset(folder, count).get_fragments()
        groups = [group for fragment in fragments for group in fragment.split_by_row_group()]
        read = delayed(lambda group: files.as_rows(group.to_table(columns=files.NAMES)))
        chunks = [
            dask.array.from_delayed(read(group), (group.count_rows(), files.COLUMNS), np.float64) for group in groups
        ]
        return PCA(Q, svd_solver="tsqr").fit(dask.array.concatenate(chunks))

    return _measured("dask-ml PCA", fit, folder, count)


def _measured(name: str, fit: Any, folder: str, count: int) -> Row:
    used = time.process_time()
    seconds, model = timed(fit)
    return {
        "peer": name,
        "files": count,
        "s": seconds,
        "CPU s": time.process_time() - used,
        "W": np.asarray(model.components_).T.tolist(),
    }


def pair_sums(rows: int) -> Row:
    """Compute Φ(W)W of a Gaussian over all pairs of rows, by our tiles and by KeOps, in single precision.

    Γ is a matrix of class labels, of rank 5.
    """
    from pykeops.numpy import LazyTensor

    rng = np.random.default_rng(0)
    y = rng.integers(0, files.CLASSES, rows)
    X = rng.standard_normal((rows, files.COLUMNS)) + rng.standard_normal((files.CLASSES, files.COLUMNS))[y]
    W = np.linalg.qr(rng.standard_normal((files.COLUMNS, Q)))[0]
    gamma = Supervised(y).target_gamma()
    placed = LOCAL.place(X), LOCAL.place(gamma), LOCAL.place(Gaussian(SIGMA))
    found: Row = {}

    def by_tiles() -> None:
        C, _ = tiles.half_gradient(*placed, W, precision="single")
        found["tiles"] = X.T @ C

    def by_keops() -> None:
        P, U = np.float32(X @ W / (SIGMA * np.sqrt(2))), np.float32(gamma.U)
        pi, pj = LazyTensor(P[:, None, :]), LazyTensor(P[None, :, :])
        ui, uj = LazyTensor(U[:, None, :]), LazyTensor(U[None, :, :])
        weights = (-((pi - pj) ** 2).sum(-1)).exp() * (ui * uj).sum(-1)
        C = (weights * (pj - pi)).sum(1) * (np.sqrt(2) / SIGMA)
        found["KeOps"] = X.T @ np.float64(C)

    load_compiled()
    compiling, _ = timed(by_keops)
    taken: Row = {}
    for name, work in (("tiles", by_tiles), ("KeOps", by_keops)):
        used = time.process_time()
        taken[f"{name} s"], _ = timed(work)
        taken[f"{name} CPU s"] = time.process_time() - used
    ours, theirs = found["tiles"], found["KeOps"]
    return {
        "rows": rows,
        "threads": allowed_threads(),
        **taken,
        "KeOps over tiles, CPU": taken["KeOps CPU s"] / taken["tiles CPU s"],
        "KeOps s with compiling": compiling,
        "relative difference": float(np.linalg.norm(ours - theirs) / np.linalg.norm(ours)),
        "angle": largest_angle(np.linalg.qr(ours)[0], np.linalg.qr(theirs)[0]),
    }


if __name__ == "__main__":
    serve_parts(incremental_pca, dask_pca, pair_sums)
