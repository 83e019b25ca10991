"""Ways up: from one W to the local maximum of J that it belongs to.

`iter_ascend` picks the method for a problem: spectral steps, leaps for polynomial kernels, or L-BFGS for a Γ that
depends on W. `loop` drives all of them.
"""

from ism_core.solver.ascent.ascend import ascend, iter_ascend
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint, Objective
from ism_core.solver.ascent.lbfgs import LbfgsAscent
from ism_core.solver.ascent.leaps import moments_around
from ism_core.solver.ascent.loop import Ascent, LevelShiftedAscent, Move, Trial, iter_moves
from ism_core.solver.ascent.polynomial_moments import PolynomialMoments, can_leap, everywhere, flops, is_possible

__all__ = [
    "Ascent",
    "EvaluatedPoint",
    "LbfgsAscent",
    "LevelShiftedAscent",
    "Move",
    "Objective",
    "PolynomialMoments",
    "Trial",
    "ascend",
    "can_leap",
    "everywhere",
    "flops",
    "is_possible",
    "iter_ascend",
    "iter_moves",
    "moments_around",
]
