"""The automatic choice of settings of a job that are "auto", and its description in the result."""

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

import numpy as np

from ism_core import Choice, Polynomial, Trial
from ism_core.arrays import Array
from ism_core.paradigms import Paradigm, Supervised
from ism_core.selection import Journal, OutOfFold, Settings, iter_settings, never
from ism_core.solver import ReturnCapture
from ism_jobs.data import TrainingData
from ism_jobs.spec import JobSpec, read_stored_spec
from worker.pipeline.picture import Pictures
from worker.pipeline.prepare import impute
from worker.pipeline.stops import stops_of, weights_document
from worker.progress import JobClock, Progress, ProgressEvent
from worker.to_core import kernel_document, kernel_of
from worker.trace import Trace

Document = dict[str, Any]

SHARED_CELLS = 10_000_000  # of a table up to which a second process may hold copies, of 80 MB each


def iter_choose(
    spec: JobSpec,
    training: TrainingData,
    paradigm: Paradigm,
    trace: Trace,
    clock: JobClock,
    pictures: Pictures,
    finish: Callable[[], bool],
) -> Generator[ProgressEvent, None, JobSpec]:
    """Return the spec to solve: the choice of an earlier attempt, or the posted spec after its settings are chosen."""
    if trace.choice is not None:
        return read_stored_spec(trace.choice["spec"])
    began, last_candidate = clock.elapsed, None
    X = impute(training.X, spec.missing)

    def is_enough() -> bool:
        return finish() or (spec.budget is not None and clock.elapsed - began > spec.budget)

    trials = ReturnCapture(iter_choose_settings(spec, X, paradigm, is_enough, trace.journal))
    for trial in trials:
        progress, candidate = _choosing(spec, clock, trial, began), (trial.scale, trial.q, trial.fold)
        row = {"fold": trial.fold, "folds": trial.folds, **trial_document(trial)}
        yield ProgressEvent(progress) if candidate == last_candidate else ProgressEvent(progress, "trial", row)
        last_candidate = candidate
        if picture := pictures.of_leader(trial.leader):
            yield ProgressEvent(progress, "picture", picture)
    chosen, choice = trials.value
    if choice is not None:
        trace.choice = choice_document(choice, chosen, clock.elapsed - began, X)
        trace.out_of_fold = out_of_fold_document(choice.out_of_fold)
        trace.journal.clear()
        row = {name: value for name, value in trace.choice.items() if name != "candidates"}
        yield ProgressEvent(_choosing(spec, clock), "choice", row)
    return chosen


def _choosing(spec: JobSpec, clock: JobClock, trial: Trial | None = None, began: float = 0.0) -> Progress:
    before = Progress("choosing", 0, spec.max_iter, None, None, None, clock.elapsed, None)
    if trial is None:
        return before
    left, tried = clock.after_trial(trial, began), trial_document(trial)
    return replace(before, remaining_seconds=left, fold=trial.fold, folds=trial.folds, trying=tried)


def iter_choose_settings(
    spec: JobSpec,
    X: Array,
    paradigm: Paradigm,
    finish: Callable[[], bool] = never,
    journal: Journal | None = None,
) -> Generator[Trial, None, tuple[JobSpec, Choice | None]]:
    """Choose the automatic settings of a spec from rows without missing values that are not scaled yet.

    The search ends when `finish` returns True. `journal` has the scores of an earlier attempt and gets new ones.
    Returns the completed spec and the choice. A spec without automatic settings is returned as it is, with None.
    """
    if not spec.has_automatic_settings:
        return spec, None
    assert spec.q is not None
    decision = yield from iter_settings(
        X,
        paradigm,
        kernel_of(spec),
        spec.q,
        scale=spec.scale,
        delta=spec.delta,
        starts=spec.starts,
        seed=spec.seed,
        finish=finish,
        journal=journal,
        may_fork=may_fork(spec, X),
    )
    return with_settings(spec, decision), decision.choice


def may_fork(spec: JobSpec, X: Array) -> bool:
    """Tell whether a second process may share the work on a table."""
    return spec.engine == "local" and X.size <= SHARED_CELLS


def with_settings(spec: JobSpec, decision: Settings) -> JobSpec:
    """Return the spec with its automatic settings replaced by the chosen ones."""
    found: Document = {
        "kernel": kernel_document(decision.kernel),
        "q": decision.q,
        "scale": decision.scale,
        "delta": decision.delta,
        "starts": decision.starts,
    }
    neighbors = isinstance(decision.paradigm, Supervised) and decision.paradigm.neighbors
    if neighbors:
        found["neighbors"] = True
    linear = decision.choice is not None and decision.choice.chosen.linear
    if isinstance(decision.paradigm, Supervised):
        found["target_kernel"] = decision.paradigm.target_kernel
    if decision.choice is not None and decision.choice.mu is not None:
        found["mu"] = decision.choice.mu
    if neighbors or linear or isinstance(decision.kernel, Polynomial):
        found["approximation"] = None  # these candidates are solved without an approximation
    return read_stored_spec(spec.model_dump() | found)


def out_of_fold_document(known: OutOfFold | None) -> Document | None:
    """Return the predictions of a choice and their scores as JSON, for the checkpoint."""
    if known is None:
        return None
    arrays = {"rows": known.rows.tolist(), "predictions": known.predictions.tolist()}
    return {**arrays, "scores": list(known.scores), "corrected": known.corrected, "error": known.error}


def out_of_fold_of(document: Document | None) -> OutOfFold | None:
    """Return the predictions of a choice from their JSON."""
    if document is None:
        return None
    rows, predictions = np.array(document["rows"], dtype=np.intp), np.array(document["predictions"])
    return OutOfFold(rows, predictions, tuple(document["scores"]), document["corrected"], document["error"])


def trial_document(trial: Trial) -> Document:
    """Describe the current candidate and the best score so far."""
    return {
        "scale": trial.scale,
        "q": trial.q,
        "tried": trial.tried,
        "best": trial.best if np.isfinite(trial.best) else None,
    }


def choice_document(choice: Choice, spec: JobSpec, seconds: float, X: Array) -> Document:
    """Describe the candidates, the chosen one, the reason, and the spec that repeats the result without a choice.

    The stops of a tour have their weights. X has the rows that are not scaled yet.
    """
    weights = {id(stop): weights_document(stop) for stop in stops_of(choice, X)}
    return {
        "criterion": choice.criterion,
        "reason": choice.reason,
        "cut_short": choice.cut_short,
        "rows": choice.rows,
        "seconds": seconds,
        "spec": {name: value for name, value in spec.model_dump(mode="json").items() if value not in (None, {})},
        "candidates": [
            {
                "kernel": kernel_document(candidate.kernel),
                "scale": candidate.scale,
                "q": candidate.q,
                "neighbors": candidate.neighbors,
                "interactions": candidate.interactions,
                "score": candidate.score if np.isfinite(candidate.score) else None,
                "error": candidate.error,
                "seconds": candidate.seconds,
                "chosen": candidate is choice.chosen,
                **({"W": weights[id(candidate)]} if id(candidate) in weights else {}),
            }
            for candidate in choice.candidates
        ],
    }
