"""The steps of the drill. Each one asserts what holds and returns its figures."""

import io
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from drills.containers.engine import run
from drills.containers.stack import Stack
from drills.deployment import ROOT, fetch, ok, say
from drills.report import Row

LONG_JOB = {"paradigm": "supervised", "target": "y", "kernel": "multiquadratic", "q": 3, "folds": 5}
LONG_ROWS, LONG_COLUMNS = 3_000, 30  # half a minute on one thread
OUTSIDE = "import socket; socket.create_connection(('1.1.1.1', 53), 3)"
KILL_ALL = "import os, signal; os.kill(-1, signal.SIGKILL)"  # all processes but init, which then ends as well
SCHEDULER = "tcp://dask-scheduler:8786"


def rehearse(stack: Stack) -> list[Row]:
    """Take all steps, and return their figures."""
    figures = [*build(stack), *start(stack), *jobs(stack)]
    readme(stack)
    rights(stack)
    job = post_long(stack)
    figures += kill_worker(stack, job)
    kept = fetch(stack.url, job)
    figures += restart(stack, "stop", "start")
    figures += restart(stack, "down", "up")
    assert fetch(stack.url, job) == kept, "a restart changed a result"
    redis_error(stack)
    figures += cluster(stack)
    keys(stack)
    return figures


def build(stack: Stack) -> list[Row]:
    """Build the image of the committed Dockerfile."""
    say("Build the image")
    began = time.monotonic()
    stack.compose("build", "--quiet")
    seconds = time.monotonic() - began
    size = int(stack.docker("image", "inspect", "--format", "{{.Size}}", stack.image))
    base = sum(
        int(stack.docker("image", "inspect", "--format", "{{.Size}}", image))
        for name, image in stack.environment.items()
        if name == "ISM_PYTHON_IMAGE"
    )
    return [
        ["build", f"{seconds:.0f} s"],
        ["image", f"{size / 1e6:.0f} MB"],
        *([["of it the base image", f"{base / 1e6:.0f} MB"]] if base else []),
    ]


def start(stack: Stack) -> list[Row]:
    """Start three workers, the API and Redis; wait until they are ready."""
    say("Start the services with three workers")
    refused = stack.refused("ism", "api", "--host", "0.0.0.0", ISM_PUBLISH="0.0.0.0")
    assert "no API keys" in refused, refused
    began = time.monotonic()
    stack.compose("up", "--detach")
    stack.ready()
    seconds = time.monotonic() - began
    time.sleep(10)  # the memory of a service that has come to rest
    return [["start until three workers are ready", f"{seconds:.0f} s"], *memory(stack)]


def memory(stack: Stack) -> list[Row]:
    """Return the memory of one container of each service."""
    rows: list[Row] = []
    for service in ("api", "worker", "redis"):
        name = stack.containers(service)[0]["Id"]
        used = stack.docker("stats", "--no-stream", "--format", "{{.MemUsage}}", name)
        rows.append([f"memory of {service} at rest", used.split(" / ")[0].replace("MiB", " MiB")])
    return rows


def jobs(stack: Stack) -> list[Row]:
    """Run Wine with default settings twice, and a job that needs machine code."""
    say("Run a first and a second job")
    wine = ok(stack.call("POST", "/datasets", files={"file": (ROOT / "examples/wine.csv").read_bytes()})).json()["id"]
    rows: list[Row] = []
    for which in ("first", "second"):
        began = time.monotonic()
        job = ok(stack.call("POST", "/jobs", json={"dataset": wine, "paradigm": "supervised", "target": "class"}))
        ended(stack, job.json()["id"])
        rows.append([f"{which} job (Wine, defaults)", f"{time.monotonic() - began:.1f} s"])
    code = "import ism_core.objective.compilation as it; print(it._marker().exists())"
    for worker in stack.containers("worker"):
        assert stack.python(worker["Id"], code) == "True", "the machine code of the image is not used"
    return rows


def ended(stack: Stack, job: str) -> dict[str, Any]:
    """Wait until a job has succeeded."""
    found = stack.until(f"/jobs/{job}?wait=30", lambda it: it.json()["state"] not in ("queued", "running"), "a job")
    document: dict[str, Any] = found.json()
    assert document["state"] == "succeeded", document
    return document


