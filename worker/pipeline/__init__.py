"""One job from its table to its outcome: choose, prepare, solve, resample, validate, measure."""

from worker.pipeline.run import Outcome, iter_run

__all__ = ["Outcome", "iter_run"]
