"""The catalogue: the kernels and paradigms that a job can use."""

from fastapi import APIRouter

from app.schemas import Kernels, Paradigms
from ism_jobs.spec import kernel_catalogue, paradigm_catalogue

router = APIRouter(tags=["catalogue"])


@router.get("/kernels", operation_id="listKernels", summary="List the kernels")
def list_kernels() -> Kernels:
    """Each kernel comes with its formula and its parameters, their defaults and ranges."""
    return Kernels(items=kernel_catalogue())


@router.get("/paradigms", operation_id="listParadigms", summary="List the paradigms")
def list_paradigms() -> Paradigms:
    """Each paradigm comes with its fields, their defaults and ranges."""
    return Paradigms(items=paradigm_catalogue())
