"""Cross-validation of many candidates, fold by fold, by successive halving (Jamieson and Talwalkar, 2016).

After each fold the better half of the candidates with the same q continues, except those that are significantly worse
than the best of all.
"""

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.engines import own_threads
from ism_core.kernels import Kernel, KernelWithWidth
from ism_core.linalg import RowSpace, Scale, Scaling
from ism_core.objective import EvaluationOptions, Problem
from ism_core.paradigms import Supervised
from ism_core.selection.candidates import CandidatePath, ScoredKernel
from ism_core.selection.choice import Leader, SearchFinished, Trial, never
from ism_core.selection.scoring import classification_scores, regression_scores, splits
from ism_core.solver import (
    SHORT_CLIMB_DELTA,
    first_width,
    interaction_directions,
    path_points,
    path_widths,
    widest_width,
    with_width,
)

PATH_LENGTH = 8  # kernels on a path: down to 1/11 of the widest
PATH_LENGTH_BESIDE_NEIGHBORS = 6  # down to 1/6, if neighbors are tried too: those do better with narrow kernels
PATH_LENGTH_OF_NEIGHBORS = 9  # down to 1/16, for a Γ that counts neighbors
PATH_LENGTH_OF_INTERACTIONS = 4  # down to a quarter of the median distance between projected rows
MOST_COLUMNS_FOR_INTERACTIONS = 500  # columns beyond which interactions are not tried: there are too many pairs
SIGNIFICANT = 2.0  # standard errors of a difference between two candidates
HALVING_ROWS = 200  # rows that must have been scored before half of the candidates drop out
FEWEST_CANDIDATES = 3  # candidates of each q that go on to the next fold, unless they are significantly behind
MOST_AXES = 10  # directions of interactions that are computed at once, for all q
NARROWER = 3  # number of narrower kernels than the chosen one that are tried on the larger subsample


@dataclass(eq=False)
class _FoldPath:
    """A path in one fold: scaled rows, and W for each kernel so far."""

    rows: Array
    test_rows: Array
    scaling: Scaling
    space: RowSpace
    kernels: list[Kernel]  # those that the ascents have reached
    ascents: Iterator[Array]
    found: list[Array] = field(default_factory=list)

    def reached(self, point: ScoredKernel) -> Array:
        """Return W for the columns of the rows, following the path as far as needed."""
        while len(self.found) <= point.place:
            self.found.append(next(self.ascents))
        return self.space.out(self.found[point.place])


