"""Sums over the features of a block of rows: by a matrix of features, or compiled, without storing one."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ism_core.arrays import Array, buffers
from ism_core.gamma import Features
from ism_core.kernels import Compilable, FeatureMap, Fourier, Recipe, Taylor
from ism_core.objective.pairs import load_compiled

COMPILED_NUMBERS = 2e7  # features of all rows from which a few passes save more time than importing numba takes
COMPILED_NUMBERS_OF_GAUSSIANS = 2e6  # the same for truncated and random features, which solves evaluate dozens of times
COMPILED_BLOCK = 1_024  # rows of a block of compiled sums
CACHED_NUMBERS = 2**16  # features that are made at a time: they stay in the second-level cache
CACHED_ROWS = (16, 128)  # fewest and most rows whose features are made at a time; multiples of 8
MARGIN = 16  # numbers and rows by which the last piece of a compiled product may exceed an array


def are_compiled(maps: list[FeatureMap], rows: int) -> bool:
    """Return whether sums over this number of rows are compiled, for some of the maps."""
    return any(_pays(each, rows) for each in maps) and load_compiled("features") is not None


def features_of(map: FeatureMap, P: Array, rows: int) -> Features:
    """Return the features of P, a block of `rows` rows in all; they are valid until this thread asks for others."""
    module = load_compiled("features") if _pays(map, rows) else None
    if module is not None and isinstance(map, Compilable):
        return CompiledFeatures(module.over_features, map.recipe(P), map.count)
    return FeatureMatrix(map.of(P, buffers("features", np.float64, 1, map.numbers_per_row * len(P))[0]))


@dataclass(frozen=True)
class FeatureMatrix:
    """Sums by a matrix F of features. The BLAS is faster if the longer side of a product comes last."""

    F: Array

    def __getitem__(self, rows: slice) -> "FeatureMatrix":
        return FeatureMatrix(self.F[rows])

    def gathered(self, X: Array) -> Array:
        return (X.T @ self.F).T

    def times(self, G: Array) -> Array:
        return (G.T @ self.F.T).T


@dataclass(frozen=True)
class CompiledFeatures:
    """Compiled sums, which make the features again for every sum."""

    over_features: Callable[..., None]
    recipe: Recipe
    count: int  # number of features

    def __getitem__(self, rows: slice) -> "CompiledFeatures":
        return CompiledFeatures(self.over_features, self.recipe.of(rows), self.count)

    def gathered(self, X: Array) -> Array:
        return self._sums(True, X, np.zeros((self.count, X.shape[1])))

    def times(self, G: Array) -> Array:
        return self._sums(False, G, np.zeros((len(self.recipe.rows), G.shape[1])))

    def _sums(self, gathers: bool, X: Array, out: Array) -> Array:
        made, least, most = self.recipe.begin + self.count, *CACHED_ROWS
        block = min(max(CACHED_NUMBERS // made // least * least, least), most)
        width = X.shape[1] + MARGIN
        self.over_features(
            gathers,
            *self.recipe,
            block,
            np.ascontiguousarray(X),
            buffers("features", np.float64, made + MARGIN, block).reshape(-1),
            buffers("packed", np.float64, max(made, block), width).reshape(-1),
            buffers("sums of features", np.float64, max(made, block) + MARGIN, width).reshape(-1),
            out,
        )
        return out


def _pays(map: FeatureMap, rows: int) -> bool:
    least = COMPILED_NUMBERS_OF_GAUSSIANS if isinstance(map, Taylor | Fourier) else COMPILED_NUMBERS
    return isinstance(map, Compilable) and rows * map.numbers_per_row >= least
