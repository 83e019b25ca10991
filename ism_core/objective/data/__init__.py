"""The data of a problem: rows, Γ, kernel and the options for evaluating J and Φ; what every strategy needs."""

from ism_core.objective.data.base import DTYPES, EvaluationOptions, ObjectiveData, Precision
from ism_core.objective.data.in_memory import ProblemData
from ism_core.objective.data.projections import Projections

__all__ = ["DTYPES", "EvaluationOptions", "ObjectiveData", "Precision", "ProblemData", "Projections"]
