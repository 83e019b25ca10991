"""Fixed points of Φ where Γ moves with W: faster by mixing the last few Φs.

W and Y in turn close in on their common fixed point by a few hundredths a round where eigenvalues lie close together.
Each round leaves W, Φ(W) and the residual G = (I − WWᵀ)Φ(W)W, along which J grows and which is 0 at the fixed point.
On the space of the steps s between the last Ws and this one, the residuals tell the curvature: G there − G here = H s.
What a round takes for it is −M, the eigengaps of its own Φ. In terms of these H is

    −1   along directions that a round does justice to
     0   along those where it goes too short a way: Newton's step, −H⁻¹G, is longer
    > 0  where J grows away from a fixed point that is no maximum: there the step is |H|⁻¹G, away from it as well

The next W are the dominant eigenvectors of the combination of the Φs that belongs to this step. (Combinations that make
the residual smallest, as in Pulay's method of 1980, are as fast, but lead to saddles as well as to maxima.)

10,000 digits, gaussian: gradient 1e-3 after 20 rounds, past a saddle. Plain rounds take 120, Pulay's end at the saddle.
"""

from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array

MEMORY = 8  # rounds
BYTES = 2**28  # that their Φs may take
NEAR = 0.3  # radians: rounds farther away than this say nothing about the curvature here
REACH = 0.3  # radians that a mix may lead beyond a plain round
FLAT = 0.05  # curvatures nearer to 0 count as this: no step is more than so much longer than a plain one
ROUNDING = 1e-6  # directions that add less to the others are not told from them


class _Round(NamedTuple):
    """Of one round; seen from another W, turned to fit its columns and in its tangent space."""

    W: Array
    phi: Array
    residual: Array

    def seen_from(self, W: Array) -> "_Round":
        left, _, right = np.linalg.svd(self.W.T @ W)
        turn = left @ right
        return _Round(_outside(W, self.W @ turn), self.phi, _outside(W, self.residual @ turn))


class Mixing:
    """The last rounds."""

    def __init__(self) -> None:
        self._rounds: list[_Round] = []

    def mixed(self, phi: Array, W: Array) -> Array:
        """Remember this round; gives the Φ to go on with."""
        here = _Round(W, phi, _outside(W, phi @ W))
        memory = max(2, min(MEMORY, BYTES // phi.nbytes))
        near = [(each, each.seen_from(W)) for each in self._rounds[1 - memory :]]
        near = [(each, seen) for each, seen in near if np.linalg.norm(seen.W, 2) < NEAR]
        self._rounds = [*(each for each, _ in near), here]
        if not near:
            return phi
        shares = _shares(here, [seen for _, seen in near])
        total: Array = (1 - shares.sum()) * phi
        for share, (each, _) in zip(shares, near, strict=True):
            total += share * each.phi
        return total


def _shares(here: _Round, others: list[_Round]) -> Array:
    """The combination of the steps to the other rounds that is the best step from here."""
    steps = np.array([each.W.ravel() for each in others])
    changes = np.array([(each.residual - here.residual).ravel() for each in others])
    gaps = np.array([(_outside(here.W, each.phi @ here.W) - each.residual).ravel() for each in others])
    white = _whitening(_symmetric(steps @ gaps.T))
    curvatures, turn = np.linalg.eigh(white.T @ _symmetric(steps @ changes.T) @ white)
    directions = white @ turn
    uphill = directions.T @ (steps @ here.residual.ravel())
    shares: Array = directions @ (uphill / np.maximum(np.abs(curvatures), FLAT))
    length = float(np.linalg.norm((shares @ steps).reshape(here.W.shape), 2))
    return shares * min(1.0, REACH / length) if length > 0 else shares


def _whitening(B: Array) -> Array:
    """Columns C with CᵀBC = I, for the directions in which B is positive."""
    size = np.sqrt(np.maximum(np.abs(B.diagonal()), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(B / size / size[:, None])
    kept = values > ROUNDING * len(B)
    white: Array = vectors[:, kept] / np.sqrt(values[kept]) / size[:, None]
    return white


def _symmetric(A: Array) -> Array:
    symmetric: Array = (A + A.T) / 2
    return symmetric


def _outside(W: Array, V: Array) -> Array:
    """What V has outside the space of W."""
    outside: Array = V - W @ (W.T @ V)
    return outside
