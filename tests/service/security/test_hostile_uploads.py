"""Files made to harm, over HTTP: each is refused with a sentence, and the service goes on."""

import gzip
import io
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pytest

from app.http import MAX_READ_BYTES
from ism_jobs.settings import Settings
from tests.support.api import problem
from tests.support.forked_commands import ForkedCommand, forked_service
from tests.support.in_process import answers
from tools.table_files import npy, npz, parquet

LIMITS = {
    "ISM_MAX_UPLOAD_BYTES": 600_000,
    "ISM_MAX_INFLATED_BYTES": 120_000_000,
    "ISM_MAX_ROWS": 2_000,
    "ISM_MAX_COLUMNS": 300,
    "ISM_MAX_CELLS": 20_000,
    "ISM_MAX_NAME_LENGTH": 30,
    "ISM_MAX_TEXT_BYTES": 500,
    "ISM_MAX_HEADER_BYTES": 4_000,
    "ISM_CHILD_MEMORY": 2**26,
}


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, ForkedCommand]]:
    """A service with limits to everything, and its process."""
    folder = tmp_path_factory.mktemp("strict")
    uploads = folder / "uploads"
    uploads.mkdir()
    variables = {name: str(limit) for name, limit in LIMITS.items()} | {"ISM_UPLOAD_DIR": str(uploads)}
    with (
        forked_service(folder, workers=0, **variables) as (url, process),
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        yield client, process
        assert list(uploads.iterdir()) == []


def long_value() -> bytes:
    table = pa.table({"a": ["x" * 80_000_000]})
    return parquet(table, compression="zstd", use_dictionary=False, write_statistics=False)


def lying_footer() -> bytes:
    content = bytearray(parquet(pa.table({"x": np.zeros(1000)})))
    content[-200:-100] = bytes(100)
    return bytes(content)


Case = tuple[Callable[[], bytes], int, str]

CASES: dict[str, Case] = {
    "a body over the limit": (lambda: b"a\n" + b"1\n" * 300_000, 413, "600,000 bytes"),
    "too many rows": (lambda: b"a\n" + b"1\n" * 2_001, 413, "at most 2,000"),
    "too many columns": (lambda: b"a," * 300 + b"a\n" + b"1," * 300 + b"1\n", 413, "301 columns; at most 300"),
    "too many cells": (lambda: npy(np.zeros((201, 100))), 413, "at most 20,000"),
    "too many bytes once inflated": (lambda: npz(np.zeros((2, 8_000_000))), 413, "at most 120,000,000"),
    "a name too long": (lambda: b"a" * 31 + b",b\n1,2\n", 413, "31 characters; at most 30"),
    "a text too long": (lambda: b"a,b\n1," + b"x" * 501 + b"\n", 413, "501 bytes of text; at most 500"),
    "more memory than it may take": (
        long_value,
        413,
        "memory than the limit of 67,108,864 bytes; use fewer rows",
    ),
    "a gzip bomb": (lambda: gzip.compress(b"1,2\n" * 10_000_000, 1), 413, "at most 2,000"),
    "a million columns": (lambda: gzip.compress(b"x," * 10**6 + b"\n"), 413, "1,000,001 columns"),
    "one field of 100 MB": (lambda: gzip.compress(b"a,b\n1," + b"x" * 10**8 + b"\n", 1), 422, "A row is longer"),
    "zero bytes": (lambda: b"a,b\n1,2\n" + b"1,\x00\n", 415, "neither text nor"),
    "deep nesting": (lambda: b'[{"a":' + b"[" * 500_000, 422, "nested too deeply"),
    "a footer that lies": (lying_footer, 422, "The Parquet file cannot be read"),
    "paths in an archive": (lambda: npz(**{"../../x": np.zeros((2, 2)), "y": np.zeros(3)}), 422, "has 3 row(s)"),
}


@pytest.mark.parametrize("kind", CASES)
def test_hostile_uploads_are_refused_and_the_service_goes_on(
    strict: tuple[httpx.Client, ForkedCommand], kind: str
) -> None:
    client, process = strict
    make, status, sentence = CASES[kind]
    body = make()
    as_form = len(kind) % 2  # some so, some so
    answer = client.post("/datasets", **({"files": {"file": body}} if as_form else {"content": body}))
    assert sentence in problem(answer, status)["detail"]
    assert process.poll() is None
    assert client.post("/datasets", content=b"a,b\n1,2\n3,4\n").status_code in (200, 201)


def test_headers_over_the_limit_are_refused(strict: tuple[httpx.Client, ForkedCommand]) -> None:
    client, _ = strict
    answer = client.get("/kernels", headers={"X-Long": "x" * 4_000})
    assert "4,000 bytes" in problem(answer, 431)["detail"]
    assert "4,000 bytes" in problem(client.get("/jobs", params={"label": "x" * 4_000}), 431)["detail"]
    assert client.get("/kernels", headers={"X-Long": "x" * 3_000}).status_code == 200


def test_headers_that_never_end_are_refused(strict: tuple[httpx.Client, ForkedCommand]) -> None:
    client, _ = strict
    with socket.create_connection((client.base_url.host, client.base_url.port or 80), timeout=30) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nX-Long: ".ljust(4_000 + MAX_READ_BYTES + 1, b"x"))
        received = b"".join(iter(lambda: connection.recv(2**16), b""))
    assert received.startswith(b"HTTP/1.1 431 ")
    assert b"application/problem+json" in received
    assert b"send fewer or shorter ones" in received
    assert client.get("/healthz").status_code == 200


def test_a_long_body_after_short_headers_is_no_long_header(
    strict: tuple[httpx.Client, ForkedCommand],
) -> None:
    client, _ = strict
    body = io.BytesIO(b"a,b\n" + b"1.0000000,2\n" * 1_900 + b"\n" * (MAX_READ_BYTES + 10_000)).getvalue()
    for _ in range(3):
        assert client.post("/datasets", content=body).status_code in (200, 201)


LIMIT = LIMITS["ISM_MAX_UPLOAD_BYTES"]
TOO_LARGE = b"a,b\n" + b"1,2\n" * LIMIT


def chunks() -> Iterator[bytes]:
    for start in range(0, len(TOO_LARGE), 100_000):
        yield TOO_LARGE[start : start + 100_000]


def test_a_body_over_the_limit_is_refused_by_its_length(
    strict: tuple[httpx.Client, ForkedCommand],
) -> None:
    client, _ = strict
    assert f"{LIMIT:,}" in problem(client.post("/datasets", files={"file": TOO_LARGE}), 413)["detail"]
    assert f"{LIMIT:,}" in problem(client.post("/jobs", content=TOO_LARGE), 413)["detail"]


def test_a_body_over_the_limit_is_refused_without_a_length(
    strict: tuple[httpx.Client, ForkedCommand],
) -> None:
    client, _ = strict
    assert f"{LIMIT:,}" in problem(client.post("/datasets", content=chunks()), 413)["detail"]
    assert f"{LIMIT:,}" in problem(client.post("/jobs", content=chunks()), 413)["detail"]
    form = {"content-type": "multipart/form-data; boundary=x"}

    def parts() -> Iterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        yield from chunks()

    assert f"{LIMIT:,}" in problem(client.post("/datasets", content=parts(), headers=form), 413)["detail"]


def test_an_upload_that_breaks_off_leaves_nothing(strict: tuple[httpx.Client, ForkedCommand]) -> None:
    """The fixture looks for files at its end."""
    client, _ = strict

    def broken() -> Iterator[bytes]:
        yield b"a,b\n1,2\n"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        client.post("/datasets", content=broken())
    assert client.get("/healthz").status_code == 200
    assert "ism_requests_total" in client.get("/metrics").text


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KiB, where this machine lets us have one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "ism-test", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_full_disk_gives_507_and_leaves_no_files(small_disk: Path, redis_url: str) -> None:
    table = b"a,b\n" + b"1.000,2.000\n" * 100_000
    sent = ({"content": table}, {"files": {"file": ("table.csv", table)}}, {"content": table[:4_000]})
    settings = Settings(redis_url=redis_url, upload_dir=small_disk)
    *refused, read = answers(settings, [("POST", "/datasets", options) for options in sent])
    for answer in refused:
        assert "disk for uploads is full" in problem(answer, 507)["detail"]
    assert read.status_code == 201
    assert list(small_disk.iterdir()) == []
