"""The FastAPI app: `create_app(settings)` builds it, `run(settings)` serves it with uvicorn."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import uvicorn
from anyio.to_thread import run_sync
from fastapi import Depends, FastAPI
from fastapi_offline import FastAPIOffline
from starlette.middleware.cors import CORSMiddleware

from app.auth import AccessMiddleware, ApiKeys, InvalidKeys, check_address
from app.dependencies import check_request
from app.http import ConnectionLimits, install_exception_handlers, install_page, install_swagger, limited_protocol
from app.links import DOCS_FILES
from app.middleware import RequestMiddleware
from app.openapi import DESCRIPTION, install_openapi
from app.routes import METRICS_ROUTER, ROUTERS
from app.sandbox import SECRETS, SandboxPool, SharedMemory
from app.webhooks import Sender
from ism_jobs import telemetry
from ism_jobs.logs import configure
from ism_jobs.settings import Settings
from ism_jobs.store import REQUEST_TIMEOUT, Events, Store
from ism_jobs.tables import Roots, WrongPlace

KEEP_ALIVE_SECONDS = 75  # idle time before a connection is closed; longer than the 60 s of common proxies
SHUTDOWN_SECONDS = 3  # for open requests at shutdown; event streams would otherwise never end


def create_app(settings: Settings) -> FastAPI:
    """Build the app on the Redis of the settings. Raises InvalidKeys if the API keys cannot be used."""
    keys = ApiKeys(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.settings = settings
        app.state.store = Store.open(settings, REQUEST_TIMEOUT)
        app.state.events = Events.open(settings)
        # One pool for each kind of work, so that no kind waits for another: reading uploads, projecting files, checking
        # specs against tables, and drawing and converting results.
        memory = SharedMemory(settings.memory_of_sandbox)
        for name in ("upload_sandbox", "transform_sandbox", "check_sandbox", "sandbox"):
            setattr(app.state, name, SandboxPool(settings, memory))
        app.state.sandbox.warm_up()
        sending = asyncio.create_task(Sender(app.state.store, settings).run())
        yield
        sending.cancel()
        await asyncio.wait([sending])
        await run_sync(telemetry.flush)
        await app.state.events.close()
        app.state.store.redis.close()

    about: dict[str, Any] = {
        "title": "ISM",
        "version": version("ism-core"),
        "summary": "Interpretable kernel dimension reduction: a few axes, and the weight of every feature in them.",
        "description": DESCRIPTION,
        "lifespan": lifespan,
        "docs_url": None,
        "redoc_url": None,
        "dependencies": [Depends(check_request)],
    }
    if settings.docs:
        app = FastAPIOffline(**about, static_url=DOCS_FILES)
        install_swagger(app)
    else:
        app = FastAPI(**about, openapi_url=None)
    app.state.keys = keys
    install_exception_handlers(app)
    _add_middleware(app, settings, keys)
    for router in ROUTERS:
        app.include_router(router)
    if settings.metrics:
        app.include_router(METRICS_ROUTER)
    install_page(app)
    install_openapi(app, keys)
    return app


def _add_middleware(app: FastAPI, settings: Settings, keys: ApiKeys) -> None:
    """Add the middleware; the last one is the outermost.

    CORS comes before access control, because the preflight requests of browsers carry no key.
    """
    app.add_middleware(AccessMiddleware, keys=keys, origins=settings.cors_origins)
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
    app.add_middleware(RequestMiddleware, settings=settings)


def run(settings: Settings) -> None:
    """Serve requests until a signal stops the process."""
    configure(settings)
    try:
        app = create_app(settings)
        check_address(settings, app.state.keys)
        for uris, name in ((settings.table_roots, "ISM_TABLE_ROOTS"), (settings.output_roots, "ISM_OUTPUT_ROOTS")):
            Roots.of(uris, name)
    except (InvalidKeys, WrongPlace) as error:
        sys.exit(str(error))
    for name in SECRETS:
        os.environ.pop(name, None)  # sandbox processes would inherit them
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # uvicorn raises the signal again after its shutdown
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        http=limited_protocol(ConnectionLimits.of(settings)),
        log_config=None,
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        server_header=False,
    )
    os._exit(0)  # do not wait for threads that wait for a sandbox process
