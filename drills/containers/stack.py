"""The committed compose file as a project of its own, beside any other on the same engine."""

import json
import os
import re
import subprocess
import time
from collections.abc import Mapping
from typing import Any

import httpx

from drills.containers.engine import run, succeeds
from drills.deployment import DOCKERFILE, ROOT, SERVICES, default
from tools.local_service import free_port

READY_SECONDS = 240  # for the whole service on a busy machine
POLL_SECONDS = 0.2


def default_images() -> dict[str, str]:
    """Return the base images of the Dockerfile and of the compose file, by the variable that replaces them."""
    (python,) = re.findall(r"^ARG ISM_PYTHON_IMAGE=(\S+)$", DOCKERFILE, re.MULTILINE)
    return {"ISM_PYTHON_IMAGE": python, "ISM_REDIS_IMAGE": default(SERVICES["redis"]["image"])}


class Stack:
    """The services of the compose file, and calls of their API."""

    def __init__(self, environment: Mapping[str, str], images: Mapping[str, str]) -> None:
        self.project = f"ism-drill-{os.getpid()}"
        self.image = f"{self.project}/ism"
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        settings = {"ISM_IMAGE": self.image, "ISM_PORT": str(port), "ISM_JOB_MEMORY": "1GiB", "ISM_TMP_SIZE": "1g"}
        threads = {"ISM_WORKER_REPLICAS": "3", "ISM_WORKER_THREADS": "1", "ISM_REDIS_MEMORY": "1gb"}
        self.environment = {**environment, **settings, **threads, **images}
        self.key = ""

    def compose(self, *words: str, **variables: str) -> str:
        """Run `docker compose` with the committed file, and return its output."""
        project = ("--project-name", self.project, "--env-file", os.devnull, "--profile", "cluster")
        kept = project if words[0] in ("down", "logs") or "dask" in "".join(words) else project[:-2]
        return run("docker", "compose", *kept, *words, env={**self.environment, **variables}, cwd=ROOT)

    def refused(self, *words: str, **variables: str) -> str:
        """Run a command in a new API container; it must fail. Return its output."""
        command = ["docker", "compose", "--project-name", self.project, "--env-file", os.devnull]
        command += ["run", "--rm", "--no-deps", "-T", "api", *words]
        done = subprocess.run(
            command, env={**self.environment, **variables}, cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode, f"{' '.join(words)} did not fail."
        return done.stdout + done.stderr

    def docker(self, *words: str) -> str:
        """Run `docker`, and return its output."""
        return run("docker", *words, env=self.environment).strip()

    def containers(self, service: str) -> list[dict[str, Any]]:
        """Return the description of each container of a service, also of stopped ones."""
        ids = self.compose("ps", "--all", "--quiet", service).split()
        found: list[dict[str, Any]] = json.loads(self.docker("inspect", *ids)) if ids else []
        return found

    def python(self, container: str, code: str) -> str:
        """Run Python code in a container, and return its output."""
        return self.docker("exec", container, "python", "-c", code)

    def fails(self, container: str, code: str) -> bool:
        """Return whether Python code fails in a container."""
        return not succeeds("docker", "exec", container, "python", "-c", code, env=self.environment)

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Call the API, with the key if there is one."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return httpx.request(method, f"{self.url}{path}", headers=headers, timeout=90, **options)

    def until(self, path: str, accept: Any, what: str) -> httpx.Response:
        """Poll a path until its answer is accepted."""
        deadline = time.monotonic() + READY_SECONDS
        answer = None
        while time.monotonic() < deadline:
            try:
                answer = self.call("GET", path)
                if accept(answer):
                    return answer
            except httpx.HTTPError:
                pass
            time.sleep(POLL_SECONDS)
        raise AssertionError(f"{what}: not after {READY_SECONDS} s; {path} gave {answer and answer.text!r:.500}")

    def ready(self, workers: int = 3) -> None:
        """Wait until the API sees that many workers."""
        self.until("/readyz", lambda it: it.is_success and it.json()["workers"] == workers, f"{workers} workers")

    def logs(self) -> str:
        """Return the last lines of every container."""
        try:
            return self.compose("logs", "--tail", "30")
        except AssertionError as error:
            return str(error)

    def remove(self) -> None:
        """Remove the containers, volumes, networks and the image."""
        self.compose("down", "--volumes", "--remove-orphans", "--timeout", "5")
        subprocess.run(
            ["docker", "image", "rm", "--force", self.image], env=self.environment, capture_output=True, check=False
        )
