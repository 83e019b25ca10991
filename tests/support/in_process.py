"""An app in the process of the test: enough where neither a worker nor a socket matters, and much faster to start."""

from collections.abc import Callable, Sequence
from typing import Any

import anyio
import httpx

from app.main import create_app
from ism_jobs.settings import Settings

Request = tuple[str, str, dict[str, Any]]  # the method, the path, and the options of `httpx.request`


def answers(
    settings: Settings, requests: Sequence[Request], prepare: Callable[[Any], None] = lambda app: None
) -> list[httpx.Response]:
    """Return what an app answers to requests, one after the other. `prepare` may change the app before it starts."""

    async def ask() -> list[httpx.Response]:
        app = create_app(settings)
        prepare(app)
        transport = httpx.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://ism", timeout=60) as client,
        ):
            return [await client.request(method, path, **options) for method, path, options in requests]

    return anyio.run(ask)
