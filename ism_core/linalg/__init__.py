"""Linear algebra that the other rooms share: subspaces, the row space of X, scaling, block Krylov iteration."""

from ism_core.linalg import block_krylov, row_passes
from ism_core.linalg.correlations import collinear_groups, correlations, uncorrelated_direction
from ism_core.linalg.row_space import LARGEST, SAMPLE, RowSpace
from ism_core.linalg.scaling import SCALES, Scale, Scaling, clipped, is_constant, standardized
from ism_core.linalg.subspaces import (
    NARROW,
    RANK_TOLERANCE,
    RowStatistics,
    corrected,
    correction,
    count_nonzero_eigenvalues,
    dominant,
    eigenpairs,
    largest_angle,
    orthonormal,
    procrustes_rotation,
    project_out,
    spectral_norm,
    with_fixed_signs,
)
from ism_core.linalg.whitening import Whitening

__all__ = [
    "LARGEST",
    "NARROW",
    "RANK_TOLERANCE",
    "SAMPLE",
    "SCALES",
    "RowSpace",
    "RowStatistics",
    "Scale",
    "Scaling",
    "Whitening",
    "block_krylov",
    "clipped",
    "collinear_groups",
    "corrected",
    "correction",
    "correlations",
    "count_nonzero_eigenvalues",
    "dominant",
    "eigenpairs",
    "is_constant",
    "largest_angle",
    "orthonormal",
    "procrustes_rotation",
    "project_out",
    "row_passes",
    "spectral_norm",
    "standardized",
    "uncorrelated_direction",
    "with_fixed_signs",
]
