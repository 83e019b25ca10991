"""A service that has secrets, and where its answers, its log and its spans can be searched for them.

It needs API keys, its Redis needs a password, and it sends spans to a collector. Tests take owners of their own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.auth import KeyFile
from ism_cli.embedded import RedisServer
from ism_jobs.settings import Settings
from ism_jobs.store import Store
from tests.support.api import Api
from tests.support.collector import Collector, running_collector
from tools.local_service import running_service

PASSWORD = "pa55word-of-redis"
CONFIGURED_KEY = "key-of-dora-0123456789-0123456789"  # of the owner dora, in ISM_API_KEYS


@dataclass(frozen=True)
class KeyedService:
    """The address, the keys, the log and the collector of the service."""

    url: str
    redis_url: str
    keys: KeyFile
    log: Path
    collector: Collector

    def client(self, owner: str) -> Api:
        """Return a client with a new key of an owner."""
        return self.client_with(self.keys.make(owner))

    def client_with(self, key: str) -> Api:
        """Return a client with a key."""
        return Api(base_url=self.url, timeout=90, headers={"Authorization": f"Bearer {key}"})


@contextmanager
def running_keyed_service(folder: Path) -> Iterator[KeyedService]:
    """Run the service until the block ends."""
    keys = KeyFile(folder / "api-keys")
    keys.make("nobody")  # the file must be there when the service starts
    with RedisServer(folder / "redis", fsync="no") as server, running_collector() as collector:
        store = Store.open(Settings(redis_url=server.url))
        store.redis.config_set("requirepass", PASSWORD)
        store.redis.close()
        redis_url = server.url.replace("unix://", f"unix://:{PASSWORD}@")
        variables = {
            "ISM_REDIS_URL": redis_url,
            "ISM_API_KEYS": f"dora:{CONFIGURED_KEY}",
            "ISM_API_KEYS_FILE": str(keys.path),
            "ISM_LOG_LEVEL": "debug",
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_EXPORTER_OTLP_HEADERS": "x-token=a%20b",
            "OTEL_SERVICE_NAME": "night",
        }
        with running_service(folder, workers=1, **variables) as (url, _):
            yield KeyedService(url, redis_url, keys, folder / "serve.log", collector)
