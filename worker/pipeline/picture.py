"""Pictures of a running job: some rows in two axes of the best W so far, its loadings and its score.

The first picture needs no choice: it is the solution for a linear kernel on few rows, or the directions of largest
variance if the job is a clustering. Later pictures show the leader of the choice, then the ascent, then the result.
Each is rotated like the one before, except that of the result.
"""

import time
from typing import Any

import numpy as np

from ism_core import InvalidInput, Linear, Result, Step, solve
from ism_core.arrays import Array, Ints
from ism_core.linalg import (
    Scale,
    Scaling,
    Whitening,
    eigenpairs,
    procrustes_rotation,
    uncorrelated_direction,
    with_fixed_signs,
)
from ism_core.paradigms import Paradigm, Supervised
from ism_core.selection import Leader
from ism_jobs.data import TrainingData
from ism_jobs.spec import JobSpec
from worker.pipeline.prepare import impute
from worker.to_core import kernel_document, kernel_of

PICTURE_ROWS = 2_000  # rows of a picture at most: about 60 KB of JSON
FIRST_ROWS = 1_000  # rows that the first picture is solved on at most, so that it comes within half a second
FIRST_ENTRIES = 300_000  # rows times columns of that solve at most; wide tables use fewer rows
FEWEST_ROWS = 100  # of that solve, however wide the table is
PICTURE_FEATURES = 200  # features of a picture at most: those with the largest weights
SECONDS_BETWEEN_PICTURES = 0.5
DIGITS = 4  # significant digits of coordinates and loadings

Picture = dict[str, Any]


