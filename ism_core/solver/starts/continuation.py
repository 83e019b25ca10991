"""Continuation from a wide kernel to a narrow one: each ascent starts where the one before has ended.

The median distance between rows of d columns is far too wide for their projection on a few: on digits at q = 2, an SVM
classifies 59 % of the rows correctly at σ = median, and 78 % at an eighth of it. But J of a narrow kernel has many poor
maxima, and Φ0 leads to one of them. The path from the median downwards passes them by. Its ascents are short: a W that
has converged fits the rows it was learned from, and the next kernel moves it anyway.

If neighbors count, the kernel must be narrow compared with the distances of the projected rows, and the path begins
there. Then W improves with longer ascents: on 8,000 rows of MNIST at q = 2, 73 % with 10 steps for each width, 75 %
with 40. So ascents are short only while widths are compared on few rows.
"""

import math
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count, takewhile
from typing import Any

import numpy as np

from ism_core.arrays import Array
from ism_core.engines import own_threads
from ism_core.kernels import Gaussian, Kernel, KernelWithWidth, Multiquadratic, Polynomial, median_distance
from ism_core.objective import COARSE_TOLERANCE, NeighborProblem, Problem
from ism_core.solver.ascent import LbfgsAscent, Move, fixed_gamma_method, iter_moves
from ism_core.solver.options import SolveOptions
from ism_core.solver.result import Step, relay
from ism_core.solver.starts.candidates import initial_surrogate
from ism_core.solver.starts.search import Start, iter_grow

WIDTH_RATIO = math.sqrt(0.5)  # of two successive widths
NEIGHBOR_WIDTH = 0.5  # of the median distance between rows projected by Φ0: the first width if neighbors count
WIDE_KERNEL = 0.75  # of the first width: wider kernels need no path
PATH_DELTA, PATH_STEPS = 0.05, 8  # tolerance and steps of the ascents on the path
COARSE_ASCENT_DELTA, FINE_ASCENT_DELTA = 1.0, 0.1  # tolerances of the ascents on the path if Γ counts neighbors
ASCENT_STEPS = 60  # steps of these ascents at most
PATH_FLOPS = 5e9  # flops of Φ beyond which a sample of the rows follows the path


def kernel_with_automatic_width(kernel: Kernel | str) -> KernelWithWidth | None:
    """The kernel if its width is to be chosen; None if it is given."""
    match kernel:
        case "auto":
            return Gaussian()
        case Gaussian(sigma="auto") | Multiquadratic(c="auto") | Polynomial(gamma="auto"):
            return kernel
        case _:
            return None


def kernel_width(kernel: KernelWithWidth) -> float:
    """The distance at which the kernel tells projected rows apart."""
    match kernel:
        case Gaussian():
            return float(kernel.sigma)
        case Multiquadratic():
            return float(kernel.c)
        case Polynomial():
            return 1 / math.sqrt(float(kernel.gamma))


def with_width(kernel: KernelWithWidth, width: float) -> KernelWithWidth:
    """The same kernel with another width."""
    match kernel:
        case Gaussian():
            return replace(kernel, sigma=width)
        case Multiquadratic():
            return replace(kernel, c=width)
        case Polynomial():
            return replace(kernel, gamma=width**-2)


def widest_width(kernel: KernelWithWidth, X: Array, rng: np.random.Generator) -> float:
    """The median distance between the rows of a table; for a polynomial, the root of its number of varying columns."""
    if isinstance(kernel, Polynomial):
        return math.sqrt(max(1, int(np.count_nonzero(np.ptp(X, axis=0)))))
    return median_distance(X, rng)


