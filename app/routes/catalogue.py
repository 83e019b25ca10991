"""What there is to choose from."""

from fastapi import APIRouter
from pydantic import BaseModel

from ism_jobs.spec import KernelEntry, ParadigmEntry, kernel_catalogue, paradigm_catalogue

router = APIRouter(tags=["catalogue"])


class Kernels(BaseModel):
    """All kernels."""

    items: list[KernelEntry]


class Paradigms(BaseModel):
    """All paradigms."""

    items: list[ParadigmEntry]


@router.get("/kernels", operation_id="listKernels", summary="The kernels")
def list_kernels() -> Kernels:
    """With formulas, parameters, defaults and ranges."""
    return Kernels(items=kernel_catalogue())


@router.get("/paradigms", operation_id="listParadigms", summary="The paradigms")
def list_paradigms() -> Paradigms:
    """With their fields, defaults and ranges."""
    return Paradigms(items=paradigm_catalogue())
