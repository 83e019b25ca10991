"""The parts of the report: each is computed once, stored, and computed again only if something changed.

A part's row is stored with a fingerprint of all that it depends on: its name, its function and arguments, the sources
of `ism_core`, those modules of `benchmarks` that the function's module reaches by imports, the data, and the versions
of the numerical libraries.
"""

import ast
import inspect
import json
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks import datasets
from benchmarks.measuring import QUIET_SECONDS, Row

ROOT = Path(__file__).resolve().parents[2]
BOOKKEEPING = {"cells.py", "printed.py", "tables.py"}  # they store and print, and change no figure
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pymanopt", "numba")


@dataclass(frozen=True)
class Part:
    """A measurement. Its name is unique and names all its inputs; its row can be written as JSON."""

    name: str
    compute: Callable[[], Row]
    data: tuple[str, ...] = ()  # names of data sets
    seconds: float = 1.0  # estimated time


def run(parts: list[Part], folder: Path, force: bool = False) -> dict[str, Row]:
    """Return the row of every part by name; {"failed": why} for a failed part, which is repeated next time."""
    todo = pending(parts, folder, force)
    marks = {part.name: _mark(part) for part in todo}  # now, because sources may be edited while this runs
    rows: dict[str, Row] = {}
    with _progress(todo) as working:
        for part in parts:
            if part.name not in marks:
                rows[part.name] = stored(part, folder) or {}
                continue
            with working(part):
                rows[part.name] = _computed(part, marks[part.name], folder)
    return rows


def pending(parts: list[Part], folder: Path, force: bool = False) -> list[Part]:
    """Return the parts without a row, and those whose row was computed from other code or data."""
    names = [part.name for part in parts]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"Two parts have the name {min(twice)!r}; a name must tell a part from all others.")
    return [part for part in parts if force or not _is_done(part, folder)]


def stored(part: Part, folder: Path) -> Row | None:
    """Return the stored row, even if it is out of date."""
    path = _path(part, folder)
    row: Row | None = json.loads(path.read_text())["row"] if path.exists() else None
    return row


def fingerprint(part: Part) -> str:
    """Return a hash that changes if any code or data changes that the row depends on."""
    digest = sha256()
    for text in (part.name, _described(part.compute), *(f"{name} {version(name)}" for name in LIBRARIES)):
        digest.update(text.encode() + b"\0")
    for path in sorted({*(ROOT / "ism_core").rglob("*.py"), *sources(_unwrapped(part.compute))}):
        digest.update(os.path.relpath(path, ROOT).encode() + b"\0" + path.read_bytes())
    for name in part.data:
        digest.update(_data_digest(name))
    return digest.hexdigest()


def _is_done(part: Part, folder: Path) -> bool:
    path = _path(part, folder)
    if not path.exists():
        return False
    kept = json.loads(path.read_text())
    return "failed" not in kept["row"] and kept["fingerprint"] == _mark(part)


def _mark(part: Part) -> str | None:
    try:
        return fingerprint(part)
    except FileNotFoundError:  # data are missing; the part will fail with a message when it is computed
        return None


def _computed(part: Part, mark: str | None, folder: Path) -> Row:
    began = time.perf_counter()
    try:
        row = part.compute()
    except Exception as failure:  # a failure must not stop the other parts
        tqdm.write(traceback.format_exc(), file=sys.stderr)
        row = {"failed": f"{type(failure).__name__}: {failure}"}
    kept = {"name": part.name, "fingerprint": mark, "seconds": time.perf_counter() - began, "row": row}
    text = json.dumps(kept, indent=1, ensure_ascii=False, default=_plain)
    path = _path(part, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    stored_row: Row = json.loads(text)["row"]
    return stored_row


def _path(part: Part, folder: Path) -> Path:
    *above, last = (re.sub(r"[^\w+.-]+", "_", piece) for piece in part.name.split("/"))
    return folder.joinpath(*above, f"{last}.json")


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be stored; rows hold numbers, text, lists and dictionaries.")


def _unwrapped(compute: Callable[..., Row]) -> Callable[..., Row]:
    return _unwrapped(compute.func) if isinstance(compute, partial) else compute


def _described(compute: Callable[..., Row]) -> str:
    if isinstance(compute, partial):
        return f"{_described(compute.func)} {compute.args!r} {sorted(compute.keywords.items())!r}"
    return f"{compute.__module__}.{compute.__qualname__}"


def sources(function: Callable[..., Row]) -> set[Path]:
    """Return the file of the function and the files of `benchmarks` that it imports, directly or not."""
    found: set[Path] = set()
    ahead = [Path(inspect.getsourcefile(function) or __file__)]
    while ahead:
        path = ahead.pop()
        if path in found or path.name in BOOKKEEPING:
            continue
        found.add(path)
        ahead += [imported for imported in _imports(path) if imported.exists()]
    return found


def _imports(path: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            if name.startswith("benchmarks."):
                yield ROOT / f"{name.replace('.', '/')}.py"


@cache
def _data_digest(name: str) -> bytes:
    if name not in datasets.BUNDLED and datasets.stored(name).exists():
        return sha256(datasets.stored(name).read_bytes()).digest()
    data = datasets.load(name)
    return sha256(data.X.tobytes() + data.y.tobytes()).digest()


@contextmanager
def _progress(parts: list[Part]) -> Iterator[Callable[[Part], Any]]:
    """Show progress as a bar in estimated seconds; without a terminal, as lines."""
    terminal, whole = sys.stderr.isatty(), sum(part.seconds for part in parts)
    layout = "{percentage:3.0f}% |{bar:20}| {elapsed}{desc}"
    done: list[float] = []  # estimated seconds of finished parts

    def left(now: float) -> str:
        seconds = max(0.0, whole - sum(done) - now)
        return f"about {seconds / 60:.0f} min left" if seconds > 90 else f"about {seconds:.0f} s left"

    with tqdm(total=whole or 1, bar_format=layout, disable=not terminal or not parts, file=sys.stderr) as bar:

        @contextmanager
        def working(part: Part) -> Iterator[None]:
            label = f"[{len(done) + 1}/{len(parts)}] {part.name} (about {part.seconds:.0f} s)"
            began, ended = time.perf_counter(), threading.Event()

            def tick() -> None:
                while not ended.wait(1 if terminal else QUIET_SECONDS):
                    now = min(time.perf_counter() - began, part.seconds)
                    if terminal:
                        bar.n = sum(done) + now
                        bar.set_description_str(f", {left(now)} · {label}")
                    else:
                        print(f"  {label} goes on …", file=sys.stderr, flush=True)

            bar.set_description_str(f", {left(0)} · {label}")
            ticker = threading.Thread(target=tick, daemon=True)
            ticker.start()
            try:
                yield
            finally:
                ended.set()
                ticker.join()
                done.append(part.seconds)
                bar.n = sum(done)
                tqdm.write(f"{label}: {time.perf_counter() - began:.1f} s; {left(0)}", file=sys.stderr)

        yield working
        bar.set_description_str("")
