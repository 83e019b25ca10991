"""W of all rows of a model from their sums, in time that does not depend on the number of rows."""

from dataclasses import replace

import numpy as np

from ism_core.arrays import Array
from ism_core.engines import own_threads
from ism_core.kernels import Kernel, Power
from ism_core.linalg import Scaling, with_fixed_signs
from ism_core.solver.ascent import PolynomialMoments, is_stationary, iter_ascend
from ism_core.solver.certificate import certify
from ism_core.solver.reduction import notes_on
from ism_core.solver.result import Error, Result, Step, Stop, drain, relay
from ism_core.solver.updates.polish import polished
from ism_core.solver.updates.row_moments import RowMoments

DELTA = 1e-7  # convergence tolerance of the ascent, before the last digits
MAX_ITER = 2_000  # steps, each of which takes milliseconds


def solve_moments(moments: RowMoments, kernel: Kernel, axes: Array, seed: int) -> tuple[Scaling, Result]:
    """Return the scaling of the rows, and the maximum of J to which the present axes lead.

    Parameters
    ----------
    kernel
        The kernel of the model, with numbers.
    axes
        The present axes, d×q, for rows that are not scaled.
    """
    (d, q), scaling = axes.shape, moments.scaling()
    with own_threads():
        problem = _problem(moments, scaling, q)
        start = np.linalg.qr(axes * scaling.scale[:, None])[0]
    trace: list[Step] = []

    def kept(step: Step) -> Step:
        trace.append(replace(step, W=with_fixed_signs(step.W)))
        return step

    steps = iter_ascend(problem, start, DELTA, MAX_ITER)
    point, stop, _ = drain(relay(steps, kept))
    with own_threads():
        point = polished(problem, point)
        if is_stationary(point, DELTA):
            stop = Stop.CONVERGED
        certificate = certify(problem, point, np.random.default_rng(seed))
    rank = int(np.linalg.matrix_rank(problem.scatter, hermitian=True))
    rounding = float(np.finfo(np.float64).eps)
    return scaling, Result(
        W=with_fixed_signs(point.W),
        eigenvalues=point.eigenvalues,
        objective=point.objective,
        steps=tuple(trace),
        stop=stop,
        certificate=certificate,
        kernel=kernel,
        method="features",
        error=Error("rounding", rounding, rounding),
        warnings=tuple(notes_on(point, stop, rank, d)),
    )


def _problem(moments: RowMoments, scaling: Scaling, q: int) -> PolynomialMoments:
    """Return J and Φ of the rows."""
    d = len(scaling.mean)
    tensors = moments.tensors(scaling)
    C, s = moments.targets.weights(moments.counts)
    one = np.tensordot(moments.targets.one, tensors, axes=1)
    squares = one[(0,) * (moments.degree - 2)]
    weighted = np.tensordot(C, tensors, axes=1)
    terms = []
    for term in moments.terms:
        lower: tuple[slice | int, ...] = (slice(None), *(0,) * (moments.degree - term.degree))
        terms.append((Power(d, term.degree, term.gamma, term.c, term.weight), weighted[lower]))
    scatter = squares[1:, 1:] - np.outer(squares[0, 1:], squares[0, 1:]) / moments.rows
    return PolynomialMoments.of_tensors(terms, s, scatter, q)
