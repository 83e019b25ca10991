"""Start `ism serve` on a free port of this machine, for tests, drills and benchmarks."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

START_SECONDS = 240  # time for the service to become ready on a busy machine


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that nothing listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_service(
    data_dir: Path, *, workers: int = 2, **variables: str
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run `ism serve` with environment `variables` until the block ends; yields its address and its process.

    Its output goes to `serve.log` in the data directory. Without workers it starts in half the time.
    """
    port = free_port()
    environment = {**os.environ, **variables}
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [environment.get("PYTHONPATH"), _without_pandas(data_dir)])
    )
    command = [sys.executable, "-m", "ism_cli.main", "serve", "--port", str(port), "--workers", str(workers)]
    with (data_dir / "serve.log").open("ab") as log:
        process = subprocess.Popen([*command, "--data-dir", str(data_dir)], env=environment, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_ready(url, process, data_dir / "serve.log", probe="/readyz" if workers else "/healthz")
        yield url, process
    finally:
        process.terminate()
        process.wait(60)


def _without_pandas(folder: Path) -> str:
    """Return a folder for PYTHONPATH that hides pandas.

    `make serve` does not install pandas. Where it is there, pyarrow and scikit-learn import it, which takes each
    process of the service 0.3 s of CPU time.
    """
    hidden = folder / "without-pandas"
    hidden.mkdir(exist_ok=True)
    (hidden / "pandas.py").write_text("raise ModuleNotFoundError(\"No module named 'pandas'\", name='pandas')\n")
    return str(hidden)


def wait_until_ready(
    url: str, process: subprocess.Popen[bytes], log: Path, seconds: float = START_SECONDS, probe: str = "/readyz"
) -> None:
    """Wait until the probe answers 200; raise AssertionError with the log if the process ends or the time is over."""
    deadline = time.monotonic() + seconds
    with httpx.Client(timeout=5) as client:
        while time.monotonic() < deadline and process.poll() is None:
            try:
                if client.get(f"{url}{probe}").status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.05)
    raise AssertionError(f"The service did not start:\n{log.read_text()}")