class Pictures:
    """Draws the pictures of one attempt; each keeps the sign and rotation of the one before."""

    def __init__(self, spec: JobSpec, training: TrainingData, paradigm: Paradigm) -> None:
        self._spec = spec
        self._paradigm = paradigm
        self._features = training.encoding.names
        self._rng = np.random.default_rng(spec.seed)
        self._places = self._sample(len(training.X), PICTURE_ROWS)
        self._rows = training.rows[self._places].tolist()
        self._X = impute(training.X[self._places], spec.missing)
        self._scaled: dict[Scale, Array] = {}
        self._group = _group(training, paradigm, self._places)
        self._before: Array | None = None  # the coordinates of the last picture
        self._leader: Leader | None = None  # of the last picture
        self._drawn_at = -np.inf
        self._number = 0

    def first(self) -> Picture | None:
        """Return a picture from few rows; None if they have no direction to show."""
        count = min(FIRST_ROWS, max(FEWEST_ROWS, FIRST_ENTRIES // self._X.shape[1]))
        few = self._sample(len(self._X), count)
        try:
            scale, loadings = self._first_loadings(few)
        except (InvalidInput, np.linalg.LinAlgError):  # these few rows may be degenerate although the table is not
            return None
        return self._picture(self._standardized(scale) @ loadings, loadings, scale, "linear", None)

    def of_leader(self, leader: Leader | None) -> Picture | None:
        """Return a picture of the leader of a choice; None if the last one shows it already or has just come."""
        if leader is None or leader is self._leader or not self._is_due():
            return None
        self._leader = leader
        if leader.rows is not None and leader.labels is not None:
            labels = dict(zip(leader.rows.tolist(), leader.labels.tolist(), strict=True))
            self._group = [labels.get(place) for place in self._places.tolist()]
        P = self._standardized(leader.scale) @ leader.loadings
        return self._picture(P, leader.loadings, leader.scale, kernel_document(leader.kernel), leader.score)

    def of_step(self, X: Array, step: Step, spec: JobSpec, whitening: Whitening | None) -> Picture | None:
        """Return a picture of an ascent on the prepared rows X; None if the last one has just come."""
        if not self._is_due():
            return None
        loadings = step.W if whitening is None else whitening.times(step.W)
        kernel = kernel_document(kernel_of(spec))
        return self._picture(X[self._places] @ step.W, loadings, spec.scale, kernel, self._score)

    def of_result(self, X: Array, result: Result, spec: JobSpec, whitening: Whitening | None) -> Picture:
        """Return the picture of a result on the prepared rows X, with the signs and the rotation of its axes."""
        self._before = None
        if result.labels is not None:
            self._group = result.labels[self._places].tolist()
        loadings = result.loadings(whitening)
        signed = with_fixed_signs(loadings)
        signs = np.sign((loadings * signed).sum(axis=0))
        P = X[self._places] @ result.W * signs
        return self._picture(P, signed, spec.scale, kernel_document(result.kernel), self._score)

    @property
    def _score(self) -> float | None:
        return None if self._leader is None else self._leader.score

    def _is_due(self) -> bool:
        return time.monotonic() - self._drawn_at > SECONDS_BETWEEN_PICTURES

    def _sample(self, n: int, count: int) -> Ints:
        return np.arange(n) if n <= count else np.sort(self._rng.choice(n, count, replace=False))

    def _standardized(self, scale: Scale) -> Array:
        """Return the rows of the picture, standardized unless the scale is "none"."""
        how: Scale = "none" if scale == "none" else "standard"
        if how not in self._scaled:
            self._scaled[how] = Scaling.learned(self._X, how)[1]
        return self._scaled[how]

    def _first_loadings(self, few: Ints) -> tuple[Scale, Array]:
        given = self._spec.scale
        q = min(2, self._X.shape[1], self._spec.q if isinstance(self._spec.q, int) else 2)
        if not isinstance(self._paradigm, Supervised):
            scale: Scale = "none" if given == "none" else "standard"
            rows = self._standardized(scale)[few]
            return scale, with_fixed_signs(eigenpairs(rows.T @ rows, q)[1])
        scale = given if given in ("standard", "none") else "whiten" if len(few) > self._X.shape[1] else "standard"
        paradigm = self._paradigm.with_neighbors(False).restricted(self._places[few])
        scaling, rows = Scaling.learned(self._X[few], scale, paradigm.codes)
        informative = paradigm.rank if paradigm.codes is None else int(paradigm.codes.max())  # classes − 1
        result = solve(rows, paradigm, Linear(), max(1, min(q, informative)), seed=self._spec.seed)
        return scale, scaling.outside(result.W)

    def _picture(self, P: Array, loadings: Array, scale: str | None, kernel: object, score: float | None) -> Picture:
        """Return the document of a picture with two axes, or with one if the table has one feature."""
        q, axes = P.shape[1], [f"axis{number}" for number in range(1, min(P.shape[1], 2) + 1)]
        importance = (loadings**2).sum(axis=1)
        P, W = P[:, :2] - P[:, :2].mean(axis=0), loadings[:, :2]
        rows = self._standardized("none" if scale == "none" else "standard")
        if q == 1 and (second := uncorrelated_direction(rows - rows.mean(axis=0), W[:, 0])) is not None:
            P, W = (np.column_stack([each, add]) for each, add in ((P, rows @ second), (W, second)))
            axes.append("picture")
        if self._before is not None and self._before.shape == P.shape:
            turn = _rotation(P, self._before, mixes_axes=q > 1)
            P, W = P @ turn, W @ turn
        self._before, self._drawn_at, self._number = P, time.monotonic(), self._number + 1
        top = np.argsort(-importance, kind="stable")[:PICTURE_FEATURES]
        return {
            "number": self._number,
            "score": score if score is not None and np.isfinite(score) else None,
            "q": q,
            "kernel": kernel,
            "scale": scale,
            "axes": axes,
            "rows": self._rows,
            "coordinates": _rounded(P),
            "group": self._group,
            "features": [self._features[place] for place in top],
            "W": _rounded(W[top]),
            "importance": _rounded(importance[top] / (importance.sum() or 1.0)),
        }


def _group(training: TrainingData, paradigm: Paradigm, places: Ints) -> list[Any] | None:
    """Return the target of the rows, if it has one column."""
    given = training.guidance
    if not isinstance(paradigm, Supervised) or given is None or given.ndim > 1:
        return None
    values: list[Any] = given[places].tolist()
    return [None if isinstance(value, float) and np.isnan(value) else value for value in values]


def _rotation(P: Array, before: Array, mixes_axes: bool) -> Array:
    """Return the rotation that brings P nearest to the last picture, or only the signs that do."""
    if mixes_axes:
        return procrustes_rotation(P, before)
    signs: Array = np.diag(np.where((P * before).sum(axis=0) < 0, -1.0, 1.0))
    return signs


def _rounded(values: Array) -> Any:
    """Return nested lists of numbers with few digits, because JSON would have all of them."""
    size = float(np.abs(values).max(initial=0.0))
    decimals = DIGITS - 1 - int(np.floor(np.log10(size))) if size > 0 and np.isfinite(size) else 0
    return np.nan_to_num(values.round(decimals)).tolist()
