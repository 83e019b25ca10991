"""Install a built wheel into fresh environments and use it: `python -m drills.release WHEEL [python3]`."""

import sys
import tempfile
from pathlib import Path

import httpx

from drills.deployment import check, fetch, ok, run_job, running, say, wait_until_ready
from tools.local_service import free_port

FIT = """
from sklearn.datasets import load_wine
from ism_core import SupervisedISM
wine = load_wine()
assert SupervisedISM("gaussian", 2).fit(wine.data, wine.target).transform(wine.data).shape == (178, 2)
"""
PAGES = ("/", "/page/main.js", "/page/vendor/plotly.min.js", "/docs", "/openapi.json")


def main(wheel: Path, python: str) -> None:
    """Try the base, the client and the service, each in an environment of its own."""
    with tempfile.TemporaryDirectory(prefix="ism-release-") as name:
        folder = Path(name)
        say("Base: fit a model")
        check(str(install(folder, wheel, python, "") / "python"), "-c", FIT, cwd=folder)
        say("Client: import it")
        check(str(install(folder, wheel, python, "client") / "python"), "-c", "import ism_client", cwd=folder)
        say("Service: run a job with `ism serve`, fetch its result and the page")
        serve(folder, install(folder, wheel, python, "service"))
    say(f"{wheel.name} works.")


def install(folder: Path, wheel: Path, python: str, extra: str) -> Path:
    """Install the wheel with an extra into a new environment, and return the folder of its programs."""
    environment = folder / (extra or "base")
    check(python, "-m", "venv", str(environment))
    requirement = f"{wheel.absolute()}[{extra}]" if extra else str(wheel.absolute())
    check(str(environment / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", requirement)
    return environment / "bin"


def serve(folder: Path, programs: Path) -> None:
    """Run `ism serve` from the installed wheel, and use it."""
    port = free_port()
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(folder), "MPLCONFIGDIR": str(folder / "matplotlib")}
    check("ism", "--version", env=environment, cwd=folder)
    command = ["ism", "serve", "--port", str(port), "--workers", "1", "--data-dir", str(folder / "data")]
    url = f"http://127.0.0.1:{port}"
    with running("serve", command, environment, folder):
        wait_until_ready(url)
        fetch(url, run_job(url))
        with httpx.Client(base_url=url) as client:
            for page in PAGES:
                ok(client.get(page))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "python3")
