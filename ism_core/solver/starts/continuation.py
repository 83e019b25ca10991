"""The path from a wide kernel to a narrow one: each on the way begins where the one before has ended.

The median distance between rows of d columns is far too wide for their projection on a few: on digits at q = 2, an SVM
tells 59 % of the rows at σ = median, and 78 % at an eighth of it. But J of a narrow kernel has many poor maxima, and
the one that belongs to Φ0 is among them. From the median downwards, W is led past them. The ascents on the way are
short: a W that has settled fits the rows it was learnt from, and the next kernel moves it anyway.

Where neighbors count, the kernel has to be narrow beside the projected rows, and the path begins there. With them, W
gets better the longer it climbs: on 8,000 rows of MNIST at q = 2, 73 % with 10 steps for each width, 75 % with 40. So
climbs are short only while widths are compared on few rows.
"""

import math
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count, takewhile

import numpy as np

from ism_core.arrays import Array
from ism_core.engines.threads import own_threads
from ism_core.kernels import Gaussian, Kernel, Multiquadratic, Narrowing, Polynomial, median_distance
from ism_core.objective import COARSE_TOLERANCE, NeighborProblem, Problem
from ism_core.solver.ascent.lbfgs import climb
from ism_core.solver.ascent.spectral import ascend
from ism_core.solver.progress import drain, relay
from ism_core.solver.result import Step
from ism_core.solver.starts.initial_surrogate import first
from ism_core.solver.starts.search import Start, grown

STEP = math.sqrt(0.5)  # from one width to the next
OF_NEIGHBORS = 0.5  # of the median distance between rows that Φ0 projects: where the path begins if neighbors count
NEAR = 0.75  # of the widest: kernels that are no narrower need no path
DELTA, ITERATIONS = 0.05, 8  # of the ascents on the way
SHORT, LONG = 1.0, 0.1  # the delta of climbs, where neighbors count
ITERATIONS_OF_NEIGHBORS = 60
FLOPS = 5e9  # of a step: if it costs more, the way is gone on a sample of the rows


def opened(kernel: Kernel | str) -> Narrowing | None:
    """A kernel whose width is to be chosen; None where it is given."""
    match kernel:
        case "auto":
            return Gaussian()
        case Gaussian(sigma="auto") | Multiquadratic(c="auto") | Polynomial(gamma="auto"):
            return kernel
        case _:
            return None


def width(kernel: Narrowing) -> float:
    """How far apart projected rows are told apart."""
    match kernel:
        case Gaussian():
            return float(kernel.sigma)
        case Multiquadratic():
            return float(kernel.c)
        case Polynomial():
            return 1 / math.sqrt(float(kernel.gamma))


def with_width(kernel: Narrowing, width: float) -> Narrowing:
    """The same kernel, as wide as that."""
    match kernel:
        case Gaussian():
            return replace(kernel, sigma=width)
        case Multiquadratic():
            return replace(kernel, c=width)
        case Polynomial():
            return replace(kernel, gamma=width**-2)


def widest(kernel: Narrowing, X: Array, rng: np.random.Generator) -> float:
    """Where the path begins: the median distance between rows; for a polynomial, the root of the number of columns."""
    if isinstance(kernel, Polynomial):
        return math.sqrt(max(1, int(np.count_nonzero(np.ptp(X, axis=0)))))
    return median_distance(X, rng)


def widths(first: float) -> Iterator[float]:
    """The widths along the path, without end."""
    return (first * STEP**number for number in count())


def beginning(problem: Problem, rng: np.random.Generator) -> float:
    """The width that the path to the problem's kernel begins with."""
    kernel = problem.kernel
    assert isinstance(kernel, Narrowing)
    if isinstance(problem, NeighborProblem):
        return OF_NEIGHBORS * widest(kernel, problem.X @ first(problem).W, rng)
    return widest(kernel, problem.X, rng)


def path(problem: Problem, rng: np.random.Generator, *, asked: bool) -> list[Kernel]:
    """The kernels on the way to the problem's, which is the last; one that needs no path, or has none, is alone on it.

    Unless a path was asked for, only narrow gaussians have one.
    """
    kernel = problem.kernel
    if not isinstance(kernel, Narrowing if asked else Gaussian):
        return []
    begin, end = beginning(problem, rng), width(kernel)
    if end >= NEAR * begin:
        return [kernel] if asked else []
    before = takewhile(lambda each: each * STEP**0.5 >= end, widths(begin))
    return [*(with_width(kernel, each) for each in before), kernel]


def along(problem: Problem, kernels: Iterable[Kernel], delta: float = SHORT) -> Iterator[Array]:
    """The W that each of the kernels leads to, from Φ0 on; the delta is that of climbs."""
    start: Start | None = None
    for kernel in kernels:
        start = drain(_leg(problem, kernel, start, delta))
        yield start.W


def follow(problem: Problem, kernels: Sequence[Kernel]) -> Generator[Step, None, Start]:
    """The same way to its end; yields the steps, numbered by their kernel."""
    start: Start | None = None
    for number, kernel in enumerate(kernels):
        numbered = partial(replace, stage="search", iteration=number)
        start = yield from relay(_leg(problem, kernel, start, LONG), numbered)
    assert start is not None
    return start


def _leg(problem: Problem, kernel: Kernel, start: Start | None, delta: float) -> Generator[Step, None, Start]:
    """One kernel, from where another has led or from Φ0."""
    each = Problem.of(problem.X, problem.gamma, kernel, problem.q, problem.null_directions, problem.options)
    if start is None:
        with own_threads():
            start = Start(first(each).W)
    if isinstance(each, NeighborProblem):
        climbed = yield from climb(each, start.W, delta, ITERATIONS_OF_NEIGHBORS)
        return Start(climbed.W)
    rough = each.within([COARSE_TOLERANCE], start.W)
    point = (yield from ascend(rough, start.W, DELTA, ITERATIONS, known=start.model)).point
    return Start(point.W, point.model)


def descend(
    problem: Problem, kernels: list[Kernel], rng: np.random.Generator, tolerances: tuple[float, ...], delta: float
) -> Generator[Step, None, Start]:
    """Where to begin on all rows with the last of the kernels: after the path, on a sample where there are many."""
    inexact = problem.in_precision("single")  # which is enough on the way
    few = inexact.sampled(problem.rows_within(FLOPS), rng)
    if few is inexact:
        return Start((yield from follow(few, kernels[:-1])).W)
    start = yield from follow(few, kernels)
    return (yield from grown(problem, start, len(few.X), len(kernels), delta, rng, tolerances))
