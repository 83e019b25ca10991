"""Axes of few features: a limit on the features of each column of W, at the smallest loss of J that is found."""

from ism_core.solver.sparse.sparse_result import iter_sparse_result
from ism_core.solver.sparse.support_ascent import ascend_on_supports
from ism_core.solver.sparse.support_search import FeatureProblems

__all__ = ["FeatureProblems", "ascend_on_supports", "iter_sparse_result"]
