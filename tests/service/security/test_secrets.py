"""No password and no key in logs, process lists or answers."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from app.main import create_app
from ism_cli.embedded import RedisServer
from ism_cli.main import main
from ism_jobs.settings import Settings
from ism_jobs.store import Store
from tools.local_service import running_service

PASSWORD = "pa55word-of-redis"
KEY = "key-of-alice-0123456789-0123456789"
WRONG = "wrong-key-9876543210-9876543210"
SECRETS = (PASSWORD, KEY, WRONG)


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A Redis with a password."""
    folder = tmp_path / "redis"
    with RedisServer(folder, fsync="no") as server:
        store = Store.open(Settings(redis_url=server.url))
        store.redis.config_set("requirepass", PASSWORD)
        store.redis.close()
        yield server.url.replace("unix://", f"unix://:{PASSWORD}@")


def command_lines() -> str:
    """Those of all processes that can be seen."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it has ended
    return "\n".join(found)


def environments(command: str) -> list[str]:
    """Those of all processes of a command."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if command in (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"):
                found.append((process / "environ").read_bytes().decode(errors="replace"))
        except OSError:
            continue  # it has ended, or belongs to another user
    return found


def test_a_running_service_shows_no_secret(url: str, tmp_path: Path) -> None:
    settings = {"ISM_REDIS_URL": url, "ISM_API_KEYS": f"alice:{KEY}", "ISM_LOG_LEVEL": "debug"}
    with running_service(tmp_path, workers=1, **settings) as (service, _):
        said = []
        for key in (KEY, WRONG):
            with httpx.Client(base_url=service, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
                said += [
                    client.get(path) for path in ("/jobs", "/jobs/nothing", "/jobs?limit=none", "/nothing", "/metrics")
                ]
                said.append(client.post("/datasets", content=b"x,y\n1,2\n2,3\n"))
                said.append(client.post("/jobs", content=b"{"))
        lines = command_lines()
        workers = [text for text in environments("ism_cli.main worker") if url in text]
        assert "ism_cli.main" in lines
    assert {answer.status_code for answer in said} == {200, 201, 401, 404, 422}
    shown = "\n".join([lines, (tmp_path / "serve.log").read_text(), *(f"{one.headers} {one.text}" for one in said)])
    assert "alice" in shown, "the log tells whose request it was"
    assert [secret for secret in SECRETS if secret in shown] == []
    assert workers
    assert not [text for text in workers if KEY in text], "a job needs no API key"


@pytest.mark.parametrize("wrong", ["redis://:{}/x@127.0.0.1/0", "http://:{}@127.0.0.1/0", "{}"])
def test_an_address_of_redis_that_is_wrong_is_not_shown(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISM_REDIS_URL", wrong.format(PASSWORD))
    for part in ("serve", "worker", "api"):
        refused = CliRunner().invoke(main, [part])
        assert refused.exit_code == 1
        assert "ISM_REDIS_URL: Value error, this is not the URL of a Redis, such as redis://" in refused.stderr
        assert PASSWORD not in refused.output
    with pytest.raises(ValidationError) as shown:
        Settings()
    assert PASSWORD not in str(shown.value)
    assert PASSWORD not in repr(Settings(redis_url=f"redis://:{PASSWORD}@127.0.0.1/0"))


def test_a_redis_that_does_not_answer_is_not_shown(capfd: pytest.CaptureFixture[str]) -> None:
    async def ask() -> list[httpx.Response]:
        app = create_app(Settings(redis_url=f"redis://:{PASSWORD}@127.0.0.1:1/0", api_keys=f"alice:{KEY}"))
        headers = {"Authorization": f"Bearer {KEY}"}
        transport = httpx.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://ism", headers=headers, timeout=60) as client,
        ):
            paths = ("/jobs", "/jobs/nothing/events", "/readyz", "/metrics")
            return [*[await client.get(path) for path in paths], await client.post("/datasets", content=b"x\n1\n")]

    said = asyncio.run(ask())
    assert {answer.status_code for answer in said} == {503}
    shown = "\n".join([*capfd.readouterr(), *(answer.text for answer in said)])
    assert [secret for secret in SECRETS if secret in shown] == []
