"""The artifacts of a job: its tables, its model, and the result document."""

import json
import platform
from dataclasses import asdict, replace
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa

from ism_jobs import schema_versions
from ism_jobs.spec import SupervisedSpec
from ism_jobs.store import pack
from worker.pipeline import Outcome
from worker.to_core import kernel_document

PACKAGES = ("ism-core", "numpy", "scipy", "scikit-learn")  # whose versions a result states


def artifacts_of(outcome: Outcome) -> dict[str, bytes]:
    """Return all artifacts by name: tables in Arrow format, the model as .npz, the result as JSON."""
    packed = {name: pack(table) for name, table in tables_of(outcome).items()}
    return packed | {
        "model": outcome.model.to_npz(),
        "result": json.dumps(result_document(outcome), allow_nan=False).encode(),
    }


def tables_of(outcome: Outcome) -> dict[str, pa.Table]:
    """Return the artifacts that are tables."""
    axes, metrics = outcome.model.axes, metrics_of(outcome)
    rows = pa.array(outcome.training.rows)
    W = {axis: pa.array(column) for axis, column in zip(axes, outcome.result.W.T, strict=True)}
    embedding = {axis: pa.array(column) for axis, column in zip(axes, outcome.embedding.T, strict=True)}
    stability = outcome.interpretation.stability
    tables = {
        "W": pa.table({"feature": pa.array(outcome.model.features), **W}),
        "embedding": pa.table({"row": rows, **embedding, **_picture(outcome), **_group(outcome)}),
        "trace": outcome.trace.table(),
        "metrics": pa.table({"metric": list(metrics), "value": pa.array(metrics.values(), pa.float64())}),
    }
    if stability is not None:
        errors = {axis: pa.array(column) for axis, column in zip(axes, stability.errors.T, strict=True)}
        tables["stability"] = pa.table({"feature": pa.array(outcome.model.features), **errors})
    if outcome.result.labels is not None:
        labels = pa.array(np.asarray(outcome.result.labels, dtype=np.int64))
        tables["labels"] = pa.table({"row": rows, "cluster": labels})
    return tables


@cache
def _versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute; finding them takes longer than a small solve."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def result_document(outcome: Outcome) -> dict[str, Any]:
    """Return the result document: everything but the large tables."""
    result = outcome.result
    document = {
        "schema": schema_versions.RESULT,
        "features": list(outcome.model.features),
        "encoding": outcome.model.encoding.to_dict(),
        "axes": list(outcome.model.axes),
        "W": result.W.tolist(),
        **interpretation_document(outcome),
        "eigenvalues": result.eigenvalues.tolist(),
        "objective": result.objective,
        "converged": result.converged,
        "stop": outcome.trace.stop(result),
        "certificate": {name: _plain(value) for name, value in asdict(result.certificate).items()},
        "kernel": kernel_document(result.kernel),
        "method": result.method,
        "error": {name: _plain(value) for name, value in asdict(result.error).items()},
        "metrics": metrics_of(outcome),
        "warnings": outcome.warnings,
        "rows": outcome.all_rows or len(outcome.training.rows),
        "missed": outcome.missed,
        "baseline": outcome.baseline,
        "versions": _versions(),
    }
    if result.sparsity is not None:
        document["sparsity"] = {
            "features_per_axis": result.sparsity.features_per_axis,
            "dense_objective": result.sparsity.dense_objective,
            "loss": _finite(result.sparsity.loss(result.objective)),
        }
    if outcome.all_rows is not None:
        document["sample_rows"] = len(outcome.training.rows)
        document["output"] = outcome.output
    if outcome.validation is not None:
        document["validation"] = outcome.validation.document()
    if outcome.choice is not None:
        document["choice"] = outcome.choice
    if result.labels is not None:
        document["cluster_sizes"] = np.bincount(result.labels).tolist()
    return document


def interpretation_document(outcome: Outcome) -> dict[str, Any]:
    """Return the part of the result document that says which axes and features matter."""
    found, features = outcome.interpretation, outcome.model.features
    document: dict[str, Any] = {
        "importance": found.importance.tolist(),
        "importance_errors": None if found.importance_errors is None else found.importance_errors.tolist(),
        "unclear": [features[row] for row in np.flatnonzero(found.unclear)],
        "structure": found.structure.tolist(),
        "groups": [
            {"features": [features[row] for row in group], "importance": float(found.importance[group].sum())}
            for group in found.groups
        ],
        "contributions": [
            {"axis": axis, **asdict(each)} for axis, each in zip(outcome.model.axes, found.contributions, strict=True)
        ],
        "picture": None if found.picture is None else found.picture.tolist(),
    }
    if found.permutation is not None:
        drop, error = found.permutation.drop.tolist(), found.permutation.error.tolist()
        document["permutation"] = {"drop": drop, "error": error, "rows": found.permutation.rows}
    if found.stability is not None:
        document["stability"] = {
            "resamples": len(found.stability.angles),
            "rows": found.stability.rows,
            "errors": found.stability.errors.tolist(),
            "angle": float(np.median(found.stability.angles)),
        }
    return document


def metrics_of(outcome: Outcome) -> dict[str, float | None]:
    """Return the metrics, with None in place of NaN and infinity."""
    return {name: _finite(value) for name, value in outcome.metrics.items()}


def summary_document(outcome: Outcome) -> dict[str, Any]:
    """Return the part of the result that lists of jobs show."""
    return {
        "objective": outcome.result.objective,
        "converged": outcome.result.converged,
        "metrics": metrics_of(outcome),
        "kernel": kernel_document(outcome.result.kernel),
    }


def _picture(outcome: Outcome) -> dict[str, pa.Array]:
    """Return the second coordinate of a picture with a single axis."""
    direction = outcome.interpretation.picture
    if direction is None:
        return {}
    model = replace(outcome.model, W=direction[:, None], axes=())
    return {"picture": pa.array(model.project(outcome.training.X)[:, 0])}


def _group(outcome: Outcome) -> dict[str, pa.Array]:
    """Return the column that colors the rows of a plot: the cluster, or a target of one column."""
    if outcome.result.labels is not None:
        return {"group": pa.array(np.asarray(outcome.result.labels, dtype=np.int64))}
    given = outcome.training.guidance
    if isinstance(outcome.spec, SupervisedSpec) and given is not None and given.ndim == 1:
        return {"group": pa.array(given, from_pandas=True)}
    return {}


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return bool(value) if isinstance(value, bool | np.bool_) else _finite(value)


def _finite(value: float | None) -> float | None:
    """Return the number; None for NaN and infinity. Integers stay integers."""
    if value is None or not np.isfinite(value):
        return None
    return value if isinstance(value, int) else float(value)