class SuccessiveHalving:
    """The rows of a search, in folds that all candidate paths share."""

    def __init__(
        self,
        X: Array,
        paradigm: Supervised,
        kernel: Kernel,
        is_open: bool,
        beside_neighbors: bool,
        folds: int,
        rng: np.random.Generator,
        finish: Callable[[], bool] = never,
        ascent_delta: float = SHORT_CLIMB_DELTA,
    ) -> None:
        """`finish` tells whether to end the search; `ascent_delta` is the tolerance of ascents if neighbors count."""
        self._X = X
        self._paradigm = paradigm
        self._kernel = kernel
        self._is_open = is_open
        self._ascent_delta = ascent_delta
        self._finish = finish
        self._path_length = PATH_LENGTH_BESIDE_NEIGHBORS if beside_neighbors else PATH_LENGTH
        self._splits = splits(len(X), paradigm.codes, folds, rng)
        self._seed = int(rng.integers(2**31))
        self._directions: dict[tuple[Scale, int], tuple[Array, bool]] = {}
        self._spaces: dict[tuple[Scale, int], RowSpace] = {}
        self._scaled_rows: dict[tuple[Scale, int], tuple[Scaling, Array, Array]] = {}
        self._first_widths: dict[tuple[Scale, int], float] = {}  # of paths whose first width does not depend on q
        self._tried = 0
        self._paths: list[CandidatePath] = []
        self._best: ScoredKernel | None = None  # the leader; others have been compared with it over common folds
        self._leader: Leader | None = None

    def iter_first_fold(self, paths: list[CandidatePath]) -> Generator[Trial, None, None]:
        """Score all candidates of some paths in the first fold."""
        self._paths += paths
        for path in paths:
            places = range(self._length(path))
            path.points = [path.at(place) for place in places]
            yield from self._iter_fold(path, 0)
            path.points = [point for point in path.points if point.scores]

    def iter_other_folds(
        self, paths: list[CandidatePath], rival: ScoredKernel | None = None
    ) -> Generator[Trial, None, None]:
        """Score some paths in all folds but the first; candidates behind the best, or behind a rival, drop out."""
        for fold in range(1, len(self._splits)):
            self._drop_out(paths, fold, rival)
            if not any(path.length for path in paths):
                return
            for path in paths:
                if path.length:
                    yield from self._iter_fold(path, fold)

    def _drop_out(self, paths: list[CandidatePath], folds: int, rival: ScoredKernel | None) -> None:
        """Drop the candidates that do not go on, after a number of folds."""
        leaders = [self.best(paths, folds), *([rival] if rival else [])]
        scored = sum(len(test) for _, test in self._splits[:folds])
        for q in {path.q for path in paths}:
            points = [point for path in paths if path.q == q for point in path.points if point.is_open]
            near = [point for point in points if not any(each.is_ahead_of(point, SIGNIFICANT) for each in leaders)]
            near.sort(key=lambda point: (-point.score, point.place, point.scale != "whiten"))
            going_on = near if scored < HALVING_ROWS else near[: max(FEWEST_CANDIDATES, len(points) // 2)]
            for point in points:
                point.is_open = point in going_on

    def interactions_lead(self, path: CandidatePath, rival: ScoredKernel) -> bool:
        """Tell whether interactions are significant, and their directions score higher than a rival in the first fold.

        No ascent is needed for this.
        """
        train, test = self._splits[0]
        _, rows, test_rows = self._scaled(path.scale, 0)
        if not self._is_open or rows.shape[1] > MOST_COLUMNS_FOR_INTERACTIONS:
            return False
        directions, are_significant = self._interactions(path, 0)
        if not are_significant:
            return False
        W = directions[:, : path.q]
        return bool(self._scores(rows @ W, train, test_rows @ W, test)[0].mean() > rival.scores[0].mean())

    def _interactions(self, path: CandidatePath, fold: int) -> tuple[Array, bool]:
        """Return the directions of interactions in the training rows of a fold, and whether they are significant."""
        known = self._directions.get((path.scale, fold))
        if known is None or known[0].shape[1] < path.q:
            rows = self._scaled(path.scale, fold)[1]
            gamma, count = self._paradigm.restricted(self._splits[fold][0]).guidance(), min(rows.shape[1], MOST_AXES)
            known = interaction_directions(rows, gamma, max(count, path.q), np.random.default_rng(self._seed))
            self._directions[path.scale, fold] = known
        return known

    def narrowed(self, known: ScoredKernel) -> Generator[Trial, None, CandidatePath]:
        """Score the best kernel of a smaller subsample in the first fold, then narrower ones while the score rises.

        With more rows W overfits less, so that a narrower kernel pays. No rule tells how much narrower: on MNIST at
        q = 2 the best width is about 0.85 for 2,000 rows of 668 columns, and 0.47 for 8,000.
        """
        path, best = CandidatePath(known.scale, known.q, known.neighbors, known.interactions), -np.inf
        began = time.perf_counter()
        fold_path = self._fold_path(path, 0)
        for place in range(known.place, known.place + NARROWER + 1):
            point = path.at(place)
            path.points.append(point)
            began = self._score(point, fold_path, 0, began)
            yield self._trial(path, 0)
            if point.score <= best or self._finish():
                break
            best = point.score
        return path

    def scored_paths(self) -> list[CandidatePath]:
        """Return all paths of a search that was cut short, with the folds that the leader saw."""
        folds = len(self._best.scores) if self._best else 0
        for path in self._paths:
            path.points = [point for point in path.points if point.scores]
            for point in path.points:
                del point.scores[folds:], point.predictions[folds:]
        return [path for path in self._paths if path.points]

    def best(self, paths: list[CandidatePath], folds: int | None = None) -> ScoredKernel:
        """Return the best of the candidates that saw all folds, or `folds` of them; of equals the first."""
        folds = folds or len(self._splits)
        return max(
            (point for path in paths for point in path.points if len(point.scores) == folds),
            key=lambda point: point.score,
        )

    def complete(self, paths: list[CandidatePath]) -> list[ScoredKernel]:
        """Return the candidates that saw all folds, or the most folds if the search was cut short."""
        points = [point for path in paths for point in path.points]
        folds = max((len(point.scores) for point in points), default=0)
        return [point for point in points if len(point.scores) == folds]

    @property
    def order(self) -> Ints:
        """The rows in the order in which the scores of all folds have them."""
        return np.concatenate([test for _, test in self._splits])

    def _iter_fold(self, path: CandidatePath, fold: int) -> Generator[Trial, None, None]:
        """Score one path in one fold; stop early if a kernel is significantly behind a wider one."""
        began = time.perf_counter()
        fold_path = self._fold_path(path, fold)
        for point in path.points[: path.length]:
            if point.is_open:
                began = self._score(point, fold_path, fold, began)
                yield self._trial(path, fold)
                if self._finish():
                    raise SearchFinished
            if fold == 0:
                before = max(path.points[: point.place + 1], key=lambda each: each.score)
                if before.is_ahead_of(point, SIGNIFICANT):
                    return

    @own_threads()
    def _score(self, point: ScoredKernel, fold_path: _FoldPath, fold: int, began: float) -> float:
        """Score a candidate in one more fold, begun at the time `began`; return the time when it is done."""
        W = fold_path.reached(point)
        train, test = self._splits[fold]
        scores, predictions = self._scores(fold_path.rows @ W, train, fold_path.test_rows @ W, test)
        point.scores.append(scores)
        point.predictions.append(predictions)
        self._tried += 1
        if self._best is None or point is self._best or point.is_ahead_of(self._best, 0.0):
            loadings = fold_path.scaling.outside(W)
            self._best = point
            self._leader = Leader(fold_path.kernels[point.place], point.scale, point.q, point.score, loadings)
        now = time.perf_counter()
        point.seconds += now - began
        return now

    def _trial(self, path: CandidatePath, fold: int) -> Trial:
        assert self._leader is not None
        return Trial(path.scale, path.q, fold + 1, len(self._splits), self._tried, self._leader.score, self._leader)

    def _fold_path(self, path: CandidatePath, fold: int) -> _FoldPath:
        paradigm = self._paradigm.restricted(self._splits[fold][0]).with_neighbors(path.neighbors)
        scaling, rows, test_rows = self._scaled(path.scale, fold)
        space = self._space(path, fold)
        gamma, rng = paradigm.guidance(), np.random.default_rng(self._seed)
        kernel = self._kernel if self._is_open else self._kernel.fitted_to(rows, rng, gamma)
        options = EvaluationOptions(precision="single")
        problem = Problem.of(space.Z, gamma, kernel, path.q, space.null_directions, options)
        start = space.into(self._interactions(path, fold)[0][:, : path.q]) if path.interactions else None
        reached: list[Kernel] = []
        kernels = self._kernels(problem, rows if start is None else space.Z @ start, path, fold, rng)
        ascents = path_points(problem, _recorded(kernels, reached), self._ascent_delta, start)
        return _FoldPath(rows, test_rows, scaling, space, reached, ascents)

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
            scaling, rows = Scaling.learnt(self._X[train], scale, codes)
            self._scaled_rows[scale, fold] = scaling, rows, scaling.apply(self._X[test])
        return self._scaled_rows[scale, fold]

    def _kernels(
        self, problem: Problem, rows: Array, path: CandidatePath, fold: int, rng: np.random.Generator
    ) -> Iterator[Kernel]:
        """Yield the kernels of a path; `rows` are projected by the start if it is from interactions."""
        if not self._is_open:
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

    def _length(self, path: CandidatePath) -> int:
        """Number of kernels on a path."""
        if not self._is_open:
            return 1
        if path.interactions:
            return PATH_LENGTH_OF_INTERACTIONS
        return PATH_LENGTH_OF_NEIGHBORS if path.neighbors else self._path_length

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
