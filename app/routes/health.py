"""Whether it lives, whether it can work, and how it is doing."""

from fastapi import APIRouter, HTTPException, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel

from app.auth.access import METRICS_KEY
from app.deps import OwnerDep, StoreDep
from app.monitoring import StoreCollector
from app.problems import documented
from ism_jobs.errors import Unavailable

router = APIRouter(tags=["health"])
metrics = APIRouter(tags=["health"])


class Health(BaseModel):
    """The process answers."""

    status: str = "ok"


class Readiness(BaseModel):
    """Redis and workers are there."""

    status: str = "ready"
    workers: int


@router.get("/healthz", operation_id="getHealth", summary="Does it live?")
async def get_health() -> Health:
    """200 as long as the process answers."""
    return Health()


@router.get("/readyz", operation_id="getReadiness", summary="Can it work?", responses=documented())
def get_readiness(store: StoreDep) -> Readiness:
    """200 when Redis answers and at least one worker is there, else 503."""
    workers = store.jobs.workers()
    if workers == 0:
        raise Unavailable("There is no worker yet; jobs are accepted and wait. Start one with `ism worker`.")
    return Readiness(workers=workers)


@metrics.get(
    "/metrics",
    operation_id="getMetrics",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses={
        200: {"description": "Prometheus's text format", "content": {"text/plain": {"schema": {"type": "string"}}}},
        **documented(404),
    },
)
def get_metrics(store: StoreDep, owner: OwnerDep) -> Response:
    """Requests, queue length, waiting and running time, iterations, failures, Redis's memory.

    They count what everybody does, so with API keys only the key named `metrics` sees them.
    """
    if owner not in ("", METRICS_KEY):
        raise HTTPException(404)
    body = generate_latest() + generate_latest(StoreCollector(store))
    return Response(body, media_type=CONTENT_TYPE_LATEST)
