"""Candidates side by side, fold by fold. To the next goes the better half of them (successive halving: Jamieson and
Talwalkar, 2016), without those that the best is ahead of for certain."""

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.engines.threads import own_threads
from ism_core.kernels.base import Kernel
from ism_core.kernels.family import Narrowing
from ism_core.linalg.row_space import RowSpace
from ism_core.objective.options import EvaluationOptions
from ism_core.objective.problem import Problem
from ism_core.paradigms.base import Supervised
from ism_core.scaling import Scale, Scaling
from ism_core.selection.choice import Trial
from ism_core.selection.scoring import classified, predicted, splits
from ism_core.solver.starts.continuation import SHORT, along, beginning, widths, with_width

OF_WHITENED = 0.5  # of the median distance: where the candidates on whitened rows begin
POINTS = 8  # on a path, at most: to the 11th part of the widest
BESIDE_NEIGHBORS = 6  # to the 6th part, where neighbors may be tried as well: those are better with narrow kernels
OF_NEIGHBORS = 9  # where neighbors count: to the 16th part
CERTAIN = 2.0  # standard errors
# Times what rows alone tell of such an error, since the W of all folds have learnt from nearly the same ones. With k
# folds it is √(1 + k/(k − 1)), 1.6 for three and 1.5 for five (Nadeau and Bengio, 2003).
SHARED = 1.5
ENOUGH = 200  # rows that must have been judged before the better half is known
FEWEST = 3  # points that go on to the next fold, if they are not behind for certain
NARROWER = 3  # points beyond one that was the best on fewer rows


@dataclass(eq=False)
class ScoredKernel:
    """One candidate: a place on the path of its lane."""

    scale: Scale
    q: int
    neighbors: bool
    place: int
    scores: list[Array] = field(default_factory=list)  # of the rows of each fold
    seconds: float = 0.0
    is_open: bool = True  # whether it goes on to the next fold

    @property
    def score(self) -> float:
        return float(np.concatenate(self.scores).mean())

    @property
    def error(self) -> float:
        """The standard error of the score."""
        rows = np.concatenate(self.scores)
        return float(rows.std() / np.sqrt(len(rows)))

    def is_ahead_of(self, other: "ScoredKernel", errors: float = 1.0) -> bool:
        """Whether its score is higher by more than so many standard errors, over the folds that both saw."""
        seen = min(len(self.scores), len(other.scores))
        lead = np.concatenate(self.scores[:seen]) - np.concatenate(other.scores[:seen])
        return bool(lead.mean() > errors * SHARED * lead.std() / np.sqrt(len(lead)))


@dataclass(eq=False)
class CandidatePath:
    """One scale, one q and one kind of Γ: a path, or one kernel alone."""

    scale: Scale
    q: int
    neighbors: bool
    points: list[ScoredKernel] = field(default_factory=list)

    @property
    def widest(self) -> float:
        """The width of its first point, in those that a path begins with.

        All directions of whitened rows vary alike, so that most of the median distance between them is noise: at q = 2,
        half of it was as good on Wine, WDBC and Cancer, and better by 0.7 points on Iris.
        """
        return OF_WHITENED if self.scale == "whiten" and not self.neighbors else 1.0

    @property
    def length(self) -> int:
        """How far it is worth going."""
        return max((point.place + 1 for point in self.points if point.is_open), default=0)


@dataclass(eq=False)
class _Track:
    """A lane in one fold: its rows, and the path as far as somebody has gone it."""

    rows: Array
    judged: Array
    space: RowSpace
    path: Iterator[Array]
    found: list[Array] = field(default_factory=list)

    def reached(self, point: ScoredKernel) -> Array:
        """W, for the columns of the rows."""
        while len(self.found) <= point.place:
            self.found.append(next(self.path))
        return self.space.out(self.found[point.place])


