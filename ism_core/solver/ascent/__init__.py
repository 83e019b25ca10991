"""Ascent methods: optimize J from a given W to a local maximum.

`iter_ascend` picks the method for a problem: spectral steps, leaps for polynomial kernels, or L-BFGS for a Γ that
depends on W. `loop` drives all of them.
"""

from ism_core.solver.ascent.ascend import ascend, fixed_gamma_method, iter_ascend
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint, Objective
from ism_core.solver.ascent.lbfgs import LbfgsAscent
from ism_core.solver.ascent.leaps import moments_around
from ism_core.solver.ascent.loop import (
    GRADIENT_PER_DELTA,
    Ascent,
    LevelShiftedAscent,
    Move,
    TrialStep,
    is_stationary,
    iter_moves,
)
from ism_core.solver.ascent.polynomial_moments import (
    ROWS_AT_A_TIME,
    PolynomialMoments,
    add_row_moments,
    can_leap,
    full_tensors,
    has_moments,
    moments_flops,
    moments_in_all_directions,
)

__all__ = [
    "GRADIENT_PER_DELTA",
    "ROWS_AT_A_TIME",
    "Ascent",
    "EvaluatedPoint",
    "LbfgsAscent",
    "LevelShiftedAscent",
    "Move",
    "Objective",
    "PolynomialMoments",
    "TrialStep",
    "add_row_moments",
    "ascend",
    "can_leap",
    "fixed_gamma_method",
    "full_tensors",
    "has_moments",
    "is_stationary",
    "iter_ascend",
    "iter_moves",
    "moments_around",
    "moments_flops",
    "moments_in_all_directions",
]
