"""Until the compiled code is in numba's cache, numpy takes its place and another process compiles."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ism_core import Gaussian
from ism_core.objective import compilation, pairs
from ism_core.objective.pairs import COMPILED_ROWS, NumpyPairs, pairs_of

pytest.importorskip("numba")

ROWS = np.random.default_rng(0).standard_normal((COMPILED_ROWS, 2))


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that were started, with an empty cache and a process that has just begun."""
    commands: list[list[str]] = []

    def start(command: list[str], **options: Any) -> object:
        assert options["start_new_session"]
        commands.append(command)
        return object()

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compilation, "_ready", False)
    monkeypatch.setattr(compilation, "_compiler", None)
    monkeypatch.setattr(pairs, "_modules", {})
    monkeypatch.setattr(subprocess, "Popen", start)
    return commands


def test_numpy_computes_until_another_process_has_compiled(started: list[list[str]], tmp_path: Path) -> None:
    for _ in range(2):
        assert type(pairs_of(ROWS, Gaussian(1.0))) is NumpyPairs
    assert [command[1:] for command in started] == [["-m", "ism_core.objective.compiled"]]
    marker = compilation._marker()
    assert marker is not None
    assert marker.parent == tmp_path
    marker.touch()
    assert type(pairs_of(ROWS, Gaussian(1.0))) is not NumpyPairs


def test_code_that_is_in_the_cache_is_not_compiled_again(
    started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[None] = []
    monkeypatch.setattr(compilation, "_call_all", lambda: calls.append(None))
    for _ in range(2):
        compilation.compile_all()
    assert len(calls) == 1
    assert compilation.is_ready()
    assert not started


def test_a_change_of_the_sources_is_compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "SOURCES", tmp_path)
    (tmp_path / "tiles.py").write_text("1")
    before = compilation._marker()
    (tmp_path / "tiles.py").write_text("12")
    assert compilation._marker() != before


def test_without_a_place_to_keep_it_the_code_is_compiled_at_once(
    started: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "folder"))
    assert compilation.is_ready()
    assert not started
