"""A solved W with a limit on the features of each axis, and what is known of it."""

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from ism_core.arrays import Array
from ism_core.gamma import Gamma
from ism_core.linalg import largest_angle, with_fixed_signs
from ism_core.paradigms import Clustering
from ism_core.solver.ascent import EvaluatedPoint
from ism_core.solver.certificate import error
from ism_core.solver.memory import within_memory_limit
from ism_core.solver.options import SolveInput
from ism_core.solver.result import Certificate, Result, ReturnCapture, Sparsity, Step
from ism_core.solver.sparse.support_search import FeatureProblems, Sparse, iter_sparsify

MOST_ROUNDS = 20  # of a clustering and the axes for it


def iter_sparse_result(given: SolveInput, dense: Result, most: int) -> Generator[Step, None, Result]:
    """Limit each axis of a result to `most` features; yield a Step for each better W that is found.

    Labels of a clustering and the axes then adapt to each other.
    """
    rng, options = np.random.default_rng(given.options.seed), given.options
    clustering = None if dense.spectral is None else Clustering.of(dense.spectral)
    gamma, clustering = _gamma_at(given, dense, given.X @ dense.W, clustering)
    evaluation = within_memory_limit(given, given.X)
    features = FeatureProblems(given.X, gamma, dense.kernel, given.q, evaluation, options.whitening)
    search = ReturnCapture(iter_sparsify(features, dense.W, most, options.tolerances, rng))
    number = 0
    for sparse in search:
        yield _step(number, sparse, features)
        number += 1
    found, clustering = yield from _iter_alternate(given, dense, search.value, clustering, features, number)
    return _result(given, dense, found, clustering, features, most)


def _iter_alternate(
    given: SolveInput,
    dense: Result,
    found: Sparse,
    clustering: Clustering | None,
    features: FeatureProblems,
    number: int,
) -> Generator[Step, None, tuple[Sparse, Clustering | None]]:
    """Adapt the clustering to the axes and the axes to the clustering, in turn."""
    yield _step(number, found, features)
    if clustering is None:
        return found, None
    for _ in range(MOST_ROUNDS):
        gamma, other = _gamma_at(given, dense, found.problem.X @ found.axes.W, clustering)
        assert other is not None
        turned, clustering = largest_angle(clustering.Y, other.Y), other
        found = found.settled(found.problem.with_gamma(gamma).within(given.options.tolerances, found.axes.W))
        number += 1
        yield _step(number, found, features)
        if turned < given.options.delta:
            break
    return found, clustering


def _gamma_at(given: SolveInput, dense: Result, P: Array, last: Clustering | None) -> tuple[Gamma, Clustering | None]:
    return given.paradigm.gamma_at(P, dense.kernel, given.options.seed, given.options.delta, last, given.evaluation)


def _step(number: int, sparse: Sparse, features: FeatureProblems) -> Step:
    axes, W = sparse.axes, features.projection(sparse.loadings)
    return Step("sparsity", 0, number, axes.objective, axes.eigenvalues, None, None, axes.gradient, W)


def _result(
    given: SolveInput, dense: Result, found: Sparse, clustering: Clustering | None, features: FeatureProblems, most: int
) -> Result:
    problem, axes, V = found.problem, found.axes, found.loadings
    W = features.projection(with_fixed_signs(V))
    point = EvaluatedPoint(axes.W, axes.phi, axes.phi @ axes.W, axes.objective, axes.eigenvalues)
    orthonormality = float(np.abs(W.T @ W - np.eye(given.q)).max())
    return replace(
        dense,
        W=W,
        eigenvalues=axes.eigenvalues,
        objective=axes.objective,
        certificate=Certificate(axes.gradient, None, orthonormality, None, False),
        method=problem.method,
        error=error(problem, point),
        labels=None if clustering is None else given.paradigm.labels(clustering, given.options.seed)[0],
        spectral=None if clustering is None else clustering.Y,
        sparsity=Sparsity(most, found.support, dense.objective),
    )
