"""What a sandbox process can no longer reach: the network, other files, other processes, credentials."""

import os
import platform
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.sandbox import SECRETS, Answer, SandboxPool
from app.sandbox.confinement import REFUSED, STORE_SECRETS, confine
from app.sandbox.messages import Located, Upload
from ism_jobs.settings import Settings

PASSWORD = "the-password-of-redis"


@pytest.fixture(scope="module")
def pool() -> SandboxPool:
    os.environ["AWS_SECRET_ACCESS_KEY"] = "secret"  # before the server of the forks starts
    settings = Settings(redis_url=f"redis://:{PASSWORD}@localhost:1", child_seconds=20)
    pool = SandboxPool(settings)
    if pool._converse(Answer.whole, confine, (None,)):
        pytest.skip("this kernel cannot take everything from a process")
    return pool


@pytest.fixture
def upload(tmp_path: Path) -> Upload:
    folder = tmp_path / "upload"
    folder.mkdir()
    (folder / "file").write_bytes(b"mine")
    return Upload(folder / "file", 4, "table", None, None, None)


def refusals(deeds: "dict[str, Callable[[], Any]]") -> list[str]:
    """Return the names of the deeds that fail with "Permission denied" or "Operation not permitted"."""
    refused = []
    for name, deed in deeds.items():
        try:
            deed()
        except PermissionError:
            refused.append(name)
    return refused


def reach_out(files: list[str], parent: int) -> list[str]:
    deeds: dict[str, Callable[[], Any]] = {f"read {file}": lambda file=file: Path(file).read_bytes() for file in files}
    deeds |= {
        "write": lambda: Path(files[0]).write_bytes(b""),
        "list": lambda: os.listdir(Path(files[0]).parent),
        "internet": lambda: socket.socket(socket.AF_INET),
        "unix": lambda: socket.socket(socket.AF_UNIX),
        "run": lambda: subprocess.run([sys.executable, "--version"], check=True),
        "kill": lambda: os.kill(parent, 0),
        "environment": lambda: Path(f"/proc/{parent}/environ").read_bytes(),
    }
    return refusals(deeds)


def work_with(upload: Upload) -> list[str]:
    spare = upload.path.with_name("decompressed")
    spare.write_bytes(upload.path.read_bytes() * 2)
    text = spare.read_text()
    spare.unlink()
    return [text, *os.listdir(upload.path.parent)]


def secrets(password: str) -> list[str]:
    found = [name for name in os.environ if name.startswith((*SECRETS, *STORE_SECRETS))]
    return found + [name for name, value in os.environ.items() if password in value]


def test_a_sandbox_process_reaches_nothing_but_its_file(pool: SandboxPool, upload: Upload, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("of another user")
    refused = anyio.run(pool.run, reach_out, [str(other), "/etc/passwd"], os.getpid())
    assert set(refused) >= {f"read {other}", "read /etc/passwd", "write", "list", "internet", "unix", "run"}
    assert "environment" in refused
    assert other.read_text() == "of another user"
    assert anyio.run(pool.run, work_with, upload) == ["minemine", "file"]


def reach_tables(located: Located, files: list[str], parent: int) -> list[str]:
    return [*reach_out(files, parent), *(name for name in SECRETS if name in os.environ)]


def test_a_process_that_reads_a_table_by_reference_has_the_network_and_the_tables(
    pool: SandboxPool, tmp_path: Path
) -> None:
    table, other = tmp_path / "tables" / "a.csv", tmp_path / "other"
    table.parent.mkdir()
    table.write_text("mine")
    other.write_text("of another user")
    located = Located(str(table), None, None, (str(table.parent), "s3://bucket"))
    refused = anyio.run(pool.run, reach_tables, located, [str(table), str(other), "/etc/passwd"], os.getpid())
    assert set(refused) == {f"read {other}", "read /etc/passwd", "write", "run", "environment", *maybe(refused, "kill")}
    assert table.read_text() == "mine"


def maybe(refused: list[str], name: str) -> list[str]:
    """Only newer kernels refuse it."""
    return [name] if name in refused else []


def test_a_sandbox_process_has_no_credentials(pool: SandboxPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISM_REDIS_URL", f"redis://:{PASSWORD}@localhost:1")
    assert anyio.run(pool.run, secrets, PASSWORD) == []
    assert PASSWORD not in repr(vars(pool)["_settings"].model_dump())


def test_the_filter_of_system_calls_knows_this_processor() -> None:
    assert platform.machine() in REFUSED or sys.platform != "linux"
