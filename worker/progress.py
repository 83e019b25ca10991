"""The progress of a job: its stage, its numbers, and an estimate of the time left."""

import math
import time
from collections import deque
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ism_core import Step, Trial

TYPICAL_TRIALS = 150  # projections that a choice scores; 75 to 442 on the tables of benchmarks.first_insight
LEAST_LEFT = 0.2  # after TYPICAL_TRIALS, the estimated number of trials left is at least this share of those so far
RATE_STEPS = 6  # number of most recent steps from which the rate of convergence is estimated
BEST_FIELDS = ("number", "score", "q", "kernel", "scale")  # of a picture, to describe the best candidate so far

Stage = Literal[
    "preparing", "choosing", "search", "ascent", "sparsity", "stability", "validation", "measuring", "writing"
]


@dataclass(frozen=True)
class Progress:
    """The state of a running job. `remaining_seconds` is None while there is no estimate."""

    stage: Stage
    iteration: int
    max_iter: int
    objective: float | None
    change: float | None
    angle: float | None
    elapsed_seconds: float
    remaining_seconds: float | None
    fold: int | None = None
    folds: int | None = None
    trying: dict[str, Any] | None = (
        None  # while settings are chosen: the current candidate, how many were tried, the best score
    )

    def document(self) -> dict[str, Any]:
        """Return the progress as a JSON object."""
        fields = {
            name: round(value, 3) if name.endswith("_seconds") and value is not None else value
            for name, value in asdict(self).items()
        }
        return fields | {"percent": self.percent}

    @property
    def percent(self) -> int | None:
        """The share of the time that has passed, if the time left is known."""
        if self.remaining_seconds is None:
            return None
        return int(100 * self.elapsed_seconds / (self.elapsed_seconds + self.remaining_seconds or 1.0))


@dataclass(frozen=True)
class ProgressEvent:
    """The progress of a job, and what has just happened.

    The kind is a "step" (with its row of the trace), a "trial" of other settings, the "choice" of settings,
    a "resample" of the rows, a fold of the "validation", or a "picture" of the best W so far. It is empty if only the
    progress has changed.
    """

    progress: Progress
    kind: Literal["step", "trial", "choice", "resample", "validation", "picture", ""] = ""
    row: dict[str, Any] | None = None

    def document(self) -> dict[str, Any]:
        """Return the data of the event for the event stream of the job."""
        progress = self.progress.document()
        times = {name: progress[name] for name in ("elapsed_seconds", "remaining_seconds")}
        if self.kind in ("resample", "validation"):
            return {"fold": self.progress.fold, "folds": self.progress.folds, **times}
        if self.kind == "picture" and self.row:
            return {name: self.row[name] for name in BEST_FIELDS}
        return {**(self.row or {}), **times}


class JobClock:
    """Measures the time of a job and estimates the time left from the rate of convergence.

    The ascent converges linearly: each stopping criterion shrinks by a nearly constant factor per step. The steps left
    follow from that factor and from the criterion that is furthest from its bound. Each fold of a cross-validation is
    expected to take as long as the job so far; `folds` may be set once their number is known.
    """

    def __init__(self, max_iter: int, folds: int = 0) -> None:
        self._began = time.monotonic()
        self._max_iter = max_iter
        self.folds = folds
        self._seen: deque[tuple[int, float, float]] = deque(maxlen=RATE_STEPS)  # iteration, time, log of the criterion

    @property
    def elapsed(self) -> float:
        """Seconds since the job started."""
        return time.monotonic() - self._began

    def after_trial(self, trial: Trial, began: float) -> float | None:
        """Return the estimated seconds left after a trial of a choice that started at time `began`."""
        if not trial.tried:
            return None
        left = max(TYPICAL_TRIALS - trial.tried, LEAST_LEFT * trial.tried)
        return (self.elapsed - began) / trial.tried * left

    def after_step(self, step: Step, iteration: int, delta: float) -> float | None:
        """Return the estimated seconds left after a step of a solve with convergence tolerance delta."""
        if step.stage != "ascent" or step.change is None or step.angle is None:
            return None
        criterion = max(step.change / delta, 10 * step.angle / delta, 10 * step.gradient / delta)
        self._seen.append((iteration, self.elapsed, math.log(max(criterion, 1e-12))))
        first, last = self._seen[0], self._seen[-1]
        steps = last[0] - first[0]
        if steps == 0:
            return None
        left = float(max(self._max_iter - iteration, 0))
        rate = (first[2] - last[2]) / steps
        if rate > 0:
            left = min(left, max(last[2], 0.0) / rate)
        in_solve = left * (last[1] - first[1]) / steps
        return in_solve + self.folds * (self.elapsed + in_solve)

    def after_fold(self, fold: int, began: float) -> float | None:
        """Return the estimated seconds left after some folds of a cross-validation that started at time `began`."""
        return None if fold == 0 else (self.elapsed - began) / fold * (self.folds - fold)
