"""Every setting of the service: an ISM_… variable each, read once when a process starts.

docs/operations.md lists them all; a test compares the two.
"""

import os
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import ByteSize, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

DAY = 86_400
CONTAINER_LIMITS = (  # of the second and first version of Linux's control groups, as a container sees them
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def _data_home() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "ism"


def _memory() -> int:
    """What this machine has, or what the container that we are in may use of it."""
    limits = [path.read_text().strip() for path in CONTAINER_LIMITS if path.exists()]
    of_machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([of_machine, *(int(limit) for limit in limits if limit.isdigit())])


class Settings(BaseSettings):
    """The field `redis_url` is the variable ISM_REDIS_URL, and so on."""

    model_config = SettingsConfigDict(env_prefix="ISM_", env_ignore_empty=True, frozen=True, hide_input_in_errors=True)

    redis_url: str | None = Field(
        None, description="An existing Redis; without it `ism serve` runs one of its own.", repr=False
    )
    redis_dir: Path = Field(default_factory=_data_home, description="Where `ism serve` keeps its Redis's files.")
    redis_memory: ByteSize | None = Field(
        None, ge=2**20, description="What the Redis of `ism serve` may fill; then uploads and jobs get a 507."
    )
    host: str = Field("127.0.0.1", description="The address the API listens on.")
    port: int = Field(8000, ge=0, le=65535, description="The port the API listens on.")
    workers: int = Field(
        default_factory=lambda: os.cpu_count() or 1, ge=0, le=256, description="Worker processes of `ism serve`."
    )
    worker_threads: int | None = Field(None, ge=1, description="Threads that a worker may use.")
    job_memory: ByteSize | None = Field(None, ge=2**20, description="Memory that a job may use, such as 4GiB.")
    dask_scheduler: str | None = Field(
        None, description="The Dask scheduler for jobs that ask for one, such as tcp://scheduler:8786."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="The least that is logged.")
    log_format: Literal["json", "text"] = Field("json", description="One JSON object a line, or text for people.")

    api_keys: SecretStr | None = Field(
        None, description="API keys, or their SHA-256 hashes, each with a name: alice:…, bob:…."
    )
    api_keys_file: Path | None = Field(None, description="Where `ism keys` keeps the hashes of API keys.")
    publish: str | None = Field(
        None, description="In a container, the address of its host at which the API's port is published."
    )
    requests_per_minute: int = Field(6_000, ge=1, description="Most requests with one API key in a minute.")
    max_open_jobs: int = Field(10_000, ge=1, description="Most jobs of one API key that wait or run.")
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Sites whose pages may call the API, such as https://example.org, separated by commas."
    )
    docs: bool = Field(True, description="Whether `/docs` and `/openapi.json` are there.")
    metrics: bool = Field(True, description="Whether `/metrics` is there.")

    max_upload_bytes: int = Field(2**30, ge=1, description="Largest request body.")
    max_inflated_bytes: int = Field(2**32, ge=1, description="Largest upload once decompressed.")
    max_rows: int = Field(10_000_000, ge=1, description="Most rows of a data set.")
    max_columns: int = Field(20_000, ge=1, description="Most columns of a data set.")
    max_cells: int = Field(500_000_000, ge=1, description="Most cells of a data set, rows × columns.")
    max_name_length: int = Field(200, ge=1, description="Longest name of a column, in characters.")
    max_text_bytes: int = Field(100_000, ge=1, description="Longest text in a cell, in bytes of UTF-8.")
    max_header_bytes: int = Field(65_536, ge=1_024, description="Longest address and headers of a request together.")
    upload_dir: Path | None = Field(
        None, description="Where uploads wait to be read; forms are first in the system's temporary folder."
    )
    child_seconds: int = Field(300, ge=1, description="Longest time to read one file or draw one picture.")
    child_memory: ByteSize | None = Field(
        None, ge=2**26, description="Memory that reading one file or drawing one picture may take, such as 2GiB."
    )
    children: int = Field(2, ge=1, description="Uploads read at once, and as many pictures drawn and files converted.")

    dataset_seconds: int = Field(30 * DAY, ge=60, description="How long a data set is kept after its last use.")
    job_seconds: int = Field(30 * DAY, ge=60, description="How long an ended job and its artifacts are kept.")
    events_kept: int = Field(10_000, ge=10, description="Most events kept of one job.")
    job_time_limit: int = Field(DAY, ge=1, description="Longest time that one attempt at a job may run, in seconds.")
    max_attempts: int = Field(3, ge=1, description="How often a job may lose its worker before it is failed.")
    lease_seconds: int = Field(8, ge=2, description="After this long without a sign of life a job is put back.")
    shutdown_seconds: int = Field(
        20, ge=1, description="How long running jobs have to reach their next step at a stop."
    )

    @field_validator("redis_url")
    @classmethod
    def _is_an_address(cls, url: str | None) -> str | None:
        """Said here without the address: what redis-py says of a wrong one may show a part of the password."""
        try:
            right = url is None or (urlsplit(url).scheme in ("redis", "rediss", "unix") and urlsplit(url).port != 0)
        except ValueError:
            right = False
        if not right:
            raise ValueError(
                "this is no address of a Redis, such as redis://:password@localhost:6379/0 or unix:///run/redis.sock;"
                " in a password %, /, ?, # and @ are written as %25, %2F, %3F, %23 and %40"
            )
        return url

    @field_validator("cors_origins", mode="before")
    @classmethod
    def _separated(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @property
    def api_keys_path(self) -> Path:
        """The file of `ism keys`: by default beside Redis's."""
        return self.api_keys_file or self.redis_dir / "api-keys"

    @property
    def required_redis_url(self) -> str:
        """The address of Redis, for processes that cannot do without."""
        if self.redis_url is None:
            raise SystemExit(
                "ISM_REDIS_URL is not set: give the address of a Redis, such as redis://localhost:6379/0,"
                " or run `ism serve`, which brings its own."
            )
        return self.redis_url

    @property
    def heartbeat_interval(self) -> int:
        """Seconds from one sign of life of a worker to the next, and from one look for lost jobs to the next."""
        return max(1, self.lease_seconds // 3)

    @property
    def threads_per_worker(self) -> int:
        """Threads for the numerics of one worker."""
        return self.worker_threads or max(1, (os.cpu_count() or 1) // max(1, self.workers))

    @property
    def memory_per_job(self) -> int:
        """Bytes for the numerics of one job."""
        return self.job_memory or _memory() // max(1, self.workers)

    @property
    def memory_per_child(self) -> int:
        """Bytes for reading one file or drawing one picture; twice `children` of them run at once."""
        return self.child_memory or _memory() // (2 * self.children)

    @property
    def memory_of_redis(self) -> int:
        """Bytes for the Redis of `ism serve`."""
        return self.redis_memory or _memory() // 2
