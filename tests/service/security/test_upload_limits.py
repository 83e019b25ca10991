"""Uploads over a limit are refused, and leave no file behind."""

import gzip
from collections.abc import Iterator

import httpx
import pytest

from tests.support.api import problem
from tools.local_service import running_service

LIMIT = 10_000


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service that takes little."""
    folder = tmp_path_factory.mktemp("small")
    uploads = folder / "uploads"
    uploads.mkdir()
    limits = {"ISM_MAX_UPLOAD_BYTES": str(LIMIT), "ISM_MAX_INFLATED_BYTES": "100000", "ISM_MAX_COLUMNS": "50"}
    limits |= {"ISM_MAX_ROWS": "500", "ISM_UPLOAD_DIR": str(uploads)}
    with (
        running_service(folder, workers=1, **limits) as (url, _),
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        yield client
        assert list(uploads.iterdir()) == []


TOO_LARGE = b"a,b\n" + b"1,2\n" * LIMIT


def test_a_body_over_the_limit_is_refused_by_its_length(small: httpx.Client) -> None:
    assert f"{LIMIT:,}" in problem(small.post("/datasets", content=TOO_LARGE), 413)["detail"]
    assert f"{LIMIT:,}" in problem(small.post("/datasets", files={"file": TOO_LARGE}), 413)["detail"]
    assert f"{LIMIT:,}" in problem(small.post("/jobs", content=TOO_LARGE), 413)["detail"]


def chunks() -> Iterator[bytes]:
    for start in range(0, len(TOO_LARGE), 1000):
        yield TOO_LARGE[start : start + 1000]


def test_a_body_over_the_limit_is_refused_without_a_length(small: httpx.Client) -> None:
    assert f"{LIMIT:,}" in problem(small.post("/datasets", content=chunks()), 413)["detail"]
    assert f"{LIMIT:,}" in problem(small.post("/jobs", content=chunks()), 413)["detail"]
    form = {"content-type": "multipart/form-data; boundary=x"}

    def parts() -> Iterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        yield from chunks()

    assert f"{LIMIT:,}" in problem(small.post("/datasets", content=parts(), headers=form), 413)["detail"]


def test_a_table_over_the_limits_is_refused(small: httpx.Client) -> None:
    wide = ",".join(f"x{place}" for place in range(51)) + "\n" + ",".join(["1"] * 51) + "\n"
    assert "50" in problem(small.post("/datasets", content=wide.encode()), 413)["detail"]
    long = b"a\n" + b"1\n" * 501
    assert "500" in problem(small.post("/datasets", content=long), 413)["detail"]
    bomb = gzip.compress(b"a,b\n" + b"1234567,1234567\n" * 10_000)
    assert len(bomb) < LIMIT
    assert "100,000" in problem(small.post("/datasets", content=bomb), 413)["detail"]
    assert small.post("/datasets", content=b"a,b\n1,2\n3,4\n").status_code == 201


def test_an_upload_that_breaks_off_leaves_nothing(small: httpx.Client) -> None:
    def broken() -> Iterator[bytes]:
        yield b"a,b\n1,2\n"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small.post("/datasets", content=broken())
    assert small.get("/healthz").status_code == 200
    assert "ism_requests_total" in small.get("/metrics").text
