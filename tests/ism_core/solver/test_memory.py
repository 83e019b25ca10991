"""How much memory a solve is said to take, and what happens where that is too much."""

import re
import subprocess
import sys

import numpy as np
import pytest

from ism_core import Gaussian, InvalidInput, Polynomial, Supervised, iter_solve, solve
from ism_core.arrays import Array
from ism_core.gamma import LabelGamma
from ism_core.objective import EvaluationOptions, Problem
from ism_core.solver import memory
from ism_core.solver.memory import BASE_BYTES, Shape, spare_bytes
from tests.ism_core.conftest import Labelled

PROCESS = 100 * 2**20  # what a process takes without any data

SOLVE = """
import sys
from pathlib import Path
import numpy as np
from ism_core import Supervised, Unsupervised, solve
from ism_core.solver.memory import Shape, _resident

n, d, q, clusters = map(int, sys.argv[1:5])
rng = np.random.default_rng(0)
y = np.arange(n) % 3
X = rng.standard_normal((n, d))
X[:, 0] += 6 * y
X -= X.mean(axis=0)
paradigm = Unsupervised(3) if clusters else Supervised(y)
shape = Shape(n, d, q, paradigm.rank, paradigm.alternates)
before = _resident()
solve(X, paradigm, sys.argv[5], q, max_iter=2, starts=1, tolerance=0)
peak = 1024 * int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
print(shape.bytes(), peak - before)
"""


@pytest.mark.parametrize(
    ("n", "d", "q", "clusters", "kernel"),
    [
        pytest.param(700, 700, 3, 0, "gaussian", id="many columns"),
        pytest.param(150, 6_000, 2, 0, "multiquadratic", id="more columns than rows", marks=pytest.mark.thorough),
        pytest.param(1_200, 6, 2, 1, "gaussian", id="clusters", marks=pytest.mark.thorough),
    ],
)
def test_a_solve_takes_about_what_it_is_said_to(n: int, d: int, q: int, clusters: int, kernel: str) -> None:
    asked = [sys.executable, "-c", SOLVE, *map(str, (n, d, q, clusters)), kernel]
    run = subprocess.run(asked, capture_output=True, text=True, check=True)
    said, taken = map(int, run.stdout.split())
    assert taken < 1.1 * said
    assert said - BASE_BYTES < 2 * taken


def test_more_of_anything_takes_no_less() -> None:
    small = Shape(1_000, 50, 2, 3, False)
    for more in (
        Shape(2_000, 50, 2, 3, False),
        Shape(1_000, 60, 2, 3, False),
        Shape(1_000, 50, 3, 3, False),
        Shape(1_000, 50, 2, 4, False),
        Shape(1_000, 50, 2, 3, True),
    ):
        assert more.bytes() > small.bytes()


def resident(table: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_resident", lambda: PROCESS + table.nbytes)


@pytest.mark.parametrize("d", [4, 300, 1_500])
def test_the_rows_that_would_fit_do(d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process that has just these rows."""
    table = np.zeros((4_000, d))
    resident(table, monkeypatch)
    whole = Shape(4_000, d, 2, 3, False)
    limit = PROCESS + (table.nbytes + whole.bytes() + BASE_BYTES) // 2
    with pytest.raises(InvalidInput) as caught:
        spare_bytes(whole, table, limit)
    assert caught.value.parameter == "memory"
    found = re.search(rf"With {d:,} columns about ([\d,]+) rows fit", str(caught.value))
    rows = int(found[1].replace(",", ""))
    assert 1 < rows < 4_000
    resident(table[:rows], monkeypatch)
    assert spare_bytes(Shape(rows, d, 2, 3, False), table[:rows], limit) >= 0
    resident(table[: rows + 40], monkeypatch)
    with pytest.raises(InvalidInput):
        spare_bytes(Shape(rows + 40, d, 2, 3, False), table[: rows + 40], limit)


def test_a_solve_that_does_not_fit_is_refused_before_it_starts(blobs: Labelled) -> None:
    steps = iter_solve(blobs.X, Supervised(blobs.y), "gaussian", 2, memory_limit=1_000_000)
    with pytest.raises(InvalidInput, match=r"needs about .* [MG]iB; the limit is 1 MiB") as caught:
        next(steps)
    assert caught.value.parameter == "memory"
    assert str(caught.value).endswith(".")


def test_a_limit_that_is_wide_enough_changes_nothing(blobs: Labelled) -> None:
    free, limited = (
        solve(blobs.X, Supervised(blobs.y), "polynomial", 2, memory_limit=limit) for limit in (None, 2**40)
    )
    np.testing.assert_array_equal(free.W, limited.W)
    assert free.method == limited.method


@pytest.mark.parametrize("kernel", [Polynomial(3, 1.0, 0.1), Gaussian(3.0)], ids=repr)
def test_features_that_do_not_fit_are_left_for_tiles(
    kernel: Polynomial | Gaussian, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ism_core.objective.strategies.base.SMALL_FLOPS", 0.0)
    X, W = rng.standard_normal((2_000, 12)), np.eye(12)[:, :2]
    gamma = LabelGamma.of(np.arange(2_000) % 3)
    ways = [
        Problem.of(X, gamma, kernel, 2, options=EvaluationOptions(spare_bytes=spare)).within([1e-6], W).method
        for spare in (None, 2**30, 1_000, 0)
    ]
    assert ways == ["features", "features", "tiles", "tiles"]
