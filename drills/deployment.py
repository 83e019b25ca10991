"""Rehearse the deployment without Docker: `python -m drills.deployment [python3.12]`.

The drill installs a fresh environment from requirements.lock with the Dockerfile's own commands. In it, it runs the
commands of docker-compose.yml on a real Redis: a job from upload to pictures, a stop by SIGTERM, and a second start
that must find everything.
"""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml
from sklearn.datasets import load_wine

from ism_cli.embedded import find_executable
from tools.local_service import free_port

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text()
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
GRACE_SECONDS = int(SERVICES["worker"]["stop_grace_period"].rstrip("s"))
READY_SECONDS = 120  # time from the start of the services until `/readyz` must answer 200


def main(python: str) -> None:
    """Install, run a job, stop, start again and compare."""
    with tempfile.TemporaryDirectory(prefix="ism-drill-") as name:
        folder = Path(name)
        say(f"Install requirements.lock for {python}")
        install(folder, python)
        data = folder / "data"
        data.mkdir()
        say("First start: run a job, fetch its result and its pictures")
        with deployed(folder, data) as url:
            job = run_job(url)
            before = fetch(url, job)
        say("Second start: fetch the same again")
        with deployed(folder, data) as url:
            assert fetch(url, job) == before
    say("The deployment works.")


def install(folder: Path, python: str) -> None:
    """Do what the first stage of the Dockerfile does."""
    source, environment = folder / "src", folder / "opt"
    source.mkdir()
    for names in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE):
        for name in names.split():
            copy(ROOT / name, source / name)
    check(python, "-m", "venv", "--without-pip", str(environment))
    for step in re.findall(r"^RUN python (-m pip .+ install .+)$", DOCKERFILE, re.MULTILINE):
        check("sh", "-ec", f"{python} {step.replace('/opt/ism/', f'{environment}/')}", cwd=source)


def copy(origin: Path, copied: Path) -> None:
    """Copy a file or a folder, without bytecode."""
    if origin.is_dir():
        shutil.copytree(origin, copied, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(origin, copied)


@contextmanager
def deployed(folder: Path, data: Path) -> Iterator[str]:
    """Start the services of the compose file in the order of their dependencies; stop them in reverse."""
    redis_port, api_port = free_port(), free_port()
    work = folder / "work"  # nothing of this repository can be imported from here
    work.mkdir(exist_ok=True)
    environment = {
        "PATH": f"{folder / 'opt' / 'bin'}:/usr/bin:/bin",
        "HOME": str(work),
        "TMPDIR": str(work),
        "MPLCONFIGDIR": str(work / "matplotlib"),
        "ISM_REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
        "ISM_WORKER_THREADS": "1",
    }
    redis = [default(word) for word in SERVICES["redis"]["command"][1:]]
    api = [word.replace("0.0.0.0", "127.0.0.1").replace("8000", str(api_port)) for word in SERVICES["api"]["command"]]
    url = f"http://127.0.0.1:{api_port}"
    with ExitStack() as stack:
        where = ["--port", str(redis_port), "--bind", "127.0.0.1", "--dir", str(data)]
        stack.enter_context(running("redis", [find_executable(), *redis, *where], environment, work))
        stack.enter_context(running("api", api, environment, work))
        for number in (1, 2):
            stack.enter_context(running(f"worker {number}", SERVICES["worker"]["command"], environment, work))
        wait_until_ready(url)
        check(*(word.replace("8000", str(api_port)) for word in health_command()), env=environment, cwd=work)
        yield url


@contextmanager
def running(name: str, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Run one service until the block ends; it must survive the block and exit cleanly after SIGTERM."""
    program = shutil.which(command[0], path=environment["PATH"])
    assert program is not None, f"{command[0]} is not installed."
    with (folder / f"{name}.log").open("ab") as log:
        process = subprocess.Popen([program, *command[1:]], env=environment, cwd=folder, stdout=log, stderr=log)
    try:
        yield
        assert process.poll() is None, f"{name} ended by itself with {process.returncode}."
    except BaseException:
        print(f"--- {name}\n{(folder / f'{name}.log').read_text()[-5_000:]}", file=sys.stderr)
        raise
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
    assert process.returncode == 0, f"{name} ended with {process.returncode} after SIGTERM."


def wait_until_ready(url: str) -> None:
    """Wait until `/readyz` answers 200."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{url}/readyz", timeout=5).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"Not ready after {READY_SECONDS} seconds.")


def run_job(url: str) -> str:
    """Upload Wine, run a supervised job on it, and return the job's id."""
    table = io.StringIO()
    wine = load_wine(as_frame=True)
    wine.frame.assign(target=[wine.target_names[label] for label in wine.target]).to_csv(table, index=False)
    with httpx.Client(base_url=url, timeout=90) as client:
        dataset = ok(client.post("/datasets", files={"file": ("wine.csv", table.getvalue())})).json()
        spec = {"dataset": dataset["id"], "paradigm": "supervised", "target": "target", "kernel": "gaussian", "q": 2}
        job = ok(client.post("/jobs", json=spec)).json()
        for _ in range(10):
            job = ok(client.get(f"/jobs/{job['id']}", params={"wait": 30})).json()
            if job["state"] not in ("queued", "running"):
                break
    assert job["state"] == "succeeded", job
    return str(job["id"])


def fetch(url: str, job: str) -> list[bytes]:
    """Download everything that the job has: its result, tables, models and plots."""
    paths = ["result", "W", "embedding", "trace", "metrics", "model", "model?format=onnx"]
    paths += [f"plots/{name}.{format}" for name in ("embedding", "loadings", "trace") for format in ("svg", "png")]
    with httpx.Client(base_url=url, timeout=90) as client:
        return [ok(client.get(f"/jobs/{job}/{path}")).content for path in paths]


def ok(response: httpx.Response) -> httpx.Response:
    """Return the response, which must be a success."""
    assert response.is_success, f"{response.request.url} gave {response.status_code}: {response.text[:1_000]}"
    return response


def default(word: str) -> str:
    """Return the word as compose reads it if no variable is set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", word)


def health_command() -> list[str]:
    """Return the health check command of the Dockerfile."""
    (command,) = re.findall(r"^HEALTHCHECK [^[]*CMD (\[.+\])$", DOCKERFILE, re.MULTILINE)
    words: list[str] = json.loads(command)
    return words


def check(*command: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> None:
    """Run a command, which must succeed."""
    program = shutil.which(command[0], path=(env or os.environ)["PATH"])
    assert program is not None, f"{command[0]} is not installed."
    done = subprocess.run([program, *command[1:]], env=env, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout[-3_000:]}{done.stderr[-3_000:]}"


def say(sentence: str) -> None:
    """Print a line at once."""
    print(sentence, flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "python3.12")
