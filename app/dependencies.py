"""FastAPI dependencies: the caller's view of the store, the events, the sandboxes, the settings, a job."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated, NamedTuple

from anyio.to_thread import run_sync
from fastapi import Depends, Path, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from app.auth import ApiKeys, bearer_key
from app.sandbox import SandboxPool
from ism_jobs.errors import Conflict, FieldError, InvalidParameter, TooMany
from ism_jobs.sentences import did_you_mean, listed, named, nearest
from ism_jobs.settings import Settings
from ism_jobs.store import Events, Record, State, Store


def owner_of(request: Request) -> str:
    """Return the name of the API key of a request; empty if the service has no keys."""
    owner: str = request.scope["owner"]
    return owner


async def _owner(request: Request) -> str:
    return owner_of(request)


OwnerDep = Annotated[str, Depends(_owner)]


async def check_request(request: Request) -> None:
    """Refuse a request whose API key has used up its requests of this minute, or whose query has unknown parameters.

    This is one dependency, and those below call `owner_of`: FastAPI spends 20 µs on each dependency of a request.
    """
    await _check_rate_limit(request)
    if request.scope["query_string"]:
        _check_parameters(request)


async def _check_rate_limit(request: Request) -> None:
    """Without keys there is no limit."""
    store: Store = request.app.state.store
    owner = owner_of(request)
    if owner and not store.rate_limits.allow_reserved(owner):
        seconds = await run_sync(store.rate_limits.reserve, owner)
        if seconds:
            limit = request.app.state.settings.requests_per_minute
            raise TooMany(
                f"Rate limit exceeded: {limit:,} requests per minute and API key; wait for the next minute.", seconds
            )


def _check_parameters(request: Request) -> None:
    """Refuse query parameters that the route does not have, so that a misspelled filter does not pass unnoticed."""
    known = _query_parameters(request.scope["route"])
    for name in request.query_params:
        if name not in known:
            has = f"this call has {listed(known)}." if known else "this call has none."
            sentence = did_you_mean(f"There is no query parameter {named(name)}", nearest(name, known), has)
            raise InvalidParameter(sentence, [FieldError(name, sentence)])


_QUERY_PARAMETERS: dict[str, tuple[str, ...]] = {}  # by the id of the route


def _query_parameters(route: APIRoute) -> tuple[str, ...]:
    def names(dependant: Dependant) -> Iterator[str]:
        yield from (parameter.alias for parameter in dependant.query_params)
        for inner in dependant.dependencies:
            yield from names(inner)

    if route.unique_id not in _QUERY_PARAMETERS:
        _QUERY_PARAMETERS[route.unique_id] = tuple(dict.fromkeys(names(route.dependant)))
    return _QUERY_PARAMETERS[route.unique_id]


async def _key_check(request: Request) -> Callable[[], bool]:
    """Return a function that tells whether the key of this request is still valid, for long-lived responses."""
    keys: ApiKeys = request.app.state.keys
    key, owner = bearer_key(request.headers), owner_of(request)

    def is_valid() -> bool:
        keys.reload_if_changed()  # a request without a key becomes invalid when the first key is made
        return keys.owner(key or "") == owner if keys.enabled else True

    return is_valid


async def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store.of(owner_of(request))


async def _events(request: Request) -> Events:
    events: Events = request.app.state.events
    return events


def _sandbox(name: str) -> Callable[..., Awaitable[SandboxPool]]:
    async def pool_of_owner(request: Request) -> SandboxPool:
        pool: SandboxPool = getattr(request.app.state, name)
        return pool.of(owner_of(request))

    return pool_of_owner


async def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


class Posting(NamedTuple):
    """What posting jobs needs, as one dependency."""

    store: Store
    sandbox: SandboxPool
    settings: Settings


def posting_of(request: Request) -> Posting:
    """Return what a request that posts jobs needs. A plain call: FastAPI would take 20 µs more."""
    state, owner = request.app.state, owner_of(request)
    return Posting(state.store.of(owner), state.check_sandbox.of(owner), state.settings)


StoreDep = Annotated[Store, Depends(_store)]
KeyCheckDep = Annotated[Callable[[], bool], Depends(_key_check)]
EventsDep = Annotated[Events, Depends(_events)]
SandboxDep = Annotated[SandboxPool, Depends(_sandbox("sandbox"))]
UploadSandboxDep = Annotated[SandboxPool, Depends(_sandbox("upload_sandbox"))]
TransformSandboxDep = Annotated[SandboxPool, Depends(_sandbox("transform_sandbox"))]
SettingsDep = Annotated[Settings, Depends(_settings)]
JobId = Annotated[str, Path(description="The id of the job.", max_length=100)]


def _job(id: JobId, store: StoreDep) -> Record:
    return store.jobs.get(id)


JobDep = Annotated[Record, Depends(_job)]


def _finished_job(record: JobDep) -> Record:
    if record.state is State.SUCCEEDED:
        return record
    if record.error:
        raise Conflict(f"The job has failed: {record.error['detail']}")
    if record.state is State.CANCELLED:
        raise Conflict("The job was cancelled; it has no result.")
    raise Conflict(
        f"The job is {record.state}; it has a result only after it has succeeded (GET /jobs/{record.id}?wait=30)."
    )


FinishedJobDep = Annotated[Record, Depends(_finished_job)]
