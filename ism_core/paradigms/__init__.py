"""Paradigms: what the projection is for. A paradigm only determines Γ = U diag(s) Uᵀ.

supervised           Γ = H K_Y H                                   classes or values are given, Γ is fixed
clusterings          Γ = R H (Y Yᵀ + μ K_Ŷ) H R                    Y and W are found in alternation
    unsupervised         μ = 0
    semi-supervised      μ > 0: towards expert scores Ŷ, or towards pairs of rows (`links`)
    alternative          μ < 0: away from a known clustering Ŷ

H is the centering matrix. R is the diagonal matrix that normalizes the affinity (see `spectral`).
"""

from ism_core.paradigms.affinity import affordable_maps
from ism_core.paradigms.base import Paradigm, Projected
from ism_core.paradigms.block_clusterings import (
    AffinityFeatures,
    ClusterBlocks,
    Clusters,
    NoClusters,
    cluster_blocks,
)
from ism_core.paradigms.block_targets import (
    ClassBlocks,
    Describing,
    TargetSummary,
    ValueBlocks,
    block_gammas,
    check_known,
    class_blocks,
)
from ism_core.paradigms.clusterings import Alternative, SemiSupervised, Unsupervised
from ism_core.paradigms.linked import Linked
from ism_core.paradigms.spectral import DENSE_ROWS, SAMPLE_ROWS, Clustering
from ism_core.paradigms.supervised import Supervised
from ism_core.paradigms.targets import Kind, TargetKernel, Targets

__all__ = [
    "DENSE_ROWS",
    "SAMPLE_ROWS",
    "AffinityFeatures",
    "Alternative",
    "ClassBlocks",
    "ClusterBlocks",
    "Clustering",
    "Clusters",
    "Describing",
    "Kind",
    "Linked",
    "NoClusters",
    "Paradigm",
    "Projected",
    "SemiSupervised",
    "Supervised",
    "TargetKernel",
    "TargetSummary",
    "Targets",
    "Unsupervised",
    "ValueBlocks",
    "affordable_maps",
    "block_gammas",
    "check_known",
    "class_blocks",
    "cluster_blocks",
]
