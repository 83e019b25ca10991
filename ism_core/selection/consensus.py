"""Choose the settings of a clustering without labels: take the candidate that agrees most with the others.

Poor settings give different clusters, while good settings give similar ones. So every candidate clusters the same
rows, and its score is the mean NMI of its labels with those of all other candidates (Strehl and Ghosh, 2002).

Candidates are a few widths from the median distance downwards. Kernel "auto" adds a polynomial, whose errors differ
from those of Gaussians. Rows are not whitened unless the user asks for it, and q is the number of clusters: no other
rule was better on the paper's data.
"""

import time
from collections.abc import Callable, Generator

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from ism_core.arrays import Array, Ints
from ism_core.errors import InvalidInput
from ism_core.kernels import Kernel, KernelWithWidth, Polynomial
from ism_core.linalg import Scale, Scaling
from ism_core.paradigms import Unsupervised
from ism_core.selection.candidates import few_loadings
from ism_core.selection.choice import Candidate, Choice, Leader, Trial
from ism_core.solver import Result, ReturnCapture, iter_solve, widest_width, with_width

WIDTHS = (1.0, 0.7, 0.5, 0.35)  # relative to the median distance (tuned on the paper's data)
SAMPLE = 2_000  # rows of the subsample that is clustered, if the table has more
DELTA = 0.03  # convergence tolerance of these clusterings: labels hardly change below it
ITERATIONS = 100  # of each clustering at most
FEWEST_ROWS = 10  # rows that a choice needs
ROWS_PER_CLUSTER = 2  # rows per cluster that a choice needs


def iter_consensus(
    table: Array,
    paradigm: Unsupervised,
    kernel: Kernel,
    chooses_width: bool,
    any_kernel: bool,
    q: int | None,
    scale: Scale,
    seed: int,
    finish: Callable[[], bool],
) -> Generator[Trial, None, Choice]:
    """Choose the width of the kernel if `chooses_width`, and q if it is None; yield a Trial at each step of a solve.

    With `any_kernel`, a polynomial kernel is a candidate too. The search ends when `finish` returns True.
    """
    k, d = paradigm.n_clusters, table.shape[1]
    axes = min(k, d) if q is None else q
    rows = drawn_rows(len(table), paradigm.guided, np.random.default_rng(seed), SAMPLE)
    some = paradigm.restricted(rows)
    kernels = _kernels(table, kernel, any_kernel, scale, seed) if chooses_width else [kernel]
    if len(kernels) == 1 or not _can_be_compared(some, len(rows)):
        usual = Candidate(kernels[0], scale, axes, False, np.nan, None, 0.0)
        few_rows = "The table has too few rows to compare clusterings; this" if len(kernels) > 1 else "This"
        return Choice("consensus", (usual,), usual, 0, f"{few_rows} is the default setting of a clustering.")
    found: list[Result] = []
    seconds: list[float] = []
    scaling, few = Scaling.learned(table[rows], scale)
    cut_short = False
    for number, each in enumerate(kernels, 1):
        began = time.perf_counter()
        solving = ReturnCapture(iter_solve(few, some, each, axes, delta=DELTA, max_iter=ITERATIONS, seed=seed))
        leader = _leader(found, scaling, scale, rows)
        trial = Trial(scale, axes, number, len(kernels), len(found), leader.score if leader else 0.0, leader)
        for _ in solving:
            yield trial
            cut_short = finish()
            if cut_short:
                break
        if cut_short:
            break
        found.append(solving.value)
        seconds.append(time.perf_counter() - began)
    if not found:
        usual = Candidate(kernels[0], scale, axes, False, np.nan, None, 0.0)
        reason = "The search was finished early before the first candidate was tried; this is the default setting."
        return Choice("consensus", (usual,), usual, 0, reason, cut_short=True)
    candidates = tuple(
        Candidate(each, scale, axes, False, score, error, taken, loadings=few_loadings(one.loadings(scaling.whitening)))
        for each, one, score, error, taken in zip(kernels, found, *_agreement(found), seconds, strict=False)
    )
    leader = _leader(found, scaling, scale, rows)
    assert leader is not None
    yield Trial(scale, axes, len(kernels), len(kernels), len(found), leader.score, leader)
    chosen = max(candidates, key=lambda candidate: candidate.score)
    reason = "Its clusters agree best with those of the other candidates."
    if cut_short:
        reason = f"The search was finished early after {len(found)} of {len(kernels)} candidates. {reason}"
    return Choice("consensus", candidates, chosen, len(rows), reason, cut_short=cut_short)


def _leader(found: list[Result], scaling: Scaling, scale: Scale, rows: Ints) -> Leader | None:
    """Return the clustering that agrees most with the others so far."""
    if not found:
        return None
    score, place = max((score, -place) for place, score in enumerate(_agreement(found)[0]))
    best = found[-place]
    loadings = best.loadings(scaling.whitening)
    return Leader(best.kernel, scale, best.W.shape[1], score, loadings, rows, best.labels)


def _kernels(table: Array, kernel: Kernel, any_kernel: bool, scale: Scale, seed: int) -> list[Kernel]:
    """Return the candidate kernels, with widths from all rows."""
    assert isinstance(kernel, KernelWithWidth)
    begin = widest_width(kernel, Scaling.learned(table, scale)[1], np.random.default_rng(seed))
    kernels: list[Kernel] = [with_width(kernel, width * begin) for width in WIDTHS]
    return [*kernels, Polynomial()] if any_kernel else kernels


def drawn_rows(n: int, guided: Ints, rng: np.random.Generator, most: int) -> Ints:
    """Draw a subsample of at most so many rows, up to half of it from the guided rows, which may be few."""
    if n <= most:
        return np.arange(n)
    known = rng.permutation(guided)[: most // 2]
    others = np.setdiff1d(np.arange(n), known, assume_unique=True)
    return np.sort(np.concatenate([known, rng.choice(others, most - len(known), replace=False)]))


def _can_be_compared(paradigm: Unsupervised, rows: int) -> bool:
    """Tell whether there are enough rows for a comparison of clusterings."""
    try:
        paradigm.check(rows)
    except InvalidInput:  # the guided rows of this subsample are all of one class
        return False
    return rows >= max(FEWEST_ROWS, ROWS_PER_CLUSTER * paradigm.n_clusters)


def _agreement(found: list[Result]) -> tuple[list[float], list[float]]:
    """Return the mean NMI of each clustering with all others, and its standard error; 0 if there are no others."""
    if len(found) == 1:
        return [0.0], [0.0]
    labels = [each.labels for each in found]
    shared = np.array(
        [[normalized_mutual_info_score(one, other, average_method="geometric") for other in labels] for one in labels]
    )
    others = shared[~np.eye(len(labels), dtype=bool)].reshape(len(labels), -1)
    return others.mean(axis=1).tolist(), (others.std(axis=1) / np.sqrt(others.shape[1])).tolist()
