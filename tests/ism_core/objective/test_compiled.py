"""The compiled code: its exponential, cosines and sines, its tiles, and its cache on disk."""

import hashlib
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from numba import njit

from ism_core import Gaussian, Linear, Multiquadratic, Polynomial, RelativeGaussian
from ism_core.arrays import Array
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import Term
from ism_core.objective import pairs
from ism_core.objective.compiled import features as compiled_features
from ism_core.objective.compiled import neighbors as compiled_neighbors
from ism_core.objective.compiled import tiles as compiled
from ism_core.objective.compiled.pairs import CompiledPairs
from ism_core.objective.pairs import NumpyPairs


@njit
def exponentials(x: Array) -> Array:
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = compiled.exp(x[i])
    return out


@pytest.mark.parametrize(("dtype", "lowest", "error"), [(np.float64, -707.9, 4e-16), (np.float32, -86.9, 1.5e-7)])
def test_exp_is_right_to_the_last_place(dtype: type, lowest: float, error: float, rng: np.random.Generator) -> None:
    x = np.concatenate([rng.uniform(lowest, 0, 100_000), -(10.0 ** rng.uniform(-20, 1, 10_000)), [0.0]]).astype(dtype)
    found = np.asarray(exponentials(x), np.float64)
    np.testing.assert_allclose(found, np.exp(x.astype(np.float64)), rtol=error)
    assert found[-1] == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exp_of_far_rows_is_zero_and_of_nothing_is_nothing(dtype: type) -> None:
    far = exponentials(np.array([-1e4, -np.inf, np.nan], dtype))
    assert far[0] == far[1] == 0
    assert math.isnan(far[2])


@pytest.mark.parametrize("size", [0.0, 1e-9, 1.0, 30.0, 1e5])
def test_cosines_and_sines_are_those_of_numpy(size: float, rng: np.random.Generator) -> None:
    angles = np.concatenate([size * rng.standard_normal(5_000), np.pi * np.arange(-50, 50) / 4, [0.0, -0.0]])
    cosines, sines = np.empty_like(angles), np.empty_like(angles)
    compiled_features.cos_sin(angles, cosines, sines)
    np.testing.assert_allclose(cosines, np.cos(angles), rtol=0, atol=1e-14 + 1e-15 * size)
    np.testing.assert_allclose(sines, np.sin(angles), rtol=0, atol=1e-14 + 1e-15 * size)


