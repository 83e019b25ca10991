"""Weights for a sum of kernels, by centered alignment with the labels (Cortes, Mohri and Rostamizadeh 2012)."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from ism_core.arrays import Array
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma
from ism_core.kernels import Combination, Kernel, RowSelection, Term, as_kernel
from ism_core.objective import tiles

ALIGNMENT_ROWS = 1_000  # rows that the alignment is estimated from


@dataclass(frozen=True)
class Aligned(Kernel):
    """Kernels whose weights follow from X and the labels."""

    kernels: tuple[Kernel, ...]

    @property
    def terms(self) -> tuple[tuple[float, Term], ...]:
        raise InvalidInput("kernel", "aligned(…) has no weights of its own: they are found from X and the labels.")

    def restricted(self, rows: RowSelection, columns: RowSelection) -> Kernel:
        raise InvalidInput(
            "kernel", "aligned(…) is not fitted to any rows: its weights are found from X and the labels."
        )

    def fitted_to(self, X: Array, rng: np.random.Generator, guidance: Gamma | None = None) -> Combination:
        if guidance is None:
            raise InvalidInput(
                "kernel",
                "aligned(…) takes its weights from labels, and this paradigm has none to agree with;"
                " write the weights yourself, as in k1 + 0.5 * k2.",
            )
        kernels = [kernel.fitted_to(X, rng, guidance) for kernel in self.kernels]
        rows = guidance.sample(min(ALIGNMENT_ROWS, len(X)), rng)
        gamma = guidance.restricted(rows)
        target = (gamma.U * gamma.s) @ gamma.U.T
        centered = [_unit(tiles.kernel_matrix(X[rows], kernel.restricted(rows, rows))) for kernel in kernels]
        weights = _alignment([matrix for matrix, _ in centered], target)
        parts = [
            (weight / size) * kernel
            for weight, (_, size), kernel in zip(weights, centered, kernels, strict=True)
            if weight > 0
        ]
        return Combination(tuple(term for part in parts for term in part.terms))


def aligned(*kernels: Kernel | str) -> Aligned:
    """Return a sum of kernels whose weights maximize its centered alignment with the labels."""
    if len(kernels) < 2:
        raise InvalidInput("kernel", f"aligned(…) needs at least 2 kernels to weigh; {len(kernels)} came.")
    return Aligned(tuple(as_kernel(kernel) for kernel in kernels))


def _unit(K: Array) -> tuple[Array, float]:
    """Return H K H, scaled to Frobenius norm 1, and its norm before."""
    K = K - K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    size = float(np.linalg.norm(K))
    if size == 0:
        raise InvalidInput("kernel", "A kernel in aligned(…) is the same for all pairs of rows: X does not vary.")
    return K / size, size


def _alignment(kernels: list[Array], target: Array) -> Array:
    """Return the v ≥ 0 of norm 1 that maximizes the alignment of Σ v K with the target: the minimum of vᵀMv − 2vᵀa."""
    M = np.array([[float(np.vdot(left, right)) for right in kernels] for left in kernels])
    a = np.array([float(np.vdot(kernel, target)) for kernel in kernels])
    values, vectors = np.linalg.eigh(M)
    roots = np.sqrt(np.maximum(values, 1e-12))
    weights = nnls((vectors * roots).T, (vectors / roots).T @ a)[0]
    if not weights.any():
        weights = np.ones(len(kernels))
    unit: Array = weights / np.linalg.norm(weights)
    return unit
