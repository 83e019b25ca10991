"""Follow a path of kernels in one fold, and score the W that each kernel leads to on the test rows of the fold."""

import time
from collections.abc import Collection, Generator, Iterator
from dataclasses import dataclass

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.engines import own_threads
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel, KernelWithWidth, Squared
from ism_core.linalg import RowSpace, Scale, Scaling
from ism_core.objective import EvaluationOptions, Problem
from ism_core.paradigms import Supervised
from ism_core.selection.candidates import CandidatePath
from ism_core.selection.rule import is_ahead
from ism_core.selection.scoring import classification_scores, regression_scores
from ism_core.solver import (
    first_width,
    interaction_directions,
    iter_path_points,
    path_widths,
    widest_width,
    with_width,
)

MOST_AXES = 10  # directions of interactions that are computed at once, for all q
MOST_COLUMNS_FOR_INTERACTIONS = 500  # columns beyond which interactions are not tried: there are too many pairs
SIGNIFICANT = 2.0  # standard errors of a difference between two candidates
TICK_SECONDS = 0.1  # between two values of None, which mean that the ascent is still running


@dataclass(frozen=True, eq=False)
class FoldScore:
    """The score of one candidate in one fold."""

    place: int  # of its kernel on the path
    scores: Array  # one for each test row
    predictions: Array  # the SVM's class or values of each test row
    seconds: float
    kernel: Kernel | None = None  # with the width that it has for the training rows; None if it was resumed
    loadings: Array | None = None  # d×q weights of the scaled features, before whitening; None if it was resumed


