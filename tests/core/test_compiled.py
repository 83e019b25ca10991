"""The compiled passes: their exponential, and where they are kept."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba")

from numba import njit

from ism_core import Gaussian, Linear, Polynomial, RelativeGaussian, compiled, pairs
from ism_core.arrays import Array
from ism_core.errors import InvalidInput
from ism_core.kernel import Term


@njit
def exponentials(x: Array) -> Array:
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = compiled.exp(x[i])
    return out


@pytest.mark.parametrize(("dtype", "lowest", "error"), [(np.float64, -707.9, 4e-16), (np.float32, -86.9, 1.5e-7)])
def test_exp_is_right_to_the_last_place(dtype: type, lowest: float, error: float, rng: np.random.Generator) -> None:
    x = np.concatenate([rng.uniform(lowest, 0, 100_000), -(10.0 ** rng.uniform(-20, 1, 10_000)), [0.0]]).astype(dtype)
    found = exponentials(x).astype(np.float64)
    np.testing.assert_allclose(found, np.exp(x.astype(np.float64)), rtol=error)
    assert found[-1] == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exp_of_far_rows_is_zero_and_of_nothing_is_nothing(dtype: type) -> None:
    far = exponentials(np.array([-1e4, -np.inf, np.nan], dtype))
    assert far[0] == far[1] == 0
    assert math.isnan(far[2])


def test_a_kernel_that_the_passes_do_not_know_goes_by_numpy(rows: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(Linear):
        def value(self, beta: Array, out: Array | None = None) -> Array:
            return np.multiply(beta, 2, out=out)

    monkeypatch.setattr(pairs, "COMPILED_ROWS", 0)
    terms: list[tuple[Term, type]] = [(Gaussian(1.0), pairs.CompiledPairs), (Own(), pairs.Pairs)]
    for term, way in terms:
        assert type(pairs.pairs_of(rows, term)) is way
    np.testing.assert_allclose(pairs.pairs_of(rows, Own()).values(slice(0, 3), slice(3, 7)), 2 * rows[:3] @ rows[3:7].T)


@pytest.mark.parametrize("kernel", [Gaussian(), RelativeGaussian(), Polynomial()])
def test_a_kernel_that_is_not_bound_says_so(kernel: Term, rows: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "COMPILED_ROWS", 0)
    with pytest.raises(InvalidInput, match="bind"):
        pairs.pairs_of(rows, kernel)


def run(code: str, folder: Path | None) -> None:
    environment = os.environ | ({} if folder is None else {"NUMBA_CACHE_DIR": str(folder)})
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


PRODUCT = """
import numpy as np
from ism_core import Gaussian, pairs
pairs.COMPILED_ROWS = 0
P = np.arange(12.0).reshape(6, 2)
found = pairs.pairs_of(P, Gaussian(3.0))
assert type(found) is pairs.CompiledPairs
K = found.values(slice(0, 6), slice(0, 6))
np.testing.assert_allclose(K, np.exp(-((P[:, None] - P) ** 2).sum(2) / 18), rtol=1e-12)
"""


def test_what_is_compiled_is_kept(tmp_path: Path) -> None:
    hits = "from ism_core import compiled; assert sum(compiled.values.stats.cache_hits.values()) == {}"
    run(PRODUCT + hits.format(0), tmp_path)
    run(PRODUCT + hits.format(1), tmp_path)


def test_where_nothing_can_be_kept_it_is_compiled_all_the_same() -> None:
    nowhere = "import numba.core.caching as caching; caching.CacheImpl._locator_classes = []\n"
    run(nowhere + PRODUCT, None)
