"""Sums over pairs of rows, tile by tile, against the whole matrices."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ism_core import Gaussian, Multiquadratic, RelativeGaussian
from ism_core.arrays import Array
from ism_core.engines.base import LOCAL
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import Kernel
from ism_core.objective import pairs, tiles
from ism_core.objective import pairs as panels
from ism_core.objective.compiled import tiles as compiled
from ism_core.objective.data import Precision
from ism_core.objective.pairs import NumpyPairs
from tests.ism_core import reference
from tests.ism_core.family import EVERY

NEVER = 10**9


@pytest.fixture(params=[512, 7, 1])
def tile(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The height of a panel: more than the rows, no divisor of them, and one row."""
    monkeypatch.setattr(panels, "TILE", request.param)
    return request.param


@pytest.fixture(params=["compiled", "numpy"])
def method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(pairs, "COMPILED_ROWS", NEVER if request.param == "numpy" else 0)
    return request.param


@pytest.fixture(scope="module", params=EVERY)
def kernel(request: pytest.FixtureRequest, rows: Array) -> Kernel:
    return EVERY[request.param].fitted_to(rows, np.random.default_rng(0))


@pytest.fixture(scope="module")
def whole(kernel: Kernel, rows: Array) -> Array:
    return reference.kernel_matrix(rows, kernel)


def evaluate(X: Array, gamma: Gamma, kernel: Kernel, W: Array, precision: Precision = "double") -> tuple[Array, float]:
    return tiles.evaluate(LOCAL.place(X), LOCAL.place(gamma), LOCAL.place(kernel), W, precision=precision)


def half_gradient(
    X: Array, gamma: Gamma, kernel: Kernel, W: Array, precision: Precision = "double"
) -> tuple[Array, float]:
    return tiles.half_gradient(LOCAL.place(X), LOCAL.place(gamma), LOCAL.place(kernel), W, precision=precision)


def assert_near(found: Array, wanted: Array, limit: float) -> None:
    assert np.linalg.norm(found - wanted) <= limit * np.linalg.norm(wanted)


@pytest.mark.usefixtures("tile", "method")
def test_every_sum_agrees_with_the_whole_matrix(
    kernel: Kernel, whole: Array, rows: Array, rng: np.random.Generator
) -> None:
    K = whole
    V = rng.standard_normal((23, 3))
    np.testing.assert_allclose(tiles.kernel_matrix(rows, kernel), K, rtol=1e-10, atol=1e-11 * np.abs(K).max())
    np.testing.assert_allclose(tiles.kernel_product(rows, kernel, V), K @ V, rtol=1e-9, atol=1e-10 * np.abs(K).max())
    assert_near(tiles.kernel_product(rows, kernel, V, precision="single"), K @ V, 1e-5)
    offsets = rows[:, 0]
    assert tiles.square_sum(rows, kernel, offsets) == pytest.approx(
        ((K - offsets[:, None] - offsets) ** 2).sum(), rel=1e-10
    )


@pytest.mark.usefixtures("tile", "method")
def test_distances_do_not_suffer_from_an_offset(rows: Array) -> None:
    near, far = tiles.kernel_matrix(rows, Gaussian(1.0)), tiles.kernel_matrix(rows + 1e6, Gaussian(1.0))
    np.testing.assert_allclose(far, near, atol=1e-8)


def test_distances_are_never_negative(rng: np.random.Generator) -> None:
    P = np.repeat(rng.standard_normal((5, 3)), 4, axis=0)
    beta = NumpyPairs(P, Gaussian(1.0)).beta("difference", slice(0, 20), slice(0, 20))
    assert (beta >= 0).all()


@given(
    n=st.integers(1, 200), height=st.integers(1, 60), width=st.sampled_from([0.5, 1, 2]), fine=st.sampled_from([1, 3])
)
def test_the_tiles_cover_the_upper_triangle_once(n: int, height: int, width: float, fine: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panels, "TILE", height)
        items = panels.items(n)
        seen = np.zeros((n, n), dtype=int)
        for share in [list(range(first, items, 3)) for first in range(3)]:
            for panel, cells in panels.panels_of(share, n, width, fine):
                for rows, columns in cells:
                    assert panel.start <= rows.start < rows.stop <= panel.stop
                    assert rows == columns or rows.stop <= columns.start
                    seen[rows, columns] += 1
        np.testing.assert_array_equal(np.triu(seen), np.triu(np.ones((n, n))))
        assert seen.max() == 1


