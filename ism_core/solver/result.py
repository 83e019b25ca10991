"""What a solve gives back."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array, Ints
from ism_core.kernels import Kernel
from ism_core.objective import Method


class Stop(Enum):
    """Why the iteration ended; the value is the reason as a sentence."""

    CONVERGED = "Converged: the eigenvalues, the subspace and the gradient have settled within delta."
    FIXED_POINT = "Converged: no step turns W by more than rounding, so it is a fixed point."
    SETTLED = "Converged: three steps together raised the objective by less than 0.3 % of delta."
    STALLED = "Stopped: no step raises the objective beyond rounding, though the gradient is not yet within delta."
    ROUNDS = (
        "Stopped: max_iter was reached while the clustering still changed; raise max_iter, or accept a wider delta."
    )
    MAX_ITER = "Stopped: max_iter was reached before the subspace settled; raise max_iter, or accept a wider delta."

    @property
    def converged(self) -> bool:
        return self in (Stop.CONVERGED, Stop.FIXED_POINT, Stop.SETTLED)


@dataclass(frozen=True)
class Step:
    """One point on the way: a start that was tried ("search"), an iterate ("ascent"), or axes of few features
    ("sparsity")."""

    stage: Literal["search", "ascent", "sparsity"]
    round: int  # Γ is fixed within a round and changes between rounds of a clustering
    iteration: int  # counts through all rounds from 0, where the ascent begins; in the search, the starts
    objective: float
    eigenvalues: Array
    change: float | None  # ‖Λ − Λ before‖ / ‖Λ‖
    angle: float | None  # the largest principal angle to the subspace before, in radians
    gradient: float  # the gradient's norm on the manifold over 2‖Φ‖
    W: Array = field(repr=False)


@dataclass(frozen=True)
class Certificate:
    """What lets a reader trust W without rerunning anything.

    Where W is sparse, the gradient is that of the moves which its supports allow, and nothing is said beyond it.
    """

    gradient: float  # ‖(I − WWᵀ)ΦW‖ / ‖Φ‖: 0 at a stationary point
    eigengap: float | None  # smallest eigenvalue of Φ in W less the largest outside; None where nothing is outside
    orthonormality: float  # the largest entry of |WᵀW − I|
    curvature: float | None  # the largest second derivative of J found along the manifold, over 2‖Φ‖
    second_order: bool  # whether it is ≤ 0, up to the gradient and 1e-6: what Theorem 1 asks of the eigengap


@dataclass(frozen=True)
class Error:
    """How far J and Φ(W)W, half its gradient, may be from those of the exact kernel at the same W, relative to them."""

    kind: Literal["rounding", "bound", "estimate"]  # bound: proven; estimate: from a sample of the rows
    objective: float
    gradient: float


@dataclass(frozen=True)
class Sparsity:
    """Where the axes have few features: which, and what that costs."""

    features_per_axis: int  # at most
    support: NDArray[np.bool_] = field(repr=False)  # d×q: which features each axis may have
    dense_objective: float  # J without that limit

    def loss(self, objective: float) -> float | None:
        """The share of J that was given up; None where there was none to share."""
        return 1 - objective / self.dense_objective if self.dense_objective > 0 else None


@dataclass(frozen=True)
class Result:
    """W and all that is known about it. The columns of W are in the order of their eigenvalues."""

    W: Array
    eigenvalues: Array
    objective: float
    steps: tuple[Step, ...] = field(repr=False)
    stop: Stop
    certificate: Certificate
    kernel: Kernel  # with the numbers that were found, such as sigma
    method: Method
    error: Error
    warnings: tuple[str, ...] = ()
    labels: Ints | None = field(default=None, repr=False)
    spectral: Array | None = field(default=None, repr=False)  # Y, n×k: the spectral embedding that the labels come from
    sparsity: Sparsity | None = None  # where at most so many features were allowed in each axis

    @property
    def converged(self) -> bool:
        return self.stop.converged

    @property
    def iterations(self) -> int:
        return self.steps[-1].iteration