def first_width(problem: Problem, X: Array, rng: np.random.Generator) -> float:
    """The first width on the path to the problem's kernel; X is the table whose row space the problem may be in."""
    kernel = problem.kernel
    assert isinstance(kernel, KernelWithWidth)
    if isinstance(problem, NeighborProblem):
        return NEIGHBOR_WIDTH * widest_width(kernel, problem.X @ initial_surrogate(problem).W, rng)
    in_memory = problem.data.far is None  # otherwise X is a sample
    return widest_width(kernel, problem.X if in_memory and not isinstance(kernel, Polynomial) else X, rng)


def path_widths(first: float) -> Iterator[float]:
    """Yield the widths along a path without end."""
    return (first * WIDTH_RATIO**number for number in count())


def path_kernels(problem: Problem, X: Array, rng: np.random.Generator, *, asked: bool) -> list[Kernel]:
    """The kernels on the path to the problem's, which is the last; nothing if it needs no path.

    A path that was asked for has at least one kernel. Otherwise only narrow Gaussians have a path.
    """
    kernel = problem.kernel
    if not isinstance(kernel, KernelWithWidth if asked else Gaussian):
        return []
    first, last = first_width(problem, X, rng), kernel_width(kernel)
    if last >= WIDE_KERNEL * first:
        return [kernel] if asked else []
    before = takewhile(lambda width: width * WIDTH_RATIO**0.5 >= last, path_widths(first))
    return [*(with_width(kernel, width) for width in before), kernel]


def iter_path_points(
    problem: Problem, kernels: Iterable[Kernel], delta: float = COARSE_ASCENT_DELTA, W: Array | None = None
) -> Iterator[Array | None]:
    """Yield the W that each of the kernels leads to, and None after each step on the way.

    The first kernel starts from Φ0, and each of the others from the W before. If W is given, all of them start from it.
    `delta` is for ascents whose neighbors count.
    """
    start = None if W is None else Start(W)
    for kernel in kernels:
        found = yield from relay(_iter_leg(problem, kernel, start, delta), _nothing)
        yield found.W
        start = found if W is None else start


def _nothing(_: Move[Any]) -> None:
    """Hide the moves of an ascent."""


def iter_continuation(
    problem: Problem, kernels: list[Kernel], options: SolveOptions, rng: np.random.Generator
) -> Generator[Step, None, Start]:
    """Follow the path, on a sample if there are many rows; return the start for all rows and the last kernel."""
    single = problem.in_precision("single")  # exact enough for the path
    few = single.sampled(problem.rows_within(PATH_FLOPS), rng)
    if few is single:
        return Start((yield from _iter_path(few, kernels[:-1])).W)
    start = yield from _iter_path(few, kernels)
    return (yield from iter_grow(problem, start, len(few.X), len(kernels), options, rng))


def _iter_path(problem: Problem, kernels: Sequence[Kernel]) -> Generator[Step, None, Start]:
    """Follow the path; number the steps by their kernel."""
    start: Start | None = None
    for number, kernel in enumerate(kernels):
        start = yield from relay(_iter_leg(problem, kernel, start, FINE_ASCENT_DELTA), partial(_as_search, number))
    assert start is not None
    return start


def _as_search(number: int, move: Move[Any]) -> Step:
    return replace(move.as_step(), stage="search", iteration=number)


def _iter_leg(problem: Problem, kernel: Kernel, start: Start | None, delta: float) -> Generator[Move[Any], None, Start]:
    """Climb with one kernel, from the W of the last one or from Φ0."""
    leg = Problem.of(problem.X, problem.gamma, kernel, problem.q, problem.null_directions, problem.options)
    if start is None:
        with own_threads():
            start = Start(initial_surrogate(leg).W)
    if isinstance(leg, NeighborProblem):
        return Start((yield from iter_moves(LbfgsAscent(leg, delta), start.W, ASCENT_STEPS)).point.W)
    coarse = leg.within([COARSE_TOLERANCE], start.W)
    method = fixed_gamma_method(coarse, PATH_DELTA, start.phi)
    point = (yield from iter_moves(method, start.W, PATH_STEPS)).point
    return Start(point.W, point.phi)
