"""Sums over the features of some rows: of a matrix of them, or compiled where that pays, without one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from ism_core.arrays import Array
from ism_core.gamma import Features
from ism_core.kernels import Taylor
from ism_core.kernels.feature_maps import Compilable, FeatureMap, Recipe
from ism_core.kernels.random_features import Fourier
from ism_core.linalg.buffers import buffers

COMPILED_NUMBERS = 2e7  # features of all rows: from here on a few passes save more than importing numba costs
OF_GAUSSIANS = 2e6  # the same for features that were cut or are random: dozens of passes are made, in the end with more
COMPILED_BLOCK = 1_024  # rows at a time, where that is so
ROOM = 2**16  # features at a time: they stay in the core's own cache
ROOMS = (16, 128)  # rows at a time
BEYOND = 16  # numbers and rows that the last piece of a product may reach further, at most


def are_compiled(maps: list[FeatureMap], rows: int) -> bool:
    """Whether sums over so many rows are, for some of the maps."""
    return any(_pays(each, rows) for each in maps) and _compiled() is not None


def features_of(map: FeatureMap, P: Array, rows: int) -> Features:
    """The features of some of so many rows; good until this thread asks for others."""
    compiled = _compiled() if _pays(map, rows) else None
    if compiled is not None and isinstance(map, Compilable):
        return Compiled(compiled, map.recipe(P), map.count)
    return Matrix(map.of(P, buffers("features", np.float64, 1, map.made * len(P))[0]))


@dataclass(frozen=True)
class Matrix:
    """As `ism_core.gamma.Features` says. The BLAS is faster where the longer side of a product is its last."""

    F: Array

    def __getitem__(self, rows: slice) -> "Matrix":
        return Matrix(self.F[rows])

    def gathered(self, X: Array) -> Array:
        return (X.T @ self.F).T

    def times(self, G: Array) -> Array:
        return (G.T @ self.F.T).T


@dataclass(frozen=True)
class Compiled:
    """The same, with features that are made anew for every sum."""

    over_features: Callable[..., None]
    recipe: Recipe
    count: int  # of features

    def __getitem__(self, rows: slice) -> "Compiled":
        return Compiled(self.over_features, self.recipe.of(rows), self.count)

    def gathered(self, X: Array) -> Array:
        return self._sums(True, X, np.zeros((self.count, X.shape[1])))

    def times(self, G: Array) -> Array:
        return self._sums(False, G, np.zeros((len(self.recipe.rows), G.shape[1])))

    def _sums(self, gathers: bool, X: Array, out: Array) -> Array:
        made, least, most = self.recipe.begin + self.count, *ROOMS
        room = min(max(ROOM // made // least * least, least), most)
        wide = X.shape[1] + BEYOND
        self.over_features(
            gathers,
            *self.recipe,
            room,
            np.ascontiguousarray(X),
            buffers("features", np.float64, made + BEYOND, room).reshape(-1),
            buffers("packed", np.float64, max(made, room), wide).reshape(-1),
            buffers("sums of features", np.float64, max(made, room) + BEYOND, wide).reshape(-1),
            out,
        )
        return out


def _pays(map: FeatureMap, rows: int) -> bool:
    least = OF_GAUSSIANS if isinstance(map, Taylor | Fourier) else COMPILED_NUMBERS
    return isinstance(map, Compilable) and rows * map.made >= least


@cache
def _compiled() -> Callable[..., None] | None:
    """What is compiled, where numba is there and works."""
    try:
        from ism_core.objective.compiled.features import over_features
    except Exception:  # missing, or at odds with the numpy it finds: numpy alone does the same more slowly
        return None
    return over_features
