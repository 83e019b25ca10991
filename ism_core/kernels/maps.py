"""The feature maps of a whole kernel: one `TermMap` for each of its terms, or None where a term has none.

A term has its exact map where there is one, else that of the approximation asked for.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ism_core.kernels.base import Kernel, Term
from ism_core.kernels.feature_maps import TermMap


def exact_maps(kernel: Kernel, q: int) -> list[TermMap] | None:
    """On q projected dimensions, where f and f′ of all terms are finite sums over features."""
    return _maps(kernel, lambda term: term.exact_map(q))


def taylor_maps(kernel: Kernel, q: int, degree: int) -> list[TermMap] | None:
    """With gaussians cut at a degree; how far that is off, `ism_core.objective.taylor_bound` knows."""
    return _maps(kernel, lambda term: term.exact_map(q) or term.taylor_map(q, degree))


def random_maps(kernel: Kernel, q: int, count: int, beta: float, rng: np.random.Generator) -> list[TermMap] | None:
    """With so many random features for each term that has no exact ones.

    `beta` is a typical squared distance between projected rows, such as twice the sum of the variances of P. It may be
    off by a factor of ten.
    """
    return _maps(kernel, lambda term: term.exact_map(q) or term.random_map(q, count, beta, rng))


def _maps(kernel: Kernel, map_of: Callable[[Term], TermMap | None]) -> list[TermMap] | None:
    maps: list[TermMap] = []
    for weight, term in kernel.terms:
        own = map_of(term)
        if own is None:
            return None
        maps.append(replace(own, weight=weight))
    return maps
