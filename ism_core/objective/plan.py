"""Pick the evaluation strategy of a problem, by flops and memory."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ism_core.arrays import Array
from ism_core.engines import allowed_threads
from ism_core.errors import InvalidInput
from ism_core.kernels import exact_maps, random_maps, taylor_maps
from ism_core.linalg import eigenpairs
from ism_core.objective.data import ObjectiveData, ProblemData
from ism_core.objective.strategies import (
    AllPairs,
    ExactFeatures,
    RandomFeatures,
    Strategy,
    TruncatedFeatures,
    half_gradient_flops,
)
from ism_core.objective.truncation import Magnitudes, ProjectedNorms, Truncation, cheapest_truncation, least_degree

COARSE_TOLERANCE = 3e-2  # error of Φ outside span(W), relative to ‖Φ(W)W‖, that does not slow an ascent down
OBJECTIVE_SHARE = 0.1  # tolerance of J relative to that of Φ(W)W
DEGREE_MARGIN = 0.5  # the degree is chosen for this share of the tolerance, because the error grows while W moves
FAR_GAIN = 2  # far rows are paired exactly only if that divides the flops by at least this
PREFERENCE = 4  # with far rows, a preferred tolerance may cost up to this many times the cheapest one
TYPICAL_DEGREE = 5  # of truncated features of partitions, to estimate costs before W is known
MOST_FEATURES = 10_000  # of rows in partitions
MOST_FEATURE_BYTES = 2**29  # of the moments of rows in partitions, on all threads
SIZE_ROWS = 500  # rows from which |J| and ‖Φ(W)W‖ are estimated


def first_strategy(data: ObjectiveData) -> Strategy:
    """Return the strategy before W is known: the cheapest exact one; for partitions, features of a typical degree."""
    if isinstance(data, ProblemData):
        return exact_strategy(data)
    maps = exact_maps(data.kernel, data.q)
    if maps is not None:
        return ExactFeatures(data, maps)
    if data.options.features is not None:
        return _random_features(data, data.options.features, eigenpairs(data.scatter, data.q)[1])
    maps = taylor_maps(data.kernel, data.q, TYPICAL_DEGREE)
    if maps is None:
        raise InvalidInput(
            "kernel",
            "This kernel has no features, which a table in partitions needs; take a Gaussian, polynomial, linear or"
            ' squared kernel, or give approximation={"features": 1024}.',
        )
    return TruncatedFeatures(data, maps)


def exact_strategy(data: ProblemData) -> Strategy:
    """Return the cheapest exact strategy: the kernel's finite feature maps, or all pairs."""
    maps = exact_maps(data.kernel, data.q)
    return AllPairs(data) if maps is None else _cheaper(ExactFeatures(data, maps))


def strategy_within(
    data: ObjectiveData, tolerances: Iterable[float], W: Array, size: Magnitudes | None = None
) -> Strategy:
    """Return the cheapest strategy for W and its neighborhood, for a kernel without exact feature maps.

    Parameters
    ----------
    tolerances
        Relative errors of J and Φ(W)W that are allowed, in order of preference. Without far rows, the first one for
        which truncated features are cheaper than all pairs is used. If exact pairs of far rows make truncation at least
        FAR_GAIN times cheaper, they are used, with the first tolerance whose cost is at most PREFERENCE times the
        lowest cost. If there is none, the strategy is exact.
    size
        |J| and ‖Φ(W)W‖; estimated from a sample of the rows if they are not given.
    """
    if data.options.features is not None:
        return _random_features(data, data.options.features, W)
    if not isinstance(data, ProblemData):
        return _features_within(data, tolerances, W, size)
    pairs = AllPairs(data)
    if pairs.is_small or taylor_maps(data.kernel, data.q, 0) is None:
        return pairs
    planner = _Truncations(data, data.norms_at(W), size or _estimated_size(data, W))
    possible = [tolerance for tolerance in tolerances if tolerance > 0]
    for tolerance in possible:
        plain = planner.without_far_rows(tolerance)
        if plain is not None:
            if planner.with_far_rows([tolerance], plain.flops) is None:
                return _cheaper(planner.strategy(plain))
            # Exact pairs of far rows reduce the cost, so compare all tolerances again.
            return _cheaper(planner.strategy(planner.with_far_rows(possible, plain.flops) or plain))
    found = planner.with_far_rows(possible, pairs.cost.half_gradient)
    return pairs if found is None else _cheaper(planner.strategy(found))


