"""NPY and NPZ files made to harm: each is refused with a sentence, in little memory, by a process that lives on."""

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ism_jobs.errors import InvalidTable, Problem, TooLarge, UnsupportedFormat
from ism_jobs.tables import Limits
from tests.ism_jobs.tables.measured import MEGABYTE, measured
from tools.table_files import npy, npz

GRID = np.arange(6.0).reshape(3, 2)


def declared(descr: str = "<f8", shape: str = "(3, 2)") -> bytes:
    """An array with this header and 48 bytes of values."""
    return with_header(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}")


def with_header(text: str) -> bytes:
    header = text.encode().ljust(118)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(48)


def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return file.getvalue()


def lying(size: int) -> bytes:
    """An archive whose list says that its member, of 8 MB, has so many bytes."""
    honest = archive({"a.npy": npy(np.zeros(10**6))})
    true = struct.pack("<I", 8_000_128)
    assert true in honest
    return honest.replace(true, struct.pack("<I", size))


def overlapping() -> bytes:
    """Many members in the list that are all the same bytes, as in the best zip bombs."""
    honest = archive({"0.npy": npy(np.zeros(10**6))})
    start = honest.index(b"PK\x01\x02")
    entry, end = honest[start : honest.index(b"PK\x05\x06")], honest[honest.index(b"PK\x05\x06") :]
    count = 5000
    return honest[:start] + entry * count + end[:8] + struct.pack("<HHI", count, count, len(entry) * count) + end[16:]


def many() -> bytes:
    return archive({f"{place}.npy": b"" for place in range(25_000)}, zipfile.ZIP_STORED)


Case = tuple[Callable[[], bytes], type[Problem], str]

CASES: dict[str, Case] = {
    "sides of 4,000 digits": (lambda: declared(shape=f"({'9' * 4000}, {'9' * 4000})"), InvalidTable, "header that"),
    "more bytes than there are": (lambda: declared(shape=f"({2**47}, 2)"), InvalidTable, "but 48 follow"),
    "text of a gigabyte each": (lambda: declared("<U999999999", "(1,)"), InvalidTable, "the type <U999999999"),
    "a tower of signs": (lambda: with_header("-" * 9000 + "1"), InvalidTable, "header that cannot be read"),
    "a tower of brackets": (lambda: with_header("(" * 9000), InvalidTable, "header that cannot be read"),
    "a bomb": (lambda: npz(np.zeros((10**6, 10))), TooLarge, "at most 40,000,000 are allowed"),
    "a bomb of text": (lambda: npz(np.full((1, 180), "x", "U50000")), TooLarge, "36,000,000 bytes of text"),
    "overlapping members": (overlapping, TooLarge, "at most 40,000,000 are allowed"),
    "a size that is too small": (lambda: lying(1000), InvalidTable, "cannot be unpacked"),
    "a size beyond everything": (lambda: lying(2**32 - 2), TooLarge, "at most 40,000,000 are allowed"),
    "many members": (many, TooLarge, "25,000 columns; at most 20,000"),
    "an empty member": (lambda: archive({"a.npy": b""}), InvalidTable, 'The array "a" does not start as an NPY file'),
    "a very long name": (lambda: archive({"n" * 60_000 + ".npy": npy(GRID)}), TooLarge, "60,000 characters"),
    "windows of gigabytes": (lambda: archive({"a.npy": npy(GRID)}, zipfile.ZIP_LZMA), UnsupportedFormat, "unusual"),
}


@pytest.mark.parametrize("kind", CASES)
def test_hostile_arrays_are_refused_in_bounded_memory(kind: str, tmp_path: Path) -> None:
    make, problem, sentence = CASES[kind]
    path = tmp_path / "upload"
    path.write_bytes(make())
    outcome = measured(path, Limits(bytes=40_000_000))
    assert type(outcome.problem) is problem, outcome
    assert sentence in outcome.sentence
    assert len(outcome.sentence) < 400
    assert outcome.growth < 64 * MEGABYTE


def test_an_endless_list_of_members_is_not_even_read(tmp_path: Path) -> None:
    """100 MB of it would become a gigabyte of objects."""
    honest = archive({"a.npy": npy(GRID)})
    start, end = honest.index(b"PK\x01\x02"), honest.index(b"PK\x05\x06")
    count = 100 * MEGABYTE // (end - start)
    size = struct.pack("<I", count * (end - start))
    path = tmp_path / "upload"
    path.write_bytes(honest[:start] + honest[start:end] * count + honest[end : end + 12] + size + honest[end + 16 :])
    outcome = measured(path)
    assert isinstance(outcome.problem, TooLarge)
    assert "list of the archive's members" in outcome.sentence
    assert outcome.growth < 16 * MEGABYTE


def test_names_are_never_paths(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(archive({"../../evil.npy": npy(GRID), "/etc/evil.npy": npy(GRID)}))
    assert measured(path).rows == 3
    assert [file.name for file in tmp_path.parent.rglob("*evil*")] == []
