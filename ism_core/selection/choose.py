"""The settings of a reduction, chosen: by cross-validation where there are labels or targets, else by consensus.

Candidates are the points of the path from a wide kernel to a narrow one, on standardized rows and on whitened ones, for
one or several q; for classes and with the kernel "auto" also with a Γ that counts neighbors. In each fold, scaling, W
and the classifiers are learnt from the other folds. All candidates see the same folds, and a path costs little more
than its last point. From fold to fold only those go on that the best is not ahead of for certain; the others are shown
with what they had reached.

A candidate's score is the mean accuracy of an SVM and of 5 nearest neighbors on the projection (R² for real targets).
The fewest axes are taken whose best score is no more than a standard error below the best of all; with these,
the best with neighbors if it is ahead of everything else by more than one; else the simplest that is no more than one
behind the best: on whitened rows if any is, whose wide kernels are discriminant analysis, then the widest kernel. The
errors are those of the difference between two candidates, row by row. Where the search was on a sample and neighbors
were taken, narrower kernels are tried on many more rows.
"""

from collections.abc import Generator
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike

from ism_core.arrays import Array, Ints, as_table, is_whole
from ism_core.errors import InvalidInput
from ism_core.gamma import LabelGamma
from ism_core.kernels.base import Kernel
from ism_core.kernels.family import Narrowing, as_kernel
from ism_core.linalg.row_space import RowSpace
from ism_core.objective.problem import Problem
from ism_core.paradigms.base import Supervised, Unsupervised
from ism_core.scaling import SCALES, Scale, Scaling
from ism_core.selection.choice import Auto, Candidate, Choice, Trial
from ism_core.selection.consensus import agreeing
from ism_core.selection.cross_validation import CandidatePath, Race, ScoredKernel
from ism_core.solver.ascent.spectral import drain
from ism_core.solver.starts.continuation import LONG, beginning, opened, widths, with_width

SAMPLE = 800  # rows that are searched on where there are more
PER_COLUMN = 5  # rows for each column, if that is more: with few, all that is learnt is to be careful
MOST = 3_000  # and at most
MOST_WITH_NEIGHBORS = 20_000  # rows: a Γ that counts neighbors takes all pairs of them
MANY = 2  # times the rows that were searched on: where there are as many, narrower kernels are tried on more of them
MOST_NARROWED = 10_000  # rows
OF_NARROWED = 5  # folds, of which one is judged
FEW = 400  # rows: up to so many there are five folds, else three
FEWEST = 10  # rows that can be cross-validated
AXES = (2, 3, 4, 6, 8, 10)  # that are tried where q is open
OF_VALUES = 4  # axes at most for real targets
PERFECT = 1.0  # no score is higher, so that nothing more is tried


def choose(
    X: ArrayLike,
    paradigm: Supervised | Unsupervised,
    kernel: Kernel | str = "auto",
    q: int | Auto = "auto",
    *,
    scale: Scale | Auto = "auto",
    seed: int = 0,
) -> Choice:
    """The kernel, q and scale for these rows, as far as they are "auto" or have a width that is.

    Supervised by cross-validation; clusterings, which have nothing to be judged by, as `selection.consensus` says.

    X is taken unscaled. The kernel "auto" is a gaussian whose width is open; so is Gaussian(sigma="auto"),
    Multiquadratic(c="auto") and Polynomial(gamma="path"). The same seed gives the same choice.
    """
    return drain(choosing(X, paradigm, kernel, q, scale=scale, seed=seed))