def _features_within(
    data: ObjectiveData, tolerances: Iterable[float], W: Array, size: Magnitudes | None
) -> TruncatedFeatures:
    """Return truncated features for rows in partitions, whose pairs are never summed: the first tolerance that fits."""
    planner = _Truncations(data, data.norms_at(W), size or _estimated_size(data, W))
    columns = data.shape[1] + data.q + 2
    most = MOST_FEATURE_BYTES // (8 * len(data.gamma.s) * columns * (allowed_threads() + 2))
    for tolerance in tolerances:
        plain = None if tolerance <= 0 else planner.without_far_rows(tolerance, min(most, MOST_FEATURES))
        if plain is not None:
            return planner.strategy(plain)
    raise InvalidInput(
        "kernel",
        f"The Gaussian is too narrow for the Taylor series that a table in partitions needs: at q = {data.q} it takes"
        f" more than {min(most, MOST_FEATURES):,} features. Give a larger sigma, a smaller q, or"
        ' approximation={"features": 1024}.',
    )


@dataclass(frozen=True)
class _Truncations:
    """The ways to truncate the features of a problem."""

    data: ObjectiveData
    norms: ProjectedNorms
    size: Magnitudes  # |J| and ‖Φ(W)W‖

    def without_far_rows(self, tolerance: float, most_features: int | None = None) -> Truncation | None:
        """Return the least degree for a tolerance; None if it takes too many features: by default, more than pairs."""
        kernel, q = self.data.kernel, self.data.q
        if most_features is None:
            most_features = int(self._pairs.cost.half_gradient / self._feature_flops)
        degree = least_degree(kernel, q, self.norms, self._allowed(tolerance), most_features)
        if degree is None:
            return None
        return Truncation(tolerance, degree, self.norms, self._feature_flops * math.comb(q + degree, degree))

    def with_far_rows(self, tolerances: Sequence[float], flops: float) -> Truncation | None:
        """Return a truncation that divides `flops` by FAR_GAIN; None if there is none.

        Of these, return the first whose tolerance costs at most PREFERENCE times the cheapest.
        """
        pair_flops = self._pairs.cost.half_gradient / self.data.shape[0] ** 2
        costs = self._feature_flops, pair_flops, flops / FAR_GAIN
        possible = [
            cheapest_truncation(self.data.kernel, self.data.q, self.norms, tolerance, self._allowed(tolerance), *costs)
            for tolerance in tolerances
        ]
        found = [each for each in possible if each is not None]
        most = PREFERENCE * min((each.flops for each in found), default=0.0)
        return next((each for each in found if each.flops <= most), None)

    def strategy(self, truncation: Truncation) -> TruncatedFeatures:
        """Return the strategy, with the least degree for Φ that does not slow an ascent down."""
        kernel, q = self.data.kernel, self.data.q
        enough = Magnitudes(np.inf, COARSE_TOLERANCE * self.size.gradient)
        coarse = least_degree(kernel, q, truncation.norms, enough, math.comb(q + truncation.degree, q))
        maps = taylor_maps(kernel, q, truncation.degree)
        assert maps is not None
        fewer = None if coarse in (None, truncation.degree) else taylor_maps(kernel, q, coarse)
        return TruncatedFeatures(self.data, maps, truncation.tolerance, fewer, truncation.norms.far)

    def _allowed(self, tolerance: float) -> Magnitudes:
        return Magnitudes(
            OBJECTIVE_SHARE * tolerance * self.size.objective, DEGREE_MARGIN * tolerance * self.size.gradient
        )

    @cached_property
    def _pairs(self) -> AllPairs:
        assert isinstance(self.data, ProblemData)
        return AllPairs(self.data)

    @cached_property
    def _feature_flops(self) -> float:
        return half_gradient_flops(self.data, 1) - half_gradient_flops(self.data, 0)


def _random_features(data: ObjectiveData, count: int, W: Array) -> RandomFeatures:
    beta = 2 * data.variance_along(W)
    maps = random_maps(data.kernel, data.q, count, beta, np.random.default_rng(data.options.seed))
    if maps is None:
        raise InvalidInput(
            "approximation",
            "The relative Gaussian kernel has no random features, since its width differs from row to row;"
            " leave out the approximation, or take another kernel.",
        )
    return RandomFeatures(data, maps, W)


def _cheaper(features: ExactFeatures) -> Strategy:
    """Return these features, or all pairs if the pairs are faster or the features do not fit into memory."""
    assert isinstance(features.data, ProblemData)
    pairs, spare = AllPairs(features.data), features.data.options.spare_bytes
    fits = spare is None or features.cost.bytes <= spare
    return features if fits and features.cost.ascent <= pairs.cost.ascent else pairs


def _estimated_size(data: ObjectiveData, W: Array) -> Magnitudes:
    """Estimate |J| and ‖Φ(W)W‖ from a sample of the rows."""
    sample = data.sampled(SIZE_ROWS, np.random.default_rng(data.options.seed))
    half_gradient, objective = exact_strategy(sample).half_gradient(W)
    scale = (data.shape[0] / len(sample.X)) ** 2
    return Magnitudes(scale * abs(objective), scale * float(np.linalg.norm(half_gradient)))
