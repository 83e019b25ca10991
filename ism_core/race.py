"""Candidates side by side, fold by fold: what the best is ahead of for certain does not start in the next fold."""

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.choice import Trial
from ism_core.judging import classified, predicted, splits
from ism_core.kernel import Kernel
from ism_core.kernels import Narrowing
from ism_core.means import Means
from ism_core.paradigms import Supervised
from ism_core.path import APART, beside, follow, widest, widths, with_width
from ism_core.result import Step
from ism_core.rowspace import RowSpace
from ism_core.scaling import Scale, Scaling
from ism_core.surrogate import Problem

POINTS = 10  # on a path, at most: to the 23rd part of the widest
CERTAIN = 2.0  # standard errors
DOUBLED = 3  # places from the best on where a sum of two widths is tried


@dataclass(eq=False)
class Point:
    """One candidate: a place on the path of its lane."""

    scale: Scale
    q: int
    place: int
    is_double: bool = False  # whether a wider kernel of the path is added to that of the place
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

    def is_ahead_of(self, other: "Point", errors: float = 1.0) -> bool:
        """Whether its score is higher by more than so many standard errors, over the folds that both saw."""
        seen = min(len(self.scores), len(other.scores))
        lead = np.concatenate(self.scores[:seen]) - np.concatenate(other.scores[:seen])
        return bool(lead.mean() > errors * lead.std() / np.sqrt(len(lead)))


@dataclass(eq=False)
class Lane:
    """One scale and one q: a path, or one kernel alone."""

    scale: Scale
    q: int
    points: list[Point] = field(default_factory=list)

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
    problem: Problem
    kernels: list[Kernel]
    steps: Generator[Step, None, object]
    found: list[Array] = field(default_factory=list)

    def reached(self, point: Point) -> Array:
        """W, for the columns of the rows."""
        while len(self.found) <= point.place:
            self.found.append(next(self.steps).W)
        W = self.found[point.place]
        if point.is_double:
            both = beside(self.kernels[point.place], self.kernels[point.place - APART])
            W = next(follow(self.problem, [both], W)).W
        return self.space.out(W)


class Race:
    """The rows of a search, in folds that all lanes share."""

    def __init__(
        self, X: Array, paradigm: Supervised, kernel: Kernel, points: int, folds: int, rng: np.random.Generator
    ) -> None:
        self._X = X
        self._paradigm = paradigm
        self._kernel = kernel
        self._points = points
        self._splits = splits(len(X), paradigm.codes, folds, rng)
        self._seed = int(rng.integers(2**31))
        self._tracks: dict[tuple[Scale, int, int], _Track] = {}
        self._tried = 0
        self._leading = -np.inf  # the best score so far

    def run(self, lanes: list[Lane]) -> Generator[Trial, None, None]:
        """All folds of some lanes."""
        self._tracks = {}  # of other lanes
        for lane in lanes:
            lane.points = [Point(lane.scale, lane.q, place) for place in range(self._points)]
        for fold in range(len(self._splits)):
            for lane in lanes:
                if lane.length:
                    yield from self._lap(lane, fold)
            best = self.best(lanes, fold + 1)
            for lane in lanes:
                lane.points = [point for point in lane.points if point.scores]
                for point in lane.points:
                    point.is_open = point.is_open and not best.is_ahead_of(point, CERTAIN)

    def double(self, lane: Lane, best: Point) -> Generator[Trial, None, None]:
        """Sums of two widths around the best of a lane that has been run, as further points of it."""
        places = range(max(best.place, APART), min(best.place + DOUBLED, self._points))
        points = [Point(lane.scale, lane.q, place, is_double=True) for place in places]
        for fold in range(len(self._splits)):
            track, began = self._track(lane, fold), time.perf_counter()
            for point in points:
                began = self._judge(point, track, fold, began)
                yield self._trial(lane, fold)
        lane.points += points

    def best(self, lanes: list[Lane], folds: int | None = None) -> Point:
        """The best of those that were in all folds, or in so many; of equals the first."""
        folds = folds or len(self._splits)
        return max(
            (point for lane in lanes for point in lane.points if len(point.scores) == folds),
            key=lambda point: point.score,
        )

    def is_complete(self, point: Point) -> bool:
        """Whether it was in all folds."""
        return len(point.scores) == len(self._splits)

    def _lap(self, lane: Lane, fold: int) -> Generator[Trial, None, None]:
        """One lane in one fold. It ends early where two points in a row are behind one before them for certain."""
        began = time.perf_counter()
        track = self._track(lane, fold)
        behind = 0
        for point in lane.points[: lane.length]:
            if point.is_open:
                began = self._judge(point, track, fold, began)
                yield self._trial(lane, fold)
            if fold == 0:
                before = max(lane.points[: point.place + 1], key=lambda each: each.score)
                behind = behind + 1 if before.is_ahead_of(point, CERTAIN) else 0
                if behind == 2:
                    return

    def _judge(self, point: Point, track: _Track, fold: int, began: float) -> float:
        """One more fold for a point, which has been at it since `began`; gives back when it was done."""
        W = track.reached(point)
        train, test = self._splits[fold]
        point.scores.append(self._scores(track.rows @ W, train, track.judged @ W, test))
        self._tried += 1
        self._leading = max(self._leading, point.score)
        now = time.perf_counter()
        point.seconds += now - began
        return now

    def _trial(self, lane: Lane, fold: int) -> Trial:
        return Trial(lane.scale, lane.q, fold + 1, len(self._splits), self._tried, self._leading)

    def _track(self, lane: Lane, fold: int) -> _Track:
        key = (lane.scale, lane.q, fold)
        if key not in self._tracks:
            train, test = self._splits[fold]
            paradigm = self._paradigm.restricted(train)
            scaling, rows = Scaling.learnt(self._X[train], lane.scale, paradigm.codes)
            space = RowSpace.of(rows, lane.q)
            kernels = list(islice(self._kernels(rows, paradigm), self._points))
            gamma = paradigm.guidance()
            problem = Problem.of(space.Z, gamma, kernels[0], lane.q, space.empty, Means(precision="single"))
            judged = scaling.apply(self._X[test])
            self._tracks[key] = _Track(rows, judged, space, problem, kernels, follow(problem, kernels))
        return self._tracks[key]

    def _kernels(self, rows: Array, paradigm: Supervised) -> Iterator[Kernel]:
        rng = np.random.default_rng(self._seed)
        if self._points == 1:
            yield self._kernel.bound(rows, rng, paradigm.guidance())
            return
        assert isinstance(self._kernel, Narrowing)
        for width in widths(widest(self._kernel, rows, rng)):
            yield with_width(self._kernel, width)

    def _scores(self, P: Array, train: Ints, P_test: Array, test: Ints) -> Array:
        codes, values = self._paradigm.codes, self._paradigm.values
        if codes is not None:
            return classified(P, codes[train], P_test, codes[test])
        assert values is not None
        return predicted(P, values[train], P_test, values[test])
