"""API keys: how they are made and kept, and whose a given one is.

What is kept of a key is its SHA-256. A key has 256 random bits, so nobody finds one from its hash, however fast the
hash is; slow hashes are for passwords, which people choose, and here they would slow down every request.
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

MARK = "ism_"  # what our keys begin with, so that people and scanners know one
LEAST_LENGTH = 22  # characters: 128 random bits in base64
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HASH = re.compile(r"[0-9a-f]{64}")


class WrongKeys(Exception):
    """Keys that cannot be used as they were given; says why, and never shows them."""


class Key(NamedTuple):
    """What is known of a key. Its name is the owner of all that is made with it."""

    name: str
    hash: str
    created: str  # a date, or nothing where the key was given by ISM_API_KEYS


def hash_of(key: str) -> str:
    """What is kept of a key."""
    return hashlib.sha256(key.encode()).hexdigest()


class KeyFile:
    """A line for each key: its name, its hash, when it was made."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> list[Key] | None:
        """All keys; None where there is no file."""
        try:
            lines = self._path.read_text().splitlines()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise WrongKeys(f"{self._path} cannot be read: {getattr(error, 'strerror', error)}.") from None
        return [self._parsed(line, place) for place, line in enumerate(lines, 1) if line.strip()]

    def _parsed(self, line: str, place: int) -> Key:
        parts = line.split()
        if len(parts) != 3 or not _NAME.fullmatch(parts[0]) or not _HASH.fullmatch(parts[1]):
            raise WrongKeys(f"Line {place} of {self._path} is not a name, a hash and a date; `ism keys` writes them.")
        return Key(*parts)

    def make(self, name: str) -> str:
        """A new key of that name; it is known to the caller only."""
        if not _NAME.fullmatch(name):
            raise WrongKeys("A key's name has up to 64 letters, digits, dots, hyphens or underscores.")
        key = MARK + secrets.token_urlsafe(32)
        with self._changing() as keys:
            if any(one.name == name for one in keys):
                raise WrongKeys(f"There is a key named {name} already; revoke it first, or choose another name.")
            keys.append(Key(name, hash_of(key), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")))
        return key

    def revoke(self, name: str) -> None:
        """Forget the key of that name."""
        with self._changing() as keys:
            left = [one for one in keys if one.name != name]
            if len(left) == len(keys):
                raise WrongKeys(f"There is no key named {name} in {self._path}; `ism keys list` shows those there are.")
            keys[:] = left

    @contextmanager
    def _changing(self) -> Iterator[list[Key]]:
        """The keys to change; what becomes of them is written whole or not at all, by one at a time."""
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


class Keys:
    """All keys of the service: those of the settings, and those of the file as it is now.

    They are on once there are any, or a file for them. A service that has begun with keys stays closed when the last
    one is revoked.
    """

    def __init__(self, settings: Settings) -> None:
        given = settings.api_keys.get_secret_value() if settings.api_keys else ""
        self._given = [_given(entry) for entry in re.split(r"[\s,]+", given) if entry]
        self._path = settings.api_keys_path
        self._file = KeyFile(self._path)
        self._lock = threading.Lock()
        self._seen = self._stamp()
        self._kept = self._file.read()
        self.on = bool(self._given) or self._kept is not None
        _check_names([*self._given, *(self._kept or [])])

    def owner(self, key: str) -> str | None:
        """The name of a key; None where it is not valid. Takes as long whatever the key is."""
        self.look()
        hashed, found = hash_of(key).encode(), None
        for one in (*self._given, *(self._kept or ())):
            if hmac.compare_digest(one.hash.encode(), hashed):
                found = one.name
        return found

    def look(self) -> None:
        """Read the file again if it has changed."""
        stamp = self._stamp()
        if stamp == self._seen:
            return
        with self._lock:
            try:
                self._kept = self._file.read()
                log.info("API keys read again", keys=len(self._kept or ()))
            except WrongKeys as error:
                log.error("API keys not read again, so they are as they were", reason=str(error))
            self.on = self.on or self._kept is not None
            self._seen = stamp

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def _given(entry: str) -> Key:
    """A part of ISM_API_KEYS: a key or its hash, after its name and a colon if it has one."""
    name, _, value = entry.rpartition(":")
    hashed = value if _HASH.fullmatch(value) else hash_of(value)
    if len(value) < LEAST_LENGTH:
        raise WrongKeys(
            f"ISM_API_KEYS has a key of {len(value)} characters, and one shorter than {LEAST_LENGTH} can be guessed;"
            " `ism keys make NAME` makes a good one."
        )
    if name and not _NAME.fullmatch(name):
        raise WrongKeys("A name in ISM_API_KEYS has other characters than letters, digits, dots, hyphens, underscores.")
    return Key(name or f"key-{hashed[:12]}", hashed, "")


def _check_names(keys: Iterable[Key]) -> None:
    names = [key.name for key in keys]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise WrongKeys(f"Two API keys have the name {twice[0]}; each needs its own, for what is made with it.")


def check_address(settings: Settings, keys: Keys) -> None:
    """Without keys all who reach the service may use it: then nobody else's machine should."""
    variable, address = ("ISM_PUBLISH", settings.publish) if settings.publish else ("ISM_HOST", settings.host)
    if keys.on or _is_loopback(address):
        return
    raise WrongKeys(
        f"{variable} is {address}, which other machines may reach, and there are no API keys."
        " Make one with `ism keys make NAME`, or listen on 127.0.0.1. In a container whose port is published on its"
        " host's 127.0.0.1 alone, say so with ISM_PUBLISH=127.0.0.1."
    )


def _is_loopback(host: str) -> bool:
    try:
        addresses = {str(found[4][0]).partition("%")[0] for found in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False
    return all(ipaddress.ip_address(address).is_loopback for address in addresses)
