"""Fuzz the table readers with randomly changed files of every format: `python -m drills.fuzzing [FILES [SEED]]`.

Each file must be read, or refused with a problem, within seconds and in memory proportional to its size. If the process
dies, the file that it read is still on disk. The test suite reads a few hundred files, `make fuzz` 100,000.
"""

import gzip
import io
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

from ism_jobs.errors import Problem
from ism_jobs.tables import Limits, open_table
from tools.table_files import arrow_stream, feather, npy, npz, parquet, spss, stata, xlsx, zipped

LIMITS = Limits(bytes=1 << 22, rows=20_000, columns=2_000, cells=200_000, text_length=10_000)
SECONDS = 10  # time limit of one file; it takes milliseconds on an idle machine
BASE_MEMORY = 64 << 20  # bytes that the buffers of a reader take for any file
MEMORY_PER_BYTE = 64  # bytes of memory for each byte of the file, or of its inflated size


def _stored(content: bytes) -> bytes:
    """Return an archive without compression, so that changes reach the members."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return zipped({name: archive.read(name) for name in archive.namelist()}, zipfile.ZIP_STORED)


_rng = np.random.default_rng(0)
_GRID = _rng.normal(size=(40, 3)).round(3)
_WORDS = np.array(["red", "", "größe", "a,b", 'say "x"', "NA"])[_rng.integers(0, 6, 40)]
_TABLE = pa.table(
    {
        "x": _GRID[:, 0],
        "n": pa.array(_rng.integers(0, 9, 40), pa.int32()),
        "word": _WORDS.tolist(),
        "kind": pa.array(_WORDS.tolist()).dictionary_encode(),
        "when": pa.array(range(40), pa.timestamp("ms")),
        "b": pa.array([True, None] * 20),
        "d": pa.array([None, 1] * 20, pa.decimal128(9, 2)),
    }
)
_CSV = "\n".join(["x,y,word", *(f'{x},{y:.3e},"{w}"' for (x, y, _), w in zip(_GRID, _WORDS, strict=True))]).encode()
_WORDS_ASCII = [word.encode("ascii", "replace").decode() for word in _WORDS]
_RECORDS = [{"x": x, "word": str(word), "b": None} for x, word in zip(_GRID[:, 0].tolist(), _WORDS, strict=True)]
_CELLS = [["x", "word", "b"], *([x, str(w), bool(x > 0)] for x, w in zip(_GRID[:, 0], _WORDS, strict=True))]
_FRAME = pd.DataFrame({"x": _GRID[:, 0], "word": _WORDS.astype(object), "k": _rng.integers(0, 3, 40).astype(float)})
_FRAME["when"] = pd.date_range("2020-01-01", periods=40)
_LABELS = {"k": {0: "none", 1: "some", 2: "all"}}

SEEDS: dict[str, bytes] = {
    "a.csv": _CSV,
    "b.csv": _CSV.replace(b",", b";").replace(b"\n", b"\r\n"),
    "c.csv": "größe\t色\n1\t2\n3\tx\n".encode("utf-16"),
    "d.tsv": b"1 2 3\n4 5 6\n7 8 9\n",
    "e.json": json.dumps(_RECORDS).encode(),
    "f.json": "\n".join(map(json.dumps, _RECORDS)).encode(),
    "g.json": json.dumps({"columns": ["a", "b"], "rows": _GRID[:, :2].tolist()}).encode(),
    "h.npy": npy(_GRID),
    "i.npy": npy(np.asfortranarray(_GRID.astype(">f4"))),
    "j.npy": npy(_WORDS),
    "k.npz": npz(X=_GRID, y=_WORDS),
    "l.npz": npz(a=_GRID[:, 0], b=np.arange(40)),
    "m.parquet": parquet(_TABLE),
    "n.parquet": parquet(_TABLE, compression="zstd", use_dictionary=False, row_group_size=10, store_schema=False),
    "o.parquet": parquet(_TABLE.select(["x", "word"]), data_page_version="2.0", compression="gzip"),
    "p.csv.gz": gzip.compress(_CSV),
    "q.feather": feather(_TABLE, compression="uncompressed"),
    "r.feather": feather(_TABLE, compression="zstd", chunksize=10),
    "s.arrow": arrow_stream(_TABLE),
    "t.xlsx": xlsx(About=[["notes"]], Data=_CELLS),
    "u.xlsx": _stored(xlsx(Data=_CELLS)),
    "v.dta": stata(_FRAME, version=118, value_labels=_LABELS),
    "w.dta": stata(_FRAME.assign(word=_WORDS_ASCII), version=114),
    "x.sav": spss(_FRAME, variable_value_labels=_LABELS, missing_ranges={"k": [2]}),
    "y.sav": spss(_FRAME, compress=True),
    "z.sav": spss(_FRAME, row_compress=True, variable_value_labels=_LABELS),
    "zz.zip": zipped({"a.csv": _CSV, "README": b"text"}),
}
TOKENS = [
    *(b'"', b"'", b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"[", b"{"),
    *(b"}", b"]", b":", b"null", b"NaN", b"Infinity", b"-", b"1e999", b"9" * 400, b"\\ud800", b"\\", b"inf", b"nan"),
    *(b"'shape': (", b"|O", b"<U9", b"L", b"(" * 300, b"[" * 2000, b'"' * 99, b"," * 3000, b"x" * 20_000, b"\n" * 5000),
    *(
        b'<c r="XFD9" t="s">',
        b"</row>",
        b"<v>",
        b"<a>" * 99,
        b"&#0;",
        b"<!DOCTYPE a>",
        b"</stata_dta>",
        b"GSO",
        b"$FL3",
    ),
    *(bytes(8), b"\xff" * 8, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"PK\x01\x02", b"PK\x05\x06", b"PAR1"),
]

places = st.integers(0, 1 << 16)
changes = st.lists(
    st.one_of(
        st.tuples(st.just("flip"), places, st.integers(1, 255)),
        st.tuples(st.just("insert"), places, st.sampled_from(TOKENS)),
        st.tuples(st.just("replace"), places, st.sampled_from(TOKENS)),
        st.tuples(st.just("cut"), places, st.integers(1, 300)),
        st.tuples(st.just("repeat"), places, st.integers(1, 300)),
        st.tuples(st.just("end"), places, st.just(0)),
        st.tuples(st.just("number"), places, st.integers(0, (1 << 70) - 1)),
    ),
    min_size=1,
    max_size=6,
)
garbage = st.one_of(
    st.lists(st.sampled_from(TOKENS), max_size=40).map(b"".join),
    st.tuples(st.sampled_from([content[:12] for content in SEEDS.values()]), st.binary(max_size=300)).map(b"".join),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=9)),
        lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=5), inner, max_size=5)),
        max_leaves=20,
    ).map(lambda value: json.dumps(value).encode()),
)
wrappings = st.sampled_from(["", "", "", "", "gzip", "npz", "zip", "twice"])


@st.composite
def inputs(draw: st.DrawFn) -> tuple[str, bytes]:
    """Draw the name and the content of a file."""
    name = draw(st.sampled_from(sorted(SEEDS)))
    content = changed(SEEDS[name], draw(changes)) if draw(st.integers(0, 4)) else draw(garbage)
    wrapping = draw(wrappings)
    if wrapping == "gzip":
        return f"{name}.gz", gzip.compress(content, 1)
    if wrapping in ("npz", "zip"):
        return f"a.{wrapping}", zipped({"a.npy" if wrapping == "npz" else name: content})
    return name, content * (2 if wrapping == "twice" else 1)


def changed(content: bytes, steps: list[tuple[str, int, Any]]) -> bytes:
    """Apply changes to the content; half of the places count from its end, where footers are."""
    for kind, place, how in steps:
        at = place // 2 % (len(content) + 1)
        at = len(content) - at if place % 2 else at
        match kind:
            case "flip":
                content = content[:at] + bytes(byte ^ how for byte in content[at : at + 1]) + content[at + 1 :]
            case "insert":
                content = content[:at] + how + content[at:]
            case "replace":
                content = content[:at] + how + content[at + len(how) :]
            case "cut":
                content = content[:at] + content[at + how :]
            case "repeat":
                content = content[:at] + content[at : at + how] * 50 + content[at:]
            case "end":
                content = content[:at]
            case "number":
                digits = re.sub(rb"\d+", b"%d" % how, content[at : at + 40], count=1)
                content = content[:at] + digits + content[at + 40 :]
    return content


class Reading:
    """Writes files to one path, reads them, and counts how many were read or refused."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.read = self.refused = 0
        self.most_memory, self.longest = 0, 0.0

    def check(self, name: str, content: bytes) -> None:
        """Read one file; it must be read or refused within the limits of time and memory."""
        self.path.write_bytes(content)
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak of the memory
        before, began = _memory("VmRSS"), time.perf_counter()
        refusal: Problem | None = None
        signal.signal(signal.SIGALRM, _too_slow)
        signal.alarm(SECONDS)
        try:
            for _ in open_table(self.path, filename=name, limits=LIMITS):
                pass
            self.read += 1
        except Problem as problem:
            refusal = problem
            self.refused += 1
        finally:
            signal.alarm(0)
        growth = _memory("VmHWM") - before
        assert refusal is None or (refusal.status < 500 and 20 < len(refusal.detail) < 1000), refusal
        self.longest = max(self.longest, time.perf_counter() - began)
        self.most_memory = max(self.most_memory, growth)
        assert growth < BASE_MEMORY + MEMORY_PER_BYTE * max(len(content), LIMITS.bytes // MEMORY_PER_BYTE), (
            f"{growth:,} bytes"
        )


