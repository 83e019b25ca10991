"""Choose the settings of a clustering without labels: take the candidate that agrees most with the others.

Poor settings give different clusters, while good settings give similar ones. So every candidate clusters the same
rows, and its score is the mean NMI of its labels with those of all other candidates (Strehl and Ghosh, 2002).

Candidates are a few widths from the median distance downwards. Kernel "auto" adds a polynomial, whose errors differ
from those of gaussians. Rows are not whitened unless the user asks for it, and q is the number of clusters: no other
rule was better on the paper's data.
"""

import time
from collections.abc import Generator
from functools import partial

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from ism_core.arrays import Array, Ints
from ism_core.errors import InvalidInput
from ism_core.kernels import Kernel, KernelWithWidth, Polynomial
from ism_core.linalg import Scale, Scaling
from ism_core.paradigms import Unsupervised
from ism_core.selection.choice import Candidate, Choice, Trial
from ism_core.solver import iter_solve, relay, widest_width, with_width

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
    is_open: bool,
    any_kernel: bool,
    q: int | None,
    scale: Scale,
    seed: int,
) -> Generator[Trial, None, Choice]:
    """Choose the width of the kernel if it is open, and q if it is None; yield a Trial for each step of each solve.

    With `any_kernel`, a polynomial kernel is a candidate too.
    """
    k, d = paradigm.n_clusters, table.shape[1]
    axes = min(k, d) if q is None else q
    rows = drawn_rows(len(table), paradigm.guided, np.random.default_rng(seed), SAMPLE)
    some = paradigm.restricted(rows)
    kernels = _kernels(table, kernel, any_kernel, scale, seed) if is_open else [kernel]
    if len(kernels) == 1 or not _can_be_compared(some, len(rows)):
        usual = Candidate(kernels[0], scale, axes, False, np.nan, None, 0.0)
        few_rows = "The table has too few rows to compare clusterings; this" if len(kernels) > 1 else "This"
        return Choice("consensus", (usual,), usual, 0, f"{few_rows} is the default setting of a clustering.")
    found: list[Ints] = []
    seconds: list[float] = []
    few = Scaling.learnt(table[rows], scale)[1]
    for number, each in enumerate(kernels, 1):
        began = time.perf_counter()
        steps = iter_solve(few, some, each, axes, delta=DELTA, max_iter=ITERATIONS, seed=seed)
        best = max(_agreement(found)[0]) if len(found) > 1 else 0.0
        trial = Trial(scale, axes, number, len(kernels), len(found), best)
        labels = (yield from relay(steps, partial(same, trial))).labels
        assert labels is not None
        found.append(labels)
        seconds.append(time.perf_counter() - began)
    candidates = tuple(
        Candidate(each, scale, axes, False, score, error, taken)
        for each, score, error, taken in zip(kernels, *_agreement(found), seconds, strict=True)
    )
    chosen = max(candidates, key=lambda candidate: candidate.score)
    yield Trial(scale, axes, len(kernels), len(kernels), len(found), chosen.score)
    reason = "Its clusters agree best with those of the other candidates."
    return Choice("consensus", candidates, chosen, len(rows), reason)


def same(trial: Trial, _: object) -> Trial:
    """Return the trial, whatever step of its solve was taken."""
    return trial


def _kernels(table: Array, kernel: Kernel, any_kernel: bool, scale: Scale, seed: int) -> list[Kernel]:
    """Return the candidate kernels, with widths from all rows."""
    assert isinstance(kernel, KernelWithWidth)
    begin = widest_width(kernel, Scaling.learnt(table, scale)[1], np.random.default_rng(seed))
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


def _agreement(labels: list[Ints]) -> tuple[list[float], list[float]]:
    """Return the mean NMI of each clustering with all others, and its standard error."""
    shared = np.array(
        [[normalized_mutual_info_score(one, other, average_method="geometric") for other in labels] for one in labels]
    )
    others = shared[~np.eye(len(labels), dtype=bool)].reshape(len(labels), -1)
    return others.mean(axis=1).tolist(), (others.std(axis=1) / np.sqrt(others.shape[1])).tolist()
