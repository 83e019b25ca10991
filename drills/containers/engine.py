"""A Docker engine with compose: the one of this machine, or one made of Debian's packages in a folder of its own.

The engine that is made here touches nothing of the system but iptables and `ip_forward`, and restores both at the end.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from drills.deployment import say

# Debian 12 has no compose v2; the programs of Debian 13 are written in Go and run there as well.
ENGINE_SUITE = "trixie"
ENGINE_PACKAGES = ("docker.io", "docker-cli", "docker-compose", "docker-buildx")
# These link to the C library, so they come from the suite of this machine.
SYSTEM_PACKAGES = (
    *("containerd", "runc", "tini", "debootstrap", "iptables", "libip4tc2", "libip6tc2", "libxtables12"),
    *("libnfnetlink0", "libnetfilter-conntrack3", "libnftnl11", "libmnl0"),
)
START_SECONDS = 60  # time for dockerd to answer; 6 s were measured
STOP_SECONDS = 60  # time for dockerd to end its containers


class NoEngine(Exception):
    """There is no engine and none can be made; the message says why."""


def run(*command: str, env: Mapping[str, str] | None = None, cwd: Path | None = None, text: str = "") -> str:
    """Run a command, which must succeed, and return its output."""
    done = subprocess.run(command, env=env, cwd=cwd, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        said = f"{done.stdout[-3_000:]}{done.stderr[-3_000:]}"
        raise AssertionError(f"{' '.join(command)} gave {done.returncode}:\n{said}")
    return done.stdout


def succeeds(*command: str, env: Mapping[str, str] | None = None) -> bool:
    """Return whether a command exists and succeeds."""
    try:
        return subprocess.run(command, env=env, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@contextmanager
def engine(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the environment in which `docker` and `docker compose` work; raise NoEngine if there is none."""
    if succeeds("docker", "info") and succeeds("docker", "compose", "version"):
        say("Use the Docker engine of this machine")
        yield dict(os.environ)
        return
    if os.geteuid() or shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise NoEngine(
            "There is no Docker engine with compose, and one can be made only by root on Debian. Nothing was tried;"
            " `make drill` rehearses the deployment without containers."
        )
    say("Make a Docker engine of Debian's packages")
    unpack(folder)
    with ExitStack() as stack:
        yield stack.enter_context(daemon(folder))


def unpack(folder: Path) -> None:
    """Download the packages of an engine and unpack them into `folder`/root."""
    packages, root = folder / "packages", folder / "root"
    for made in (packages, root):
        made.mkdir(parents=True, exist_ok=True)
    try:
        run("apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300", "update")
        run("apt-get", "-qq", "download", *SYSTEM_PACKAGES, cwd=packages)
        options = private_apt(folder / "apt")
        run("apt-get", "-qq", *options, "update")
        run("apt-get", "-qq", *options, "download", *ENGINE_PACKAGES, cwd=packages)
    except AssertionError as error:
        raise NoEngine(f"There is no Docker engine, and Debian's packages cannot be downloaded: {error}") from None
    for package in sorted(packages.glob("*.deb")):
        run("dpkg-deb", "-x", str(package), str(root))
    for name in ("iptables", "ip6tables"):  # Debian makes these links when it configures the package
        link(root / "usr/sbin" / name, "xtables-nft-multi")
    plugins = folder / "config" / "cli-plugins"
    plugins.mkdir(parents=True, exist_ok=True)
    for plugin in (root / "usr/libexec/docker/cli-plugins").iterdir():
        link(plugins / plugin.name, str(plugin))


def link(path: Path, target: str) -> None:
    """Make a symbolic link, in place of one that is there."""
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def private_apt(folder: Path) -> list[str]:
    """Return the options of an apt with its own lists, for the engine's suite on the mirror of this machine."""
    for name in ("lists/partial", "cache/archives/partial", "empty"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    sources = folder / "sources.list"
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    sources.write_text(f"deb [signed-by={keyring}] {mirror()} {ENGINE_SUITE} main\n")
    (folder / "status").touch()
    given = {
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": folder / "empty",
        "Dir::State::Lists": folder / "lists",
        "Dir::State::Status": folder / "status",
        "Dir::Cache": folder / "cache",
    }
    return [word for name, value in given.items() for word in ("-o", f"{name}={value}")]


def mirror() -> str:
    """Return the address of the Debian mirror of this machine."""
    for line in run("apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN) $(LABEL)").splitlines():
        address, _, name = line.partition(" ")
        if name == "Debian Debian":
            return address
    raise NoEngine("There is no Docker engine, and one can be made only on Debian: apt knows no mirror of Debian.")


@contextmanager
def daemon(folder: Path) -> Iterator[dict[str, str]]:
    """Run dockerd until the block ends, then restore the network."""
    root = folder / "root"
    programs = [root / "usr/sbin", root / "usr/bin", root / "usr/libexec/docker"]
    environment = {
        **os.environ,
        "PATH": ":".join([*map(str, programs), os.environ["PATH"]]),
        "LD_LIBRARY_PATH": str(root / "usr/lib/x86_64-linux-gnu"),
        "XTABLES_LIBDIR": str(root / "usr/lib/x86_64-linux-gnu/xtables"),
        "DOCKER_CONFIG": str(folder / "config"),
        "DOCKER_HOST": f"unix://{folder}/docker.sock",
        "DEBOOTSTRAP_DIR": str(root / "usr/share/debootstrap"),
    }
    command = [
        *("dockerd", "--data-root", f"{folder}/data", "--exec-root", f"{folder}/run", "--pidfile", f"{folder}/pid"),
        *("--host", environment["DOCKER_HOST"], "--init-path", str(root / "usr/bin/tini-static")),
    ]
    with network_restored(environment), (folder / "dockerd.log").open("ab") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            deadline = time.monotonic() + START_SECONDS
            while not succeeds("docker", "info", env=environment):
                if process.poll() is not None or time.monotonic() > deadline:
                    said = (folder / "dockerd.log").read_text()[-3_000:]
                    raise NoEngine(f"There is no Docker engine, and the one made here does not start:\n{said}")
                time.sleep(0.5)
            yield environment
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def network_restored(environment: Mapping[str, str]) -> Iterator[None]:
    """Restore iptables, `ip_forward` and the list of bridges as they were before the block."""
    forward = Path("/proc/sys/net/ipv4/ip_forward")
    before, bridges = forward.read_text(), set(Path("/sys/class/net").iterdir())
    rules = {name: run("xtables-nft-multi", f"{name}-save", env=environment) for name in ("iptables", "ip6tables")}
    try:
        yield
    finally:
        for name, text in rules.items():
            run("xtables-nft-multi", f"{name}-restore", env=environment, text=text or EMPTY_RULES)
        for bridge in set(Path("/sys/class/net").iterdir()) - bridges:
            if (bridge / "bridge").exists():
                subprocess.run(["ip", "link", "delete", bridge.name], check=False)
        forward.write_text(before)


EMPTY_RULES = "".join(
    f"*{table}\n" + "".join(f":{chain} ACCEPT [0:0]\n" for chain in chains.split()) + "COMMIT\n"
    for table, chains in {
        "filter": "INPUT FORWARD OUTPUT",
        "nat": "PREROUTING INPUT OUTPUT POSTROUTING",
        "raw": "PREROUTING OUTPUT",
    }.items()
)
