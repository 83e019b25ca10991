"""API keys: how they are made and stored, and who owns a given key.

Only the SHA-256 hash of a key is stored. A key has 256 random bits, so it cannot be recovered from its hash.
Slow password hashes protect secrets that people choose; here they would only slow down every request.
"""

import fcntl
import hashlib
import hmac
import ipaddress
import os
import re
import secrets
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ism_jobs.logs import log
from ism_jobs.settings import Settings

KEY_PREFIX = "ism_"  # lets people and secret scanners recognize a key
KEY_BYTES = 32  # random bytes of a new key: 256 bits
MIN_KEY_LENGTH = 22  # characters: 128 random bits in base64
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HASH = re.compile(r"[0-9a-f]{64}")  # SHA-256 in hexadecimal


class InvalidKeys(Exception):
    """API keys that cannot be used. The message gives the reason and never contains a key."""


class ApiKey(NamedTuple):
    """What is stored of a key. Its name is the owner of everything that is created with the key."""

    name: str
    hash: str
    created: str  # ISO date and time; empty if the key comes from ISM_API_KEYS


def hash_of(key: str) -> str:
    """Return the hash of a key."""
    return hashlib.sha256(key.encode()).hexdigest()


class KeyFile:
    """The file that `ism keys` writes: one line per key with its name, its hash and its creation time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._path

    def read(self) -> list[ApiKey] | None:
        """Return all keys; None if there is no file."""
        try:
            lines = self._path.read_text().splitlines()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidKeys(f"{self._path} cannot be read: {getattr(error, 'strerror', error)}.") from None
        return [self._parse(line, number) for number, line in enumerate(lines, 1) if line.strip()]

    def _parse(self, line: str, number: int) -> ApiKey:
        parts = line.split()
        if len(parts) != 3 or not _NAME.fullmatch(parts[0]) or not _HASH.fullmatch(parts[1]):
            raise InvalidKeys(
                f"Line {number} of {self._path} is not a name, a hash and a date; use `ism keys` to edit it."
            )
        return ApiKey(*parts)

    def make(self, name: str) -> str:
        """Create a key with this name and return it. The file stores its hash only."""
        if not _NAME.fullmatch(name):
            raise InvalidKeys("A key's name has up to 64 letters, digits, dots, hyphens or underscores.")
        key = KEY_PREFIX + secrets.token_urlsafe(KEY_BYTES)
        with self._edit() as keys:
            if any(one.name == name for one in keys):
                raise InvalidKeys(f"There is already a key named {name}; revoke it first, or choose another name.")
            keys.append(ApiKey(name, hash_of(key), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")))
        return key

    def revoke(self, name: str) -> None:
        """Delete the key with this name."""
        with self._edit() as keys:
            left = [one for one in keys if one.name != name]
            if len(left) == len(keys):
                raise InvalidKeys(f"There is no key named {name} in {self._path}; `ism keys list` lists all keys.")
            keys[:] = left

    @contextmanager
    def _edit(self) -> Iterator[list[ApiKey]]:
        """Yield the keys for changes, under a lock, then replace the file atomically."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._path.with_name(f"{self._path.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            keys = self.read() or []
            yield keys
            written = self._path.with_name(f"{self._path.name}.new")
            written.unlink(missing_ok=True)
            with open(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.writelines(f"{' '.join(key)}\n" for key in keys)
                file.flush()
                os.fsync(file.fileno())
            written.replace(self._path)


class ApiKeys:
    """All keys of the service: those in the settings and those in the current key file.

    Keys are enabled as soon as there is a key or a key file. They stay enabled when the last key is revoked.
    """

    def __init__(self, settings: Settings) -> None:
        configured = settings.api_keys.get_secret_value() if settings.api_keys else ""
        self._configured = [_parse_configured(entry) for entry in re.split(r"[\s,]+", configured) if entry]
        self._path = settings.api_keys_path
        self._file = KeyFile(self._path)
        self._lock = threading.Lock()
        self._read_version = self._file_version()
        self._stored = self._file.read()
        self.enabled = bool(self._configured) or self._stored is not None
        _check_unique_names([*self._configured, *(self._stored or [])])

    def owner(self, key: str) -> str | None:
        """Return the name of a key; None if it is not valid. The comparison takes the same time for every key."""
        self.reload_if_changed()
        hashed, found = hash_of(key).encode(), None
        for one in (*self._configured, *(self._stored or ())):
            if hmac.compare_digest(one.hash.encode(), hashed):
                found = one.name
        return found

    def reload_if_changed(self) -> None:
        """Read the key file again if it has changed."""
        version = self._file_version()
        if version == self._read_version:
            return
        with self._lock:
            try:
                self._stored = self._file.read()
                log.info("API keys reloaded", keys=len(self._stored or ()))
            except InvalidKeys as error:
                log.error("API keys could not be reloaded; the previous keys stay valid", reason=str(error))
            self.enabled = self.enabled or self._stored is not None
            self._read_version = version

    def _file_version(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def _parse_configured(entry: str) -> ApiKey:
    """Parse one entry of ISM_API_KEYS: a key or its hash, optionally preceded by a name and a colon."""
    name, _, value = entry.rpartition(":")
    hashed = value if _HASH.fullmatch(value) else hash_of(value)
    if len(value) < MIN_KEY_LENGTH:
        raise InvalidKeys(
            f"ISM_API_KEYS has a key of {len(value)} characters; a key shorter than {MIN_KEY_LENGTH} can be guessed."
            " `ism keys make NAME` makes a strong one."
        )
    if name and not _NAME.fullmatch(name):
        raise InvalidKeys(
            "A name in ISM_API_KEYS has other characters than letters, digits, dots, hyphens and underscores."
        )
    return ApiKey(name or f"key-{hashed[:12]}", hashed, "")


def _check_unique_names(keys: Iterable[ApiKey]) -> None:
    names = [key.name for key in keys]
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise InvalidKeys(f"Two API keys have the name {duplicates[0]}; give each key a name of its own.")


def check_address(settings: Settings, keys: ApiKeys) -> None:
    """Refuse to listen on an address that other machines can reach if there are no API keys."""
    variable, address = ("ISM_PUBLISH", settings.publish) if settings.publish else ("ISM_HOST", settings.host)
    if keys.enabled or _is_loopback(address):
        return
    raise InvalidKeys(
        f"{variable} is {address}, which other machines can reach, but there are no API keys."
        " Make a key with `ism keys make NAME`, or listen on 127.0.0.1. In a container whose port is published only on"
        " 127.0.0.1 of its host, set ISM_PUBLISH=127.0.0.1."
    )


def _is_loopback(host: str) -> bool:
    try:
        addresses = {str(found[4][0]).partition("%")[0] for found in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False
    return all(ipaddress.ip_address(address).is_loopback for address in addresses)
