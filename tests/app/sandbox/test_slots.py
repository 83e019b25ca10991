"""Slots of sandbox processes: fair between keys, and separate for each kind of work."""

import asyncio
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from app.main import create_app
from app.sandbox.messages import Upload
from app.sandbox.slots import FairSlots
from app.sandbox.tasks import parse_upload
from ism_jobs.settings import Settings
from ism_jobs.tables import Limits

TABLE = b"x,y,class\n1,4,a\n2,3,b\n3,,b\n4,1,a\n"


def parse_later(upload: Upload, limits: Limits) -> Generator[bytes, None, Any]:
    while upload.name == "slow" and len(os.listdir(upload.path.parent)) == 1:
        time.sleep(0.02)
    return (yield from parse_upload(upload, limits))


def go_on(folder: Path) -> None:
    for upload in folder.glob("ism-upload-*"):
        (upload / "go-on").touch()


def test_slow_uploads_of_one_key_hold_up_no_other_key_and_no_job(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {name: name * 8 for name in ("alice", "bobby")}
    alice, bobby = ({"Authorization": f"Bearer {key}"} for key in keys.values())
    given = ",".join(f"{name}:{key}" for name, key in keys.items())

    async def ask() -> list[int]:
        app = create_app(Settings(redis_url=redis_url, children=2, upload_dir=tmp_path, api_keys=given))
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://ism", timeout=60) as client,
        ):
            dataset = (await client.post("/datasets", content=TABLE, headers=alice)).json()["id"]
            monkeypatch.setattr("app.sandbox.tasks.parse_upload", parse_later)
            slow = {"content": TABLE, "params": {"name": "slow"}, "headers": alice}
            uploading = [asyncio.create_task(client.post("/datasets", **slow)) for _ in range(3)]
            while app.state.upload_sandbox.slots.in_use < 2:
                await asyncio.sleep(0.01)
            of_bobby = await client.post("/datasets", content=TABLE, headers=bobby)
            spec = {"dataset": dataset, "paradigm": "supervised", "target": "class", "missing": "drop", "folds": 0}
            posted = await client.post("/jobs", json=spec, headers=alice)
            assert not any(each.done() for each in uploading)
            while not all(each.done() for each in uploading):
                go_on(tmp_path)
                await asyncio.sleep(0.01)
            return [of_bobby.status_code, posted.status_code]

    assert asyncio.run(ask()) == [201, 202]


def test_a_free_slot_goes_to_the_key_that_holds_fewest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.sandbox.slots.MOST_PROCESSES", 3)
    slots = FairSlots(2)
    order: list[str] = []

    async def work(key: str, done: anyio.Event) -> None:
        async with slots.hold(key):
            order.append(key)
            await done.wait()

    async def run() -> None:
        done = [anyio.Event() for _ in range(6)]
        async with anyio.create_task_group() as tasks:
            for key, event in zip("aaabbc", done, strict=True):
                tasks.start_soon(work, key, event)
                await anyio.wait_all_tasks_blocked()
            assert order == ["a", "a", "b"]  # the third of a may not start although it came before b
            done[3].set()
            await anyio.wait_all_tasks_blocked()
            assert order == ["a", "a", "b", "b"]
            done[0].set()
            await anyio.wait_all_tasks_blocked()
            assert order == ["a", "a", "b", "b", "c"]  # it holds none, a and b one each
            for event in done:
                event.set()
        assert slots.in_use == 0

    anyio.run(run)


def test_a_key_that_holds_no_slot_waits_for_no_other_key() -> None:
    slots = FairSlots(2)
    order: list[str] = []

    async def work(key: str, done: anyio.Event) -> None:
        async with slots.hold(key):
            order.append(key)
            await done.wait()

    async def run() -> None:
        done = anyio.Event()
        async with anyio.create_task_group() as tasks:
            for key in "aabbcccdd":
                tasks.start_soon(work, key, done)
                await anyio.wait_all_tasks_blocked()
            assert order == ["a", "a", "b", "c", "d"], "slow requests of two keys do not hold up a third"
            done.set()

    anyio.run(run)


def test_a_cancelled_request_gives_its_place_back() -> None:
    slots = FairSlots(1)

    async def run() -> None:
        async with slots.hold("a"):
            with anyio.move_on_after(0):
                async with slots.hold("a"):
                    pass
        async with slots.hold("a"):
            assert slots.in_use == 1
        assert slots.in_use == 0

    anyio.run(run)
