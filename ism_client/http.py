"""Calls to the service: one connection pool, retries that cannot do a thing twice, refusals as ApiError.

Every call of this client may be repeated: reads by their nature, uploads because a data set's id is the hash of its
content, jobs by their Idempotency-Key. So a lost connection and a busy service (429, 502, 503, 504) are met by trying
again, after Retry-After where the service says so, a bounded number of times.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx

from ism_client.errors import ApiError, Unreachable

BUSY = frozenset({429, 502, 503, 504})
FIRST_DELAY, LONGEST_DELAY = 0.1, 5.0  # seconds between tries, doubling
LONGEST_CONNECT = 10.0  # seconds
LONGEST_RETRY_AFTER = 60.0  # asked for more than that, the caller is told instead
PATIENT = 16  # tries over about a minute: what a restart of the service takes

Body = Callable[[], Mapping[str, Any]]  # makes httpx's content=, json= or files= afresh for each try


class Http:
    """Sends requests to one service.

    Http("http://127.0.0.1:8000").json("GET", "/healthz")
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout: float = 60.0,
        retries: int = 4,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f'The url is "{url}"; it must start with http:// or https://.')
        self.url = url.rstrip("/")
        self.retries = retries
        self.sleep = sleep
        self.timeout = timeout
        key = (api_key or "").strip()
        if not (key.isascii() and key.isprintable()):  # said here, without the key: errors about headers show them
            raise ValueError("The API key has characters that no key has; give it as it was made.")
        headers = {"User-Agent": "ism-client"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._client = httpx.Client(base_url=self.url, headers=headers, timeout=timeout, transport=transport)

    def json(self, method: str, path: str, **request: Any) -> Any:
        """The body of the answer, read as JSON."""
        return self.read(self.request(method, path, **request))

    def read(self, response: httpx.Response) -> Any:
        """The body of an answer as JSON; anything else is no answer of an ISM service."""
        try:
            return response.json()
        except ValueError:
            detail = f"The answer from {self.url} is no JSON; is this the address of an ISM service?"
            raise ApiError(response.status_code, {"detail": detail}) from None

    def request(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Send, and read the whole answer. Arguments beyond httpx's own: see `_send`."""
        response = self._send(method, path, stream=False, **request)
        self._check(response)
        return response

    @contextmanager
    def stream(self, method: str, path: str, **request: Any) -> Iterator[httpx.Response]:
        """Send, and give the answer before its body is read, as a context."""
        response = self._send(method, path, stream=True, **request)
        try:
            self._check(response)
            yield response
        finally:
            response.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _send(
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
        limits = httpx.Timeout(limit, connect=min(limit, LONGEST_CONNECT))
        allowed = self.retries if retries is None else retries
        tries = 0
        while True:
            request = self._client.build_request(method, path, params=kept, headers=headers, timeout=limits, **body())
            try:
                response = self._client.send(request, stream=stream)
            except httpx.TransportError as error:
                if tries >= allowed:
                    raise self.unreachable(error) from error
                delay = backoff(tries)
            else:
                delay = max(backoff(tries), retry_after(response) or 0.0)
                if response.status_code not in BUSY or tries >= allowed or delay > LONGEST_RETRY_AFTER:
                    return response
                response.close()
            self.sleep(delay)
            tries += 1

    def _check(self, response: httpx.Response) -> None:
        if response.is_success or response.status_code == httpx.codes.NOT_MODIFIED:
            return
        try:
            response.read()
            problem = response.json()
        except (ValueError, httpx.TransportError):
            problem = None
        if not isinstance(problem, dict):
            status = f"{response.status_code} {response.reason_phrase}".rstrip()
            problem = {"detail": f"{self.url} answered {status}; is this the address of an ISM service?"}
        raise ApiError(response.status_code, problem)

    def unreachable(self, error: httpx.TransportError) -> Unreachable:
        """The error as this client's own."""
        if isinstance(error, httpx.ConnectError):
            return Unreachable(self.url, "the connection was refused")
        if isinstance(error, httpx.TimeoutException):
            return Unreachable(self.url, "it took too long")
        return Unreachable(self.url, str(error).rstrip(".") or "the connection broke")


def path_of(*parts: str) -> str:
    """The path of a thing whose id came from somewhere else: path_of("jobs", id, "result")."""
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def backoff(tries: int) -> float:
    """Seconds to wait after so many tries: doubling, with jitter so that clients do not return all at once."""
    return min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** min(tries, 10)) * random.uniform(0.75, 1.25)


def retry_after(response: httpx.Response) -> float | None:
    """The seconds that the service asks to wait, given as a number or as a date."""
    value = response.headers.get("Retry-After", "").strip()
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
