"""The data and the code of releases: `python -m tools.release_data FILE` writes data that later versions must read.

The service of this checkout runs a few jobs of each kind on a Redis of its own and is stopped in the middle of one.
Then all keys of the Redis are dumped. The code of the last release comes from the history of the repository.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from redis import Redis

from ism_cli.embedded import RedisServer
from tools.local_service import running_service
from tools.store_dump import dump

LAST_RELEASE = "31e094f"  # the commit of 0.2.0
KEY = {"Idempotency-Key": "posted once"}  # tests repeat this request
ROWS = 240
COMMON = {"paradigm": "supervised", "target": "class"}


def unpack_last_release(folder: Path) -> bool:
    """Put the sources of the last release into a folder. Return False if this copy of the repository has no history."""
    archive = subprocess.run(
        ["git", "-C", str(Path(__file__).parents[1]), "archive", LAST_RELEASE], capture_output=True, check=False
    )
    if archive.returncode:
        return False
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return True


def release_variables(folder: Path) -> dict[str, str]:
    """Return the environment variables with which Python runs the release that was unpacked into a folder."""
    return {"PYTHONPATH": str(folder.resolve()), "PYTHONSAFEPATH": "1"}  # not what is in the working directory


def table() -> bytes:
    """Return a table with numbers, text, dates, missing values and three classes, as CSV."""
    rng = np.random.default_rng(0)
    classes = rng.integers(3, size=ROWS)
    lines = ["x,y,z,color,day,class"]
    for row, each in enumerate(classes):
        x, y, z = (rng.normal([each, each % 2, 0]) * 100).round() / 100
        color = ("", "red", "blue", "green")[rng.integers(4)]
        lines.append(f"{x},{y},{'' if row % 9 == 0 else z},{color},2024-01-{row % 28 + 1:02},{'abc'[each]}")
    return "\n".join(lines).encode()


def settled(api: httpx.Client, id: str) -> dict[str, Any]:
    """Return a job when it has ended."""
    while (job := api.get(f"/jobs/{id}", params={"wait": 30}).json())["state"] in ("queued", "running"):
        pass
    return dict(job)


def fill(api: httpx.Client, redis: Redis) -> None:
    """Post jobs that succeed and one that is cancelled, then one that is running and one that waits for it."""
    uploaded = api.post("/datasets", files={"file": ("table.csv", table())}).json()["id"]
    job: dict[str, Any] = {"dataset": uploaded, **COMMON}
    posted = [
        api.post("/jobs", json={**job, "label": "chosen"}, headers=KEY),
        api.post("/jobs", json={**job, "label": "dates", "kernel": "gaussian", "dates": "parts", "missing": "drop"}),
        api.post("/jobs", json={"dataset": uploaded, "paradigm": "unsupervised", "clusters": 3, "q": 1}),
    ]
    batch = api.post("/batches", json={**job, "kernel": ["linear", "polynomial"], "folds": 0}).json()
    for id in (*(answer.json()["id"] for answer in posted), *(row["id"] for row in batch["jobs"])):
        assert settled(api, id)["state"] == "succeeded"
    running = api.post("/jobs", json={**job, "label": "under way", "validation": "nested"}).json()["id"]
    api.post("/jobs", json={**job, "label": "waiting", "kernel": "linear", "folds": 0})
    cancelled = api.post("/jobs", json={**job, "label": "cancelled"}).json()["id"]
    api.post(f"/jobs/{cancelled}/cancel")
    while not redis.exists(f"ism:job:{running}:checkpoint"):
        time.sleep(0.05)


def main(file: Path) -> None:
    """Fill a Redis and write its dump."""
    with (
        tempfile.TemporaryDirectory(prefix="ism-release-data-") as name,
        RedisServer(Path(name), fsync="no") as server,
        Redis.from_url(server.url) as redis,
    ):
        with (
            running_service(Path(name), workers=1, ISM_REDIS_URL=server.url) as (url, _),
            httpx.Client(base_url=url, timeout=60) as api,
        ):
            fill(api, redis)
        file.write_bytes(dump(redis))
    sys.stdout.write(f"{file}: {file.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
