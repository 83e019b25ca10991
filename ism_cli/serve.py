"""`ism serve`, `ism api` and `ism worker`: the whole service, and its parts."""

import os
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
import httpx
from pydantic import ValidationError

from ism_cli.embedded import NoRedis, RedisServer
from ism_cli.supervisor import Part, Supervisor, stop_with_supervisor
from ism_jobs.memory import Part as MemoryUser
from ism_jobs.memory import memory_of_machine
from ism_jobs.settings import Settings

KILL_AFTER = 10  # extra seconds after ISM_SHUTDOWN_SECONDS before workers are killed
READY_TRIES, READY_PAUSE = 600, 0.1  # polls of /readyz before the greeting, and seconds between polls: one minute
KEYS = "ISM_API_KEYS"  # environment variable with credentials that only the API needs
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@click.command()
@click.option("--host", help="Address to listen on (127.0.0.1).")
@click.option("--port", type=int, help="Port to listen on (8000).")
@click.option(
    "--data-dir", "redis_dir", type=click.Path(file_okay=False, path_type=Path), help="Folder for the files of Redis."
)
@click.option("--workers", type=int, help="Number of workers (one per core).")
def serve(**options: Any) -> None:
    """Run Redis (unless ISM_REDIS_URL names one), the workers and the API. Ctrl-C stops them.

    Jobs that are running at shutdown return to the queue and resume at the next start.
    """
    settings = settings_from(options)
    keys = _check_access(settings)
    plan = _memory_plan(settings)
    with ExitStack() as stack:
        on_poll = None
        if settings.redis_url is None:
            try:
                server = RedisServer(settings.redis_dir, memory=plan["redis"], reserve=settings.disk_reserve)
                redis_url, on_poll = stack.enter_context(server).url, server.supervise
            except (NoRedis, OSError) as error:
                raise click.ClickException(str(error)) from None
        else:
            redis_url = settings.redis_url
        environment = _environment(settings, redis_url, plan)
        parts = [Part("api", ["api"], environment, essential=True), *_worker_parts(settings, environment)]
        threading.Thread(target=_greet, args=(settings, keys, plan), daemon=True).start()
        code = Supervisor(parts, settings.shutdown_seconds + KILL_AFTER, on_poll).run()
    if code:
        sys.exit(code)
    click.echo("ISM has stopped; jobs that were running resume at the next start.", err=True)


@click.command()
@click.option("--host", help="Address to listen on (127.0.0.1).")
@click.option("--port", type=int, help="Port to listen on (8000).")
def api(**options: Any) -> None:
    """Run only the API, on the Redis of ISM_REDIS_URL."""
    stop_with_supervisor()
    settings = settings_from(options)
    os.environ.update(_environment(settings, settings.required_redis_url, settings.memory_plan({"sandbox"})))
    from app.main import run

    run(settings)


@click.command()
@click.option("--workers", type=int, default=1, show_default=True, help="Number of worker processes.")
def worker(**options: Any) -> None:
    """Run only workers, on the Redis of ISM_REDIS_URL. On SIGTERM, running jobs return to the queue."""
    stop_with_supervisor()
    settings = settings_from(options).model_copy(update={"api_keys": None})
    environment = _environment(settings, settings.required_redis_url, settings.memory_plan({"jobs"}))
    if settings.workers > 1:
        sys.exit(Supervisor(_worker_parts(settings, environment), settings.shutdown_seconds + KILL_AFTER).run())
    os.environ.update(environment)  # job processes read their settings from the environment
    os.environ.pop(KEYS, None)
    for variable in THREAD_VARIABLES:  # before numpy is imported, which reads them once
        os.environ[variable] = str(settings.threads_per_worker)
    from ism_jobs.logs import configure
    from worker.rq_worker import work

    configure(settings)
    work(settings)


def settings_from(options: Mapping[str, Any]) -> Settings:
    """Return the settings with the options of a command. An invalid setting becomes an error message."""
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        wrong = "; ".join(f"ISM_{str(part['loc'][0]).upper()}: {part['msg']}" for part in error.errors())
        raise click.ClickException(f"Invalid setting: {wrong}.") from None


