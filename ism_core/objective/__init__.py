"""The objective J(W) with its surrogate matrix Φ(W) and half gradient Φ(W)W, computed by the cheapest strategy.

A solver talks to a `Problem`. `plan` picks its strategy from `strategies`. Strategies sum over pairs of rows (`tiles`)
or over features of the rows (`features`).
"""

from ism_core.objective.alignment import aligned
from ism_core.objective.feature_blocks import COMPILED_BLOCK, are_compiled, features_of
from ism_core.objective.options import EvaluationOptions, Precision
from ism_core.objective.pairs import pairs_of
from ism_core.objective.plan import COARSE_TOLERANCE
from ism_core.objective.problem import NeighborProblem, Problem
from ism_core.objective.strategies import Method
from ism_core.objective.taylor_bound import ErrorBound
from ism_core.objective.tiles import kernel_matrix, kernel_product, square_sum
from ism_core.objective.tiling import TILE

__all__ = [
    "COARSE_TOLERANCE",
    "COMPILED_BLOCK",
    "TILE",
    "ErrorBound",
    "EvaluationOptions",
    "Method",
    "NeighborProblem",
    "Precision",
    "Problem",
    "aligned",
    "are_compiled",
    "features_of",
    "kernel_matrix",
    "kernel_product",
    "pairs_of",
    "square_sum",
]
