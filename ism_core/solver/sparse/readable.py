"""A solved W made readable: axes of few features in its place, and what is known of them."""

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from ism_core.arrays import Array, is_whole
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma
from ism_core.linalg.subspaces import largest_angle
from ism_core.paradigms import Clustering
from ism_core.scaling import Whitening
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint
from ism_core.solver.ascent.surrogate_model import SurrogateModel
from ism_core.solver.certificate import error
from ism_core.solver.memory import Shape, spare_bytes
from ism_core.solver.options import Arguments
from ism_core.solver.result import Certificate, Result, Sparsity, Step
from ism_core.solver.sparse.sparsity import Features, Sparse, sparsified

ROUNDS = 20  # of a clustering and the axes for it


def check_features_per_axis(most: int | None, q: int, whitening: Whitening | None) -> None:
    """Whether there are axes of so many features."""
    if most is None:
        return
    if not is_whole(most) or most < 1:
        raise InvalidInput(
            "features_per_axis",
            f"features_per_axis is {most!r}; it must be a whole number of 1 or more, or None for axes of all features.",
        )
    if whitening is not None and most < q:
        raise InvalidInput(
            "features_per_axis",
            f"features_per_axis is {most} and q is {q}; where X is whitened, each axis needs at least q features to be"
            f' uncorrelated with the others. Raise it to {q}, or set scale to "standard".',
        )


def readable(given: Arguments, dense: Result, most: int, whitening: Whitening | None) -> Generator[Step, None, Result]:
    """The result with at most so many features in each axis; yields a Step for each better one that is found.

    For a clustering, labels and axes then adapt to each other.
    """
    rng = np.random.default_rng(given.seed)
    clustering = None if dense.spectral is None else Clustering.of(dense.spectral)
    gamma, clustering = _regrouped(given, dense, given.table @ dense.W, clustering)
    n, d = given.table.shape
    shape = Shape(n, d, given.q, given.paradigm.rank, given.paradigm.alternates)
    options = replace(given.options, spare=spare_bytes(shape, given.table, given.memory_limit))
    features = Features(given.table, gamma, dense.kernel, given.q, options, whitening)
    steps = sparsified(features, dense.W, most, given.tolerances, rng)
    number = 0
    while True:
        try:
            sparse = next(steps)
        except StopIteration as end:
            found: Sparse = end.value
            break
        yield _step(number, sparse, features)
        number += 1
    found, clustering = yield from _settled(given, dense, found, clustering, features, number)
    return _result(given, dense, found, clustering, features, most)


def _settled(
    given: Arguments, dense: Result, found: Sparse, clustering: Clustering | None, features: Features, number: int
) -> Generator[Step, None, tuple[Sparse, Clustering | None]]:
    """With a clustering that belongs to the axes, and axes to the clustering."""
    yield _step(number, found, features)
    if clustering is None:
        return found, None
    for _ in range(ROUNDS):
        gamma, other = _regrouped(given, dense, found.problem.X @ found.axes.W, clustering)
        assert other is not None
        turned, clustering = largest_angle(clustering.Y, other.Y), other
        found = found.settled(found.problem.with_gamma(gamma).within(given.tolerances, found.axes.W))
        number += 1
        yield _step(number, found, features)
        if turned < given.delta:
            break
    return found, clustering


def _regrouped(given: Arguments, dense: Result, P: Array, last: Clustering | None) -> tuple[Gamma, Clustering | None]:
    return given.paradigm.gamma_at(P, dense.kernel, given.seed, given.delta, last, given.options)


def _step(number: int, sparse: Sparse, features: Features) -> Step:
    axes, W = sparse.axes, features.projecting(sparse.loadings)
    return Step("sparsity", 0, number, axes.objective, axes.values, None, None, axes.gradient, W)


def _result(
    given: Arguments, dense: Result, found: Sparse, clustering: Clustering | None, features: Features, most: int
) -> Result:
    problem, axes, V = found.problem, found.axes, found.loadings
    signs = np.sign(V[np.argmax(np.abs(V), axis=0), np.arange(given.q)])
    W = features.projecting(V * signs)
    point = EvaluatedPoint(
        axes.W, SurrogateModel(axes.phi, problem, given.q), axes.phi @ axes.W, axes.objective, axes.values
    )
    orthonormality = float(np.abs(W.T @ W - np.eye(given.q)).max())
    return replace(
        dense,
        W=W,
        eigenvalues=axes.values,
        objective=axes.objective,
        certificate=Certificate(axes.gradient, None, orthonormality, None, False),
        method=problem.method,
        error=error(problem, point),
        labels=None if clustering is None else clustering.labels(given.seed),
        spectral=None if clustering is None else clustering.Y,
        sparsity=Sparsity(most, found.support, dense.objective),
    )
