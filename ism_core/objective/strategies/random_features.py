"""Random features of Gaussian and multiquadratic kernels, with the number of features that the caller gives.

Random features have random directions in the coordinates of XW, so that their J depends on the basis of span(W). To
make J a smooth function of the span again, W is first rotated within its span to be as near as possible to a fixed W,
the reference basis.
"""

from dataclasses import dataclass

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg import corrected, procrustes_rotation
from ism_core.objective.strategies.exact_features import ExactFeatures


@dataclass(frozen=True)
class RandomFeatures(ExactFeatures):
    """Random feature maps, evaluated in the basis of span(W) that is nearest to the reference basis."""

    reference: Array  # d×q

    method = "random features"
    is_corrected = True

    def evaluate(self, W: Array, half_gradient: tuple[Array, float] | None = None) -> tuple[Array, float]:
        phi, _ = self._surrogate(self.maps, self._aligned(W))
        along, objective = half_gradient or self.half_gradient(W)
        return corrected(phi, W, along), objective

    def row_coefficients(self, W: Array) -> tuple[Array, float]:
        C, objective = super().row_coefficients(self._aligned(W))
        return C @ procrustes_rotation(W, self.reference).T, objective

    def half_gradient(self, W: Array) -> tuple[Array, float]:
        rotation = procrustes_rotation(W, self.reference)
        fixed, objective = super().half_gradient(W @ rotation)
        fixed = fixed @ rotation.T
        return fixed + rotation_gradient(W, self.reference, fixed), objective

    def objective(self, W: Array) -> float:
        return super().objective(self._aligned(W))

    def _aligned(self, W: Array) -> Array:
        return W @ procrustes_rotation(W, self.reference)


def rotation_gradient(W: Array, reference: Array, half_gradient: Array) -> Array:
    """Return the term of half the gradient of J(WR) from the derivative of R(W).

    `half_gradient` is that for a fixed R.
    """
    left, sizes, right = np.linalg.svd(W.T @ reference)
    along = left.T @ (W.T @ half_gradient) @ left
    skew = (along - along.T) / np.maximum(sizes[:, None] + sizes, np.finfo(float).eps)
    added: Array = -reference @ right.T @ skew @ left.T
    return added