def readme(stack: Stack) -> None:
    """Run the README's curl lines as they are."""
    say("Run the README's curl lines")
    found = re.search(r"^### curl\n+```sh\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    script = found[1].replace("http://127.0.0.1:8000", stack.url).replace("curl ", "curl --fail --show-error ")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "examples").symlink_to(ROOT / "examples")
        said = run("bash", "-euo", "pipefail", "-c", script, cwd=folder)
        assert "event: state" in said
        assert '"loadings"' in said or '"W"' in said
        assert {path.name for path in folder.iterdir() if path.stat().st_size} >= set(re.findall(r"-o (\S+)", script))


def rights(stack: Stack) -> None:
    """No container runs as root, can write to its root, or has a capability; workers have no way out."""
    say("Check users, file systems, capabilities and networks")
    for service in ("api", "worker", "redis"):
        for container in stack.containers(service):
            assert container["HostConfig"]["ReadonlyRootfs"]
            status = stack.docker("exec", container["Id"], "cat", "/proc/1/status")
            (user,) = re.findall(r"^Uid:\s+(\d+)", status, re.MULTILINE)
            (capabilities,) = re.findall(r"^CapEff:\s+(\w+)", status, re.MULTILINE)
            assert int(user) != 0
            assert int(capabilities, 16) == 0
    api, worker = (stack.containers(service)[0]["Id"] for service in ("api", "worker"))
    for container in (api, worker):
        assert stack.python(container, "import os; print(os.getuid())") == "10001"
        assert stack.fails(container, "open('/opt/ism/new', 'w')")
        assert stack.python(container, "open('/tmp/new', 'w'); print('written')") == "written"
    assert stack.fails(worker, OUTSIDE), "a worker can reach the outside"


def post_long(stack: Stack, **fields: Any) -> str:
    """Upload a table whose job takes half a minute, and post the job."""
    table = np.random.default_rng(0).standard_normal((LONG_ROWS, LONG_COLUMNS))
    names = ",".join([f"x{number}" for number in range(LONG_COLUMNS - 1)] + ["y"])
    table[:, -1] = np.sin(table[:, 0]) + table[:, 1] ** 2 + table[:, -1] / 4
    text = io.StringIO()
    np.savetxt(text, table, "%.6g", ",", header=names, comments="")
    dataset = ok(stack.call("POST", "/datasets", files={"file": ("long.csv", text.getvalue())})).json()["id"]
    return str(ok(stack.call("POST", "/jobs", json={"dataset": dataset, **LONG_JOB, **fields})).json()["id"])


def running(stack: Stack, job: str) -> dict[str, Any]:
    """Wait until a job runs."""
    found: dict[str, Any] = stack.until(f"/jobs/{job}", lambda it: it.json()["state"] == "running", "a start").json()
    return found


def kill_worker(stack: Stack, job: str) -> list[Row]:
    """Kill all processes of the worker that runs a job: it must come back, and the job must succeed."""
    say("Kill the container of a worker in the middle of its job")
    running(stack, job)
    processes = {one["Id"]: len(stack.docker("top", one["Id"]).splitlines()) for one in stack.containers("worker")}
    victim = max(processes, key=lambda name: processes[name])  # a job is a process of its own
    began = time.monotonic()
    stack.fails(victim, KILL_ALL)
    stack.until(f"/jobs/{job}", lambda it: it.json()["attempt"] == 2, "a second attempt")
    again = time.monotonic() - began
    assert ended(stack, job)["attempt"] == 2
    (restarts,) = [one["RestartCount"] for one in stack.containers("worker") if one["Id"] == victim]
    assert restarts == 1
    stack.ready()
    return [["killed worker: next attempt after", f"{again:.1f} s"]]


def restart(stack: Stack, stop: str, start: str) -> list[Row]:
    """Stop and start all services while three jobs run and one waits; all jobs must succeed."""
    say(f"`{stop}` and `{start}` with jobs under way")
    posted = [post_long(stack, seed=number) for number in range(4)]
    running(stack, posted[0])
    began = time.monotonic()
    stack.compose(stop)
    seconds = time.monotonic() - began
    for service in ("api", "worker", "redis"):
        codes = {one["State"]["ExitCode"] for one in stack.containers(service)}
        assert codes <= {0}, f"{service} ended with {codes}"
    stack.compose(start, *(["--detach"] if start == "up" else []))
    stack.ready()
    for job in posted:
        ended(stack, job)
    return [[f"{stop}, with jobs under way", f"{seconds:.1f} s"]]


def redis_error(stack: Stack) -> None:
    """A Redis that answers with an error makes the service unready and its container unhealthy."""
    say("Let Redis answer with an error")
    redis = stack.containers("redis")[0]["Id"]
    stack.docker("exec", redis, "redis-cli", "config", "set", "protected-mode", "yes")
    stack.docker("exec", redis, "redis-cli", "client", "kill", "type", "normal")
    answer = stack.until("/readyz", lambda it: not it.is_success, "an unready service")
    assert answer.status_code == 503, answer.text
    deadline = time.monotonic() + 90
    while stack.containers("api")[0]["State"]["Health"]["Status"] != "unhealthy":
        assert time.monotonic() < deadline, "the health check does not notice"
        time.sleep(1)
    stack.docker("exec", redis, "redis-cli", "config", "set", "protected-mode", "no")
    stack.ready()


def cluster(stack: Stack) -> list[Row]:
    """Run a job on the Dask cluster, which the API cannot reach."""
    say("Run a job on the Dask cluster")
    stack.environment |= {"ISM_DASK_SCHEDULER": SCHEDULER, "ISM_DASK_MEMORY": "1GiB", "ISM_DASK_THREADS": "1"}
    stack.environment["COMPOSE_PROFILES"] = "cluster"
    stack.compose("up", "--detach")
    stack.ready()
    began = time.monotonic()
    ended(stack, post_long(stack, engine="dask"))
    seconds = time.monotonic() - began
    api = stack.containers("api")[0]["Id"]
    assert stack.fails(api, "import socket; socket.create_connection(('dask-scheduler', 8786), 3)")
    for service in ("dask-scheduler", "dask-worker"):
        assert all(one["State"]["Health"]["Status"] == "healthy" for one in stack.containers(service))
    said = stack.compose("logs", "dask-scheduler", "dask-worker")
    assert "Couldn't detect a suitable IP" not in said, "Dask looks up an outside address"
    return [["job on Dask", f"{seconds:.1f} s"]]


def keys(stack: Stack) -> None:
    """Make and revoke keys; without a key the service stays closed, and a new key opens it at once."""
    say("Make and revoke keys")
    make = ("run", "--rm", "--no-deps", "-T", "api", "ism", "keys", "make", "alice")
    stack.key = stack.compose(*make).strip().splitlines()[-1]
    assert ok(stack.call("GET", "/jobs")).json()["items"] == [], "jobs from before the first key belong to nobody"
    first, stack.key = stack.key, ""
    assert stack.call("GET", "/jobs").status_code == 401
    stack.compose(*make[:-2], "revoke", "alice")
    stack.key = first
    assert stack.call("GET", "/jobs").status_code == 401
    stack.key = stack.compose(*make).strip().splitlines()[-1]
    ok(stack.call("GET", "/jobs"))
