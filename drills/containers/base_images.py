"""Stand-ins for the images that the Dockerfile and the compose file are based on, where no registry can be reached.

They are made of Debian's packages by debootstrap, and of the Python of this machine.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from drills.containers.engine import NoEngine, mirror, run, succeeds
from drills.deployment import say

CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
PIP_SETTINGS = Path("/etc/pip.conf")
UNUSED = ("__pycache__", "test", "tests", "idlelib", "tkinter", "turtledemo", "config-*", "*.a", "_tkinter*")
LIBRARIES = """
import pathlib, subprocess, sysconfig
modules = pathlib.Path(sysconfig.get_path("platstdlib"), "lib-dynload").glob("[!_]*.so"), \\
    pathlib.Path(sysconfig.get_path("platstdlib"), "lib-dynload").glob("_[!t]*.so")
for module in (one for some in modules for one in some):
    print(subprocess.run(["ldd", module], capture_output=True, text=True).stdout)
"""


def base_images(folder: Path, environment: Mapping[str, str], python: str, images: Mapping[str, str]) -> dict[str, str]:
    """Return the images to use for each variable of `images`: its own if it can be pulled, else a stand-in."""
    wanted = {name: image for name, image in images.items() if not pulled(image, environment)}
    if not wanted:
        return {}
    if os.geteuid() or shutil.which("debootstrap", path=environment["PATH"]) is None:
        raise NoEngine(
            f"{', '.join(wanted.values())} cannot be pulled, and stand-ins can be made only by root with debootstrap."
        )
    if "ISM_PYTHON_IMAGE" in wanted:
        prefix_of(python)  # before minutes of work
    say("Make stand-ins of the base images, which cannot be pulled here")
    makers = {"ISM_PYTHON_IMAGE": make_python, "ISM_REDIS_IMAGE": make_redis}
    with ThreadPoolExecutor() as threads:
        made = {name: threads.submit(makers[name], folder, environment, python) for name in wanted}
        return {name: image.result() for name, image in made.items()}


def pulled(image: str, environment: Mapping[str, str]) -> bool:
    """Return whether the engine has the image or can pull it."""
    return any(succeeds("docker", *words, image, env=environment) for words in (("image", "inspect"), ("pull",)))


def prefix_of(python: str) -> Path:
    """Return the folder of an installed Python. The command of a version manager may have no Python behind it."""
    command = [python, "-c", "import sys; print(sys.base_prefix)"]
    if (
        shutil.which(python)
        and not (done := subprocess.run(command, capture_output=True, text=True, check=False)).returncode
    ):
        return Path(done.stdout.strip())
    raise NoEngine(
        f"The base image of Python cannot be pulled, and {python} does not run here to make a stand-in of;"
        " name one that does: make containers PYTHON312=/path/to/python3.12."
    )


def make_python(folder: Path, environment: Mapping[str, str], python: str) -> str:
    """Make an image of Debian and the Python of this machine."""
    prefix = prefix_of(python)
    root = debootstrap(folder / "python-image", environment, [*library_packages(python), "ca-certificates", "netbase"])
    local = root / "usr/local"
    for name in ("bin", "lib"):
        ignored = shutil.ignore_patterns(*UNUSED, "site-packages")
        shutil.copytree(prefix / name, local / name, ignore=ignored, symlinks=True, dirs_exist_ok=True)
    (library,) = (local / "lib").glob("python3.*")
    for pip in (prefix / "lib" / library.name / "site-packages").glob("pip*"):
        shutil.copytree(pip, library / "site-packages" / pip.name, ignore=shutil.ignore_patterns("__pycache__"))
    programs = local / "bin"
    for program in programs.iterdir():  # of other packages of this machine
        if not program.name.startswith("python"):
            program.unlink()
    (programs / "python").unlink(missing_ok=True)
    (programs / "python").symlink_to(library.name)
    if strip := shutil.which("strip"):  # symbols for debuggers, which the official image has not either
        binaries = [*programs.glob("python3.*[0-9]"), *(local / "lib").glob("lib*.so.*"), *library.rglob("*.so")]
        subprocess.run([strip, "--strip-unneeded", *map(str, binaries)], capture_output=True, check=False)
    for given in (CERTIFICATES, PIP_SETTINGS):  # a build that reaches the package index as this machine does
        if given.exists():
            shutil.copyfile(given, root / given.relative_to("/"))
    run("chroot", str(root), "ldconfig")
    path = "ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
    return imported(root, environment, "ism-drill/python:3.12", [path, 'CMD ["python3"]'])


def make_redis(folder: Path, environment: Mapping[str, str], python: str) -> str:
    """Make an image of Debian and its Redis."""
    root = debootstrap(folder / "redis-image", environment, ["redis-server", "redis-tools"])
    run("chroot", str(root), "install", "--directory", "--owner", "redis", "--group", "redis", "/data")
    return imported(root, environment, "ism-drill/redis:7", ["WORKDIR /data", "VOLUME /data", 'CMD ["redis-server"]'])


def debootstrap(root: Path, environment: Mapping[str, str], packages: Sequence[str]) -> Path:
    """Install a minimal Debian of the suite of this machine with some packages into a new folder."""
    shutil.rmtree(root, ignore_errors=True)
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    include = f"--include={','.join(packages)}"
    given = {name: value for name, value in environment.items() if name != "LD_LIBRARY_PATH"}
    run("debootstrap", "--variant=minbase", include, release["VERSION_CODENAME"], str(root), mirror(), env=given)
    for name in ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale"):
        shutil.rmtree(root / name, ignore_errors=True)
    return root


def library_packages(python: str) -> list[str]:
    """Return the packages of the shared libraries that a Python's standard library is linked to."""
    lines = run(python, "-c", LIBRARIES).splitlines()
    names = {Path(line.split(" => ")[1].split()[0]).name for line in lines if " => /" in line}
    found = {
        line.split(":")[0]
        for name in sorted(names)
        for line in subprocess.run(
            ["dpkg-query", "--search", f"*/{name}"], capture_output=True, text=True, check=False
        ).stdout.splitlines()
        if not line.startswith("diversion")
    }
    return sorted(package for package in found if not package.endswith(("-dev", "-dbg", "-cross")))


def imported(root: Path, environment: Mapping[str, str], name: str, changes: Sequence[str]) -> str:
    """Make an image of a folder, remove the folder, and return the image's name."""
    options = [word for change in changes for word in ("--change", change)]
    archive = subprocess.Popen(["tar", "--numeric-owner", "-C", str(root), "-c", "."], stdout=subprocess.PIPE)
    done = subprocess.run(
        ["docker", "import", *options, "-", name], env=environment, stdin=archive.stdout, stdout=sys.stderr, check=False
    )
    if archive.wait() or done.returncode:
        raise NoEngine(f"The stand-in {name} could not be imported.")
    shutil.rmtree(root)
    return name
