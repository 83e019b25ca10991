"""The path from a wide kernel to a narrow one: each on the way begins where the one before has ended.

The median distance between rows of d columns is far too wide for their projection on a few: on digits at q = 2, an SVM
tells 59 % of the rows at σ = median, and 78 % at an eighth of it. But J of a narrow kernel has many poor maxima, and
the one that belongs to Φ0 is among them. From the median downwards, W is led past them. The ascents on the way are
short: a W that has settled fits the rows it was learnt from, and the next kernel moves it anyway.

Where neighbours count, the kernel has to be narrow beside the projected rows, and the path begins there.
"""

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ism_core.arrays import Array
from ism_core.ascent import ascend, drained
from ism_core.distances import median_distance
from ism_core.first import first
from ism_core.gamma import NeighbourGamma
from ism_core.kernel import Kernel
from ism_core.kernels import Gaussian, Multiquadratic, Narrowing, Polynomial
from ism_core.point import Point
from ism_core.result import Step
from ism_core.starts import Start, grown
from ism_core.surrogate import ROUGH, Problem
from ism_core.threads import own_threads

STEP = math.sqrt(0.5)  # from one width to the next
OF_NEIGHBOURS = 0.5  # of the median distance between rows that Φ0 projects: where the path begins if neighbours count
NEAR = 0.75  # of the widest: kernels that are no narrower need no path
DELTA = 0.05  # of the ascents on the way
ITERATIONS = 8
FLOPS = 5e9  # of a Φ: if it costs more, the way is gone on a sample of the rows


def opened(kernel: Kernel | str) -> Narrowing | None:
    """A kernel whose width is to be chosen; None where it is given."""
    match kernel:
        case "auto":
            return Gaussian()
        case Gaussian(sigma="auto") | Multiquadratic(c="auto") | Polynomial(gamma="path"):
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
    while True:
        yield first
        first *= STEP


def beginning(problem: Problem, rng: np.random.Generator) -> float:
    """The width that the path to the problem's kernel begins with."""
    kernel = problem.kernel
    assert isinstance(kernel, Narrowing)
    if isinstance(problem.gamma, NeighbourGamma):
        return OF_NEIGHBOURS * widest(kernel, problem.X @ first(problem).W, rng)
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
    before: list[Kernel] = []
    for each in widths(begin):
        if each * STEP**0.5 < end:
            return [*before, kernel]
        before.append(with_width(kernel, each))
    raise AssertionError


def follow(problem: Problem, kernels: Sequence[Kernel], W: Array | None = None) -> Generator[Step, None, Point]:
    """Along the kernels, from W or from Φ0; yields a Step for each."""
    point: Point | None = None
    for number, kernel in enumerate(kernels):
        each = Problem.of(problem.X, problem.gamma, kernel, problem.q, problem.empty, problem.means)
        if W is None:
            with own_threads():
                W = first(each).W
        known = None if point is None else point.model
        point = drained(ascend(each.within([ROUGH], W), W, DELTA, ITERATIONS, known=known)).point
        W = point.W
        yield Step("search", 0, number, point.objective, point.eigenvalues, None, None, point.gradient, W)
    assert point is not None
    return point


def descend(
    problem: Problem, kernels: list[Kernel], rng: np.random.Generator, tolerances: tuple[float, ...], delta: float
) -> Generator[Step, None, Start]:
    """Where to begin on all rows with the last of the kernels: after the path, on a sample where there are many."""
    rows = problem.rows_within(FLOPS)
    few = problem.sampled(rows, rng)
    if few is problem:  # what is computed on the way need not be exact
        point = yield from follow(replace(problem, means=replace(problem.means, precision="single")), kernels[:-1])
        return Start(point.W)
    point = yield from follow(few, kernels)
    return (yield from grown(problem, point, len(few.X), len(kernels), delta, rng, tolerances))