@pytest.mark.parametrize("name", ["gaussian", "relative gaussian", "multiquadratic"])
def test_compiled_and_numpy_agree_on_many_rows_in_both_precisions(
    name: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = rng.standard_normal((1_111, 12))
    X[:, :3] *= 3
    W = np.linalg.qr(rng.standard_normal((12, 3)))[0]
    kernel = {"gaussian": Gaussian("median"), "relative gaussian": RelativeGaussian()}.get(name, Multiquadratic())
    kernel = kernel.fitted_to(X, rng)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)
    waves = np.sin(X @ rng.standard_normal((12, 60)) / 4)
    for gamma in (LabelGamma.of(y), Gamma(waves, np.linspace(1, -0.2, 60))):
        monkeypatch.setattr(pairs, "COMPILED_ROWS", NEVER)
        phi, J = evaluate(X, gamma, kernel, W)
        for rows in (0, NEVER):
            monkeypatch.setattr(pairs, "COMPILED_ROWS", rows)
            for precision, limit in (("double", 1e-12), ("single", 1e-5)):
                found, value = evaluate(X, gamma, kernel, W, precision)
                C, same = half_gradient(X, gamma, kernel, W, precision)
                assert_near(found @ W, phi @ W, limit)
                assert_near(X.T @ C, phi @ W, limit)
                assert value == pytest.approx(J, rel=limit)
                assert same == pytest.approx(J, rel=limit)


@pytest.mark.usefixtures("method")
def test_rows_given_in_single_precision_are_taken_as_they_are(rows: Array, gamma: Gamma, projection: Array) -> None:
    phi, J = evaluate(rows, gamma, Gaussian(1.7), projection)
    found, same = evaluate(rows.astype(np.float32), gamma, Gaussian(1.7), projection, "single")
    assert_near(found, phi, 1e-5)
    assert same == pytest.approx(J, rel=1e-5)


def test_rows_of_any_order_in_memory_need_one_version_of_what_is_compiled(
    rows: Array, gamma: Gamma, projection: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "COMPILED_ROWS", 0)
    placed = LOCAL.place(gamma), LOCAL.place(Gaussian(1.7))
    wanted = half_gradient(rows, gamma, Gaussian(1.7), projection)
    versions = len(compiled.over_tile.signatures)  # type: ignore[attr-defined]
    by_columns, fixed = np.asfortranarray(rows), rows.copy()
    fixed.flags.writeable = False
    for X in (by_columns, fixed):
        known = np.asfortranarray(X @ projection)
        for P in (None, known):
            C, value = tiles.half_gradient(LOCAL.place(X), *placed, projection, known=P)
            assert_near(C, wanted[0], 1e-12)
            assert value == pytest.approx(wanted[1])
        assert_near(
            tiles.evaluate(LOCAL.place(X), *placed, projection)[0],
            evaluate(rows, gamma, Gaussian(1.7), projection)[0],
            1e-12,
        )
        tiles.kernel_product(known, Gaussian(1.7), known)
    assert len(compiled.over_tile.signatures) == versions  # type: ignore[attr-defined]


def test_few_rows_never_import_numba() -> None:
    code = (
        "import sys, numpy as np; from ism_core import Gaussian; from ism_core.objective import tiles;"
        "tiles.kernel_product(np.ones((300, 2)), Gaussian(1.0), np.ones((300, 1)));"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_numpy_does_it_where_numba_is_missing() -> None:
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import numpy as np; from ism_core import Gaussian; from ism_core.objective import pairs, tiles\n"
        "pairs.COMPILED_ROWS = 0\n"
        "P = np.arange(12.0).reshape(6, 2)\n"
        "assert type(pairs.pairs_of(P, Gaussian(1.0))) is pairs.NumpyPairs\n"
        "np.testing.assert_allclose(tiles.kernel_product(P, Gaussian(1.0), np.ones((6, 1))).sum(), 6.1834, atol=1e-3)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
