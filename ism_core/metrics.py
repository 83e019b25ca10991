"""Quality of a projection or a clustering, in the paper's measures."""

import math

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import normalized_mutual_info_score, silhouette_score

from ism_core.arrays import Array, as_table
from ism_core.errors import InvalidInput
from ism_core.kernels import Kernel, as_kernel
from ism_core.objective import Problem, kernel_product, square_sum
from ism_core.paradigms import Kind, Supervised

SILHOUETTE_ROWS = 5_000  # rows of the seeded sample that is scored if there are more


def hsic(
    P: ArrayLike,
    y: ArrayLike,
    kernel: Kernel | str = "gaussian",
    *,
    kind: Kind = "auto",
    normalized: bool = False,
    seed: int = 0,
) -> float:
    """Return the dependence between projected rows and classes or values: tr(K H K_Y H)/(n − 1)².

    `kind` says how to read y, as in Supervised. The normalized HSIC is divided by √(HSIC(K, K) HSIC(K_Y, K_Y)) and lies
    between 0 and 1. The seed draws the sample that sets the width of a kernel.
    """
    table = as_table(P, "P")
    n, q = table.shape
    paradigm = Supervised(y, kind)
    paradigm.check(n)
    gamma = paradigm.target_gamma()
    fitted = as_kernel(kernel).fitted_to(table, np.random.default_rng(seed), gamma)
    dependence = Problem.of(table, gamma, fitted, q).objective(np.eye(q))
    if not normalized:
        return dependence / float(n - 1) ** 2
    overlap = gamma.U.T @ gamma.U * gamma.s
    sizes = math.sqrt(_centered_square(table, fitted) * float(np.vdot(overlap, overlap.T)))
    return dependence / sizes if sizes > 0 else 0.0


def _centered_square(P: Array, kernel: Kernel) -> float:
    """Return ‖HKH‖². Entries are centered before they are squared, because a difference of sums would cancel."""
    means = kernel_product(P, kernel, np.full((len(P), 1), 1 / len(P)))[:, 0]
    return square_sum(P, kernel, means - means.mean() / 2)


def nmi(labels: ArrayLike, others: ArrayLike) -> float:
    """Return the normalized mutual information I/√(H H′), from 0 for unrelated labels to 1 for equal ones."""
    return float(normalized_mutual_info_score(_labels(labels), _labels(others), average_method="geometric"))


def silhouette(P: ArrayLike, labels: ArrayLike, *, seed: int = 0) -> float:
    """Return the silhouette score of projected rows, from −1 to 1; 0 if there is one cluster only.

    Large tables are scored on a sample with rows of every cluster.
    """
    table, codes = as_table(P, "P"), _labels(labels)
    clusters = len(np.unique(codes))
    if not 1 < clusters < len(table):
        return 0.0
    if len(table) > SILHOUETTE_ROWS:
        sample = np.random.default_rng(seed).permutation(len(table))[:SILHOUETTE_ROWS]
        rows = np.union1d(sample, np.unique(codes, return_index=True)[1])
        table, codes = table[rows], codes[rows]
    return float(silhouette_score(table, codes))


def association(P: ArrayLike, labels: ArrayLike, kernel: Kernel | str = "gaussian", *, seed: int = 0) -> float:
    """Return the normalized association, which spectral clustering maximizes.

    It is the share of each cluster's affinity that stays inside it, averaged over clusters.
    """
    table, codes = as_table(P, "P"), _labels(labels)
    fitted = as_kernel(kernel).fitted_to(table, np.random.default_rng(seed))
    if not fitted.nonnegative:
        raise InvalidInput(
            "kernel",
            "The kernel takes negative values and is no affinity. Use a Gaussian kernel or a sum of Gaussians.",
        )
    if len(codes) != len(table):
        raise InvalidInput("labels", f"labels has {len(codes)} value(s) but P has {len(table)} rows.")
    indicators = np.eye(codes.max() + 1)[codes]
    towards = kernel_product(table, fitted, indicators)
    inside = np.einsum("ik,ik->k", indicators, towards)
    return float(np.mean(inside / (indicators.T @ towards.sum(axis=1))))


def _labels(labels: ArrayLike) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
    return np.unique(np.asarray(labels), return_inverse=True)[1].ravel()
