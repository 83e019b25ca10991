"""examples/night.sh on small tables: told by its webhook, interrupted and started again, with what failed run again."""

import csv
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np

from tests.support.api import Api
from tools.local_service import free_port, running_service

SCRIPT = Path(__file__).parents[3] / "examples" / "night.sh"


def test_a_night_survives_an_interruption_and_ends_with_one_table(tmp_path: Path) -> None:
    assert len(SCRIPT.read_text().splitlines()) <= 30
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        rows = [f"{x:.3f},{y:.3f},{z:.3f},{'pq'[int(x > 0)]}" for x, y, z in rng.standard_normal((30, 3))]
        (tmp_path / f"{name}.csv").write_text("\n".join(["x,y,z,class", *rows]))
    copies = ["1,5,3,p", "2,4,9,q"] * 15  # all features copy the target, which only a job that runs can tell
    (tmp_path / "c.csv").write_text("\n".join(["x,y,z,class", *copies]))
    service = tmp_path / "service"
    service.mkdir()
    with running_service(service, ISM_WEBHOOK_PRIVATE="true") as (url, _), Api(base_url=url, timeout=90) as api:
        variables = {"ISM_URL": url, "NIGHT": "monday", "PORT": str(free_port())}
        command = [SCRIPT, "class", "night.csv", "a.csv", "b.csv", "c.csv"]
        environment = {**os.environ, **variables}
        first = subprocess.Popen(command, cwd=tmp_path, env=environment, start_new_session=True)
        while not api.get("/batches").json()["items"]:
            assert first.poll() is None
            time.sleep(0.05)
        os.killpg(first.pid, signal.SIGINT)  # as Ctrl-C does
        first.wait(60)
        again = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert again.returncode == 0, again.stderr
        (batch,) = api.get("/batches").json()["items"]
        messages = api.get("/webhooks/deliveries").json()["items"]
        failed = api.get("/jobs", params={"state": "failed"}).json()["items"]

    assert sum(batch["states"].values()) == 36, "posted once"
    assert {message["about"] for message in messages} == {f"batch:{batch['id']}"}
    assert {job["attempt"] for job in failed} == {2}, "what failed ran again, once"
    rows = list(csv.DictReader((tmp_path / "night.csv").read_text().splitlines()))
    assert len({row["job"] for row in rows}) == len(rows) == 36
    assert {row["dataset_name"] for row in rows} == {"a.csv", "b.csv", "c.csv"}
    assert sum(row["state"] == "failed" for row in rows) == 12, "those that failed again"
    assert all(row["accuracy"] for row in rows if row["state"] == "succeeded")
