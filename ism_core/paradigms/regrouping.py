"""Γ for a W that is known already."""

from ism_core.arrays import Array
from ism_core.engines.threads import own_threads
from ism_core.gamma import Gamma
from ism_core.kernels.base import Kernel
from ism_core.objective.options import EvaluationOptions
from ism_core.paradigms.base import Paradigm
from ism_core.paradigms.spectral import DENSE_ROWS, Clustering

NEAR = 0.1  # times delta: how exact Y must be, in radians, for its change to be told


def regrouped(
    paradigm: Paradigm,
    P: Array,
    kernel: Kernel,
    seed: int,
    delta: float,
    last: Clustering | None,
    options: EvaluationOptions,
) -> tuple[Gamma, Clustering | None]:
    """Γ of the projected rows, and for clusterings what it was made from; `last` is a clustering that is near."""
    tolerance = NEAR * delta if len(P) > DENSE_ROWS else None
    with own_threads():
        return paradigm.gamma(P, kernel, seed, last, tolerance=tolerance, options=options)
