"""A byte of Redis's files that has changed on the disk is noticed at the next start, which says what to do."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from redis import Redis

from ism_cli.checksums import Checksums
from ism_cli.embedded import NoRedis, RedisServer

TEXT = b"the content of a table"


def filled(folder: Path) -> Path:
    """Return the append-only file of a folder in which a service has run."""
    with RedisServer(folder, fsync="no") as server, Redis.from_url(server.url) as redis:
        for key in range(100):
            redis.set(f"key{key}", TEXT * 10)
    (file,) = (folder / "appendonlydir").glob("*.incr.aof")
    return file


def change(file: Path, where: Callable[[bytes], int]) -> None:
    content = bytearray(file.read_bytes())
    content[where(bytes(content))] ^= 4
    file.write_bytes(content)


PLACES = {
    "a value": lambda content: content.index(TEXT) + 5,
    "a length": lambda content: content.index(b"$220", len(content) // 2) + 1,
    "a command": lambda content: content.index(b"SET", len(content) // 2),
}


@pytest.mark.parametrize("where", PLACES.values(), ids=PLACES)
def test_a_changed_byte_in_the_append_only_file_is_noticed_at_the_start(
    tmp_path: Path, where: Callable[[bytes], int]
) -> None:
    file = filled(tmp_path)
    change(file, where)
    damaged = file.read_bytes()
    with pytest.raises(NoRedis, match=rf"{re.escape(str(file))} is damaged: .*Restore a backup .* delete .*checksums"):
        RedisServer(tmp_path).__enter__()
    assert file.read_bytes() == damaged, "Redis would have cut it"


def test_a_damaged_file_is_read_as_it_is_without_its_checksums(tmp_path: Path) -> None:
    change(filled(tmp_path), PLACES["a value"])
    (tmp_path / "appendonlydir" / "checksums").unlink()
    with RedisServer(tmp_path, fsync="no") as server, Redis.from_url(server.url) as redis:
        assert redis.dbsize() == 100


def test_damage_that_redis_finds_is_told(tmp_path: Path) -> None:
    """As in a file of an earlier release, or of Redis's own format."""
    file = filled(tmp_path)
    (tmp_path / "appendonlydir" / "checksums").unlink()
    change(file, lambda content: content.index(b"*3", len(content) // 2))
    with pytest.raises(NoRedis, match=r"cannot read its files, which are damaged; restore a backup"):
        RedisServer(tmp_path).__enter__()


def test_an_incomplete_last_command_is_removed_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As after a power loss: it was not acknowledged, and no checksum has counted it."""
    file = filled(tmp_path)
    with file.open("ab") as torn:
        torn.write(b"*3\r\n$3\r\nSET\r\n$5\r\nke")
    with RedisServer(tmp_path, fsync="no") as server, Redis.from_url(server.url) as redis:
        assert redis.dbsize() == 100
    assert "the last command in it was not complete" in capsys.readouterr().err
    with RedisServer(tmp_path, fsync="no"):
        pass
    assert "not complete" not in capsys.readouterr().err


def test_the_checksums_follow_a_file_that_grows_and_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "appendonlydir"
    folder.mkdir()
    checksums, first = Checksums(tmp_path), folder / "appendonly.aof.1.incr.aof"
    first.write_bytes(b"one")
    checksums.update()
    first.write_bytes(b"one, two")
    checksums.update()  # what was there at the first update
    first.write_bytes(b"one, torn by a power loss")
    Checksums(tmp_path).check()
    first.write_bytes(b"One")
    with pytest.raises(Exception, match="first 3 bytes"):
        Checksums(tmp_path).check()
    os.replace(first, folder / "appendonly.aof.2.incr.aof")
    Checksums(tmp_path).check()
    checksums.update(all=True)
    assert os.stat(folder / "checksums").st_mode & 0o077 == 0
    (folder / "checksums").write_text('{"appendonly.aof.2.incr.aof": [3')  # as if it was not written to its end
    Checksums(tmp_path).check()


def test_a_file_that_redis_deletes_meanwhile_has_no_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when Redis has rewritten its files between the listing and the reading of them."""
    folder = tmp_path / "appendonlydir"
    folder.mkdir()
    old, new = (folder / f"appendonly.aof.{number}.incr.aof" for number in (1, 2))
    for file in (old, new):
        file.write_bytes(TEXT)
    checksums, found = Checksums(tmp_path), Path.glob
    checksums.update()
    monkeypatch.setattr(Path, "glob", lambda path, pattern: [*found(path, pattern), old])
    old.unlink()
    checksums.update()
    assert list(json.loads((folder / "checksums").read_bytes())) == [new.name]
