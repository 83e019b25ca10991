"""No password and no key in logs, process lists or answers."""

import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from ism_cli.main import main
from ism_jobs.settings import Settings
from tests.support.in_process import Request, answers
from tests.support.keyed_service import CONFIGURED_KEY, PASSWORD, KeyedService

WRONG = "wrong-key-9876543210-9876543210"
SECRETS = (PASSWORD, CONFIGURED_KEY, WRONG)


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


def test_a_running_service_shows_no_secret(keyed_service: KeyedService) -> None:
    said = []
    for key in (CONFIGURED_KEY, WRONG):
        with keyed_service.client_with(key) as client:
            said += [
                client.get(path) for path in ("/jobs", "/jobs/nothing", "/jobs?limit=none", "/nothing", "/metrics")
            ]
            said.append(client.post("/datasets", content=b"x,y\n1,2\n2,3\n"))
            said.append(client.post("/jobs", content=b"{"))
    lines, log = command_lines(), keyed_service.log.read_text()
    workers = [text for text in environments("ism_cli.main worker") if keyed_service.redis_url in text]
    assert "ism_cli.main" in lines
    assert {answer.status_code for answer in said} == {200, 201, 401, 404, 422}
    while "POST /datasets" not in (spans := str(keyed_service.collector.spans)):
        time.sleep(0.05)
    shown = "\n".join([lines, log, spans, *(f"{one.headers} {one.text}" for one in said)])
    assert "dora" in shown, "the log tells whose request it was"
    assert [secret for secret in SECRETS if secret in shown] == []
    assert workers
    assert not [text for text in workers if CONFIGURED_KEY in text], "a job needs no API key"


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
    settings = Settings(redis_url=f"redis://:{PASSWORD}@127.0.0.1:1/0", api_keys=f"dora:{CONFIGURED_KEY}")
    headers = {"Authorization": f"Bearer {CONFIGURED_KEY}"}
    paths = ("/jobs", "/jobs/nothing/events", "/readyz", "/metrics")
    requests: list[Request] = [("GET", path, {"headers": headers}) for path in paths]
    said = answers(settings, [*requests, ("POST", "/datasets", {"headers": headers, "content": b"x\n1\n"})])
    assert {answer.status_code for answer in said} == {503}
    shown = "\n".join([*capfd.readouterr(), *(answer.text for answer in said)])
    assert [secret for secret in SECRETS if secret in shown] == []
