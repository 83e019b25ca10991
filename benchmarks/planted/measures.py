"""How well a ranking and its axes agree with the known answer of a planted problem."""

from collections.abc import Iterable

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.measuring import Row
from benchmarks.planted.problems import PlantedProblem
from ism_core.arrays import Array


def of_columns(problem: PlantedProblem, column: Iterable[str], importance: Array) -> Array:
    """Add up the importance of encoded columns; columns of the problem without any get 0."""
    total = dict.fromkeys(problem.columns, 0.0)
    for name, share in zip(column, importance, strict=True):
        total[name] += float(share)
    return np.array(list(total.values()))


def ranking_measures(problem: PlantedProblem, importance: Array) -> Row:
    """Compare a ranking of the problem's columns with the relevant ones.

    Returns the AUC, the share of the top k that is irrelevant (k is the number of relevant columns), and whether a
    column of collinear noise is among them. A column without importance is never among the top k.
    """
    truth = problem.truth
    top = [place for place in np.argsort(-importance, kind="stable")[: truth.sum()] if importance[place] > 0]
    names = list(problem.columns)
    return {
        "auc": float(roc_auc_score(truth, importance)),
        "false": sum(not truth[place] for place in top) / int(truth.sum()),
        "collinear": any(names[place] in problem.collinear for place in top),
    }


def angle(true: Array, found: Array) -> float:
    """Return the largest angle between a true axis and the span of the found axes, in degrees.

    The axes are given by the projected rows (n×q), so that it does not matter how an axis is made from columns that
    copy each other. The angle is 90° if there are fewer axes than true ones.
    """
    if found.shape[1] < true.shape[1]:
        return 90.0
    bases = [np.linalg.svd(each - each.mean(axis=0), full_matrices=False) for each in (true, found)]
    one, other = (U[:, s > 1e-9 * s[0]] if s[0] > 0 else U[:, :0] for U, s, _ in bases)
    if other.shape[1] < one.shape[1]:
        return 90.0
    cosine = float(np.linalg.svd(one.T @ other, compute_uv=False).min())
    return float(np.degrees(np.arccos(min(1.0, cosine))))
