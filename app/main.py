"""The app: `create_app(settings)` makes it, `run(settings)` serves it."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import uvicorn
from fastapi import Depends, FastAPI
from fastapi_offline import FastAPIOffline
from starlette.middleware.cors import CORSMiddleware

from app import openapi, page, problems
from app.auth.access import DOCS_FILES, Access
from app.auth.api_keys import Keys, WrongKeys, check_address
from app.deps import check_rate
from app.http import swagger as docs
from app.http.uvicorn_limits import protocol
from app.middleware import Requests
from app.routes import batches, catalogue, datasets, health, jobs, results, rows
from app.sandbox.pool import Children
from ism_jobs.logs import configure
from ism_jobs.settings import Settings
from ism_jobs.store import REQUEST_TIMEOUT, Events, Store


def create_app(settings: Settings) -> FastAPI:
    """The whole API on the Redis of the settings; WrongKeys where its keys cannot be used."""
    keys = Keys(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.settings = settings
        app.state.store = Store.open(settings, REQUEST_TIMEOUT)
        app.state.events = Events.open(settings)
        app.state.children = Children(settings)
        app.state.children.warm_up()
        app.state.readers = Children(settings)  # apart from the others: long uploads hold up nothing but uploads
        yield
        await app.state.events.close()
        app.state.store.redis.close()

    about: dict[str, Any] = {
        "title": "ISM",
        "version": version("ism"),
        "summary": "Interpretable dimension reduction: which features make the picture.",
        "description": openapi.DESCRIPTION,
        "lifespan": lifespan,
        "docs_url": None,
        "redoc_url": None,
        "dependencies": [Depends(check_rate)],
    }
    if settings.docs:
        app = FastAPIOffline(**about, static_url=DOCS_FILES)
        docs.install(app)
    else:
        app = FastAPI(**about, openapi_url=None)
    app.state.keys = keys
    problems.install(app)
    _add_middleware(app, settings, keys)
    for module in (datasets, rows, jobs, results, batches, catalogue, health):
        app.include_router(module.router)
    if settings.metrics:
        app.include_router(health.metrics)
    page.install(app)
    openapi.install(app, keys)
    return app


def _add_middleware(app: FastAPI, settings: Settings, keys: Keys) -> None:
    """The last is the outermost: browsers ask what they may (CORS) without a key."""
    app.add_middleware(Access, keys=keys, origins=settings.cors_origins)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=[
                "Authorization",
                "Content-Type",
                "Idempotency-Key",
                "If-None-Match",
                "Last-Event-ID",
                "Range",
            ],
            expose_headers=["ETag", "Location", "Retry-After", "ISM-Notes", "Content-Range", "X-Request-ID"],
        )
    app.add_middleware(Requests, settings=settings)


def run(settings: Settings) -> None:
    """Serve until told to stop."""
    configure(settings)
    try:
        app = create_app(settings)
        check_address(settings, app.state.keys)
    except WrongKeys as error:
        sys.exit(str(error))
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        http=protocol(settings.max_header_bytes),
        log_config=None,
        access_log=False,
        timeout_keep_alive=75,  # a busy client may take a while between connecting and asking
        timeout_graceful_shutdown=3,  # streams of events would keep it for ever
        server_header=False,
    )
    os._exit(0)  # threads that wait for a child need not be waited for