class FoldPaths:
    """The folds of a search, with what its paths share: scaled rows, row spaces, first widths, interactions."""

    def __init__(
        self,
        X: Array,
        paradigm: Supervised,
        kernel: Kernel,
        chooses_width: bool,
        splits: list[tuple[Ints, Ints]],
        seed: int,
        ascent_delta: float,
    ) -> None:
        """`ascent_delta` is the convergence tolerance of ascents whose Γ counts neighbors."""
        self._X = X
        self._paradigm = paradigm
        self._kernel = kernel
        self._chooses_width = chooses_width
        self._splits = splits
        self._seed = seed
        self._ascent_delta = ascent_delta
        self._directions: dict[tuple[Scale, int], tuple[Array, bool]] = {}
        self._gammas: dict[tuple[bool, bool, int], Gamma] = {}  # neighbors, linear, fold
        self._spaces: dict[tuple[Scale, int], RowSpace] = {}
        self._scaled_rows: dict[tuple[Scale, int], tuple[Scaling, Array, Array]] = {}
        self._first_widths: dict[tuple[Scale, int], float] = {}  # of paths whose first width does not depend on q

    def iter_scores(
        self, path: CandidatePath, fold: int, places: Collection[int]
    ) -> Generator[FoldScore | None, None, None]:
        """Yield the scores at some places of a path, and None from time to time while an ascent is still running.

        In the first fold, stop if a kernel is significantly behind a wider one.
        """
        with own_threads():  # for the whole path, because setting the number of threads costs a small product
            yield from self._iter_scores(path, fold, places)

    def _iter_scores(
        self, path: CandidatePath, fold: int, places: Collection[int]
    ) -> Generator[FoldScore | None, None, None]:
        began = last = time.perf_counter()
        best: FoldScore | None = None
        scaling, rows, test_rows = self._scaled(path.scale, fold)
        space = self._space(path, fold)
        reached: list[Kernel] = []
        ascents = self._ascents(path, fold, space, reached)
        train, test = self._splits[fold]
        for place in range(max(places) + 1):
            for found in ascents:
                if found is not None:
                    break
                if time.perf_counter() - last > TICK_SECONDS:
                    yield None
                    last = time.perf_counter()
            if place not in places:
                continue
            assert found is not None
            W = space.out(found)
            scores, predictions = self._scores(rows @ W, train, test_rows @ W, test)
            loadings = scaling.outside(W)
            now = time.perf_counter()
            score = FoldScore(place, scores, predictions, now - began, reached[place], loadings)
            began = now
            yield score
            if best is None or scores.mean() > best.scores.mean():
                best = score
            elif fold == 0 and is_ahead(best.scores, scores, SIGNIFICANT):
                return

    @own_threads()
    def interaction_score(self, path: CandidatePath) -> float | None:
        """Return the score of the directions of interactions in the first fold; None if these are not significant.

        No ascent is needed for this.
        """
        train, test = self._splits[0]
        _, rows, test_rows = self._scaled(path.scale, 0)
        if not self._chooses_width or rows.shape[1] > MOST_COLUMNS_FOR_INTERACTIONS:
            return None
        directions, are_significant = self._interactions(path, 0)
        if not are_significant:
            return None
        W = directions[:, : path.q]
        return float(self._scores(rows @ W, train, test_rows @ W, test)[0].mean())

    def _interactions(self, path: CandidatePath, fold: int) -> tuple[Array, bool]:
        """Return the directions of interactions in the training rows of a fold, and whether they are significant."""
        known = self._directions.get((path.scale, fold))
        if known is None or known[0].shape[1] < path.q:
            rows = self._scaled(path.scale, fold)[1]
            gamma, count = self._gamma(self._paradigm.neighbors, False, fold), min(rows.shape[1], MOST_AXES)
            known = interaction_directions(rows, gamma, max(count, path.q), np.random.default_rng(self._seed))
            self._directions[path.scale, fold] = known
        return known

    def _ascents(
        self, path: CandidatePath, fold: int, space: RowSpace, reached: list[Kernel]
    ) -> Iterator[Array | None]:
        """Return the ascents along a path; `reached` lists the kernels so far."""
        rows = self._scaled(path.scale, fold)[1]
        gamma = self._gamma(path.neighbors, path.linear, fold)
        rng = np.random.default_rng(self._seed)
        kernel = self._kernel if self._chooses_width else self._kernel.fitted_to(rows, rng, gamma)
        kernel = Squared() if path.linear else kernel
        options = EvaluationOptions(precision="single")
        problem = Problem.of(space.Z, gamma, kernel, path.q, space.null_directions, options)
        start = space.into(self._interactions(path, fold)[0][:, : path.q]) if path.interactions else None
        kernels = self._kernels(problem, rows if start is None else space.Z @ start, path, fold, rng)
        return iter_path_points(problem, _recorded(kernels, reached), self._ascent_delta, start)

    def _kernels(
        self, problem: Problem, rows: Array, path: CandidatePath, fold: int, rng: np.random.Generator
    ) -> Iterator[Kernel]:
        """Yield the kernels of a path; `rows` are projected by the start if it is from interactions."""
        if path.linear or not self._chooses_width:
            yield problem.kernel
            return
        assert isinstance(problem.kernel, KernelWithWidth)
        if path.interactions:
            first = widest_width(problem.kernel, rows, rng)
        elif path.neighbors:
            first = first_width(problem, rows, rng)
        else:
            if (path.scale, fold) not in self._first_widths:
                self._first_widths[path.scale, fold] = first_width(problem, rows, rng)
            first = self._first_widths[path.scale, fold]
        for width in path_widths(path.widest * first):
            yield with_width(problem.kernel, width)

    def _gamma(self, neighbors: bool, linear: bool, fold: int) -> Gamma:
        """Return Γ of the training rows of a fold, which all paths with the same kind of Γ share."""
        key = neighbors, linear, fold
        if key not in self._gammas:
            paradigm = self._paradigm.restricted(self._splits[fold][0]).with_neighbors(neighbors)
            self._gammas[key] = (paradigm.with_target_kernel("linear") if linear else paradigm).target_gamma()
        return self._gammas[key]

    def _space(self, path: CandidatePath, fold: int) -> RowSpace:
        """Return the row space of scaled training rows, which all q up to its rank share."""
        known = self._spaces.get((path.scale, fold))
        if known is None or known.rank < path.q:
            known = self._spaces[path.scale, fold] = RowSpace.of(self._scaled(path.scale, fold)[1], path.q, self._seed)
        return known

    def _scaled(self, scale: Scale, fold: int) -> tuple[Scaling, Array, Array]:
        """Return the scaling of a fold, its training rows and its test rows, which all paths with this scale share."""
        if (scale, fold) not in self._scaled_rows:
            train, test = self._splits[fold]
            codes = self._paradigm.restricted(train).codes
            scaling, rows = Scaling.learned(self._X[train], scale, codes)
            self._scaled_rows[scale, fold] = scaling, rows, scaling.apply(self._X[test])
        return self._scaled_rows[scale, fold]

    def _scores(self, P: Array, train: Ints, P_test: Array, test: Ints) -> tuple[Array, Array]:
        codes, values = self._paradigm.codes, self._paradigm.values
        if codes is not None:
            return classification_scores(P, codes[train], P_test, codes[test])
        assert values is not None
        return regression_scores(P, values[train], P_test, values[test])


def _recorded(kernels: Iterator[Kernel], reached: list[Kernel]) -> Iterator[Kernel]:
    """Yield the kernels and append each of them to a list."""
    for kernel in kernels:
        reached.append(kernel)
        yield kernel
