"""The objective J(W) with its surrogate matrix Φ(W) and half gradient Φ(W)W, computed by the cheapest strategy.

A solver calls the methods of a `Problem`. `plan` picks its strategy from `strategies`. Strategies sum over pairs of
rows (`tiles`) or over features of the rows (`features`).
"""

from ism_core.objective.alignment import Aligned, aligned
from ism_core.objective.compilation import compile_all
from ism_core.objective.compilation import preload as preload_compiled
from ism_core.objective.data import EvaluationOptions, ObjectiveData, Precision, ProblemData
from ism_core.objective.feature_blocks import COMPILED_BLOCK, are_compiled, features_of
from ism_core.objective.feature_sums import Blocks
from ism_core.objective.neighbors import ISOLATION, ClassNeighborGamma, NeighborGamma, ValueNeighborGamma
from ism_core.objective.pairs import TILE, pairs_of
from ism_core.objective.partitions import (
    BLOCK_ROWS,
    ArrayPartitions,
    Block,
    BlockGammas,
    PartitionedData,
    Partitions,
    Place,
    Rows,
    ScaledPartitions,
    Summary,
    Table,
    feature_names,
    hold,
    is_partitioned,
    partitions,
    pick,
    read_again,
    with_scaling,
)
from ism_core.objective.partitions import total as pass_over
from ism_core.objective.plan import COARSE_TOLERANCE
from ism_core.objective.problem import NeighborProblem, Problem
from ism_core.objective.strategies import Method
from ism_core.objective.tiles import kernel_matrix, kernel_product, square_sum
from ism_core.objective.truncation import Magnitudes

__all__ = [
    "BLOCK_ROWS",
    "COARSE_TOLERANCE",
    "COMPILED_BLOCK",
    "ISOLATION",
    "TILE",
    "Aligned",
    "ArrayPartitions",
    "Block",
    "BlockGammas",
    "Blocks",
    "ClassNeighborGamma",
    "EvaluationOptions",
    "Magnitudes",
    "Method",
    "NeighborGamma",
    "NeighborProblem",
    "ObjectiveData",
    "PartitionedData",
    "Partitions",
    "Place",
    "Precision",
    "Problem",
    "ProblemData",
    "Rows",
    "ScaledPartitions",
    "Summary",
    "Table",
    "ValueNeighborGamma",
    "aligned",
    "are_compiled",
    "compile_all",
    "feature_names",
    "features_of",
    "hold",
    "is_partitioned",
    "kernel_matrix",
    "kernel_product",
    "pairs_of",
    "partitions",
    "pass_over",
    "pick",
    "preload_compiled",
    "read_again",
    "square_sum",
    "with_scaling",
]
