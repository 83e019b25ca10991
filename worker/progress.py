"""How far a job is, and how long it may still take."""

import math
import time
from collections import deque
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ism_core import Step

Stage = Literal["preparing", "choosing", "search", "ascent", "sparsity", "stability", "validation", "measuring"]


@dataclass(frozen=True)
class Progress:
    """One look at a job. `remaining_seconds` is an estimate, None while there is nothing to base one on."""

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
    trying: dict[str, Any] | None = None  # while settings are chosen: which, how many so far, the best score so far

    def document(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            name: round(value, 3) if name.endswith("_seconds") and value is not None else value
            for name, value in asdict(self).items()
        }


class Clock:
    """Estimates the time left from how fast the iterates settle.

    An ascent settles by a nearly constant factor a step, so the steps that are left follow from how far the slowest
    of its three criteria is from its bound, and from the factor seen over the last few steps. Each fold of a
    validation is taken to last as long as the job so far, choice and solve: it repeats both.
    """

    def __init__(self, max_iter: int, folds: int) -> None:
        self._began = time.monotonic()
        self._max_iter = max_iter
        self._folds = folds
        self._seen: deque[tuple[int, float, float]] = deque(maxlen=6)  # iteration, time, distance from settling

    @property
    def elapsed(self) -> float:
        """Seconds since the job began."""
        return time.monotonic() - self._began

    def after_step(self, step: Step, iteration: int, delta: float) -> float | None:
        """Seconds that are left after this step of a solve that ends within this delta."""
        if step.stage != "ascent" or step.change is None or step.angle is None:
            return None
        settle = max(step.change / delta, 10 * step.angle / delta, 10 * step.gradient / delta)
        self._seen.append((iteration, self.elapsed, math.log(max(settle, 1e-12))))
        first, last = self._seen[0], self._seen[-1]
        steps = last[0] - first[0]
        if steps == 0:
            return None
        left = float(max(self._max_iter - iteration, 0))
        rate = (first[2] - last[2]) / steps
        if rate > 0:
            left = min(left, max(last[2], 0.0) / rate)
        in_solve = left * (last[1] - first[1]) / steps
        return in_solve + self._folds * (self.elapsed + in_solve)

    def after_fold(self, fold: int, began: float) -> float | None:
        """Seconds that are left after some folds of the validation, which began at a time of this clock."""
        return None if fold == 0 else (self.elapsed - began) / fold * (self._folds - fold)
