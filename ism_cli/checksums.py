"""Checksums of Redis's append-only files, because Redis checks the format of what it has appended, not the content.

While the service runs, a CRC-32 of what each file has is kept beside the files. At the next start it is compared.
"""

import json
import os
import time
import zlib
from contextlib import suppress
from pathlib import Path

UPDATE_SECONDS = 5.0  # between two updates; only what was there at the last one is summed, so it is on the disk
PIECE_BYTES = 2**20  # read at once
MOST_BYTES = 2**26  # summed in one update, about 0.1 s; the rest follows
FOLDER = "appendonlydir"  # in the data folder; has all files of one history, and their checksums
FILES = "appendonly.aof.*.aof"  # each name is used once; Redis checks its other files itself


class DamagedFile(Exception):
    """An append-only file is not what Redis has written. The message says what to do."""


class Checksums:
    """The lengths and checksums of the append-only files in a data folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._file = self._folder / "checksums"
        self._summed: dict[str, tuple[int, int]] = {}  # name: bytes that were summed, and their checksum
        self._lengths: dict[str, int] = {}  # at the last update
        self._updated = 0.0

    def check(self) -> None:
        """Compare the files with their checksums; raise DamagedFile if one differs."""
        self._summed, self._lengths = {}, {}
        for name, (length, checksum) in self._stored().items():
            with suppress(FileNotFoundError):  # Redis deletes files that it has rewritten
                if _crc(self._folder / name, 0, length, 0) != (length, checksum):
                    raise DamagedFile(
                        f"{self._folder / name} is damaged: its first {length:,} bytes are not those that were written."
                        " Restore a backup of the data folder; or, to start with the file as it is, delete"
                        f" {self._file}."
                    )
                self._summed[name] = length, checksum

    def forget_lengths(self) -> None:
        """Begin anew to wait for what is on the disk: Redis has died, and may remove what it wrote last."""
        self._lengths = {}

    def update_if_due(self) -> None:
        """Sum what the files had at the last update."""
        if time.monotonic() - self._updated >= UPDATE_SECONDS:
            self._updated = time.monotonic()
            self.update()

    def update(self, *, all: bool = False) -> None:
        """Sum what the files had at the last update, or all that they have, if Redis has stopped."""
        lengths: dict[str, int] = {}
        summed = dict(self._summed)
        for path in self._folder.glob(FILES):
            with suppress(FileNotFoundError):  # Redis deletes files that it has rewritten
                name, length = path.name, path.stat().st_size
                start, checksum = summed.get(name, (0, 0))
                if start > length:  # Redis has removed an incomplete command
                    start, checksum = 0, 0
                end = length if all else min(self._lengths.get(name, 0), length, start + MOST_BYTES)
                if end > start:
                    summed[name] = _crc(path, start, end, checksum)
                lengths[name] = length
        self._lengths = lengths
        if (kept := {name: summed[name] for name in lengths if name in summed}) != self._summed:
            self._summed = kept
            self._store()

    def _stored(self) -> dict[str, tuple[int, int]]:
        with suppress(OSError, ValueError, TypeError):  # no such file, or it was not written to its end
            found = json.loads(self._file.read_bytes())
            return {str(name): (int(length), int(checksum)) for name, (length, checksum) in found.items()}
        return {}

    def _store(self) -> None:
        new = self._file.with_suffix(".new")
        with suppress(OSError):  # the disk is full; the checksums of before are still right
            with open(new, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                json.dump(self._summed, file)
            new.replace(self._file)


def _crc(path: Path, start: int, end: int, checksum: int) -> tuple[int, int]:
    """Return up to where a file was read, and the checksum of all up to there, given that of what is before `start`."""
    with path.open("rb") as file:
        file.seek(start)
        while start < end and (piece := file.read(min(PIECE_BYTES, end - start))):
            checksum = zlib.crc32(piece, checksum)
            start += len(piece)
    return start, checksum
