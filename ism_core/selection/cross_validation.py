"""Cross-validation of many candidates, fold by fold, by successive halving (Jamieson and Talwalkar, 2016).

After each fold the better half of the candidates with the same q continues, except those that are significantly worse
than the best of all. `fold_paths` computes the scores; if a second core is idle, another process computes some of them.
"""

from collections.abc import Generator, Iterator, Mapping
from types import MappingProxyType

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.engines import SharedWork
from ism_core.kernels import Kernel
from ism_core.paradigms import Supervised
from ism_core.selection.candidates import CandidatePath, ScoredKernel, few_loadings
from ism_core.selection.choice import Leader, SearchControl, SearchFinished, Trial
from ism_core.selection.fold_paths import SIGNIFICANT, FoldPaths, FoldScore
from ism_core.selection.scoring import splits
from ism_core.solver import COARSE_ASCENT_DELTA

PATH_LENGTH = 8  # kernels on a path: down to 1/11 of the widest
PATH_LENGTH_BESIDE_NEIGHBORS = 6  # down to 1/6, if neighbors are tried too: those do better with narrow kernels
PATH_LENGTH_OF_NEIGHBORS = 9  # down to 1/16, for a Γ that counts neighbors
PATH_LENGTH_OF_INTERACTIONS = 4  # down to a quarter of the median distance between projected rows
HALVING_ROWS = 200  # rows that must have been scored before half of the candidates drop out
FEWEST_CANDIDATES = 3  # candidates of each q that go on to the next fold, unless they are significantly behind
NARROWER = 3  # number of narrower kernels than the chosen one that are tried on the larger subsample

NOTHING: Mapping[int, ScoredKernel] = MappingProxyType({})

FoldTask = tuple[CandidatePath, int, list[int]]  # a path, a fold, and the places to score


