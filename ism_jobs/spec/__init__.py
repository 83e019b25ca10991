"""What a job asks for: the models of its JSON, error messages about it, grids of jobs, and the catalogue of choices."""

from ism_jobs.spec.catalogue import KernelEntry, ParadigmEntry, kernel_catalogue, paradigm_catalogue
from ism_jobs.spec.grid import GRID_FIELDS, POSTED_JOB, POSTED_JOBS, Place, PostedBatch, expand, read_one
from ism_jobs.spec.kernel_table import KERNEL_TABLE
from ism_jobs.spec.kernels import (
    KERNEL,
    AlignedKernel,
    KernelObject,
    SimpleKernel,
    SumKernel,
    kernel_object,
    simple_kernel,
    terms,
)
from ism_jobs.spec.messages import refusal
from ism_jobs.spec.paradigms import (
    JOB_SPEC,
    AlternativeSpec,
    JobSpec,
    SemiSupervisedSpec,
    SupervisedSpec,
    UnsupervisedSpec,
)
from ism_jobs.spec.stored import read_stored_spec, stored_document

__all__ = [
    "GRID_FIELDS",
    "JOB_SPEC",
    "KERNEL",
    "KERNEL_TABLE",
    "POSTED_JOB",
    "POSTED_JOBS",
    "AlignedKernel",
    "AlternativeSpec",
    "JobSpec",
    "KernelEntry",
    "KernelObject",
    "ParadigmEntry",
    "Place",
    "PostedBatch",
    "SemiSupervisedSpec",
    "SimpleKernel",
    "SumKernel",
    "SupervisedSpec",
    "UnsupervisedSpec",
    "expand",
    "kernel_catalogue",
    "kernel_object",
    "paradigm_catalogue",
    "read_one",
    "read_stored_spec",
    "refusal",
    "simple_kernel",
    "stored_document",
    "terms",
]
