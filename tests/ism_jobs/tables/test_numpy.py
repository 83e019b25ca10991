"""NPY and NPZ files, whole and hostile."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ism_jobs.errors import InvalidTable, Problem, TooLarge, UnsupportedFormat
from ism_jobs.tables import Limits
from tests.support.tables import read
from tools.table_files import npy, npz

GRID = np.arange(6.0).reshape(3, 2)
GRID_VALUES = {"x1": [0.0, 2.0, 4.0], "x2": [1.0, 3.0, 5.0]}


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", ">f4", "<f2", "<i8", ">i8", "<i4", "|i1", "|u1", ">u2", "<u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_of_any_width_and_order_are_read(tmp_path: Path, dtype: str, order: Any) -> None:
    assert read(tmp_path, npy(np.asarray(GRID, dtype=dtype, order=order))).values == GRID_VALUES


def test_one_dimension_is_one_column(tmp_path: Path) -> None:
    assert read(tmp_path, npy(np.array([True, False]))).values == {"x1": [1.0, 0.0]}


def test_text_arrays_are_text_with_signs_of_missing_values(tmp_path: Path) -> None:
    assert read(tmp_path, npy(np.array([["é", "1"], ["nan", "x"]]))).values == {"x1": ["é", None], "x2": ["1", "x"]}
    assert read(tmp_path, npy(np.array([b"a", b"", "é".encode()]))).values == {"x1": ["a", None, "é"]}


def test_big_endian_text_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, npy(np.array(["é🌡", "b"], ">U2"))).values == {"x1": ["é🌡", "b"]}


def test_a_text_column_without_values_is_a_number_column(tmp_path: Path) -> None:
    found = read(tmp_path, npz(a=np.array(["", "nan"]), b=np.array([1.0, 2.0]), c=np.array(["x", "y"])))
    assert found.values == {"a": [None, None], "b": [1.0, 2.0], "c": ["x", "y"]}
    assert found.kinds == ["number", "number", "text"]


def test_large_arrays_come_in_batches_of_bounded_size(tmp_path: Path) -> None:
    from ism_jobs.tables import open_table

    (tmp_path / "large.npy").write_bytes(npy(np.zeros((3_000_000, 1))))
    assert max(batch.nbytes for batch in open_table(tmp_path / "large.npy")) <= 9_000_000


def test_version_2_headers_and_those_of_python_2_are_read(tmp_path: Path) -> None:
    file = io.BytesIO()
    np.lib.format.write_array(file, GRID, version=(2, 0))
    assert read(tmp_path, file.getvalue()).values == GRID_VALUES
    assert read(tmp_path, npy(GRID).replace(b"(3, 2), }  ", b"(3L, 2L), }")).values == GRID_VALUES


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(npy(np.float64(1)), "0 dimensions", id="0-D"),
        pytest.param(npy(np.zeros((2, 2, 2))), "3 dimensions", id="3-D"),
        pytest.param(npy(np.zeros((0, 2))), "the shape (0, 2)", id="no rows"),
        pytest.param(npy(np.zeros((2, 0))), "the shape (2, 0)", id="no columns"),
        pytest.param(npy(np.array([1, None]), allow_pickle=True), "pickled, which can run code", id="objects"),
        pytest.param(npy(np.zeros(2, complex)), "the type <c16", id="complex"),
        pytest.param(npy(np.zeros(2, "M8[s]")), "the type <M8[s]", id="dates"),
        pytest.param(npy(np.zeros(2, [("a", float)])), "a structured type", id="records"),
        pytest.param(npy(GRID)[:-8], "declares 48 bytes of values (shape (3, 2), float64), but 40 follow", id="cut"),
        pytest.param(npy(GRID)[:40], "has a header of 118 bytes", id="cut header"),
        pytest.param(npy(GRID)[:8], "does not start as an NPY file", id="magic only"),
        pytest.param(
            npy(GRID).replace(b"(3, 2), }" + b" " * 9, b"(3, 2000000000), }"),
            "declares 48,000,000,000 bytes",
            id="vast",
        ),
        pytest.param(npy(GRID).replace(b"(3, 2)", b"(-3,2)"), "header that cannot be read", id="negative"),
        pytest.param(npy(GRID).replace(b"{'descr'", b"[[[[[[[["), "header that cannot be read", id="nonsense"),
        pytest.param(npy(GRID).replace(b"<f8", b"<U0"), "the type <U0", id="text without length"),
        pytest.param(npy(np.array([1.0, np.inf])), 'The column "x1" has infinite values', id="infinity"),
        pytest.param(npy(np.array([b"\xff"])), "bytes that are not text", id="bytes"),
        pytest.param(npy(np.array(["ab"])).replace(b"a\0\0\0b\0\0\0", b"\xff" * 8), "not text", id="no code points"),
        pytest.param(
            npy(np.array(["ab"], ">U2")).replace(b"\0\0\0b", b"\x40\0\0b"), "not text", id="big endian beyond Unicode"
        ),
        pytest.param(b"\x93NUMPY\x09\x00" + npy(GRID)[8:], "version 9", id="version"),
    ],
)
def test_a_broken_or_foreign_array_is_refused_with_a_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    with pytest.raises(InvalidTable) as caught:
        read(tmp_path, content)
    assert sentence in caught.value.detail


def test_a_cut_header_does_not_hide_behind_any_length(tmp_path: Path) -> None:
    whole = npy(GRID)
    for length in range(6, len(whole)):
        with pytest.raises(InvalidTable):
            read(tmp_path, whole[:length])


def test_npz_columns_are_named_after_their_arrays(tmp_path: Path) -> None:
    assert read(tmp_path, npz(X=GRID, y=np.array(["a", "b", "a"]))).values == {
        "X1": GRID_VALUES["x1"],
        "X2": GRID_VALUES["x2"],
        "y": ["a", "b", "a"],
    }


def test_a_single_unnamed_array_in_npz_is_like_npy(tmp_path: Path) -> None:
    assert read(tmp_path, npz(GRID)).digest == read(tmp_path, npy(GRID)).digest


def archive(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "problem", "sentence"),
    [
        (npz(X=GRID, y=np.zeros(2)), InvalidTable, 'The array "y" has 2 row(s) but "X" has 3'),
        (npz(X=GRID, s=np.float64(1)), InvalidTable, 'The array "s" has 0 dimensions'),
        (npz(X=GRID)[:-30], InvalidTable, "cannot be unpacked"),
        (b"PK\x03\x04 and nothing else", InvalidTable, "cannot be unpacked"),
        (archive(**{"a.npy": npy(GRID), "a.txt": b"text"}), UnsupportedFormat, "2 files and none of them is a CSV"),
        (archive(**{"a.npy": b"junk"}), InvalidTable, 'The array "a" does not start as an NPY file'),
        (archive(**{"a.npy": npy(GRID)[:-8], "b.npy": npy(GRID)}), InvalidTable, "declares 48 bytes"),
    ],
)
def test_a_broken_or_foreign_archive_is_refused_with_a_sentence(
    tmp_path: Path, content: bytes, problem: type[Problem], sentence: str
) -> None:
    with pytest.raises(problem) as caught:
        read(tmp_path, content)
    assert sentence in caught.value.detail


def test_a_damaged_member_is_refused(tmp_path: Path) -> None:
    content = bytearray(npz(X=np.random.default_rng(0).normal(size=(50, 4))))
    content[len(content) // 2] ^= 0xFF
    with pytest.raises(InvalidTable, match="cannot be unpacked"):
        read(tmp_path, bytes(content))


def test_members_are_not_files_to_be_written(tmp_path: Path) -> None:
    content = archive(**{"../../evil.npy": npy(GRID)})
    assert list(read(tmp_path, content).values) == ["../../evil1", "../../evil2"]
    assert {path.name for path in tmp_path.parent.rglob("evil*")} == set()


def test_a_zip_bomb_is_refused_by_its_declared_size(tmp_path: Path) -> None:
    with pytest.raises(TooLarge, match="at most 100,000 are allowed"):
        read(tmp_path, npz(X=np.zeros((100, 1000))), limits=Limits(bytes=100_000))


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"rows": 2}, "at least 3 rows; at most 2"),
        ({"columns": 1}, "2 columns; at most 1"),
        ({"cells": 5}, "at least 6 cells (3 rows of 2 columns); at most 5"),
    ],
)
@pytest.mark.parametrize("content", [npy(GRID), npz(GRID)])
def test_the_declared_shape_is_checked_first(
    tmp_path: Path, content: bytes, limits: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(TooLarge) as caught:
        read(tmp_path, content, limits=Limits(**limits))
    assert sentence in caught.value.detail
