"""The service itself: liveness, readiness, metrics, and the catalogue of kernels and paradigms."""

from fastapi import APIRouter, HTTPException, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from redis.exceptions import RedisError

from app.auth import METRICS_KEY
from app.dependencies import OwnerDep, SettingsDep, StoreDep
from app.links import LIVENESS, METRICS, READINESS
from app.monitoring import StoreCollector
from app.problems import problem_responses
from app.schemas import Health, Kernels, Paradigms, Quota, Quotas, Readiness
from ism_jobs.errors import Unavailable
from ism_jobs.spec import kernel_catalogue, paradigm_catalogue
from ism_jobs.store import problem_of, refusal_of

REFUSALS = problem_responses(422)  # of calls without parameters

router = APIRouter()
metrics_router = APIRouter(tags=["health"])


@router.get(
    LIVENESS, tags=["health"], operation_id="getHealth", summary="Liveness probe", responses=problem_responses(422)
)
async def get_health() -> Health:
    """Answers 200 as long as the process runs."""
    return Health()


@router.get(READINESS, tags=["health"], operation_id="getReadiness", summary="Readiness probe", responses=REFUSALS)
def get_readiness(store: StoreDep) -> Readiness:
    """Answers 200 if Redis responds and at least one worker is running, otherwise 503."""
    try:
        workers = store.jobs.workers()
    except RedisError as error:
        raise problem_of(error) or refusal_of(error) from error
    if workers == 0:
        raise Unavailable("No worker is running; new jobs stay in the queue. Start a worker with `ism worker`.")
    return Readiness(workers=workers)


@router.get(
    "/quota", tags=["quota"], operation_id="getQuota", summary="Get what you use and may use", responses=REFUSALS
)
def get_quota(store: StoreDep, settings: SettingsDep, owner: OwnerDep) -> Quotas:
    """Bytes, open jobs and running jobs of your API key, each with its limit."""
    usage = store.quotas.usage(owner)
    return Quotas(
        stored_bytes=Quota(used=usage.stored_bytes, limit=settings.max_stored_bytes),
        open_jobs=Quota(used=usage.open_jobs, limit=settings.max_open_jobs),
        running_jobs=Quota(used=usage.running_jobs, limit=settings.max_running_jobs),
    )


@router.get(
    "/kernels",
    tags=["catalogue"],
    operation_id="listKernels",
    summary="List the kernels",
    responses=problem_responses(422),
)
def list_kernels() -> Kernels:
    """Each kernel comes with its formula and its parameters, their defaults and ranges."""
    return Kernels(items=kernel_catalogue())


@router.get(
    "/paradigms",
    tags=["catalogue"],
    operation_id="listParadigms",
    summary="List the paradigms",
    responses=problem_responses(422),
)
def list_paradigms() -> Paradigms:
    """Each paradigm comes with its fields, their defaults and ranges."""
    return Paradigms(items=paradigm_catalogue())


@metrics_router.get(
    METRICS,
    operation_id="getMetrics",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses={
        200: {
            "description": "The metrics in the text format of Prometheus",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        },
        **problem_responses(404, 422),
    },
)
def get_metrics(store: StoreDep, owner: OwnerDep) -> Response:
    """Requests, queue length, waiting and running times, iterations, failures, and the memory of Redis.

    The numbers cover all users, so if the service has API keys, only the key named `metrics` may read them.
    """
    if owner not in ("", METRICS_KEY):
        raise HTTPException(404)
    body = generate_latest() + generate_latest(StoreCollector(store))
    return Response(body, media_type=CONTENT_TYPE_LATEST)
