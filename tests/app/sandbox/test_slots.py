"""Uploads and the other work in children do not wait for each other."""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.sandbox.tasks import Upload, ingest
from ism_jobs.settings import Settings

TABLE = b"x,y,class\n1,4,a\n2,3,b\n3,,b\n4,1,a\n"


def ingest_later(upload: Upload, settings: Settings, owner: str) -> Any:
    while not os.path.exists(upload.name):
        time.sleep(0.02)
    return ingest(upload, settings, owner)


def test_a_long_upload_holds_up_no_job(redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flag = tmp_path / "go-on"

    async def ask() -> list[int]:
        app = create_app(Settings(redis_url=redis_url, children=1))
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://ism", timeout=60) as client,
        ):
            dataset = (await client.post("/datasets", content=TABLE)).json()["id"]
            monkeypatch.setattr("app.routes.datasets.ingest", ingest_later)
            uploading = asyncio.create_task(client.post("/datasets", content=TABLE, params={"name": str(flag)}))
            while app.state.upload_sandbox._slots.borrowed_tokens == 0:
                await asyncio.sleep(0.01)
            spec = {"dataset": dataset, "paradigm": "supervised", "target": "class", "missing": "drop", "folds": 0}
            posted = await client.post("/jobs", json=spec)
            assert not uploading.done()
            flag.touch()
            return [posted.status_code, (await uploading).status_code]

    assert asyncio.run(ask()) == [202, 200]
