"""What callers see when something on our side fails: a problem with an id to find it by, and nothing of the inside."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from redis import Redis

from app.main import create_app
from ism_cli.embedded import RedisServer
from ism_jobs.settings import Settings
from ism_jobs.store import keys
from tests.support.in_process import answers

NOWHERE = Settings(redis_url="redis://127.0.0.1:1/0", child_seconds=30)


def test_an_unexpected_error_shows_nothing_of_itself() -> None:
    def prepare(app: Any) -> None:
        @app.get("/broken")
        def broken() -> None:
            raise ZeroDivisionError("the secret of the house")

    headers = {"X-Request-ID": "find-me"}
    (answer, after) = answers(NOWHERE, [("GET", "/broken", {"headers": headers}), ("GET", "/healthz", {})], prepare)
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"] == "find-me"
    for word in ("secret", "ZeroDivisionError", "Traceback", ".py"):
        assert word not in answer.text
    assert answer.json().keys() == {"type", "title", "status", "detail", "instance", "errors"}
    assert after.status_code == 200


def test_when_redis_goes_away_who_waits_is_told_and_streams_end(tmp_path: Path) -> None:
    async def ask() -> list[httpx.Response]:
        with RedisServer(tmp_path, fsync="no") as server:
            settings = Settings(redis_url=server.url)
            app = create_app(settings)
            async with (
                app.router.lifespan_context(app),
                httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://ism") as client,
            ):
                store = app.state.store
                store.redis.hset(keys.dataset("wine"), "name", "what the job names")
                store.jobs.create([("a", {"dataset": "wine", "paradigm": "unsupervised", "clusters": 3})])
                paths = ("/jobs/a?wait=60", "/jobs/a/events")
                asked = [asyncio.create_task(client.get(path)) for path in paths]
                while len(app.state.events._followers) < len(paths):
                    await asyncio.sleep(0.01)
                server.process.kill()
                return [await answer for answer in asked]

    polled, streamed = asyncio.run(ask())
    assert polled.status_code == 503
    assert int(polled.headers["retry-after"]) > 0
    assert streamed.status_code == 200
    assert streamed.text.count("event: state") == 1


REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/readyz", {}),
    ("GET", "/metrics", {}),
    ("GET", "/datasets", {}),
    ("GET", "/datasets/x", {}),
    ("DELETE", "/datasets/x", {}),
    ("POST", "/datasets", {"content": b"a,b\n1,2\n3,4\n"}),
    ("GET", "/jobs", {}),
    ("GET", "/jobs/x", {}),
    ("GET", "/jobs/x/events", {}),
    ("GET", "/jobs/x/W", {}),
    ("POST", "/jobs/x/cancel", {}),
    ("GET", "/batches/x", {}),
    ("POST", "/jobs", {"json": {"dataset": "x", "paradigm": "unsupervised", "clusters": 2}}),
]


def test_without_redis_everything_asks_to_come_again() -> None:
    for request, answer in zip(REQUESTS, answers(NOWHERE, REQUESTS), strict=True):
        assert answer.status_code == 503, (request, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert int(answer.headers["retry-after"]) > 0


@pytest.mark.parametrize("denied", ["-@all", "-@read"])
def test_a_redis_that_answers_with_an_error_is_unavailable(tmp_path: Path, denied: str) -> None:
    with RedisServer(tmp_path, fsync="no") as server:
        settings = Settings(redis_url=server.url)

        def deny(app: Any) -> None:
            with Redis.from_url(server.url) as redis:
                redis.execute_command("ACL", "SETUSER", "default", denied)

        requests = REQUESTS if denied == "-@all" else [("GET", "/readyz", {})]
        for request, answer in zip(requests, answers(settings, requests, deny), strict=True):
            assert answer.status_code == 503, (request, answer.text)
            assert "Redis answers with an error" in answer.json()["detail"]
            assert "NOPERM" not in answer.text


@pytest.mark.parametrize("path", ["/healthz", "/kernels", "/paradigms", "/openapi.json"])
def test_what_needs_no_redis_answers_without(path: str) -> None:
    (answer,) = answers(NOWHERE, [("GET", path, {})])
    assert answer.status_code == 200


@pytest.mark.parametrize("path", ["/jobs", "/datasets"])
def test_who_leaves_in_the_middle_of_a_request_is_no_error_of_ours(path: str) -> None:
    async def ask() -> None:
        app = create_app(NOWHERE)
        came = iter([{"type": "http.request", "body": b"a,b", "more_body": True}, {"type": "http.disconnect"}])
        headers = [(b"host", b"localhost")]
        scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
        async with app.router.lifespan_context(app):
            await app(scope, lambda: asyncio.sleep(0, next(came)), lambda _: asyncio.sleep(0))

    with structlog.testing.capture_logs() as lines:
        asyncio.run(ask())
    assert [(line["event"], line["log_level"], line["status"]) for line in lines] == [("request", "info", 499)]
