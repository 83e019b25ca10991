"""A full disk under the embedded Redis: 507 in time, deletions go through, and room lets everything go on."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import numpy as np
import pytest

from ism_cli.disk import DiskReserve
from tests.support.forked_commands import forked_service

DISK, RESERVE = 24 * 2**20, 3 * 2**20  # bytes
SECONDS = 60  # time limit for the service to notice


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A small disk, where this machine lets us have one."""
    folder = tmp_path_factory.mktemp("disk")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "ism-test", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture(scope="module")
def client(disk: Path) -> Iterator[httpx.Client]:
    with (
        forked_service(disk, workers=0, ISM_DISK_RESERVE=str(RESERVE)) as (url, process),
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        yield client
        assert process.poll() is None


def table(seed: int, megabytes: float = 1.0) -> bytes:
    rows = int(megabytes * 2**20 / 8 / 4)
    numbers = np.random.default_rng(seed).normal(size=(rows, 4))
    return b"\n".join([b"a,b,c,d", *(b"%.17g,%.17g,%.17g,%.17g" % tuple(row) for row in numbers)])


def statuses(request: Callable[[], httpx.Response], wanted: int) -> set[int]:
    """Repeat a request until it has the wanted status; return the others on the way. A cut connection counts as 503."""
    found: set[int] = set()
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            status = request().status_code
        except httpx.TransportError:
            status = 503
        if status == wanted:
            return found
        found.add(status)
        time.sleep(0.1)
    raise AssertionError(f"the status was never {wanted}, but {found}")


def fill(file: Path) -> None:
    """Take the whole disk, also what is released meanwhile."""
    with suppress(OSError), file.open("ab", buffering=0) as filler:
        while True:
            filler.write(bytes(2**12))


def test_the_reserve_is_released_when_the_disk_is_low_and_taken_again_later(disk: Path) -> None:
    folder = disk / "other"
    folder.mkdir()
    reserve = DiskReserve(folder, RESERVE)
    room = reserve.free_bytes()
    assert not reserve.update()
    assert reserve.free_bytes() <= room - RESERVE
    fill(disk / "filler")
    assert reserve.update()
    assert reserve.is_low
    assert reserve.free_bytes() >= RESERVE
    (disk / "filler").unlink()
    assert reserve.update()
    assert not reserve.is_low
    assert reserve.free_bytes() <= room - RESERVE
    reserve.release()


def test_uploads_end_before_the_disk_is_full_and_go_on_after_deletions(disk: Path, client: httpx.Client) -> None:
    stored: list[str] = []
    while (answer := client.post("/datasets", content=table(len(stored)))).status_code == 201:
        stored.append(answer.json()["id"])
        assert len(stored) < 100
    assert answer.status_code == 507
    assert "disk is full; delete" in answer.json()["detail"]
    free = os.statvfs(disk)
    assert free.f_bavail * free.f_frsize > 2**20
    for id in stored:
        assert client.delete(f"/datasets/{id}").status_code == 204
    assert statuses(lambda: client.post("/datasets", content=table(999)), 201) <= {507}


def test_a_disk_that_others_fill_stops_neither_reads_nor_deletions_and_needs_no_restart(
    disk: Path, client: httpx.Client
) -> None:
    kept, unwanted = (client.post("/datasets", content=table(seed, 0.01)).json()["id"] for seed in (1, 2))
    fill(disk / "filler")
    assert statuses(lambda: client.post("/datasets", content=table(3, 0.01)), 507) <= {200, 201, 503}
    statuses(lambda: client.get(f"/datasets/{kept}"), 200)
    statuses(lambda: client.delete(f"/datasets/{unwanted}"), 204)
    (disk / "filler").unlink()
    assert statuses(lambda: client.post("/datasets", content=table(4, 0.01)), 201) <= {503, 507}
    assert client.get(f"/datasets/{kept}").status_code == 200
    assert client.get(f"/datasets/{unwanted}").status_code == 404