class SuccessiveHalving:
    """The rows of a search, in folds that all candidate paths share."""

    def __init__(
        self,
        X: Array,
        paradigm: Supervised,
        kernel: Kernel,
        chooses_width: bool,
        beside_neighbors: bool,
        folds: int,
        rng: np.random.Generator,
        control: SearchControl,
        ascent_delta: float = COARSE_ASCENT_DELTA,
    ) -> None:
        """`ascent_delta` is the convergence tolerance of ascents whose Γ counts neighbors."""
        self.are_values = paradigm.codes is None
        self._chooses_width = chooses_width
        self._path_length = PATH_LENGTH_BESIDE_NEIGHBORS if beside_neighbors else PATH_LENGTH
        self._splits = splits(len(X), paradigm.codes, folds, rng)
        seed = int(rng.integers(2**31))
        self._fold_paths = FoldPaths(X, paradigm, kernel, chooses_width, self._splits, seed, ascent_delta)
        self._control = control
        self._work = SharedWork(self._iter_task, control.may_fork)
        self._tried = 0
        self._paths: list[CandidatePath] = []
        self._best: ScoredKernel | None = None  # the leader; others have been compared with it over common folds
        self._leader: Leader | None = None

    def close(self) -> None:
        """End the process that shares the work, if there is one."""
        self._work.close()

    def iter_first_fold(self, paths: list[CandidatePath]) -> Generator[Trial, None, None]:
        """Score all candidates of some paths in the first fold."""
        self._paths += paths
        for path in paths:
            path.points = [path.at(place) for place in range(self._length(path))]
        yield from self._iter_fold(paths, 0)
        for path in paths:
            path.points = [point for point in path.points if point.scores]

    def iter_other_folds(
        self,
        paths: list[CandidatePath],
        rival: ScoredKernel | None = None,
        simpler: Mapping[int, ScoredKernel] = NOTHING,
    ) -> Generator[Trial, None, None]:
        """Score some paths in all folds but the first; candidates behind the best, or behind a rival, drop out.

        `simpler` has for each q the best candidate without neighbors and interactions. Candidates that cannot exceed it
        by one standard error drop out too.
        """
        for fold in range(1, len(self._splits)):
            self._drop_out(paths, fold, rival)
            for point in (point for path in paths for point in path.points if path.q in simpler):
                point.goes_on = point.goes_on and point.may_lead(simpler[point.q])
            if not any(path.remaining_places for path in paths):
                return
            yield from self._iter_fold(paths, fold)

    def _drop_out(self, paths: list[CandidatePath], folds: int, rival: ScoredKernel | None) -> None:
        """Drop the candidates that do not go on, after a number of folds."""
        leaders = [self.best(paths, folds), *([rival] if rival else [])]
        scored = sum(len(test) for _, test in self._splits[:folds])
        for q in {path.q for path in paths}:
            points = [point for path in paths if path.q == q for point in path.points if point.goes_on]
            near = [point for point in points if not any(each.is_ahead_of(point, SIGNIFICANT) for each in leaders)]
            near.sort(key=lambda point: (-point.score, point.place, point.scale != "whiten"))
            going_on = near if scored < HALVING_ROWS else near[: max(FEWEST_CANDIDATES, len(points) // 2)]
            for point in points:
                point.goes_on = point in going_on

    def interactions_lead(self, path: CandidatePath, rival: ScoredKernel) -> bool:
        """Tell whether interactions are significant and score higher than a rival in the first fold."""
        score = self._fold_paths.interaction_score(path)
        return score is not None and score > rival.scores[0].mean()

    def narrowed(self, known: ScoredKernel) -> Generator[Trial, None, CandidatePath]:
        """Score the best kernel of a smaller subsample in the first fold, then narrower ones while the score rises.

        With more rows W overfits less, so that a narrower kernel pays. No rule tells how much narrower: on MNIST at
        q = 2 the best width is about 0.85 for 2,000 rows of 668 columns, and 0.47 for 8,000.
        """
        path, best = CandidatePath(known.scale, known.q, known.neighbors, known.interactions, known.linear), -np.inf
        for found in self._fold_paths.iter_scores(path, 0, range(known.place, known.place + NARROWER + 1)):
            if found is not None:
                path.points.append(path.at(found.place))
                self._record(path.points[-1], found)
            if self._leader is None:
                continue
            yield self._trial(path, 0)
            if self._control.finish():
                break
            if found is not None:
                if path.points[-1].score <= best:
                    break
                best = path.points[-1].score
        return path

    def scored_paths(self) -> list[CandidatePath]:
        """Return all paths of a search that was finished early, with the folds that the leader saw."""
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
        """Return the candidates that saw all folds, or the most folds if the search was finished early."""
        points = [point for path in paths for point in path.points]
        folds = max((len(point.scores) for point in points), default=0)
        return [point for point in points if len(point.scores) == folds]

    @property
    def order(self) -> Ints:
        """The rows in the order in which the scores of all folds have them."""
        return np.concatenate([test for _, test in self._splits])

    def _iter_fold(self, paths: list[CandidatePath], fold: int) -> Generator[Trial, None, None]:
        """Score some paths in one fold, except those in the journal."""
        journal, left = self._control.journal, []
        for path in paths:
            if path.key(fold) in journal:
                for found in journal[path.key(fold)]:
                    yield from self._iter_record(path, fold, found)
            elif path.remaining_places:
                left.append(path)
        done: list[list[FoldScore]] = [[] for _ in left]
        for number, part in self._work.iter_parts(
            [(path.without_points, fold, path.remaining_places) for path in left]
        ):
            if part is not None:
                done[number].append(part)
            yield from self._iter_record(left[number], fold, part)
        journal |= {path.key(fold): scores for path, scores in zip(left, done, strict=True)}

    def _iter_task(self, task: FoldTask) -> Iterator[FoldScore | None]:
        return self._fold_paths.iter_scores(*task)

    def _iter_record(self, path: CandidatePath, fold: int, found: FoldScore | None) -> Generator[Trial, None, None]:
        """Add a score to its candidate and report it. None means that the ascent is still running."""
        if found is not None:
            self._record(path.points[found.place], found)
        if self._leader is not None:
            yield self._trial(path, fold)
        if self._best is not None and self._control.finish():
            raise SearchFinished

    def _record(self, point: ScoredKernel, found: FoldScore) -> None:
        """Add the score of a candidate in one more fold; it may become the leader."""
        point.scores.append(found.scores)
        point.predictions.append(found.predictions)
        point.seconds += found.seconds
        point.loadings = few_loadings(found.loadings)
        self._tried += 1
        if self._best is None or point is self._best or point.is_ahead_of(self._best, 0.0):
            self._best = point
            if found.kernel is not None and found.loadings is not None:
                self._leader = Leader(found.kernel, point.scale, point.q, point.score, found.loadings)

    def _trial(self, path: CandidatePath, fold: int) -> Trial:
        assert self._leader is not None
        return Trial(path.scale, path.q, fold + 1, len(self._splits), self._tried, self._leader.score, self._leader)

    def _length(self, path: CandidatePath) -> int:
        """Number of kernels on a path."""
        if path.linear or not self._chooses_width:
            return 1
        if path.interactions:
            return PATH_LENGTH_OF_INTERACTIONS
        return PATH_LENGTH_OF_NEIGHBORS if path.neighbors else self._path_length
