"""Work in a process of its own: its value, its problem, its death and its time limit."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pyarrow as pa
import pytest
import structlog

from app.sandbox.pool import SandboxPool
from ism_jobs.errors import FieldError, InvalidTable, Problem, TooLarge
from ism_jobs.settings import Settings


@pytest.fixture(scope="module")
def pool() -> SandboxPool:
    return SandboxPool(Settings(redis_url="redis://unused", child_seconds=4, children=2))


def run(pool: SandboxPool, function: Any, *args: Any) -> Any:
    return anyio.run(pool.run, function, *args)


def doubled(text: str, *, times: int = 2) -> str:
    return text * times


def refuse() -> None:
    raise InvalidTable("It has no rows.", [FieldError("a", "Nothing.")])


def fail() -> None:
    raise ZeroDivisionError("the secret of the house")


def fail_aloud(path: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.dup2(file, sys.stdout.fileno())
    os.dup2(file, sys.stderr.fileno())
    secret = "of the house"
    raise ZeroDivisionError(len(secret))


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def taken(count: int) -> int:
    return len(bytearray(count))


def taken_by_arrow(count: int) -> int:
    return pa.nulls(count, pa.int8()).nbytes


def given_back(count: int) -> bytes:
    """Half of it to make, as much again to send."""
    return bytes(count // 3)


def sleep() -> None:
    time.sleep(60)


def test_the_value_comes_back_whatever_its_size(pool: SandboxPool) -> None:
    assert run(pool, doubled, "ab") == "abab"
    assert len(run(pool, doubled, "x" * 1_000_000)) == 2_000_000


def test_a_problem_comes_back_with_its_fields(pool: SandboxPool) -> None:
    with pytest.raises(InvalidTable, match="no rows") as refusal:
        run(pool, refuse)
    assert refusal.value.errors == [FieldError("a", "Nothing.")]


def test_an_unexpected_error_shows_nothing_of_itself(pool: SandboxPool) -> None:
    with pytest.raises(Problem, match="Internal error") as failure:
        run(pool, fail)
    assert type(failure.value) is Problem
    assert "secret" not in failure.value.detail


def test_an_unexpected_error_is_a_line_in_the_log_with_the_request_s_id(pool: SandboxPool, tmp_path: Path) -> None:
    with structlog.contextvars.bound_contextvars(request="find-me"), pytest.raises(Problem):
        run(pool, fail_aloud, str(tmp_path / "log"))
    text = (tmp_path / "log").read_text()
    (line,) = map(json.loads, text.splitlines())
    assert (line["event"], line["request"], line["level"]) == ("sandbox process failed", "find-me", "error")
    assert "ZeroDivisionError" in text
    assert "house" not in text


def test_a_death_is_told_and_takes_nobody_along(pool: SandboxPool) -> None:
    with pytest.raises(InvalidTable, match="died"):
        run(pool, die)
    assert run(pool, doubled, "ab") == "abab"


def test_a_death_in_the_middle_of_the_answer_is_told_too(pool: SandboxPool, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Any) -> None:
        raise OSError("got end of file during message")

    monkeypatch.setattr("multiprocessing.connection.Connection.recv", broken)
    with pytest.raises(InvalidTable, match="died"):
        run(pool, doubled, "ab")


@pytest.mark.skipif(sys.platform != "linux", reason="there is no such limit elsewhere")
@pytest.mark.parametrize("take", [taken, taken_by_arrow, given_back])
def test_a_parser_over_its_memory_limit_is_reported_and_affects_no_other(take: Any) -> None:
    bounded = SandboxPool(Settings(redis_url="redis://unused", child_memory=2**27))
    assert run(bounded, taken, 2**26) == 2**26
    with pytest.raises(TooLarge, match=r"memory than the limit of 134,217,728 bytes; use fewer rows or columns"):
        run(bounded, take, 2**28)
    assert run(bounded, doubled, "ab") == "abab"


def test_a_sandbox_process_over_its_time_limit_is_killed(pool: SandboxPool) -> None:
    with pytest.raises(InvalidTable, match="4 seconds"):
        run(pool, sleep)
