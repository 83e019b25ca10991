"""The order in which candidates are tried: first in q, then with neighbors.

The first fold compares values of q, from 1 on, until the score does not rise any more. q = 2 is
always tried, unless q = 1 misses no row: two features may matter only together. If products of two columns tell more
than the best candidate so far, a path starts from these interactions too. Then the candidates that are left go
through the other folds. Neighbors take longer, so they are tried last: with the q that is chosen without them, with
smaller q as long as these are within one standard error of the best, and with larger q as long as the score rises.
"""

from collections.abc import Generator, Iterable

from ism_core.linalg import Scale
from ism_core.selection.candidates import CandidatePath, ScoredKernel
from ism_core.selection.choice import Trial
from ism_core.selection.cross_validation import SuccessiveHalving
from ism_core.selection.rule import decide, stacked

PERFECT = 1.0  # the largest possible score: the search stops
ALWAYS_TRIED = 2  # number of axes up to which the search goes on even if the score does not rise


def iter_search(
    halving: SuccessiveHalving,
    axes: tuple[int, ...],
    scales: tuple[Scale, ...],
    kinds: Iterable[bool],
    tries_linear: bool,
) -> Generator[Trial, None, list[CandidatePath]]:
    """Score candidates with the given q and scales, without and with neighbors (`kinds`); return their paths.

    `tries_linear` asks for linear kernels too, if neighbors are not the only kind.
    """
    paths: list[CandidatePath] = []
    if False in kinds:
        paths = yield from _iter_plain(halving, axes, scales, tries_linear)
    if True in kinds and (not paths or halving.best(paths).score < PERFECT):
        paths += yield from _iter_neighbors(halving, axes, scales, halving.complete(paths))
    return paths


def _iter_plain(
    halving: SuccessiveHalving, axes: tuple[int, ...], scales: tuple[Scale, ...], tries_linear: bool
) -> Generator[Trial, None, list[CandidatePath]]:
    """Try larger and larger q in the first fold, then the other folds; without neighbors."""
    paths: list[CandidatePath] = []
    left = list(axes)
    while left:
        new: list[CandidatePath] = []
        is_rising = True
        while left and is_rising:
            q = left.pop(0)
            kinds = (False, True) if tries_linear else (False,)
            some = [CandidatePath(scale, q, linear=linear) for scale in scales for linear in kinds]
            yield from halving.iter_first_fold(some)
            other = CandidatePath(scales[0], q, interactions=True)
            if halving.interactions_lead(other, halving.best(some, 1)):
                yield from halving.iter_first_fold([other])
                some.append(other)
            new += some
            best = halving.best([*paths, *new], 1)
            if best.score >= PERFECT:
                break
            is_rising = best.q == q or q < ALWAYS_TRIED
        yield from halving.iter_other_folds(new, halving.best(paths) if paths else None)
        paths += new
        if not is_rising or halving.best(paths).score >= PERFECT:
            break
    return paths


def _iter_neighbors(
    halving: SuccessiveHalving, axes: tuple[int, ...], scales: tuple[Scale, ...], plain: list[ScoredKernel]
) -> Generator[Trial, None, list[CandidatePath]]:
    """Try neighbors at the q that is chosen among the plain candidates, then at smaller and larger q."""
    rival = max(plain, key=lambda point: point.score, default=None)
    middle = axes.index(plain[decide(plain, stacked(plain))[0]].q) if plain else 0
    paths: list[CandidatePath] = []

    def first_fold(q: int) -> Generator[Trial, None, ScoredKernel]:
        some = [CandidatePath(scale, q, neighbors=True) for scale in scales]
        yield from halving.iter_first_fold(some)
        paths.extend(some)
        return halving.best(some, 1)

    best = yield from first_fold(axes[middle])
    for q in reversed(axes[:middle]):
        found = yield from first_fold(q)
        if any(each is not None and each.is_ahead_of(found) for each in (best, rival)):
            break
    for q in axes[middle + 1 :]:
        found = yield from first_fold(q)
        if found.score <= best.score:
            break
        best = found
    ascending = sorted((point for point in plain if not point.interactions), key=lambda point: point.score)
    simpler = {} if halving.are_values else {point.q: point for point in ascending}  # the best of each q
    yield from halving.iter_other_folds(paths, rival, simpler)
    return paths