def test_a_term_without_compiled_code_is_computed_by_numpy(rows: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(Linear):
        def value(self, beta: Array, out: Array | None = None) -> Array:
            return np.multiply(beta, 2, out=out)

    monkeypatch.setattr(pairs, "COMPILED_ROWS", 0)
    terms: list[tuple[Term, type]] = [(Gaussian(1.0), CompiledPairs), (Own(), NumpyPairs)]
    for term, way in terms:
        assert type(pairs.pairs_of(rows, term)) is way
    np.testing.assert_allclose(pairs.pairs_of(rows, Own()).values(slice(0, 3), slice(3, 7)), 2 * rows[:3] @ rows[3:7].T)


def test_compiled_code_refuses_a_term_that_it_does_not_know(rows: Array) -> None:
    class Unknown(Term):
        form = "product"

        def value(self, beta: Array, out: Array | None = None) -> Array:
            return np.positive(beta, out=out)

        def derivative(self, beta: Array, value: Array, out: Array | None = None) -> Array:
            return np.ones_like(beta)

    with pytest.raises(TypeError, match="Unknown has no compiled code"):
        CompiledPairs(rows, Unknown())


@pytest.mark.parametrize("kernel", [Gaussian(), RelativeGaussian(), Polynomial()])
def test_a_kernel_that_is_not_fitted_says_so(kernel: Term, rows: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "COMPILED_ROWS", 0)
    with pytest.raises(InvalidInput, match="fitted_to"):
        pairs.pairs_of(rows, kernel)


@given(
    first=st.integers(0, 40),
    height=st.integers(1, 700),
    between=st.integers(0, 30),
    width=st.integers(1, 400),
    columns=st.sampled_from([1, 2, 7, 8, 9, 16, 24, 25, 48, 54, 64, 100, 128, 129]),
    dtype=st.sampled_from([np.float64, np.float32]),
    by_label=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_tiles_of_any_shape_are_those_of_numpy(
    first: int, height: int, between: int, width: int, columns: int, dtype: type, by_label: bool
) -> None:
    rng = np.random.default_rng(0)
    n = first + height + between + width + 3
    P, X = rng.standard_normal((n, 3)), rng.standard_normal((n, columns))
    gamma = LabelGamma.of(np.arange(n) % 3) if by_label else Gamma(rng.standard_normal((n, 5)), np.linspace(1, -1, 5))
    kernel = (Gaussian(1.5) + 0.5 * Polynomial(2, 1.0, 0.3)) + 0.2 * Multiquadratic(1.0)
    rows = slice(first, first + height)
    one, other = CompiledPairs(P, kernel, gamma, dtype), NumpyPairs(P, kernel, gamma)
    limit = 1e-11 if dtype is np.float64 else 1e-4
    for beside in (slice(rows.stop + between, rows.stop + between + width), rows):
        mirrored = beside != rows
        found, wanted = [], []
        for pairs_, into in ((one, found), (other, wanted)):
            degrees, out, back = np.zeros(n), np.zeros((height, columns)), np.zeros((width, columns))
            factor = pairs_.factor(X.astype(pairs_.dtype))
            J = pairs_.derivatives_times(rows, beside, factor, degrees, out, back if mirrored else None, 0.5)
            pairs_.values_times(rows, beside, factor, out, back if mirrored else None)
            into += [degrees, out, back, np.array(J), pairs_.values(rows, beside).astype(float)]
        for each, true in zip(found, wanted, strict=True):
            np.testing.assert_allclose(each, true, atol=limit * (1 + np.abs(true).max()))


@pytest.mark.parametrize("module", [compiled, compiled_features, compiled_neighbors])
def test_what_is_kept_on_disk_knows_of_every_file_it_is_compiled_from(module: ModuleType) -> None:
    folder = Path(compiled.__file__).parent
    found = {name: hashlib.sha256((folder / f"{name}.py").read_bytes()).hexdigest()[:16] for name in module.PARTS}
    assert found == module.PARTS, f"write these into {module.__name__}, so that numba compiles anew"


TWICE = """
from ism_core.objective.compiled.products import cached

@cached
def twice(x):
    return 2 * x

assert twice(1.5) == 3
"""


@pytest.fixture
def twice(tmp_path: Path) -> Callable[..., None]:
    """Runs a module with something small that is kept, with code before and after it."""

    def run(before: str = "", after: str = "") -> None:
        (tmp_path / "small.py").write_text(TWICE)
        code = f"{before}\nfrom small import twice\n{after}"
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(tmp_path)}
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)

    return run


def test_what_is_compiled_is_kept(twice: Callable[..., None]) -> None:
    twice(after="assert not twice.stats.cache_hits")
    twice(after="assert sum(twice.stats.cache_hits.values()) == 1")


@pytest.mark.thorough
def test_where_nothing_can_be_kept_it_is_compiled_all_the_same(twice: Callable[..., None]) -> None:
    nowhere = "import numba.core.caching as caching; caching.CacheImpl._locator_classes = []"
    twice(nowhere, "assert not twice.stats.cache_path")


def test_sums_over_a_tile_are_kept() -> None:
    assert Path(compiled.over_tile.stats.cache_path).exists()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "works",
    [
        pytest.param(False, id="numba is missing"),
        pytest.param(True, id="numba works", marks=pytest.mark.thorough),
    ],
)
def test_a_failure_to_load_compiled_code_is_logged_once_and_told_with_the_result(works: bool) -> None:
    code = f"""
import logging, sys
if not {works}:
    sys.modules["numba"] = None
import numpy as np
from ism_core import Gaussian, Supervised, solve
records = []
handler = logging.Handler()
handler.emit = records.append
logging.getLogger("ism_core").addHandler(handler)
X = np.random.default_rng(0).standard_normal((1_200, 4))
for _ in range(2):
    result = solve(X, Supervised(X[:, 0] > 0), Gaussian(2.0), 1, approximation={{"features": 4_096}})
    told = [warning for warning in result.warnings if "Compiled code could not be loaded" in warning]
    assert len(told) == len(records) == (0 if {works} else 1), (told, records)
    assert result.method == "random features"
"""
    subprocess.run([sys.executable, "-c", code], check=True)
