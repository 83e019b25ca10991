"""What routes are given: the store, the events, the children, those that read uploads, the settings."""

from typing import Annotated

from fastapi import Depends, Path, Request

from app.children import Children
from ism_jobs.errors import Conflict
from ism_jobs.settings import Settings
from ism_jobs.store import Events, Record, State, Store


def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store


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