def choosing(
    X: ArrayLike,
    paradigm: Supervised | Unsupervised,
    kernel: Kernel | str = "auto",
    q: int | Auto = "auto",
    *,
    scale: Scale | Auto = "auto",
    seed: int = 0,
) -> Generator[Trial, None, Choice]:
    """The same as a generator, which yields a Trial for each projection that was tried."""
    table = as_table(X)
    paradigm.check(len(table))
    open_kernel = opened(kernel)
    given = as_kernel(kernel) if open_kernel is None else with_width(open_kernel, 1.0)
    is_open = open_kernel is not None
    given_q = _checked_q(q, table.shape[1])
    scales: tuple[Scale, ...] = ("standard", "whiten") if scale == "auto" else (_checked_scale(scale),)
    if isinstance(paradigm, Unsupervised):
        return agreeing(table, paradigm, given, is_open, kernel == "auto", given_q, scales[0], seed)
    axes = _axes(table, paradigm) if given_q is None else (given_q,)
    return _choosing(table, paradigm, given, is_open, kernel == "auto", axes, scales, seed)


def _choosing(
    table: Array,
    paradigm: Supervised,
    kernel: Kernel,
    is_open: bool,
    any_kernel: bool,
    axes: tuple[int, ...],
    scales: tuple[Scale, ...],
    seed: int,
) -> Generator[Trial, None, Choice]:
    rng = np.random.default_rng(seed)
    rows = _sample(paradigm, table, max(SAMPLE, min(PER_COLUMN * table.shape[1], MOST)), rng)
    criterion = "r2" if paradigm.codes is None else "accuracy"
    folds = _folds(len(rows))
    kernels = _Kernels(table, paradigm, kernel, is_open, seed)
    kinds = {paradigm.neighbors, any_kernel and paradigm.can_have_neighbors and len(table) <= MOST_WITH_NEIGHBORS}
    if not _can_be_validated(paradigm.codes, len(table)):
        usual = CandidatePath(scales[0], axes[0], paradigm.neighbors)
        only = Candidate(kernels.at(usual, 0), usual.scale, usual.q, usual.neighbors, np.nan, None, 0.0)
        return Choice(criterion, (only,), only, 0, "There are too few rows to choose by; this is the usual setting.")
    race = Race(table[rows], paradigm.restricted(rows), kernel, is_open, len(kinds) > 1, folds, rng)
    lanes: list[CandidatePath] = []
    before: ScoredKernel | None = None
    for q in axes:
        some: list[CandidatePath] = []
        best: ScoredKernel | None = None
        for neighbors in sorted(kinds):
            more = [CandidatePath(each, q, neighbors) for each in scales]
            yield from race.run(more, best)
            some += more
            best = race.best(some)
            if best.score >= PERFECT:
                break
        assert best is not None
        lanes += some
        if best.score >= PERFECT or (before is not None and not best.is_ahead_of(before)):
            break
        before = best
    chosen, reason = _taken(_with_fewest_axes(lanes, race), race)
    candidates = kernels.candidates(lanes, len(rows) * (1 - 1 / folds))
    if chosen.neighbors and is_open and len(table) >= MANY * len(rows):
        many = _sample(paradigm, table, MOST_NARROWED, rng)
        larger = Race(table[many], paradigm.restricted(many), kernel, is_open, False, OF_NARROWED, rng, climbs=LONG)
        lane = yield from larger.narrowed(chosen)
        candidates |= kernels.candidates([lane], len(many) * (1 - 1 / OF_NARROWED))
        chosen = max(lane.points, key=lambda point: point.score)
        reason = f"It has the best score of those that were tried on {len(many):,} rows, after all others on fewer."
    return Choice(criterion, tuple(candidates.values()), candidates[chosen], len(rows), reason)


def _with_fewest_axes(lanes: list[CandidatePath], race: Race) -> list[CandidatePath]:
    """The lanes with the fewest axes whose best is within a standard error of the best of all."""
    of_axes = {q: [lane for lane in lanes if lane.q == q] for q in sorted({lane.q for lane in lanes})}
    best = race.best(lanes)
    return next(some for some in of_axes.values() if not best.is_ahead_of(race.best(some)))


