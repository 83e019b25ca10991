"""examples/night.sh on small tables: told by its webhook, interrupted and started again, with what failed run again."""

import csv
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from tests.support.api import Api
from tools.local_service import free_port

SCRIPT = Path(__file__).parents[3] / "examples" / "night.sh"


def test_a_night_survives_an_interruption_and_ends_with_one_table(api: Api, tmp_path: Path) -> None:
    assert len(SCRIPT.read_text().splitlines()) <= 30
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        rows = [f"{x:.3f},{y:.3f},{z:.3f},{'pq'[int(x > 0)]}" for x, y, z in rng.standard_normal((30, 3))]
        (tmp_path / f"{name}.csv").write_text("\n".join(["x,y,z,class", *rows]))
    copies = ["1,5,3,p", "2,4,9,q"] * 15  # all features copy the target, which only a job that runs can tell
    (tmp_path / "c.csv").write_text("\n".join(["x,y,z,class", *copies]))
    night = uuid4().hex
    environment = {**os.environ, "ISM_URL": str(api.base_url), "NIGHT": night, "PORT": str(free_port())}
    command = [SCRIPT, "class", "night.csv", "a.csv", "b.csv", "c.csv"]

    def batches() -> list[dict[str, Any]]:
        return [batch for batch in api.get("/batches").json()["items"] if batch["label"] == night]

    first = subprocess.Popen(command, cwd=tmp_path, env=environment, start_new_session=True)
    while not batches():
        assert first.poll() is None
        time.sleep(0.05)
    os.killpg(first.pid, signal.SIGINT)  # as Ctrl-C does
    assert first.wait(60) == 130
    again = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    (batch,) = batches()
    messages = [each for each in api.get("/webhooks/deliveries").json()["items"] if each["about"].startswith("batch:")]
    failed = api.get("/jobs", params={"state": "failed", "batch": batch["id"]}).json()["items"]

    assert sum(batch["states"].values()) == 36, "posted once"
    assert f"batch:{batch['id']}" in {message["about"] for message in messages}
    assert {job["attempt"] for job in failed} == {2}, "what failed ran again, once"
    rows = list(csv.DictReader((tmp_path / "night.csv").read_text().splitlines()))
    assert len({row["job"] for row in rows}) == len(rows) == 36
    assert {row["dataset_name"] for row in rows} == {"a.csv", "b.csv", "c.csv"}
    assert sum(row["state"] == "failed" for row in rows) == 12, "those that failed again"
    assert all(row["accuracy"] for row in rows if row["state"] == "succeeded")