class Race:
    """The rows of a search, in folds that all lanes share."""

    def __init__(
        self,
        X: Array,
        paradigm: Supervised,
        kernel: Kernel,
        is_open: bool,
        beside_neighbors: bool,
        folds: int,
        rng: np.random.Generator,
        climbs: float = SHORT,
    ) -> None:
        """`climbs` is the delta of those that neighbors ask for."""
        self._X = X
        self._paradigm = paradigm
        self._kernel = kernel
        self._is_open = is_open
        self._climbs = climbs
        self._points = BESIDE_NEIGHBORS if beside_neighbors else POINTS
        self._splits = splits(len(X), paradigm.codes, folds, rng)
        self._seed = int(rng.integers(2**31))
        self._tracks: dict[tuple[CandidatePath, int], _Track] = {}
        self._tried = 0
        self._leading = -np.inf  # the best score so far

    def run(self, lanes: list[CandidatePath], rival: ScoredKernel | None = None) -> Generator[Trial, None, None]:
        """All folds of some lanes, as far as they are not behind the best of them, or a rival of earlier ones."""
        self._tracks = {}  # of other lanes
        for lane in lanes:
            places = range(self._length(lane))
            lane.points = [ScoredKernel(lane.scale, lane.q, lane.neighbors, place) for place in places]
        for fold in range(len(self._splits)):
            if not any(lane.length for lane in lanes):
                return
            for lane in lanes:
                if lane.length:
                    yield from self._lap(lane, fold)
            leaders = [self.best(lanes, fold + 1), *([rival] if rival else [])]
            for lane in lanes:
                lane.points = [point for point in lane.points if point.scores]
            points = [point for lane in lanes for point in lane.points if point.is_open]
            near = [point for point in points if not any(each.is_ahead_of(point, CERTAIN) for each in leaders)]
            near.sort(key=lambda point: (-point.score, point.place, point.scale != "whiten"))
            judged = sum(len(test) for _, test in self._splits[: fold + 1])
            going_on = near if judged < ENOUGH else near[: max(FEWEST, len(points) // 2)]
            for point in points:
                point.is_open = point in going_on

    def narrowed(self, known: ScoredKernel) -> Generator[Trial, None, CandidatePath]:
        """In the first fold alone, a point that was the best on fewer rows, and narrower ones while these are better.

        With more rows W fits those that it has learnt from less, and a narrower kernel pays. How much narrower no rule
        tells: on MNIST at q = 2 the best is about 0.85 for 2,000 rows of 668 columns, and 0.47 for 8,000.
        """
        lane, best = CandidatePath(known.scale, known.q, known.neighbors), -np.inf
        began = time.perf_counter()
        track = self._track(lane, 0)
        for place in range(known.place, known.place + NARROWER + 1):
            point = ScoredKernel(lane.scale, lane.q, lane.neighbors, place)
            lane.points.append(point)
            began = self._judge(point, track, 0, began)
            yield self._trial(lane, 0)
            if point.score <= best:
                break
            best = point.score
        return lane

    def best(self, lanes: list[CandidatePath], folds: int | None = None) -> ScoredKernel:
        """The best of those that were in all folds, or in so many; of equals the first."""
        folds = folds or len(self._splits)
        return max(
            (point for lane in lanes for point in lane.points if len(point.scores) == folds),
            key=lambda point: point.score,
        )

    def is_complete(self, point: ScoredKernel) -> bool:
        """Whether it was in all folds."""
        return len(point.scores) == len(self._splits)

    def _lap(self, lane: CandidatePath, fold: int) -> Generator[Trial, None, None]:
        """One lane in one fold. It ends early where a point is behind one before it for certain."""
        began = time.perf_counter()
        track = self._track(lane, fold)
        for point in lane.points[: lane.length]:
            if point.is_open:
                began = self._judge(point, track, fold, began)
                yield self._trial(lane, fold)
            if fold == 0:
                before = max(lane.points[: point.place + 1], key=lambda each: each.score)
                if before.is_ahead_of(point, CERTAIN):
                    return

    @own_threads()
    def _judge(self, point: ScoredKernel, track: _Track, fold: int, began: float) -> float:
        """One more fold for a point, which has been at it since `began`; gives back when it was done."""
        W = track.reached(point)
        train, test = self._splits[fold]
        point.scores.append(self._scores(track.rows @ W, train, track.judged @ W, test))
        self._tried += 1
        self._leading = max(self._leading, point.score)
        now = time.perf_counter()
        point.seconds += now - began
        return now

    def _trial(self, lane: CandidatePath, fold: int) -> Trial:
        return Trial(lane.scale, lane.q, fold + 1, len(self._splits), self._tried, self._leading)

    def _track(self, lane: CandidatePath, fold: int) -> _Track:
        if (lane, fold) not in self._tracks:
            train, test = self._splits[fold]
            paradigm = self._paradigm.restricted(train).with_neighbors(lane.neighbors)
            scaling, rows = Scaling.learnt(self._X[train], lane.scale, paradigm.codes)
            space = RowSpace.of(rows, lane.q)
            gamma, rng = paradigm.guidance(), np.random.default_rng(self._seed)
            kernel = self._kernel if self._is_open else self._kernel.bound(rows, rng, gamma)
            problem = Problem.of(
                space.Z, gamma, kernel, lane.q, space.null_directions, EvaluationOptions(precision="single")
            )
            path = along(problem, self._kernels(problem, lane.widest, rng), self._climbs)
            self._tracks[lane, fold] = _Track(rows, scaling.apply(self._X[test]), space, path)
        return self._tracks[lane, fold]

    def _kernels(self, problem: Problem, widest: float, rng: np.random.Generator) -> Iterator[Kernel]:
        if not self._is_open:
            yield problem.kernel
            return
        assert isinstance(problem.kernel, Narrowing)
        for width in widths(widest * beginning(problem, rng)):
            yield with_width(problem.kernel, width)

    def _length(self, lane: CandidatePath) -> int:
        """How many points there may be."""
        return 1 if not self._is_open else OF_NEIGHBORS if lane.neighbors else self._points

    def _scores(self, P: Array, train: Ints, P_test: Array, test: Ints) -> Array:
        codes, values = self._paradigm.codes, self._paradigm.values
        if codes is not None:
            return classified(P, codes[train], P_test, codes[test])
        assert values is not None
        return predicted(P, values[train], P_test, values[test])
