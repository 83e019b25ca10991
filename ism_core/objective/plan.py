"""Pick the evaluation strategy of a problem, by flops and memory."""

from collections.abc import Iterable

import numpy as np

from ism_core.arrays import Array
from ism_core.errors import InvalidInput
from ism_core.kernels import exact_maps, random_maps, taylor_maps
from ism_core.objective.data import ProblemData
from ism_core.objective.projections import ErrorBound, least_degree
from ism_core.objective.strategies import (
    AllPairs,
    ExactFeatures,
    RandomFeatures,
    Strategy,
    TruncatedFeatures,
    half_gradient_flops,
)

COARSE_TOLERANCE = 3e-2  # error of Φ outside span(W), relative to ‖Φ(W)W‖, that does not slow an ascent down
OBJECTIVE_SHARE = 0.1  # tolerance of J relative to that of Φ(W)W
MARGIN = 0.5  # the degree is chosen for this share of the tolerance, because the error grows while W moves
SIZE_ROWS = 500  # rows from which |J| and ‖Φ(W)W‖ are estimated


def exact_strategy(data: ProblemData) -> Strategy:
    """Return the cheapest exact strategy: the kernel's finite feature maps, or all pairs."""
    maps = exact_maps(data.kernel, data.q)
    return AllPairs(data) if maps is None else _cheaper(ExactFeatures(data, maps))


def strategy_within(
    data: ProblemData, tolerances: Iterable[float], W: Array, size: ErrorBound | None = None
) -> Strategy:
    """Return the cheapest strategy for W and its neighborhood, for a kernel without exact feature maps.

    Parameters
    ----------
    tolerances
        Relative errors of J and Φ(W)W that are allowed, in order of preference. The first that makes truncated features
        cheaper than all pairs is taken; if none does, the strategy is exact.
    size
        |J| and ‖Φ(W)W‖; estimated from a sample of the rows if they are not given.
    """
    if data.options.features is not None:
        return _random_features(data, data.options.features, W)
    pairs = AllPairs(data)
    if pairs.is_small or taylor_maps(data.kernel, data.q, 0) is None:
        return pairs
    norms, size = data.projections.norms(W, data.gamma), size or _estimated_size(data, W)
    affordable = int(pairs.cost.half_gradient / (half_gradient_flops(data, 1) - half_gradient_flops(data, 0)))
    for tolerance in tolerances:
        allowed = ErrorBound(OBJECTIVE_SHARE * tolerance * size.objective, MARGIN * tolerance * size.gradient)
        degree = least_degree(data.kernel, data.q, norms, allowed, affordable) if tolerance > 0 else None
        if degree is None:
            continue
        enough = ErrorBound(np.inf, COARSE_TOLERANCE * size.gradient)
        coarse = least_degree(data.kernel, data.q, norms, enough, affordable) or 0
        maps, fewer = (taylor_maps(data.kernel, data.q, each) for each in (degree, min(degree, coarse)))
        assert maps is not None
        return _cheaper(TruncatedFeatures(data, maps, tolerance, None if fewer == maps else fewer))
    return pairs


def _random_features(data: ProblemData, count: int, W: Array) -> RandomFeatures:
    beta = 2 * float(np.var(data.X @ W, axis=0).sum())
    maps = random_maps(data.kernel, data.q, count, beta, np.random.default_rng(data.options.seed))
    if maps is None:
        raise InvalidInput(
            "approximation",
            "The relative gaussian kernel has no random features, since its width differs from row to row;"
            " leave out the approximation, or take another kernel.",
        )
    return RandomFeatures(data, maps, W)


def _cheaper(features: ExactFeatures) -> Strategy:
    """Return these features, or all pairs if these are faster or the features do not fit into memory."""
    pairs, spare = AllPairs(features.data), features.data.options.spare
    fits = spare is None or features.cost.bytes <= spare
    return features if fits and features.cost.ascent <= pairs.cost.ascent else pairs


def _estimated_size(data: ProblemData, W: Array) -> ErrorBound:
    """Estimate |J| and ‖Φ(W)W‖ from a sample of the rows."""
    sample = data
    if len(data.X) > SIZE_ROWS:
        sample = data.restricted(data.gamma.sample(SIZE_ROWS, np.random.default_rng(data.options.seed)))
    half_gradient, objective = exact_strategy(sample).half_gradient(W)
    scale = (len(data.X) / len(sample.X)) ** 2
    return ErrorBound(scale * abs(objective), scale * float(np.linalg.norm(half_gradient)))
