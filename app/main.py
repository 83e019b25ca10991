"""The app: `create_app(settings)` makes it, `run(settings)` serves it."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

import uvicorn
from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from fastapi_offline import FastAPIOffline

from app import openapi, problems
from app.children import Children
from app.middleware import Requests
from app.routes import batches, catalogue, datasets, health, jobs, results
from ism_jobs.logs import configure
from ism_jobs.settings import Settings
from ism_jobs.store import Events, Store


def create_app(settings: Settings) -> FastAPI:
    """The whole API on the Redis of the settings."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.settings = settings
        app.state.store = Store.open(settings)
        app.state.events = Events.open(settings)
        app.state.children = Children(settings)
        app.state.children.warm_up()
        app.state.readers = Children(settings)  # apart from the others: long uploads hold up nothing but uploads
        yield
        await app.state.events.close()
        app.state.store.redis.close()

    app = FastAPIOffline(
        title="ISM",
        version=version("ism"),
        summary="Interpretable dimension reduction: which features make the picture.",
        description=openapi.DESCRIPTION,
        lifespan=lifespan,
        redoc_url=None,
        static_url="/docs-files",
    )
    problems.install(app)
    app.add_middleware(Requests, settings=settings)
    for module in (datasets, jobs, results, batches, catalogue, health):
        app.include_router(module.router)
    app.add_route("/", lambda request: RedirectResponse("/docs"), include_in_schema=False)
    openapi.install(app)
    return app


def run(settings: Settings) -> None:
    """Serve until told to stop."""
    configure(settings)
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        timeout_keep_alive=75,  # a busy client may take a while between connecting and asking
        timeout_graceful_shutdown=3,  # streams of events would keep it for ever
        server_header=False,
    )
    os._exit(0)  # threads that wait for a child need not be waited for
