"""Work in a process of its own: its value, its problem, its death and its time limit."""

import json
import os
import signal
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import anyio
import pyarrow as pa
import pytest
import structlog

from app.sandbox import Answer, SandboxPool
from app.sandbox.messages import Upload
from ism_jobs.errors import FieldError, InvalidTable, Problem, RequestFailed, TooLarge, Unavailable
from ism_jobs.settings import Settings
from ism_jobs.tables import open_table


@pytest.fixture(scope="module")
def pool() -> SandboxPool:
    return SandboxPool(Settings(redis_url="redis://unused", child_seconds=4, children=2))


@pytest.fixture
def upload(tmp_path: Path) -> Upload:
    (tmp_path / "upload").write_bytes(b"a,b\n1,2\n")
    return Upload(tmp_path / "upload", 8, "table", None, None, None)


def run(pool: SandboxPool, function: Any, *args: Any) -> Any:
    return anyio.run(pool.run, function, *args)


def rows_of(upload: Upload) -> int:
    return sum(batch.num_rows for batch in open_table(upload.path))


def doubled(text: str, *, times: int = 2) -> str:
    return text * times


def refuse() -> None:
    raise InvalidTable("It has no rows.", [FieldError("a", "Nothing.")])


def fail() -> None:
    raise ZeroDivisionError("the secret of the house")


def fail_aloud(upload: Upload) -> None:
    file = os.open(upload.path.with_name("log"), os.O_WRONLY | os.O_CREAT)
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


def sleep(_: object = None) -> None:
    time.sleep(60)


def crash(_: object = None) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def joined(chunks: Iterator[bytes], separator: str) -> str:
    return separator.join(chunk.decode() for chunk in chunks)


def told(chunks: Iterator[bytes]) -> str:
    """Answers before it has read everything."""
    return next(chunks).decode()


def halves(text: str) -> Generator[bytes, None, list[str]]:
    yield text[:2].encode()
    yield text[2:].encode()
    return ["two", "halves"]


def half(text: str) -> Generator[bytes, None, None]:
    yield text[:2].encode()
    raise InvalidTable("The other half is missing.")


class Bomb:
    """Does harm when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.abort, ()


def pickled() -> Any:
    return Bomb()


def parts_and_value(answer: Answer) -> Any:
    return list(answer), answer.value


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


def test_an_unexpected_error_is_a_line_in_the_log_with_the_request_s_id(pool: SandboxPool, upload: Upload) -> None:
    with structlog.contextvars.bound_contextvars(request="find-me"), pytest.raises(Problem):
        run(pool, fail_aloud, upload)
    text = upload.path.with_name("log").read_text()
    (line,) = map(json.loads, text.splitlines())
    assert (line["event"], line["request"], line["level"]) == ("sandbox process failed", "find-me", "error")
    assert "ZeroDivisionError" in text
    assert "house" not in text


def test_chunks_go_in_and_come_out(pool: SandboxPool) -> None:
    assert run(pool, joined, iter([b"a", b"b"] * 2), "-") == "a-b-a-b"
    assert run(pool, told, iter([b"a", *[bytes(2**20)] * 5])) == "a"
    assert anyio.run(pool.receive, parts_and_value, halves, "abcd") == ([b"ab", b"cd"], ["two", "halves"])
    with pytest.raises(InvalidTable, match="half is missing"):
        anyio.run(pool.receive, parts_and_value, half, "abcd")


def test_nothing_that_a_sandbox_process_sends_is_unpickled(pool: SandboxPool) -> None:
    with pytest.raises(Problem, match="Internal error"):
        run(pool, pickled)


def test_a_crash_is_told_by_what_it_was_and_affects_no_other(pool: SandboxPool, upload: Upload) -> None:
    with pytest.raises(RequestFailed, match="crashed"):
        run(pool, crash)
    with pytest.raises(Unavailable, match="out of memory; try again"):
        run(pool, die)
    with pytest.raises(InvalidTable, match="file is probably damaged"):
        run(pool, crash, upload)
    assert run(pool, doubled, "ab") == "abab"


@pytest.mark.skipif(sys.platform != "linux", reason="there is no such limit elsewhere")
@pytest.mark.parametrize("take", [taken, taken_by_arrow])
def test_a_parser_over_its_memory_limit_is_reported_and_affects_no_other(take: Any) -> None:
    bounded = SandboxPool(Settings(redis_url="redis://unused", child_memory=2**27))
    assert run(bounded, taken, 2**26) == 2**26
    with pytest.raises(TooLarge, match=r"memory than the limit of 134,217,728 bytes; use fewer rows or columns"):
        run(bounded, take, 2**28)
    assert run(bounded, doubled, "ab") == "abab"


@pytest.mark.skipif(sys.platform != "linux", reason="there is no such limit elsewhere")
def test_a_table_of_many_columns_needs_little_memory(upload: Upload) -> None:
    row = ",".join(["0.123456789"] * 3_000)
    upload.path.write_text("\n".join([",".join(f"x{place}" for place in range(3_000)), *[row] * 40]))
    bounded = SandboxPool(Settings(redis_url="redis://unused", child_memory=2**30))
    assert run(bounded, rows_of, upload) == 40


def test_a_sandbox_process_over_its_time_limit_is_killed(upload: Upload) -> None:
    hasty = SandboxPool(Settings(redis_url="redis://unused", child_seconds=1))
    with pytest.raises(RequestFailed, match="request took longer than the limit of 1 seconds"):
        run(hasty, sleep)
    with pytest.raises(InvalidTable, match="Reading the file took longer than the limit of 1 seconds"):
        run(hasty, sleep, upload)
