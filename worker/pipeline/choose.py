"""The automatic choice of settings of a job that are "auto", and its description in the result."""

from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from ism_core import Choice, Polynomial, Trial
from ism_core.arrays import Array
from ism_core.paradigms import Paradigm, Supervised
from ism_core.selection import Journal, OutOfFold, Settings, iter_settings, never
from ism_jobs.spec import JobSpec, read_stored_spec
from worker.pipeline.stops import stops_of, weights_document
from worker.to_core import kernel_document, kernel_of

Document = dict[str, Any]

SHARED_CELLS = 10_000_000  # of a table up to which a second process may hold copies, of 80 MB each


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
    if decision.choice is not None and decision.choice.mu is not None:
        found["mu"] = decision.choice.mu
    if neighbors or isinstance(decision.kernel, Polynomial):
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
