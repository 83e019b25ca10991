"""The stops of a tour: the best candidates of a choice whose axes differ, beside the chosen one."""

import numpy as np

from ism_core import Choice
from ism_core.arrays import Array
from ism_core.linalg import Scale, Scaling
from ism_core.selection import Candidate

MOST_STOPS = 6
PLANE = 2  # axes of a picture; candidates with more axes than the result and the picture cannot be shown whole
MOST_WEIGHTS = 20_000  # of all stops: about 200 KB of JSON
ROWS = 1_000  # rows on which axes are compared
ALIKE = 0.95  # canonical correlation from which two axes show the same rows in nearly the same places
DIGITS = 5  # significant digits of a weight


def stops_of(choice: Choice, X: Array) -> list[Candidate]:
    """Return the best candidates whose axes differ from the chosen ones and from each other; X is not scaled."""
    standardized: dict[Scale, Array] = {}

    def basis(candidate: Candidate) -> Array:
        assert candidate.loadings is not None
        scale: Scale = "none" if candidate.scale == "none" else "standard"
        if scale not in standardized:
            standardized[scale] = Scaling.learned(X[:: -(-len(X) // ROWS)], scale)[1]
        P = standardized[scale] @ candidate.loadings
        left, sizes, _ = np.linalg.svd(P - P.mean(axis=0), full_matrices=False)
        return left[:, sizes > 1e-9 * sizes[0]]

    chosen = choice.chosen
    seen = [] if chosen.loadings is None else [basis(chosen)]
    stops: list[Candidate] = []
    left = MOST_WEIGHTS
    for candidate in sorted(choice.candidates, key=lambda each: -each.score):
        if len(stops) == MOST_STOPS:
            break
        if candidate is chosen or candidate.q > max(PLANE, chosen.q):
            continue
        if candidate.loadings is None or candidate.loadings.size > left:
            continue
        own = basis(candidate)
        if all(_smallest_correlation(own, other) < ALIKE for other in seen):
            seen.append(own)
            stops.append(candidate)
            left -= candidate.loadings.size
    return stops


def weights_document(stop: Candidate) -> list[list[float]]:
    """Return the weights of a stop with few digits."""
    assert stop.loadings is not None
    return [[float(f"{value:.{DIGITS}g}") for value in row] for row in stop.loadings.tolist()]


def _smallest_correlation(one: Array, other: Array) -> float:
    """Return the smallest canonical correlation between the columns of two orthonormal matrices."""
    return float(np.linalg.svd(one.T @ other, compute_uv=False).min(initial=1.0))
