"""Kernels that are straight in β: f′ is a number, so that Φ is Φ0 for every W, and its eigenvectors are the answer."""

from typing import NamedTuple

import numpy as np

from ism_core.kernels.base import Kernel
from ism_core.objective.problem import Problem
from ism_core.solver.ascent.evaluated_point import Point
from ism_core.solver.ascent.surrogate_model import Model
from ism_core.solver.starts.initial_surrogate import first


class Solved(NamedTuple):
    """The point, and the gap to the next eigenvalue, if there is one."""

    point: Point
    gap: float | None


def is_straight(kernel: Kernel) -> bool:
    """Whether all of its terms are."""
    return all(term.is_straight for _, term in kernel.terms)


def solved(problem: Problem) -> Solved:
    """The maximum of J, which is tr WᵀΦW."""
    phi, W, gap = first(problem)
    pulled = phi @ W
    values = np.einsum("dq,dq->q", W, pulled)
    order = np.argsort(-values, kind="stable")
    W, pulled, values = W[:, order], pulled[:, order], values[order]
    point = Point(W, Model(phi, problem, problem.q), pulled, float(values.sum()), values)
    return Solved(point, gap if problem.q < problem.dimensions else None)
