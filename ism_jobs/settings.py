"""Every setting of the service: environment variables ISM_…, which a process reads once when it starts.

docs/operations.md lists them all; a test compares the two.
"""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import ByteSize, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from ism_jobs.memory import Part, memory_of_machine, memory_plan

DAY = 86_400  # seconds


def _data_home() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "ism"


class Settings(BaseSettings):
    """The settings. The field `redis_url` is the variable ISM_REDIS_URL, and so on."""

    model_config = SettingsConfigDict(env_prefix="ISM_", env_ignore_empty=True, frozen=True, hide_input_in_errors=True)

    redis_url: str | None = Field(
        None, description="The URL of an existing Redis; without it `ism serve` starts its own.", repr=False
    )
    redis_dir: Path = Field(
        default_factory=_data_home, description="The folder for the files of the Redis that `ism serve` starts."
    )
    redis_memory: ByteSize | None = Field(
        None,
        ge=2**20,
        description="Memory limit of the Redis that `ism serve` starts; at the limit, uploads and jobs get a 507.",
    )
    disk_reserve: ByteSize = Field(
        ByteSize(2**26),
        ge=0,
        description="Disk space that `ism serve` keeps free for its Redis; with less, uploads and jobs get a 507.",
    )
    host: str = Field("127.0.0.1", description="The address the API listens on.")
    port: int = Field(8000, ge=0, le=65535, description="The port the API listens on.")
    workers: int = Field(
        default_factory=lambda: os.cpu_count() or 1,
        ge=0,
        le=256,
        description="Number of worker processes that `ism serve` starts.",
    )
    worker_threads: int | None = Field(None, ge=1, description="Most threads that a worker uses.")
    job_memory: ByteSize | None = Field(None, ge=2**20, description="Most memory that a job may use, such as 4GiB.")
    dask_scheduler: str | None = Field(
        None, description="The Dask scheduler for jobs with the engine dask, such as tcp://scheduler:8786."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The lowest level of log events that are written."
    )
    log_format: Literal["json", "text"] = Field("json", description="One JSON object on each line, or text for people.")

    api_keys: SecretStr | None = Field(
        None, description="API keys, or their SHA-256 hashes, each with a name: alice:…, bob:…."
    )
    api_keys_file: Path | None = Field(None, description="The file in which `ism keys` stores the hashes of API keys.")
    publish: str | None = Field(
        None, description="In a container: the host's address at which the API's port is published."
    )
    requests_per_minute: int = Field(6_000, ge=1, description="Most requests with one API key in a minute.")
    max_open_jobs: int = Field(10_000, ge=1, description="Most queued and running jobs of one API key.")
    max_stored_bytes: ByteSize | None = Field(
        None, ge=1, description="Most bytes of data sets and jobs of one API key, such as 2GiB."
    )
    max_running_jobs: int | None = Field(
        None, ge=1, description="Most running jobs of one API key; without it, as many as there are workers."
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Sites whose pages may call the API, such as https://example.org, separated by commas."
    )
    docs: bool = Field(True, description="Whether `/docs` and `/openapi.json` are served.")
    metrics: bool = Field(True, description="Whether `/metrics` is served.")

    max_upload_bytes: int = Field(2**30, ge=1, description="Largest request body, in bytes.")
    max_inflated_bytes: int = Field(2**32, ge=1, description="Largest upload after decompression, in bytes.")
    max_rows: int = Field(10_000_000, ge=1, description="Most rows of a data set.")
    max_columns: int = Field(20_000, ge=1, description="Most columns of a data set.")
    max_cells: int = Field(500_000_000, ge=1, description="Most cells of a data set, rows × columns.")
    max_name_length: int = Field(200, ge=1, description="Longest name of a column, in characters.")
    max_text_bytes: int = Field(100_000, ge=1, description="Longest text in a cell, in bytes of UTF-8.")
    max_header_bytes: int = Field(
        65_536, ge=1_024, description="Longest URL and headers of a request together, in bytes."
    )
    receive_seconds: float = Field(
        20,
        gt=0,
        description="Time for a request's headers to arrive; a body must bring 4 kB in each such time, in seconds.",
    )
    max_connections: int = Field(4_000, ge=1, description="Most connections to one API process.")
    max_address_connections: int = Field(
        1_000, ge=1, description="Most connections from one address to one API process; a reverse proxy is one address."
    )
    upload_dir: Path | None = Field(
        None,
        description="The folder for uploads until they are parsed; form uploads pass the system's temporary folder.",
    )
    child_seconds: int = Field(300, ge=1, description="Longest time to parse one file or draw one plot, in seconds.")
    child_memory: ByteSize | None = Field(
        None, ge=2**26, description="Most memory to parse one file or draw one plot, such as 2GiB."
    )
    sandbox_memory: ByteSize | None = Field(
        None, ge=2**26, description="Most memory of all sandbox processes of one API process together, such as 2GiB."
    )
    children: int = Field(
        2, ge=1, description="Sandbox processes that one API key may use at once for each kind of work."
    )

    table_roots: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Places whose tables jobs may read where they are, such as s3://bucket/tables or /data."
    )
    output_roots: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Places in which such jobs may write embeddings, separated by commas."
    )

    dataset_seconds: int = Field(
        30 * DAY, ge=60, description="Time for which a data set is kept after its last use, in seconds."
    )
    job_seconds: int = Field(
        30 * DAY, ge=60, description="Time for which an ended job and its artifacts are kept, in seconds."
    )
    webhook_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        ("*",), description="Hosts that webhooks may call, separated by commas; * allows every host."
    )
    webhook_private: bool = Field(
        False, description="Whether webhooks may call private addresses, and use http instead of https."
    )
    events_kept: int = Field(10_000, ge=10, description="Most events kept of one job.")
    job_time_limit: int = Field(DAY, ge=1, description="Longest time that one attempt at a job may run, in seconds.")
    stall_seconds: int = Field(
        60, ge=1, description="Time without any computation after which the process of a job hangs and is killed."
    )
    max_attempts: int = Field(
        3, ge=1, description="The job fails at this many unexpected ends of its process without progress."
    )
    lease_seconds: int = Field(
        8, ge=2, description="A running job is requeued if its worker has sent no heartbeat for so many seconds."
    )
    shutdown_seconds: int = Field(
        20, ge=1, description="Time that running jobs get to reach their next step at a shutdown, in seconds."
    )

    @field_validator("redis_url")
    @classmethod
    def _check_redis_url(cls, url: str | None) -> str | None:
        """Check the URL without showing it: the errors of redis-py may show a part of the password."""
        try:
            is_valid = url is None or (urlsplit(url).scheme in ("redis", "rediss", "unix") and urlsplit(url).port != 0)
        except ValueError:
            is_valid = False
        if not is_valid:
            raise ValueError(
                "this is not the URL of a Redis, such as redis://:password@localhost:6379/0 or unix:///run/redis.sock;"
                " in a password, write %, /, ?, # and @ as %25, %2F, %3F, %23 and %40"
            )
        return url

    @field_validator("cors_origins", "webhook_hosts", "table_roots", "output_roots", mode="before")
    @classmethod
    def _split_at_commas(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @property
    def api_keys_path(self) -> Path:
        """The file of `ism keys`; by default in the folder of Redis's files."""
        return self.api_keys_file or self.redis_dir / "api-keys"

    @property
    def required_redis_url(self) -> str:
        """The URL of Redis, for processes that need one."""
        if self.redis_url is None:
            raise SystemExit(
                "ISM_REDIS_URL is not set: set it to the URL of a Redis, such as redis://localhost:6379/0,"
                " or run `ism serve`, which starts its own."
            )
        return self.redis_url

    @property
    def most_running_jobs(self) -> int:
        """The most running jobs of one API key, also if there is no limit."""
        return self.max_running_jobs or 10**9

    @property
    def heartbeat_interval(self) -> int:
        """Seconds between two heartbeats of a worker, and between two sweeps for lost jobs."""
        return max(1, self.lease_seconds // 3)

    @property
    def threads_per_worker(self) -> int:
        """Number of threads for the numerics of one worker."""
        return self.worker_threads or max(1, (os.cpu_count() or 1) // max(1, self.workers))

    @property
    def memory_per_job(self) -> int:
        """Bytes of memory for one job; by default, as if only workers ran on this machine."""
        return self.job_memory or self.memory_plan({"jobs"})["jobs"] // max(1, self.workers)

    @property
    def memory_of_sandbox(self) -> int:
        """Bytes of memory for all sandbox processes together; by default, as if only the API ran on this machine."""
        return self.sandbox_memory or self.memory_plan({"sandbox"})["sandbox"]

    @property
    def memory_per_child(self) -> int:
        """Bytes of memory to parse one file or draw one plot."""
        return min(self.child_memory or self.memory_of_sandbox, self.memory_of_sandbox)

    def memory_plan(self, parts: Collection[Part]) -> dict[Part, int]:
        """Return the bytes of the parts of the service that run on this machine, and of the rest."""
        jobs = None if self.job_memory is None else self.job_memory * max(1, self.workers)
        sizes: dict[Part, int | None] = {"jobs": jobs, "redis": self.redis_memory, "sandbox": self.sandbox_memory}
        assigned: dict[Part, int] = {part: int(size) for part, size in sizes.items() if size is not None}
        plan = memory_plan(memory_of_machine(), parts, assigned)
        if self.sandbox_memory is None and self.child_memory is not None and self.child_memory > plan.get("sandbox", 0):
            plan = memory_plan(memory_of_machine(), parts, assigned | {"sandbox": int(self.child_memory)})
        return plan
