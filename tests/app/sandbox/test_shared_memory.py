"""All sandbox processes together keep below a limit of memory: beyond it, the largest is killed."""

import sys
import time
from pathlib import Path

import anyio
import pytest

from app.sandbox import Answer, SandboxPool, SharedMemory, Upload
from ism_jobs.errors import Unavailable
from ism_jobs.settings import Settings

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured by /proc")
MIB = 2**20


def hold(upload: Upload, size: int) -> int:
    """Hold memory until another file is in the folder."""
    held = bytearray(b"x") * size
    while not upload.path.with_name("go-on").exists():
        time.sleep(0.02)
    return len(held)


def test_the_largest_process_is_killed_if_all_need_too_much_together(tmp_path: Path) -> None:
    """Each keeps to its own limit. The two pools, as for uploads and plots, share one limit.

    The sizes differ so much that the larger is the largest as soon as both are too large.
    """
    memory = SharedMemory(180 * MIB)
    settings = Settings(redis_url="redis://unused", sandbox_memory=180 * MIB)
    pools = [SandboxPool(settings, memory) for _ in range(2)]
    upload = Upload(tmp_path / "upload", 0, "table", None, None, None)
    found: dict[int, int | str] = {}

    async def work(pool: SandboxPool, size: int) -> None:
        try:
            found[size] = await pool.run(hold, upload, size)
        except Unavailable as problem:
            found[size] = problem.detail
            (tmp_path / "go-on").touch()

    async def run() -> None:
        async with anyio.create_task_group() as tasks:
            for pool, size in zip(pools, (60 * MIB, 140 * MIB), strict=True):
                tasks.start_soon(work, pool, size)
        await work(pools[1], 130 * MIB)

    anyio.run(run)
    assert found[60 * MIB] == 60 * MIB
    assert "need more than 188,743,680 bytes of memory together; try again in a moment" in str(found[140 * MIB])
    assert found[130 * MIB] == 130 * MIB, "there is room again"


def test_a_process_that_has_ended_makes_no_room_for_others(tmp_path: Path) -> None:
    """As one whose answer is still being stored. It began with the memory of the fork server."""
    memory = SharedMemory(100 * MIB)
    pool = SandboxPool(Settings(redis_url="redis://unused", sandbox_memory=200 * MIB, child_seconds=10), memory)
    folders = [tmp_path / name for name in ("ended", "large")]
    for folder in folders:
        folder.mkdir()
    ended, large = (Upload(folder / "upload", 0, "table", None, None, None) for folder in folders)
    (folders[0] / "go-on").touch()

    def wait(answer: Answer) -> None:
        answer.whole()
        while not (tmp_path / "stored").exists():
            time.sleep(0.02)

    async def hold_too_much() -> None:
        try:
            with pytest.raises(Unavailable, match="together"):
                await pool.run(hold, large, 130 * MIB)
        finally:
            (tmp_path / "stored").touch()

    async def run() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pool.receive, wait, hold, ended, 1)
            tasks.start_soon(hold_too_much)

    anyio.run(run)