def _check_access(settings: Settings) -> bool:
    """Check the address and the API keys before anything starts. Return whether the service has keys."""
    from app.auth import ApiKeys, InvalidKeys, check_address

    try:
        keys = ApiKeys(settings)
        check_address(settings, keys)
    except InvalidKeys as error:
        raise click.ClickException(str(error)) from None
    return keys.enabled


def _memory_plan(settings: Settings) -> dict[MemoryUser, int]:
    """Return the bytes of each part that `ism serve` starts. Warn if they are more than the machine has."""
    plan = settings.memory_plan({"jobs", "sandbox"} if settings.redis_url else {"jobs", "redis", "sandbox"})
    if (planned := sum(plan.values())) > (machine := memory_of_machine()):
        click.echo(
            f"The parts of the service may use {_gib(planned)} of memory together, but there are only {_gib(machine)};"
            " lower ISM_JOB_MEMORY, ISM_REDIS_MEMORY or ISM_SANDBOX_MEMORY.",
            err=True,
        )
    return plan


def memory_sentence(plan: Mapping[MemoryUser, int], workers: int) -> str:
    """Say what each part of the service may use."""
    sizes = [f"{_gib(plan['jobs'] // max(1, workers))} for each job"]
    sizes += [f"{_gib(plan['redis'])} for Redis"] if "redis" in plan else []
    sizes += [f"{_gib(plan['sandbox'])} for sandbox processes", f"{_gib(plan['rest'])} for the rest"]
    return f"Memory:          {', '.join(sizes)}."


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


def _environment(settings: Settings, redis_url: str, plan: Mapping[MemoryUser, int]) -> dict[str, str]:
    """Return the environment of a supervised process, with the settings of this one."""
    memory = {
        "ISM_JOB_MEMORY": plan["jobs"] // max(1, settings.workers) if "jobs" in plan else settings.memory_per_job,
        "ISM_SANDBOX_MEMORY": plan.get("sandbox", settings.memory_of_sandbox),
    }
    chosen = {
        "ISM_REDIS_URL": redis_url,
        "ISM_API_KEYS_FILE": str(settings.api_keys_path.absolute()),
        "ISM_HOST": settings.host,
        "ISM_PORT": str(settings.port),
        "ISM_WORKERS": str(settings.workers),
        "ISM_WORKER_THREADS": str(settings.threads_per_worker),
        **{name: str(size) for name, size in memory.items()},
        "ISM_LOG_FORMAT": os.environ.get("ISM_LOG_FORMAT", "text" if sys.stderr.isatty() else settings.log_format),
    }
    return {**os.environ, **chosen}


def _worker_parts(settings: Settings, environment: Mapping[str, str]) -> list[Part]:
    """Return the workers, which get no API keys: a job needs none."""
    without_keys = {name: value for name, value in environment.items() if name != KEYS}
    return [Part(f"worker {number}", ["worker"], without_keys) for number in range(1, settings.workers + 1)]


def _greet(settings: Settings, keys: bool, plan: Mapping[MemoryUser, int]) -> None:
    """Write the address of the service and its use of memory to stderr once it is ready."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{host}:{settings.port}"
    with httpx.Client(timeout=1) as client:  # one client, because each reads all certificates, which takes 50 ms
        for _ in range(READY_TRIES):
            try:
                if client.get(f"{address}/readyz").status_code == 200:
                    break
            except httpx.HTTPError:
                pass
            time.sleep(READY_PAUSE)
        else:
            return
    key = '-H "Authorization: Bearer $ISM_API_KEY" ' if keys else ""
    kept = "the Redis of ISM_REDIS_URL" if settings.redis_url else settings.redis_dir
    click.echo(
        f"\nISM is running at {address} with {settings.workers} worker(s); its data is in {kept}.\n"
        f"Upload a table:  curl {key}-F file=@table.csv {address}/datasets\n"
        f"All calls:       {address}/docs\n"
        f"{memory_sentence(plan, settings.workers)}\n"
        "Ctrl-C stops it.\n",
        err=True,
    )