def _taken(lanes: list[CandidatePath], race: Race) -> tuple[ScoredKernel, str]:
    """The best with neighbors where it is ahead of all others; else the simplest of these that is near their best."""
    best = chosen = race.best(lanes)
    without = [lane for lane in lanes if not lane.neighbors]
    if without and not best.is_ahead_of(race.best(without)):
        leading = race.best(without)
        points = [point for lane in without for point in lane.points if race.is_complete(point)]
        near = [point for point in points if not leading.is_ahead_of(point)]
        chosen = min(near, key=lambda point: (point.scale != "whiten", point.place))
    if chosen is best:
        return chosen, "It has the best score."
    return chosen, f"It is the simplest whose score is near the best, {best.score:.3f}."


class _Kernels:
    """The kernels of the paths on all rows, which are scaled when they are needed."""

    def __init__(self, table: Array, paradigm: Supervised, kernel: Kernel, is_open: bool, seed: int) -> None:
        self._table = table
        self._paradigm = paradigm
        self._kernel = kernel
        self._is_open = is_open
        self._seed = seed
        self._first: dict[tuple[Scale, int, bool], float] = {}

    def candidates(self, lanes: list[CandidatePath], learnt: float) -> dict[ScoredKernel, Candidate]:
        """Each point that has learnt from so many rows, as it is on all of them."""
        return {
            point: Candidate(
                self.at(lane, point.place, len(self._table) / learnt),
                lane.scale,
                lane.q,
                lane.neighbors,
                point.score,
                point.error,
                point.seconds,
            )
            for lane in lanes
            for point in lane.points
        }

    def at(self, lane: CandidatePath, place: int, times: float = 1.0) -> Kernel:
        """The kernel at a place of the path of a lane; the one that was given where none is open.

        Among `times` as many rows as a candidate has learnt from, neighbors are nearer: by times^(−1/(q + 4)), as
        widths go that estimate a density best (Scott, 1992).
        """
        if not self._is_open:
            return self._kernel
        assert isinstance(self._kernel, Narrowing)
        of = lane.scale, lane.q, lane.neighbors
        if of not in self._first:
            rows = Scaling.learnt(self._table, lane.scale, self._paradigm.codes)[1]
            space, gamma = RowSpace.of(rows, lane.q), self._paradigm.with_neighbors(lane.neighbors).guidance()
            problem = Problem.of(space.Z, gamma, self._kernel, lane.q, space.null_directions)
            self._first[of] = lane.widest * beginning(problem, np.random.default_rng(self._seed))
        nearer = times ** (-1 / (lane.q + 4)) if lane.neighbors else 1.0
        return with_width(self._kernel, next(islice(widths(nearer * self._first[of]), place, None)))


def _sample(paradigm: Supervised, table: Array, count: int, rng: np.random.Generator) -> Ints:
    """So many of the rows, with some of every class; all of them if there are no more."""
    if len(table) <= count:
        return np.arange(len(table))
    if paradigm.codes is not None:
        return LabelGamma.of(paradigm.codes).sample(count, rng)
    return np.sort(rng.choice(len(table), count, replace=False))


def _folds(rows: int) -> int:
    return 5 if rows <= FEW else 3


def _can_be_validated(codes: Ints | None, n: int) -> bool:
    """Whether what is learnt from all folds but one is worth a score: two classes of two rows, for one."""
    return n >= FEWEST and (codes is None or int((np.bincount(codes) > 1).sum()) > 1)


def _axes(table: Array, paradigm: Supervised) -> tuple[int, ...]:
    """The q that are tried where it is open."""
    d, codes = table.shape[1], paradigm.codes
    most = min(d, OF_VALUES if codes is None else max(2, int(codes.max()) + 1))
    return tuple(each for each in AXES if each <= most) or (d,)


def _checked_q(q: int | str, d: int) -> int | None:
    """None where it is open."""
    if q == "auto":
        return None
    if not is_whole(q) or not 1 <= int(q) <= d:
        raise InvalidInput("q", f'q is {q!r}; it must be "auto" or a whole number from 1 to the {d} feature(s) of X.')
    return int(q)


def _checked_scale(scale: str) -> Scale:
    for each in SCALES:
        if scale == each:
            return each
    raise InvalidInput("scale", f'scale is {scale!r}; it must be "standard", "whiten", "none" or "auto".')
