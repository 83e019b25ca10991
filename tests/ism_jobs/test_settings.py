"""Settings from ISM_… variables."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from ism_jobs.settings import Settings


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("ISM_"):
            monkeypatch.delenv(name)


def test_every_setting_is_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "ISM_REDIS_URL": "redis://elsewhere:6379/3",
        "ISM_REDIS_DIR": "/var/lib/ism",
        "ISM_PORT": "9000",
        "ISM_LEASE_SECONDS": "30",
        "ISM_LOG_FORMAT": "text",
    }.items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert settings.required_redis_url == "redis://elsewhere:6379/3"
    assert (settings.redis_dir, settings.port, settings.lease_seconds) == (Path("/var/lib/ism"), 9000, 30)
    assert settings.log_format == "text"
    assert Settings(port=1).port == 1, "what is given beats the variable"


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As compose files pass them on."""
    for name in ("ISM_REDIS_URL", "ISM_WORKER_THREADS", "ISM_PORT", "ISM_UPLOAD_DIR"):
        monkeypatch.setenv(name, "")
    settings = Settings()
    assert (settings.redis_url, settings.worker_threads, settings.port) == (None, None, 8000)
    assert settings.upload_dir is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("ISM_PORT", "70000"), ("ISM_PORT", "http"), ("ISM_LEASE_SECONDS", "0"), ("ISM_LOG_LEVEL", "loud")],
)
def test_a_setting_out_of_range_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError):
        Settings()


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Settings().port = 1


def test_a_part_that_needs_redis_says_how_to_give_it_one() -> None:
    with pytest.raises(SystemExit, match=r"ISM_REDIS_URL is not set.*ism serve"):
        _ = Settings().required_redis_url


def test_data_is_kept_where_the_system_keeps_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/data/home")
    assert Settings().redis_dir == Path("/data/home/ism")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert Settings().redis_dir == Path.home() / ".local" / "share" / "ism"


@pytest.mark.parametrize(("cores", "workers", "threads"), [(8, 2, 4), (8, 3, 2), (2, 8, 1), (4, 0, 4), (None, 1, 1)])
def test_workers_share_the_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int | None, workers: int, threads: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert Settings(workers=workers).threads_per_worker == threads
    assert Settings(workers=workers, worker_threads=7).threads_per_worker == 7
    assert Settings().workers == (cores or 1)


@pytest.mark.parametrize(
    ("given", "bytes"), [("4GiB", 2**32), ("1.5 GiB", 3 * 2**29), ("500MB", 500_000_000), ("1073741824", 2**30)]
)
def test_the_memory_of_a_job_is_given_in_bytes_or_with_a_unit(
    monkeypatch: pytest.MonkeyPatch, given: str, bytes: int
) -> None:
    monkeypatch.setenv("ISM_JOB_MEMORY", given)
    assert Settings(workers=7).memory_per_job == bytes


@pytest.mark.parametrize("given", ["plenty", "-4GiB", "4", "4 apples"])
def test_memory_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("ISM_JOB_MEMORY", given)
    with pytest.raises(ValidationError):
        Settings()


@pytest.mark.parametrize(
    ("limits", "memory"),
    [(["max\n"], 2**34), (["8589934592\n"], 2**33), ([str(2**63 - 4096)], 2**34), ([], 2**34), (["max", "1024"], 1024)],
)
def test_workers_without_other_parts_share_the_memory_of_the_machine_or_the_container(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limits: list[str], memory: int
) -> None:
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**22}.__getitem__)
    paths = [tmp_path / str(place) for place in range(2)]
    for path, limit in zip(paths, limits, strict=False):
        path.write_text(limit)
    monkeypatch.setattr("ism_jobs.memory.CONTAINER_MEMORY_LIMITS", tuple(paths))
    share = max(2**26, memory * 4 // 5)
    assert Settings(workers=1).memory_per_job == Settings(workers=0).memory_per_job == share
    assert Settings(workers=2).memory_per_job == share // 2
