"""Translation of a job spec into the kernels, paradigms and options of ism_core."""

from typing import Any, Literal, assert_never

import numpy as np
from numpy.typing import NDArray

from ism_core import Alternative, Linked, SemiSupervised, Supervised, Unsupervised, aligned
from ism_core.engines import Engine
from ism_core.kernels import KERNELS, Combination, Kernel, Term, parameters
from ism_core.linalg import Scale
from ism_core.paradigms import Paradigm
from ism_jobs.data import TrainingData
from ism_jobs.spec import (
    AlignedKernel,
    AlternativeSpec,
    JobSpec,
    KernelObject,
    SemiSupervisedSpec,
    SimpleKernel,
    SumKernel,
    SupervisedSpec,
    UnsupervisedSpec,
    kernel_object,
    simple_kernel,
)
from worker.dask_engine import EngineName


def kernel_of(spec: JobSpec) -> Kernel | Literal["auto"]:
    """Return the kernel of a spec; "auto" if it is still to be chosen."""
    return "auto" if spec.kernel == "auto" else _to_kernel(kernel_object(spec.kernel))


def paradigm_of(spec: JobSpec, training: TrainingData) -> Paradigm:
    """Return the paradigm of a spec with the labels, scores or clustering of its rows."""
    if isinstance(spec, UnsupervisedSpec):
        return Unsupervised(spec.clusters)
    if isinstance(spec, SemiSupervisedSpec) and spec.scores is None:
        must, cannot = (_kept_pairs(pairs, training.rows) for pairs in (spec.must_link, spec.cannot_link))
        return Linked(must, cannot, spec.clusters, len(training.rows), spec.mu)
    given, kind = training.guidance, training.guidance_kind
    assert given is not None
    assert kind is not None
    match spec:
        case SupervisedSpec():
            return Supervised(given, kind, spec.target_kernel, spec.balance, spec.neighbors)
        case SemiSupervisedSpec():
            return SemiSupervised(given, spec.clusters, spec.mu, kind)
        case AlternativeSpec():
            return Alternative(given, spec.clusters, spec.mu)
        case never:
            assert_never(never)


def _kept_pairs(pairs: list[list[int]] | None, rows: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the pairs whose rows are both left, numbered among these rows."""
    given = np.array(pairs or [], dtype=np.int64).reshape(-1, 2)
    kept = given[np.isin(given, rows).all(axis=1)]
    return np.searchsorted(rows, kept)


def solver_options(spec: JobSpec, engine: Engine | EngineName, memory_limit: int | None) -> dict[str, Any]:
    """Return the solver options of a spec; they are the same for all rows and for a fold."""
    return {
        "delta": spec.delta,
        "starts": spec.starts,
        "seed": spec.seed,
        "precision": spec.precision,
        "tolerance": spec.tolerance,
        "approximation": None if spec.approximation is None else spec.approximation.model_dump(),
        "engine": engine,
        "memory_limit": memory_limit,
        "features_per_axis": spec.features_per_axis,
    }


def chosen_q(spec: JobSpec) -> int:
    """Return the number of axes of a spec without automatic settings."""
    assert isinstance(spec.q, int)
    return spec.q


def chosen_delta(spec: JobSpec) -> float:
    """Return the convergence tolerance of a spec without automatic settings."""
    assert spec.delta is not None
    return spec.delta


def chosen_scale(spec: JobSpec) -> Scale:
    """Return the scaling of a spec without automatic settings."""
    assert spec.scale is not None
    assert spec.scale != "auto"
    return spec.scale


def kernel_document(kernel: Kernel | str) -> object:
    """Describe a kernel with the parameters that were found, in a form that can be posted again."""
    if isinstance(kernel, str):
        return kernel
    if isinstance(kernel, Term):
        name = next(name for name, kind in KERNELS.items() if isinstance(kernel, kind))
        return {"name": name, **parameters(kernel)}
    assert isinstance(kernel, Combination)
    return {"sum": [{"weight": float(weight), "kernel": kernel_document(term)} for weight, term in kernel.terms]}


def _to_kernel(spec: KernelObject) -> Kernel:
    match spec:
        case SumKernel():
            total, *others = [part.weight * _to_simple_kernel(simple_kernel(part.kernel)) for part in spec.sum]
            for other in others:
                total = total + other
            return total
        case AlignedKernel():
            return aligned(*(_to_simple_kernel(simple_kernel(part)) for part in spec.aligned))
        case _:
            return _to_simple_kernel(spec)


def _to_simple_kernel(spec: SimpleKernel) -> Kernel:
    return KERNELS[spec.name](**spec.parameters)
