"""The settings of a clustering, chosen without labels: the one whose clusters the others agree with most.

Nothing tells how good clusters are, but settings that are off go astray each in its own way, while those that are near
the truth find the same clusters. So every candidate clusters the same rows, and its score is the mean NMI of its labels
with those of all other candidates (Strehl and Ghosh, 2002). It needs neither resampling nor a further parameter.

Candidates are a few widths from the median distance downwards. For the kernel "auto", which may be any, a polynomial is
one too: it fails where gaussians do not, and so its vote is worth having. Rows are not whitened unless that is asked
for, and there are as many axes as clusters: of what was measured, nothing else was better for a clustering.
"""

import time
from collections.abc import Generator

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from ism_core.arrays import Array, Ints
from ism_core.errors import InvalidInput
from ism_core.kernels.base import Kernel
from ism_core.kernels.family import Narrowing, Polynomial
from ism_core.paradigms.base import Unsupervised
from ism_core.scaling import Scale, Scaling
from ism_core.selection.choice import Candidate, Choice, Trial
from ism_core.solver.solve import iterate
from ism_core.solver.starts.continuation import widest, with_width

SHARES = (1.0, 0.7, 0.5, 0.35)  # of the widest kernel
SAMPLE = 2_000  # rows that are clustered where there are more
DELTA = 0.03  # of these clusterings: the labels hardly change after it
ITERATIONS = 100  # of each at most
FEWEST = 10  # rows, and at least FEW for each cluster, that can be chosen by
FEW = 2


def agreeing(
    table: Array,
    paradigm: Unsupervised,
    kernel: Kernel,
    is_open: bool,
    any_kernel: bool,
    q: int | None,
    scale: Scale,
    seed: int,
) -> Generator[Trial, None, Choice]:
    """Choose the width of the kernel if it is open, and q if it is None; yields a Trial for each step of each solve.

    With `any_kernel`, a polynomial kernel is a candidate beside the widths.
    """
    k, d = paradigm.n_clusters, table.shape[1]
    axes = min(k, d) if q is None else q
    rows = _sample(len(table), paradigm.guided, np.random.default_rng(seed))
    some = paradigm.restricted(rows)
    kernels = _kernels(table, kernel, any_kernel, scale, seed) if is_open else [kernel]
    if len(kernels) == 1 or not _can_be_told(some, len(rows)):
        usual = Candidate(kernels[0], scale, axes, False, np.nan, None, 0.0)
        why = "There are too few rows to choose by; this" if len(kernels) > 1 else "This"
        return Choice("consensus", (usual,), usual, 0, f"{why} is the usual setting of a clustering.")
    found: list[Ints] = []
    seconds: list[float] = []
    few = Scaling.learnt(table[rows], scale)[1]
    for number, each in enumerate(kernels, 1):
        began = time.perf_counter()
        steps = iterate(few, some, each, axes, delta=DELTA, max_iter=ITERATIONS, seed=seed)
        best = max(_agreement(found)[0]) if len(found) > 1 else 0.0
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found.append(end.value.labels)
                break
            yield Trial(scale, axes, number, len(kernels), len(found), best)
        seconds.append(time.perf_counter() - began)
    candidates = tuple(
        Candidate(each, scale, axes, False, score, error, taken)
        for each, score, error, taken in zip(kernels, *_agreement(found), seconds, strict=True)
    )
    chosen = max(candidates, key=lambda candidate: candidate.score)
    yield Trial(scale, axes, len(kernels), len(kernels), len(found), chosen.score)
    reason = "Its clusters agree best with those of the other candidates."
    return Choice("consensus", candidates, chosen, len(rows), reason)


def _kernels(table: Array, kernel: Kernel, any_kernel: bool, scale: Scale, seed: int) -> list[Kernel]:
    """The candidates, with the widths of all rows."""
    assert isinstance(kernel, Narrowing)
    begin = widest(kernel, Scaling.learnt(table, scale)[1], np.random.default_rng(seed))
    kernels: list[Kernel] = [with_width(kernel, share * begin) for share in SHARES]
    return [*kernels, Polynomial()] if any_kernel else kernels


def _sample(n: int, guided: Ints, rng: np.random.Generator) -> Ints:
    """Of many rows a draw, up to half of it from those that guide, which may be few."""
    if n <= SAMPLE:
        return np.arange(n)
    known = rng.permutation(guided)[: SAMPLE // 2]
    others = np.setdiff1d(np.arange(n), known, assume_unique=True)
    return np.sort(np.concatenate([known, rng.choice(others, SAMPLE - len(known), replace=False)]))


def _can_be_told(paradigm: Unsupervised, rows: int) -> bool:
    """Whether the agreement of clusterings of these rows says something."""
    try:
        paradigm.check(rows)
    except InvalidInput:  # what guides it is of one class in this sample
        return False
    return rows >= max(FEWEST, FEW * paradigm.n_clusters)


def _agreement(labels: list[Ints]) -> tuple[list[float], list[float]]:
    """The mean NMI of each with all others, and its standard error."""
    shared = np.array(
        [[normalized_mutual_info_score(one, other, average_method="geometric") for other in labels] for one in labels]
    )
    others = shared[~np.eye(len(labels), dtype=bool)].reshape(len(labels), -1)
    return others.mean(axis=1).tolist(), (others.std(axis=1) / np.sqrt(others.shape[1])).tolist()