def _memory(which: str) -> int:
    found = re.search(rf"{which}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return 1024 * int(found[1])


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise AssertionError(f"The reader did not finish within {SECONDS} s.")


def fuzz(reading: Reading, count: int, start: int) -> None:
    """Read `count` random files; another `start` gives other files."""

    @seed(start)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        verbosity=Verbosity.normal,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs())
    def one(input: tuple[str, bytes]) -> None:
        reading.check(*input)

    one()


def main() -> None:
    """Fuzz and print the counts; a file that breaks a reader ends the run with a traceback."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    start = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    handle, name = tempfile.mkstemp(prefix="ism-fuzz-")
    os.close(handle)
    reading, began = Reading(Path(name)), time.perf_counter()
    print(f"{count:,} files with seed {start}; each is read from {name}", flush=True)
    for part in range(0, count, 1000):  # in parts, because hypothesis remembers all examples and gets slower
        fuzz(reading, min(1000, count - part), start + part)
        if part % 10_000 == 9_000:
            print(f"{part + 1000:,} in {time.perf_counter() - began:.0f} s", flush=True)
    reading.path.unlink()
    print(
        f"{reading.read + reading.refused:,} files in {time.perf_counter() - began:.0f} s: {reading.read:,} were read, "
        f"{reading.refused:,} refused; at most {reading.most_memory >> 20} MB and {reading.longest:.1f} s for one"
    )


if __name__ == "__main__":
    main()
