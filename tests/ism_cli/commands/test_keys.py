"""`ism keys`, and a service that refuses to be public without them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from app.auth import KeyFile
from ism_cli.main import main


def ism(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["keys", "--data-dir", str(folder), *arguments])


def test_a_key_is_shown_once_then_listed_by_name_and_revoked(tmp_path: Path) -> None:
    made = ism(tmp_path, "make", "alice")
    key = made.stdout.strip()
    assert made.exit_code == 0
    assert key.startswith("ism_")
    assert "not shown again" in made.stderr
    listed = ism(tmp_path, "list").stdout
    assert "alice" in listed
    assert key not in listed
    revoked = ism(tmp_path, "revoke", "alice")
    assert revoked.exit_code == 0
    assert "refuses every call until `ism keys make NAME`" in revoked.stderr
    assert f"delete {tmp_path / 'api-keys'}" in revoked.stderr
    assert ism(tmp_path, "list").stdout == "No keys.\n"
    assert KeyFile(tmp_path / "api-keys").read() == []


def test_revoking_one_of_two_keys_says_nothing_of_the_last(tmp_path: Path) -> None:
    for name in ("alice", "bob"):
        ism(tmp_path, "make", name)
    assert ism(tmp_path, "revoke", "alice").stderr == "The key of alice is no longer valid.\n"


def test_what_cannot_be_done_is_a_sentence(tmp_path: Path) -> None:
    ism(tmp_path, "make", "alice")
    for arguments, sentence in (
        (("make", "alice"), "There is already a key named alice"),
        (("make", "a b"), "letters, digits"),
        (("revoke", "bob"), "There is no key named bob"),
    ):
        refused = ism(tmp_path, *arguments)
        assert refused.exit_code == 1
        assert sentence in refused.stderr
        assert "Traceback" not in refused.output


def test_the_file_can_be_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISM_API_KEYS_FILE", str(tmp_path / "elsewhere"))
    assert CliRunner().invoke(main, ["keys", "make", "alice"]).exit_code == 0
    assert [key.name for key in KeyFile(tmp_path / "elsewhere").read() or []] == ["alice"]


@pytest.mark.parametrize("part", ["serve", "api"])
def test_without_keys_a_public_address_is_refused_with_a_sentence(tmp_path: Path, part: str) -> None:
    given = {"ISM_REDIS_DIR": str(tmp_path / "data"), "ISM_REDIS_URL": "redis://127.0.0.1:1/0" if part == "api" else ""}
    done = subprocess.run(
        [sys.executable, "-m", "ism_cli.main", part, "--host", "0.0.0.0", "--port", "0"],
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "ISM_HOST is 0.0.0.0, which other machines can reach, but there are no API keys." in done.stderr
    assert "`ism keys make NAME`" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data" / "redis.sock").exists(), "nothing has been started"
