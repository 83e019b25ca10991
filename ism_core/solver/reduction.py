"""One solve for a fixed Γ: find a start, ascend, and choose truncated features again if W has moved too far."""

from collections.abc import Generator

import numpy as np

from ism_core.arrays import Array
from ism_core.kernels import Kernel
from ism_core.linalg import count_nonzero_eigenvalues
from ism_core.objective import Magnitudes, Problem
from ism_core.solver.alternation import Solution
from ism_core.solver.ascent import EvaluatedPoint, iter_ascend
from ism_core.solver.certificate import error, is_exact_enough
from ism_core.solver.options import SolveOptions
from ism_core.solver.result import Step, Stop
from ism_core.solver.starts import (
    DEFAULT_STARTS,
    Start,
    constant_derivative_maximum,
    has_constant_derivative,
    iter_continuation,
    iter_search,
    path_kernels,
)

StartSearch = Generator[Step, None, Start]


def iter_reduce(
    problem: Problem, options: SolveOptions, search: StartSearch, first: int = 0
) -> Generator[Step, None, Solution]:
    """Solve without alternation. `search` finds the start; the steps are numbered from `first`."""
    if has_constant_derivative(problem.kernel):
        point, gap = constant_derivative_maximum(problem)
        yield Step("ascent", 0, first, point.objective, point.eigenvalues, None, None, point.gradient, point.W)
        return Solution(problem, point, Stop.FIXED_POINT, first, gap=gap)
    start = yield from search
    size = None
    while True:
        problem = start.problem or problem.within(options.tolerances, start.W, size)
        point, stop, iteration = yield from iter_ascend(
            problem, start.W, options.delta, options.max_iter - first, first=first, similar_phi=start.phi
        )
        found = error(problem, point)
        if is_exact_enough(found, problem.tolerance) or iteration + 1 >= options.max_iter:
            return Solution(problem, point, stop, iteration, error=found)
        # The features were truncated for a W that is too far from this one: choose them again.
        start, first = Start(point.W, point.phi), iteration + 1
        size = Magnitudes(abs(point.objective), float(np.linalg.norm(point.half_gradient)))


def iter_start(
    problem: Problem, kernel: Kernel, X: Array, options: SolveOptions, rng: np.random.Generator
) -> StartSearch:
    """Find a start: the end of a continuation path, or the best of several candidates.

    `kernel` is the kernel before it was fitted, and X the table, or a sample of its rows.
    """
    asked = options.starts == "path"
    width_was_given = problem.kernel == kernel  # a width computed from X is wide, and needs no path
    if asked or (options.starts is None and width_was_given):
        kernels = path_kernels(problem, X, rng, asked=asked)
        if len(kernels) == 1:  # the kernel is wide enough: start from Φ0
            return (yield from iter_search(problem, 1, options, rng))
        if kernels:
            return (yield from iter_continuation(problem, kernels, options, rng))
    starts = options.starts if isinstance(options.starts, int) else DEFAULT_STARTS
    return (yield from iter_search(problem, starts, options, rng))


def iter_given(start: Start) -> StartSearch:
    """Return a start that is known."""
    yield from ()
    return start


def notes_on(point: EvaluatedPoint, stop: Stop, rank: int, d: int) -> list[str]:
    """Return what the user should know about a point: why it is the last, and axes that J does not depend on."""
    q = point.W.shape[1]
    notes = [] if stop.converged else [stop.value]
    nonzero = count_nonzero_eigenvalues(point.eigenvalues, point.size)
    if rank < q:
        notes.append(
            f"X varies along {rank} of its {d} dimensions only;"
            f" {q - rank} of the {q} columns of W are arbitrary, and XW is constant along them."
        )
    elif nonzero < q:
        notes.append(
            f"J depends on {nonzero} of the {q} axes only. The other eigenvalues are 0, and the other axes are the"
            " directions of largest variance that are orthogonal to the first axes."
        )
    return notes
