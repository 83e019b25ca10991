"""Newton mixing: faster fixed points of Φ if Γ changes with W, from a combination of the last few Φs.

If eigenvalues lie close together, each round removes only a few hundredths of the distance to the fixed point. A round
leaves W, Φ(W) and the residual G = (I − WWᵀ)Φ(W)W, which is half the gradient of J and 0 at the fixed point. On
the space of the steps s from this W to the last ones, the residuals show the Hessian: G there − G here = H s. A plain
round takes −M for H, where M holds the eigengaps of its Φ. In units of M, H is

    −1   along directions in which a plain round is right
     0   along directions in which it is too short: Newton's step −H⁻¹G is longer
    > 0  along directions in which J grows away from a saddle: there the step is |H|⁻¹G, away from it as well

The next W are the dominant eigenvectors of the combination of the Φs that belongs to this step. (Pulay's combinations
of 1980, which minimize the residual, are as fast but lead to saddles as well as to maxima.)

10,000 digits, gaussian: gradient 1e-3 after 20 rounds, past a saddle. Plain rounds take 120, Pulay's end at the saddle.
"""

from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg import procrustes_rotation, project_out

MEMORY_ROUNDS = 8  # rounds that are combined at most
MEMORY_BYTES = 2**28  # bytes that their Φs may take
LARGEST_DISTANCE = 0.3  # radians; rounds farther away are not used to estimate the Hessian
LONGEST_STEP = 0.3  # radians that a combination may lead beyond a plain round
SMALLEST_CURVATURE = 0.05  # smaller ones count as this, so that no step is more than 20 times a plain one
INDEPENDENT_STEP = 1e-6  # share that a step must add to the others


class _Round(NamedTuple):
    W: Array
    phi: Array
    residual: Array

    def seen_from(self, W: Array) -> "_Round":
        """The round in the tangent space at another W."""
        turn = procrustes_rotation(self.W, W)
        return _Round(project_out(W, self.W @ turn), self.phi, project_out(W, self.residual @ turn))


class NewtonMixing:
    """The last rounds of one alternation."""

    def __init__(self) -> None:
        self._rounds: list[_Round] = []

    def mixed(self, phi: Array, W: Array) -> Array:
        """Remember this round, and return the Φ to continue with."""
        here = _Round(W, phi, project_out(W, phi @ W))
        memory = max(2, min(MEMORY_ROUNDS, MEMORY_BYTES // phi.nbytes))
        near = [(each, each.seen_from(W)) for each in self._rounds[1 - memory :]]
        near = [(each, seen) for each, seen in near if np.linalg.norm(seen.W, 2) < LARGEST_DISTANCE]
        self._rounds = [*(each for each, _ in near), here]
        if not near:
            return phi
        shares = _newton_shares(here, [seen for _, seen in near])
        total: Array = (1 - shares.sum()) * phi
        for share, (each, _) in zip(shares, near, strict=True):
            total += share * each.phi
        return total


def _newton_shares(here: _Round, others: list[_Round]) -> Array:
    """Return the coefficients that combine the steps to the other rounds into Newton's step."""
    steps = np.array([each.W.ravel() for each in others])
    changes = np.array([(each.residual - here.residual).ravel() for each in others])
    gaps = np.array([(project_out(here.W, each.phi @ here.W) - each.residual).ravel() for each in others])
    white = _whitening(_symmetric(steps @ gaps.T))
    curvatures, turn = np.linalg.eigh(white.T @ _symmetric(steps @ changes.T) @ white)
    directions = white @ turn
    uphill = directions.T @ (steps @ here.residual.ravel())
    shares: Array = directions @ (uphill / np.maximum(np.abs(curvatures), SMALLEST_CURVATURE))
    length = float(np.linalg.norm((shares @ steps).reshape(here.W.shape), 2))
    return shares * min(1.0, LONGEST_STEP / length) if length > 0 else shares


def _whitening(B: Array) -> Array:
    """Columns C with CᵀBC = I, for the directions in which B is positive."""
    size = np.sqrt(np.maximum(np.abs(B.diagonal()), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(B / size / size[:, None])
    kept = values > INDEPENDENT_STEP * len(B)
    white: Array = vectors[:, kept] / np.sqrt(values[kept]) / size[:, None]
    return white


def _symmetric(A: Array) -> Array:
    symmetric: Array = (A + A.T) / 2
    return symmetric
