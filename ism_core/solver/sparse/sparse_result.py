"""A solved W made readable: axes of few features in its place, and what is known of them."""

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from ism_core.arrays import Array
from ism_core.gamma import Gamma
from ism_core.linalg.subspaces import largest_angle
from ism_core.paradigms import Clustering
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint
from ism_core.solver.ascent.surrogate_model import SurrogateModel
from ism_core.solver.certificate import error
from ism_core.solver.memory import within_memory_limit
from ism_core.solver.options import SolveInput
from ism_core.solver.progress import ReturnCapture
from ism_core.solver.result import Certificate, Result, Sparsity, Step
from ism_core.solver.sparse.support_search import Features, Sparse, sparsified

ROUNDS = 20  # of a clustering and the axes for it


def readable(given: SolveInput, dense: Result, most: int) -> Generator[Step, None, Result]:
    """The result with at most so many features in each axis; yields a Step for each better one that is found.

    For a clustering, labels and axes then adapt to each other.
    """
    rng = np.random.default_rng(given.options.seed)
    clustering = None if dense.spectral is None else Clustering.of(dense.spectral)
    gamma, clustering = _regrouped(given, dense, given.X @ dense.W, clustering)
    options = given.options
    features = Features(given.X, gamma, dense.kernel, given.q, within_memory_limit(given, given.X), options.whitening)
    search = ReturnCapture(sparsified(features, dense.W, most, options.tolerances, rng))
    number = 0
    for number, sparse in enumerate(search, 1):
        yield _step(number - 1, sparse, features)
    found = search.value
    found, clustering = yield from _settled(given, dense, found, clustering, features, number)
    return _result(given, dense, found, clustering, features, most)


def _settled(
    given: SolveInput, dense: Result, found: Sparse, clustering: Clustering | None, features: Features, number: int
) -> Generator[Step, None, tuple[Sparse, Clustering | None]]:
    """With a clustering that belongs to the axes, and axes to the clustering."""
    yield _step(number, found, features)
    if clustering is None:
        return found, None
    for _ in range(ROUNDS):
        gamma, other = _regrouped(given, dense, found.problem.X @ found.axes.W, clustering)
        assert other is not None
        turned, clustering = largest_angle(clustering.Y, other.Y), other
        found = found.settled(found.problem.with_gamma(gamma).within(given.options.tolerances, found.axes.W))
        number += 1
        yield _step(number, found, features)
        if turned < given.options.delta:
            break
    return found, clustering


def _regrouped(given: SolveInput, dense: Result, P: Array, last: Clustering | None) -> tuple[Gamma, Clustering | None]:
    return given.paradigm.gamma_at(P, dense.kernel, given.options.seed, given.options.delta, last, given.evaluation)


def _step(number: int, sparse: Sparse, features: Features) -> Step:
    axes, W = sparse.axes, features.projecting(sparse.loadings)
    return Step("sparsity", 0, number, axes.objective, axes.values, None, None, axes.gradient, W)


def _result(
    given: SolveInput, dense: Result, found: Sparse, clustering: Clustering | None, features: Features, most: int
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
        labels=None if clustering is None else clustering.labels(given.options.seed),
        spectral=None if clustering is None else clustering.Y,
        sparsity=Sparsity(most, found.support, dense.objective),
    )
