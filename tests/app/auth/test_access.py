"""Around the routes: limits for each key, headers for browsers, other sites kept out, and what can be closed."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from starlette.requests import Request

from app.auth.api_keys import KeyFile
from app.dependencies import _key_check
from app.main import create_app
from ism_jobs.settings import Settings
from ism_jobs.store import Store
from tests.support.api import problem

TABLE = b"x,y,class\n1,4,a\n2,3,b\n3,2,b\n4,1,a\n"
Ask = Callable[..., Coroutine[Any, Any, Any]]


def answers(ask: Ask, *settings: Settings) -> Any:
    """What `ask` makes of a client for each app of these settings."""

    async def within(left: tuple[Settings, ...], *clients: httpx.AsyncClient) -> Any:
        if not left:
            return await ask(*clients)
        app = create_app(left[0])
        transport = httpx.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://ism") as client,
        ):
            return await within(left[1:], *clients, client)

    return asyncio.run(within(settings))


@pytest.fixture
def keyed(store: Store, redis_url: str, tmp_path: Path) -> Callable[..., Settings]:
    """Settings with a file for keys of its own, on an empty store."""
    return lambda **more: Settings(redis_url=redis_url, api_keys_file=tmp_path / "api-keys", **more)


def bearer(settings: Settings, name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {KeyFile(settings.api_keys_path).make(name)}"}


def test_each_key_has_its_own_rate_over_all_processes(keyed: Callable[..., Settings]) -> None:
    settings = keyed(requests_per_minute=6)
    alice, bob = bearer(settings, "alice"), bearer(settings, "bob")

    async def ask(one: httpx.AsyncClient, other: httpx.AsyncClient) -> None:
        used = [await client.get("/kernels", headers=alice) for _ in range(4) for client in (one, other)]
        assert [answer.status_code for answer in used] == 6 * [200] + 2 * [429]
        refused = problem(used[-1], 429)
        assert "6 requests per minute" in refused["detail"]
        assert 1 <= int(used[-1].headers["retry-after"]) <= 60
        assert (await other.get("/kernels", headers=bob)).status_code == 200
        assert (await one.get("/healthz")).status_code == 200

    answers(ask, settings, settings)


def test_without_keys_requests_are_not_counted(keyed: Callable[..., Settings], store: Store) -> None:
    async def ask(client: httpx.AsyncClient) -> list[int]:
        return [(await client.get("/kernels")).status_code for _ in range(5)]

    assert answers(ask, keyed(requests_per_minute=1)) == 5 * [200]
    assert store.redis.keys("ism:rate:*") == []


def test_a_key_sees_what_it_uses_and_may_use(keyed: Callable[..., Settings]) -> None:
    settings = keyed(max_open_jobs=3, max_running_jobs=2, max_stored_bytes=10**6)
    alice, bob = (bearer(settings, name) for name in ("alice", "bob"))

    async def ask(client: httpx.AsyncClient) -> list[dict[str, Any]]:
        dataset = (await client.post("/datasets", content=TABLE, headers=alice)).json()["id"]
        spec = {"dataset": dataset, "paradigm": "supervised", "target": "class", "kernel": "gaussian", "folds": 0}
        assert (await client.post("/jobs", json=spec, headers=alice)).status_code == 202
        return [(await client.get("/quota", headers=owner)).json() for owner in (alice, bob)]

    used, unused = answers(ask, settings)
    assert used.pop("stored_bytes")["used"] > 0
    assert used == {"open_jobs": {"used": 1, "limit": 3}, "running_jobs": {"used": 0, "limit": 2}}
    assert unused["stored_bytes"] == {"used": 0, "limit": 10**6}
    assert unused["open_jobs"]["used"] == 0


def test_each_key_has_its_own_number_of_open_jobs(keyed: Callable[..., Settings]) -> None:
    settings = keyed(max_open_jobs=3)
    owners = [bearer(settings, name) for name in ("alice", "bob")]

    async def ask(client: httpx.AsyncClient) -> None:
        specs = []
        for owner in owners:
            dataset = (await client.post("/datasets", content=TABLE, headers=owner)).json()["id"]
            specs.append(
                {"dataset": dataset, "paradigm": "supervised", "target": "class", "kernel": "gaussian", "folds": 0}
            )
        once = {**owners[0], "Idempotency-Key": "once"}
        first = await client.post("/batches", json={**specs[0], "q": [1, 2]}, headers=once)
        assert first.status_code == 202
        refused = await client.post("/batches", json={**specs[0], "seed": [1, 2]}, headers=owners[0])
        assert "At most 3 jobs" in problem(refused, 429)["detail"]
        assert int(refused.headers["retry-after"]) > 0
        listed = (await client.get("/jobs", headers=owners[0])).json()["items"]
        assert len(listed) == 2, "all of them or none"
        assert (await client.post("/jobs", json=specs[0], headers=owners[0])).status_code == 202
        problem(await client.post("/jobs", json=specs[0], headers=owners[0]), 429)
        again = await client.post("/batches", json={**specs[0], "q": [1, 2]}, headers=once)
        assert again.json()["id"] == first.json()["id"], "what is there already is no new job"
        assert (await client.post("/jobs", json=specs[1], headers=owners[1])).status_code == 202
        await client.post(f"/jobs/{listed[0]['id']}/cancel", headers=owners[0])
        assert (await client.post("/jobs", json=specs[0], headers=owners[0])).status_code == 202

    answers(ask, settings)


def test_every_answer_tells_browsers_what_they_may_do(keyed: Callable[..., Settings]) -> None:
    settings = keyed()
    owner = bearer(settings, "alice")
    paths = (
        "/healthz",
        "/docs",
        "/docs-files/swagger-ui.css",
        "/openapi.json",
        "/",
        "/page/main.js",
        "/jobs",
        "/jobs/nothing",
        "/nothing",
    )

    async def ask(client: httpx.AsyncClient) -> list[httpx.Response]:
        found = [await client.get(path, headers=headers) for path in paths for headers in (owner, {})]
        found.append(await client.get("/jobs", params={"limit": 0}, headers=owner))
        found.append(await client.put("/jobs", headers=owner))
        found.append(await client.post("/jobs", content=b"x" * 17_000_000, headers=owner))
        return found

    found = answers(ask, settings)
    assert {answer.status_code for answer in found} == {200, 401, 404, 405, 413, 422}
    for answer in found:
        headers = answer.headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
        assert policy["script-src"].split()[0] == policy["connect-src"] == "'self'"
        assert "unsafe" not in policy["script-src"]
        assert "access-control-allow-origin" not in headers
        pages = ("/", "/docs")  # whose styles are made as they go
        assert answer.request.url.path in pages or "unsafe" not in headers["content-security-policy"]


def test_the_page_of_the_documents_loads_nothing_from_elsewhere_and_names_its_script(
    keyed: Callable[..., Settings],
) -> None:
    async def ask(client: httpx.AsyncClient) -> list[httpx.Response]:
        page = await client.get("/docs")
        return [page, *[await client.get(path) for path in re.findall(r'(?:src|href)="([^"]+)"', page.text)]]

    page, *files = answers(ask, keyed())
    assert "://" not in page.text
    assert len(files) == 3
    assert {file.status_code for file in files} == {200}
    assert page.text.count("<script>") == page.headers["content-security-policy"].count("'sha256-") == 1


def test_other_sites_may_call_only_when_they_are_named(keyed: Callable[..., Settings]) -> None:
    settings = keyed(cors_origins="https://friend.example, https://other.example")
    bearer(settings, "alice")
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "Authorization"}

    async def ask(client: httpx.AsyncClient) -> list[httpx.Response]:
        return [
            await client.options("/jobs", headers={"Origin": origin, **preflight})
            for origin in ("https://friend.example", "https://evil.example")
        ]

    friend, evil = answers(ask, settings)
    assert friend.status_code == 200
    assert friend.headers["access-control-allow-origin"] == "https://friend.example"
    assert "access-control-allow-credentials" not in friend.headers
    assert (evil.status_code, "access-control-allow-origin" in evil.headers) == (400, False)
    problem(answers(ask, keyed())[0], 401)


FROM_ELSEWHERE: list[tuple[str, dict[str, str], int]] = [
    ("POST", {"Origin": "https://evil.example"}, 403),
    ("POST", {"Origin": "null"}, 403),
    ("POST", {"Origin": "http://["}, 403),
    ("GET", {"Host": "[::"}, 403),
    ("POST", {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, 403),
    ("POST", {"Origin": "https://proxied.example", "Sec-Fetch-Site": "same-origin"}, 422),
    ("POST", {"Origin": "http://ism"}, 422),
    ("POST", {"Origin": "https://friend.example"}, 422),
    ("POST", {}, 422),
    ("DELETE", {"Origin": "https://evil.example"}, 403),
    ("GET", {"Host": "evil.example"}, 403),
    ("GET", {"Host": "evil.example:8000"}, 403),
    ("GET", {"Host": "127.0.0.1.evil.example"}, 403),
    ("GET", {"Host": "user@evil.example"}, 403),
    ("GET", {"Host": ""}, 403),
    ("GET", {"Host": "127.0.0.1:8000"}, 200),
    ("GET", {"Host": "[::1]:8000"}, 200),
    ("GET", {"Host": "localhost"}, 200),
    ("GET", {"Host": "api:8000"}, 200),
]


def test_without_keys_cross_site_requests_are_refused(keyed: Callable[..., Settings]) -> None:
    async def ask(client: httpx.AsyncClient) -> list[httpx.Response]:
        paths = {"GET": "/jobs", "POST": "/jobs", "DELETE": "/jobs/nothing"}
        return [await client.request(method, paths[method], headers=headers) for method, headers, _ in FROM_ELSEWHERE]

    found = answers(ask, keyed(cors_origins="https://friend.example"))
    for answer, (method, headers, status) in zip(found, FROM_ELSEWHERE, strict=True):
        assert answer.status_code == status, (method, headers)
        if status == 403:
            assert problem(answer, 403)["type"] == "urn:ism:problem:forbidden"


def test_documents_and_metrics_can_be_closed(keyed: Callable[..., Settings]) -> None:
    async def ask(client: httpx.AsyncClient) -> list[int]:
        paths = ("/docs", "/openapi.json", "/docs-files/swagger-ui.css", "/", "/metrics", "/kernels")
        return [(await client.get(path)).status_code for path in paths]

    assert answers(ask, keyed()) == [200, 200, 200, 200, 200, 200]
    assert answers(ask, keyed(docs=False)) == [404, 404, 404, 200, 200, 200]
    assert answers(ask, keyed(metrics=False)) == [200, 200, 200, 200, 404, 200]


def test_a_service_without_keys_is_closed_by_its_first_key_and_stays_closed(keyed: Callable[..., Settings]) -> None:
    settings = keyed()

    async def ask(client: httpx.AsyncClient) -> None:
        dataset = (await client.post("/datasets", content=TABLE)).json()["id"]
        owner = bearer(settings, "alice")
        problem(await client.get(f"/datasets/{dataset}"), 401)
        problem(await client.get(f"/datasets/{dataset}", headers=owner), 404)
        KeyFile(settings.api_keys_path).revoke("alice")
        problem(await client.get("/datasets", headers=owner), 401)
        problem(await client.get("/datasets"), 401)
        again = bearer(settings, "alice")  # the way back, without a restart
        assert (await client.get("/datasets", headers=again)).status_code == 200
        settings.api_keys_path.unlink()
        problem(await client.get("/datasets"), 401)

    answers(ask, settings)


def test_the_openapi_document_asks_for_a_key_from_the_first_one_on(keyed: Callable[..., Settings]) -> None:
    settings = keyed()

    async def ask(client: httpx.AsyncClient) -> None:
        before = (await client.get("/openapi.json")).json()
        assert "securitySchemes" not in before["components"]
        owner = bearer(settings, "alice")
        after = (await client.get("/openapi.json", headers=owner)).json()
        assert after["paths"]["/jobs"]["post"]["security"] == [{"apiKey": []}]

    answers(ask, settings)


def test_what_is_followed_without_a_key_ends_with_the_first_key(keyed: Callable[..., Settings]) -> None:
    settings = keyed()
    app = create_app(settings)
    valid = asyncio.run(_key_check(Request({"type": "http", "headers": [], "app": app, "owner": ""})))
    assert valid()
    bearer(settings, "alice")
    assert not valid()


def test_no_address_can_command_the_terminal_of_who_reads_the_log(keyed: Callable[..., Settings]) -> None:
    async def ask(client: httpx.AsyncClient) -> httpx.Response:
        return await client.get("/%1b[31m%0ax")

    with structlog.testing.capture_logs() as lines:
        problem(answers(ask, keyed()), 404)
    (path,) = (line["path"] for line in lines if line["event"] == "request")
    assert path == "/%1B%5B31m%0Ax"
