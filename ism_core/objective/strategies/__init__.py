"""The four ways of computing Φ(W), Φ(W)W and J(W), behind one interface; `objective.plan` picks one of them."""

from ism_core.objective.strategies.all_pairs import AllPairs
from ism_core.objective.strategies.base import Cost, Method, Strategy
from ism_core.objective.strategies.exact_features import ExactFeatures, half_gradient_flops
from ism_core.objective.strategies.random_features import RandomFeatures
from ism_core.objective.strategies.truncated_features import TruncatedFeatures

__all__ = [
    "AllPairs",
    "Cost",
    "ExactFeatures",
    "Method",
    "RandomFeatures",
    "Strategy",
    "TruncatedFeatures",
    "half_gradient_flops",
]
