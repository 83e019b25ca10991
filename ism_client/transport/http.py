"""HTTP calls to the service: one connection pool, safe retries, and errors as ApiError.

Every call of this client is idempotent: the id of a data set is the hash of its content, and jobs have an
Idempotency-Key. So the client repeats a call if the connection breaks or the service is busy (429, 502, 503, 504).
It waits as long as Retry-After says, and the number of retries is limited.
"""

import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

import httpx

from ism_client.errors import ApiError, Unreachable
from ism_client.transport.wires import AsyncWire, SyncWire, Wire

BUSY_STATUSES = frozenset({429, 502, 503, 504})  # answers after which the request is sent again
FIRST_DELAY, MAX_DELAY = 0.1, 5.0  # seconds between two tries, doubling from the first to the largest
CONNECT_TIMEOUT = 10.0  # seconds
MAX_RETRY_AFTER = 60.0  # seconds; if the service asks for more, the error goes to the caller
PATIENT_RETRIES = 16  # about a minute, enough for a restart of the service

Body = Callable[[], Mapping[str, Any]]  # creates the content=, json= or files= of httpx anew for each try


class Http:
    """Sends requests to one service. Its coroutines are for both clients; see `wires`.

    run(Http("http://127.0.0.1:8000").json("GET", "/healthz"))
    """

    wire: Wire

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout: float = 60.0,
        retries: int = 4,
        transport: httpx.BaseTransport | httpx.AsyncBaseTransport | None = None,
        is_async: bool = False,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f'The url is "{url}"; it must start with http:// or https://.')
        self.url = url.rstrip("/")
        self.retries = retries
        self.timeout = timeout
        key = (api_key or "").strip()
        if not (key.isascii() and key.isprintable()):  # checked here, because the errors of httpx would show the key
            raise ValueError("The API key has invalid characters; give it exactly as it was made.")
        headers = {"User-Agent": f"ism-client/{version('ism-core')}"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        options: dict[str, Any] = {"base_url": self.url, "headers": headers, "timeout": timeout, "transport": transport}
        self.wire = AsyncWire(httpx.AsyncClient(**options)) if is_async else SyncWire(httpx.Client(**options))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make it again; a pickle holds neither the API key nor connections."""
        is_async = isinstance(self.wire, AsyncWire)
        return partial(Http, self.url, timeout=self.timeout, retries=self.retries, is_async=is_async), ()

    async def json(self, method: str, path: str, **request: Any) -> Any:
        """Send a request and return the JSON of the response."""
        return self.read(await self.request(method, path, **request))

    def read(self, response: httpx.Response) -> Any:
        """Return the JSON of a response. Anything else did not come from an ISM service."""
        try:
            return response.json()
        except ValueError:
            detail = f"The answer from {self.url} is not JSON; is this the address of an ISM service?"
            raise ApiError(response.status_code, {"detail": detail}) from None

    async def request(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Send a request and read the whole response. `_send` documents the arguments."""
        response = await self._send(method, path, stream=False, **request)
        await self._check(response)
        return response

    @asynccontextmanager
    async def stream(self, method: str, path: str, **request: Any) -> AsyncIterator[httpx.Response]:
        """Send a request and yield the response before its body is read."""
        response = await self._send(method, path, stream=True, **request)
        try:
            await self._check(response)
            yield response
        finally:
            await self.wire.end(response)

    async def _send(
        self,
        method: str,
        path: str,
        *,
        stream: bool,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        body: Body = dict,
        timeout: float | None = None,  # seconds, in place of the client's own
        retries: int | None = None,
    ) -> httpx.Response:
        kept = {name: value for name, value in (params or {}).items() if value is not None}
        limit = self.timeout if timeout is None else timeout
        limits = httpx.Timeout(limit, connect=min(limit, CONNECT_TIMEOUT))
        allowed = self.retries if retries is None else retries
        tries = 0
        while True:
            request = self.wire.client.build_request(
                method, path, params=kept, headers=headers, timeout=limits, **body()
            )
            try:
                response = await self.wire.send(request, stream=stream)
            except httpx.TransportError as error:
                if tries >= allowed:
                    raise self.unreachable(error) from error
                delay = backoff(tries)
            else:
                delay = max(backoff(tries), retry_after(response) or 0.0)
                if response.status_code not in BUSY_STATUSES or tries >= allowed or delay > MAX_RETRY_AFTER:
                    return response
                await self.wire.end(response)
            await self.wire.sleep(delay)
            tries += 1

    async def _check(self, response: httpx.Response) -> None:
        if response.is_success or response.status_code == httpx.codes.NOT_MODIFIED:
            return
        try:
            await self.wire.read(response)
            problem = response.json()
        except (ValueError, httpx.TransportError):
            problem = None
        if not isinstance(problem, dict):
            status = f"{response.status_code} {response.reason_phrase}".rstrip()
            problem = {"detail": f"{self.url} answered {status}; is this the address of an ISM service?"}
        raise ApiError(response.status_code, problem)

    def unreachable(self, error: httpx.TransportError) -> Unreachable:
        """Convert an error of httpx into Unreachable."""
        if isinstance(error, httpx.ConnectError):
            return Unreachable(self.url, "the connection was refused")
        if isinstance(error, httpx.TimeoutException):
            return Unreachable(self.url, "it took too long")
        return Unreachable(self.url, str(error).rstrip(".") or "the connection broke")


def path_of(*parts: str) -> str:
    """Return a path with all parts quoted, such as path_of("jobs", id, "result")."""
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def backoff(tries: int) -> float:
    """Return the seconds to wait after so many tries: exponential backoff with jitter."""
    return min(MAX_DELAY, FIRST_DELAY * 2.0 ** min(tries, 10)) * random.uniform(0.75, 1.25)


def retry_after(response: httpx.Response) -> float | None:
    """Return the seconds of the Retry-After header, which holds a number or a date."""
    value = response.headers.get("Retry-After", "").strip()
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
