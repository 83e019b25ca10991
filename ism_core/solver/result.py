"""What a solve yields and returns (Step, Result), and how generators that yield progress are drained and relayed."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import wraps
from html import escape
from inspect import signature
from typing import Any, Generic, Literal, ParamSpec, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array, Ints
from ism_core.kernels import Kernel
from ism_core.linalg import Whitening
from ism_core.objective import Method
from ism_core.paradigms import Clusters

Item = TypeVar("Item")
Changed = TypeVar("Changed")
Returned = TypeVar("Returned")
P = ParamSpec("P")


class Stop(Enum):
    """Why the iteration ended; the value is the message.

    Attributes
    ----------
    converged : bool
        Whether the result is a stationary point within delta.
    """

    CONVERGED = "Converged: the eigenvalues, the subspace and the gradient have settled within delta."
    FIXED_POINT = "Converged: no step turns W by more than rounding, so it is a fixed point."
    SETTLED = "Converged: the last steps raised the objective by a negligible amount relative to delta."
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
    """One point of a solve.

    Attributes
    ----------
    stage : "search", "ascent" or "sparsity"
        A starting point that was tried, an iterate of the ascent, or axes of few features.
    round : int
        The round of a clustering: Γ changes between rounds.
    iteration : int
        The number of the step, counted through all rounds from 0; in the search, the number of the start.
    objective : float
        J(W), in the search perhaps that of a sample of the rows.
    eigenvalues : array of shape (q,)
        The eigenvalues of WᵀΦW, largest first.
    change : float or None
        The change of the eigenvalues, relative to their norm; None at the first point.
    angle : float or None
        The largest principal angle to the subspace before, in radians; None at the first point.
    gradient : float
        The norm of the gradient on the manifold, relative to 2‖Φ‖.
    W : array of shape (d, q)
        Orthonormal columns.
    """

    stage: Literal["search", "ascent", "sparsity"]
    round: int
    iteration: int
    objective: float
    eigenvalues: Array
    change: float | None
    angle: float | None
    gradient: float
    W: Array = field(repr=False)


@dataclass(frozen=True)
class Certificate:
    """Checks that let a reader trust W without solving again.

    For sparse axes, the gradient is projected on the directions that keep the supports; the other checks are skipped.

    Attributes
    ----------
    gradient : float
        ‖(I − WWᵀ)ΦW‖ / ‖Φ‖, which is 0 at a stationary point.
    eigengap : float or None
        The smallest eigenvalue of Φ in W less the largest one outside; None if nothing is outside.
    orthonormality : float
        The largest entry of |WᵀW − I|.
    curvature : float or None
        The largest second derivative of J that was found along the manifold, relative to 2‖Φ‖.
    second_order : bool
        Whether `curvature` is at most 0, with the gradient plus 1e-6 as tolerance (Theorem 1).
    """

    gradient: float
    eigengap: float | None
    orthonormality: float
    curvature: float | None
    second_order: bool


@dataclass(frozen=True)
class Error:
    """The relative error of J and Φ(W)W compared with the exact kernel at the same W.

    Attributes
    ----------
    kind : "rounding", "bound" or "estimate"
        Whether it is rounding only, a proven bound, or an estimate from a sample of the rows.
    objective, gradient : float
        The relative errors of J and of Φ(W)W.
    """

    kind: Literal["rounding", "bound", "estimate"]
    objective: float
    gradient: float


@dataclass(frozen=True)
class Sparsity:
    """The features of each axis if their number was limited.

    Attributes
    ----------
    features_per_axis : int
        The limit.
    support : bool array of shape (d, q)
        Which features each axis may have.
    dense_objective : float
        J without the limit.
    """

    features_per_axis: int
    support: NDArray[np.bool_] = field(repr=False)
    dense_objective: float

    def loss(self, objective: float) -> float | None:
        """The share of J that the limit costs; None if J is not positive."""
        return 1 - objective / self.dense_objective if self.dense_objective > 0 else None


@dataclass(frozen=True)
class Result:
    """W and what is known about it.

    Attributes
    ----------
    W : array of shape (d, q)
        Orthonormal columns, in the order of their eigenvalues.
    eigenvalues : array of shape (q,)
        The eigenvalues of WᵀΦW, largest first.
    objective : float
        J(W), the diagonal of Γ included.
    steps : tuple of Step
        The iterates of the ascent.
    stop : Stop
        Why the iteration ended.
    certificate : Certificate
        Gradient, eigengap, orthonormality and second-order condition at W.
    kernel : Kernel
        The kernel with the numbers that were found, such as sigma.
    method : "tiles", "features" or "random features"
        How J and Φ were computed.
    error : Error
        How far they may be from those of the exact kernel.
    warnings : tuple of str
        What a user should know, such as directions without information.
    labels : int array of shape (n,) or None
        The cluster of each row, for a clustering.
    spectral : array of shape (n, k) or None
        The spectral embedding Y that the labels come from.
    clusters : Clusters or None
        For a clustering of a table in partitions: `clusters.labels(rows)` is the cluster of each of some rows.
    sparsity : Sparsity or None
        The features of each axis, if `features_per_axis` was given.
    converged : bool
        `stop.converged`
    iterations : int
        The number of the last step.
    """

    W: Array
    eigenvalues: Array
    objective: float
    steps: tuple[Step, ...] = field(repr=False)
    stop: Stop
    certificate: Certificate
    kernel: Kernel
    method: Method
    error: Error
    warnings: tuple[str, ...] = ()
    labels: Ints | None = field(default=None, repr=False)
    spectral: Array | None = field(default=None, repr=False)
    sparsity: Sparsity | None = None
    clusters: Clusters | None = field(default=None, repr=False)

    @property
    def converged(self) -> bool:
        return self.stop.converged

    @property
    def iterations(self) -> int:
        return self.steps[-1].iteration

    def _repr_html_(self) -> str:
        facts = {
            "stop": self.stop.value,
            "J": f"{self.objective:.6g}",
            "eigenvalues": ", ".join(f"{value:.6g}" for value in self.eigenvalues),
            "iterations": self.iterations,
            "kernel": self.kernel,
            "warnings": " ".join(self.warnings),
        }
        lines = [f"<tr><th>{name}</th><td>{escape(str(fact))}</td></tr>" for name, fact in facts.items() if fact != ""]
        return f"<table>{''.join(lines)}</table>"

    def loadings(self, whitening: Whitening | None, W: Array | None = None) -> Array:
        """Return the weights of the features before whitening, for this W or another one with the same support."""
        W = self.W if W is None else W
        loadings = W if whitening is None else whitening.times(W)
        return loadings if self.sparsity is None else np.where(self.sparsity.support, loadings, 0.0)


class ReturnCapture(Generic[Item, Returned]):
    """Iterate over a generator in a `for` loop and keep its return value, which is there after the last item."""

    value: Returned

    def __init__(self, generator: Generator[Item, None, Returned]) -> None:
        self._generator = generator

    def __iter__(self) -> Iterator[Item]:
        self.value = yield from self._generator


def drain(generator: Generator[Item, None, Returned]) -> Returned:
    """Run a generator to its end and give its return value."""
    capture = ReturnCapture(generator)
    for _ in capture:
        pass
    return capture.value


def relay(
    generator: Generator[Item, None, Returned], change: Callable[[Item], Changed]
) -> Generator[Changed, None, Returned]:
    """Yield `change(item)` for each item of a generator, and return what it returns."""
    capture = ReturnCapture(generator)
    for item in capture:
        yield change(item)
    return capture.value


def drained(iterate: Callable[P, Generator[Any, None, Returned]]) -> Callable[P, Returned]:
    """Return the function that takes the arguments of a generator function and runs the generator to its end."""

    @wraps(iterate)
    def run(*args: P.args, **kwargs: P.kwargs) -> Returned:
        return drain(iterate(*args, **kwargs))

    run.__name__ = run.__qualname__ = iterate.__name__.removeprefix("iter_")
    returned = get_type_hints(iterate)["return"].__args__[2]
    run.__signature__ = signature(iterate).replace(return_annotation=returned)  # type: ignore[attr-defined]
    return run
