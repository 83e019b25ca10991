"""What routes are given: the store as its owner sees it, the events, the children, readers, the settings."""

from collections.abc import Callable
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Depends, Path, Request

from app.auth.access import bearer
from app.auth.api_keys import Keys
from app.sandbox.pool import Children
from ism_jobs.errors import Conflict, TooMany
from ism_jobs.settings import Settings
from ism_jobs.store import Events, Record, State, Store


async def _owner(request: Request) -> str:
    owner: str = request.scope["owner"]
    return owner


OwnerDep = Annotated[str, Depends(_owner)]


async def check_rate(request: Request, owner: OwnerDep) -> None:
    """Before every route: whether the key has been used too often. Without keys nobody is counted."""
    store: Store = request.app.state.store
    if owner and not store.rate_limits.allow_reserved(owner):
        seconds = await run_sync(store.rate_limits.reserve, owner)
        if seconds:
            most = request.app.state.settings.requests_per_minute
            raise TooMany(
                f"With one API key {most:,} requests a minute are answered; wait for the next minute.", seconds
            )


async def _still_valid(request: Request, owner: OwnerDep) -> Callable[[], bool]:
    keys: Keys = request.app.state.keys
    key = bearer(request.headers)

    def is_valid() -> bool:
        keys.look()  # the first key closes what was open
        return keys.owner(key or "") == owner if keys.on else True

    return is_valid


async def _store(request: Request, owner: OwnerDep) -> Store:
    store: Store = request.app.state.store
    return store.of(owner)


def _events(request: Request) -> Events:
    events: Events = request.app.state.events
    return events


def _children(request: Request) -> Children:
    children: Children = request.app.state.children
    return children


def _readers(request: Request) -> Children:
    readers: Children = request.app.state.readers
    return readers


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


StoreDep = Annotated[Store, Depends(_store)]
StillValidDep = Annotated[Callable[[], bool], Depends(_still_valid)]
EventsDep = Annotated[Events, Depends(_events)]
ChildrenDep = Annotated[Children, Depends(_children)]
ReadersDep = Annotated[Children, Depends(_readers)]
SettingsDep = Annotated[Settings, Depends(_settings)]
JobId = Annotated[str, Path(description="The id of a job.", max_length=100)]


def _job(id: JobId, store: StoreDep) -> Record:
    return store.jobs.get(id)


JobDep = Annotated[Record, Depends(_job)]


def _finished(record: JobDep) -> Record:
    if record.state is State.SUCCEEDED:
        return record
    if record.error:
        raise Conflict(f"The job has failed: {record.error['detail']}")
    if record.state is State.CANCELLED:
        raise Conflict("The job was cancelled; it has no result.")
    raise Conflict(
        f"The job is {record.state}; its result is there once it has succeeded (GET /jobs/{record.id}?wait=30)."
    )


FinishedJobDep = Annotated[Record, Depends(_finished)]
