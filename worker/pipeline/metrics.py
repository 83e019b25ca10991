"""The metrics of a result; the set depends on the paradigm."""

import resource
import sys
from contextlib import suppress

import numpy as np

from ism_core import Result
from ism_core.arrays import Array, Ints
from ism_core.errors import InvalidInput
from ism_core.kernels import Kernel
from ism_core.metrics import association, hsic, nmi, silhouette
from ism_core.paradigms import Kind
from ism_jobs.data import Guidance, TrainingData
from ism_jobs.spec import AlternativeSpec, JobSpec, SemiSupervisedSpec, SupervisedSpec
from worker.pipeline.validate import Validation

Metrics = dict[str, float]

METRIC_ROWS = 5_000  # metrics that compare all pairs of rows use a sample of this size


def metrics_of(
    spec: JobSpec, training: TrainingData, result: Result, P: Array, validation: Validation | None
) -> Metrics:
    """Compute the metrics of a result. `P` is the embedding; `validation` has the scores of a supervised job."""
    found: Metrics = {
        "objective": result.objective,
        "iterations": result.iterations,
        "converged": int(result.converged),
        "rows": len(P),
        "features": len(result.W),
        "objective_error": result.error.objective,
        "gradient_error": result.error.gradient,
    }
    if isinstance(spec, SupervisedSpec):
        assert training.guidance is not None
        assert training.guidance_kind is not None
        found |= _dependence(P, training.guidance, training.guidance_kind, result.kernel)
        if validation is not None:
            found[validation.measure] = validation.score
            found[f"{validation.measure}_std"] = float(np.std(validation.scores))
            found["folds"] = len(validation.scores)
        return found
    assert result.labels is not None
    found |= _clustering(P, result)
    if isinstance(spec, AlternativeSpec) and training.guidance is not None:
        found["novelty"] = 1 - _agreement(result.labels, training.guidance)
    if isinstance(spec, SemiSupervisedSpec) and training.guidance is not None and training.guidance_kind == "classes":
        found["nmi_scores"] = _agreement(result.labels, training.guidance)
    if training.reference is not None:
        found["nmi_reference"] = _agreement(result.labels, training.reference)
    return found


def peak_memory() -> int:
    """Return the peak resident memory of this process in bytes."""
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024


def _clustering(P: Array, result: Result) -> Metrics:
    assert result.labels is not None
    found: Metrics = {"clusters": len(np.unique(result.labels)), "silhouette": silhouette(P, result.labels)}
    rows = _sample(len(P))
    with suppress(InvalidInput):  # a constant projection has no affinities
        found["association"] = association(P[rows], result.labels[rows])
    if found["clusters"] > 1:
        found |= _dependence(P, result.labels, "classes", result.kernel)
    return found


def _dependence(P: Array, given: Guidance, kind: Kind, kernel: Kernel) -> Metrics:
    """Return HSIC between the projection, under the kernel of the job, and labels or values."""
    rows = _sample(len(P))
    if len(rows) < len(P):
        kernel = kernel.restricted(rows, rows)
    try:
        return {
            "hsic": hsic(P[rows], given[rows], kernel, kind=kind),
            "hsic_normalized": hsic(P[rows], given[rows], kernel, kind=kind, normalized=True),
        }
    except InvalidInput:  # a constant projection depends on nothing
        return {"hsic": 0.0, "hsic_normalized": 0.0}


def _sample(n: int) -> Ints:
    """Return all row numbers, or a sample of METRIC_ROWS."""
    return np.arange(n) if n <= METRIC_ROWS else np.sort(np.random.default_rng(0).permutation(n)[:METRIC_ROWS])


def _agreement(labels: Guidance, others: Guidance) -> float:
    """Return the NMI over the rows for which both labels are known; NaN if there are none."""
    known = np.array([value is not None and value == value for value in others])
    return nmi(labels[known], others[known].astype(str)) if known.any() else float("nan")
