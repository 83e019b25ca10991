"""Choose the ascent method for a problem and run it."""

from collections.abc import Generator
from functools import partial

from ism_core.arrays import Array
from ism_core.engines import own_threads
from ism_core.objective import NeighborProblem, Problem
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint, Objective
from ism_core.solver.ascent.lbfgs import LbfgsAscent
from ism_core.solver.ascent.leaps import LeapAscent
from ism_core.solver.ascent.loop import Ascent, Move, iter_moves
from ism_core.solver.ascent.polynomial_moments import can_leap
from ism_core.solver.ascent.spectral import SpectralAscent
from ism_core.solver.result import Step, drained, relay


def iter_ascend(
    problem: Objective,
    W: Array,
    delta: float,
    max_iter: int,
    *,
    round: int = 0,
    first: int = 0,
    similar_phi: Array | None = None,
    leaping: bool = True,
) -> Generator[Step, None, Ascent[EvaluatedPoint]]:
    """Climb from W to a local maximum of J; `iter_ascend` yields the steps.

    Parameters
    ----------
    delta
        Convergence tolerance, as in `solve`.
    max_iter
        The largest number of steps.
    round, first
        The round of a clustering, and the number of the first step.
    similar_phi
        The Φ of a similar problem near W, of any scale.
    leaping
        Whether leaps are allowed.
    """
    as_step = partial(Move.as_step, round=round)
    if isinstance(problem, NeighborProblem):
        climb = yield from relay(iter_moves(LbfgsAscent(problem, delta), W, max_iter, first), as_step)
        with own_threads():
            return Ascent(EvaluatedPoint.at(problem, climb.point.W), climb.stop, climb.iteration)
    method = fixed_gamma_method(problem, delta, similar_phi, leaping)
    return (yield from relay(iter_moves(method, W, max_iter, first), as_step))


ascend = drained(iter_ascend)


def fixed_gamma_method(
    problem: Objective, delta: float, similar_phi: Array | None = None, leaping: bool = True
) -> SpectralAscent:
    """Return leaps or spectral steps, for a Γ that does not depend on W; the arguments are those of `iter_ascend`."""
    leaps = leaping and isinstance(problem, Problem) and problem.kernel.has_product_form and can_leap(problem)
    return (LeapAscent if leaps else SpectralAscent)(problem, delta, similar_phi)
