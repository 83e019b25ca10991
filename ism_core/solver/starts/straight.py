"""Kernels that are straight in β: f′ is a number, so that Φ is Φ0 for every W, and its eigenvectors are the answer."""

from typing import NamedTuple

import numpy as np

from ism_core.kernels import Kernel
from ism_core.objective import Problem
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint
from ism_core.solver.ascent.surrogate_model import SurrogateModel
from ism_core.solver.starts.initial_surrogate import first


class Solved(NamedTuple):
    """The point, and the gap to the next eigenvalue, if there is one."""

    point: EvaluatedPoint
    gap: float | None


def has_constant_slope(kernel: Kernel) -> bool:
    """Whether all of its terms are."""
    return all(term.has_constant_slope for _, term in kernel.terms)


def solved(problem: Problem) -> Solved:
    """The maximum of J, which is tr WᵀΦW."""
    phi, W, gap = first(problem)
    half_gradient = phi @ W
    values = np.einsum("dq,dq->q", W, half_gradient)
    order = np.argsort(-values, kind="stable")
    W, half_gradient, values = W[:, order], half_gradient[:, order], values[order]
    point = EvaluatedPoint(W, SurrogateModel(phi, problem, problem.q), half_gradient, float(values.sum()), values)
    return Solved(point, gap if problem.q < problem.dimensions else None)
