"""Convert text files to UTF-8 without a byte order mark; the charset is detected."""

import codecs
from collections.abc import Iterator
from typing import IO

from ism_jobs.errors import InvalidTable, UnsupportedFormat
from ism_jobs.tables.detect import BYTE_ORDER_MARKS, SUPPORTED
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.source import head, iter_chunks, spooled

CONTROL_CHARACTERS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b"))  # those that a text does not contain
MOST_CONTROL_CHARACTERS = 0.01  # share of the first bytes of a text


def as_utf8(file: IO[bytes], limits: Limits) -> tuple[IO[bytes], int, list[str]]:
    """Return the file or a copy in UTF-8, the offset of its text, and a note if the charset was guessed."""
    first = head(file, 1 << 16)
    for mark, charset in BYTE_ORDER_MARKS.items():
        if first.startswith(mark):
            if charset == "utf-8":
                _check_utf8(file)
                return file, len(mark), []
            return _recoded(file, charset, len(mark), limits), 0, []
    if len(first.translate(None, CONTROL_CHARACTERS)) < len(first) * (1 - MOST_CONTROL_CHARACTERS):
        raise UnsupportedFormat(f"The file is neither text nor a known binary format. {SUPPORTED}.")
    if _is_utf8(file):
        return file, 0, []
    for charset, name in (("cp1252", "Windows-1252"), ("latin-1", "Latin-1")):
        try:
            copy = _recoded(file, charset, 0, limits)
        except InvalidTable:
            continue
        return copy, 0, [f"Read as {name}, since it is not valid UTF-8."]
    raise AssertionError("every byte is a character of Latin-1")


def _is_utf8(file: IO[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in iter_chunks(file):
            if b"\x00" in piece:
                raise UnsupportedFormat(f"The file holds zero bytes, so it is not text. {SUPPORTED}.")
            if not (piece.isascii() and decoder.getstate()[0] == b""):
                decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _check_utf8(file: IO[bytes]) -> None:
    if not _is_utf8(file):
        raise InvalidTable(
            "The file has the byte order mark of UTF-8 but holds bytes that are not UTF-8. Save it as UTF-8 again."
        )


def _recoded(file: IO[bytes], charset: str, offset: int, limits: Limits) -> IO[bytes]:
    def pieces() -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(charset)()
        for piece in iter_chunks(file, offset):
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()

    try:
        return spooled(pieces(), limits)
    except UnicodeError as error:
        raise InvalidTable(f"The file cannot be read as {charset.upper()}. Save it as UTF-8.") from error
