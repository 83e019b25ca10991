"""Rows of guided clusterings are whitened, and labels guide the axes, if that finds hidden labels again."""

import numpy as np
import pytest

from ism_core import Choice, Gaussian, SemiSupervised, SemiSupervisedISM, Unsupervised, UnsupervisedISM, choose
from ism_core.arrays import Array, Ints
from ism_core.metrics import nmi
from tests.ism_core.conftest import Labelled

KERNEL = Gaussian("auto")


@pytest.fixture(scope="module")
def sizes() -> Labelled:
    """Rows that differ mostly in size, which says nothing about their class."""
    rng = np.random.default_rng(0)
    y: Ints = np.arange(120) % 2
    size = rng.standard_normal((120, 1))
    X = size + 0.05 * rng.standard_normal((120, 4))
    X[:, 0] += 0.3 * y
    return Labelled(X, y)


@pytest.fixture
def clear(rng: np.random.Generator) -> Labelled:
    """Three clusters that are found without labels."""
    y: Ints = np.arange(60) % 3
    return Labelled(6 * np.eye(4)[y] + rng.standard_normal((60, 4)), y)


def some(y: Ints, step: int) -> Array:
    return np.where(np.arange(len(y)) % step < 2, y, np.nan)


@pytest.fixture(scope="module")
def choice(sizes: Labelled) -> Choice:
    return choose(sizes.X, SemiSupervised(some(sizes.y, 10), 2), KERNEL, scale="auto")


def test_rows_are_whitened_if_only_that_finds_hidden_labels(sizes: Labelled, choice: Choice) -> None:
    assert choice.chosen.scale == "whiten"
    assert {candidate.scale for candidate in choice.candidates} == {"standard", "whiten"}
    assert "of the 24 hidden labels" in choice.reason
    fitted = SemiSupervisedISM(KERNEL, scale="auto", n_clusters=2).fit(sizes.X, some(sizes.y, 10))
    assert nmi(fitted.labels_, sizes.y) > 0.8


def test_rows_are_not_whitened_for_other_reasons(sizes: Labelled) -> None:
    shuffled = some(np.random.default_rng(1).permutation(sizes.y), 10)
    single = np.where(np.arange(120) < 2, sizes.y, np.nan)  # one label of each class: none can be hidden
    for paradigm in (
        Unsupervised(2),
        SemiSupervised(some(sizes.y, 10), 2, mu=5.0),
        SemiSupervised(shuffled, 2),
        SemiSupervised(single, 2),
    ):
        assert choose(sizes.X, paradigm, KERNEL, scale="auto").chosen.scale == "standard"
    assert choose(sizes.X, SemiSupervised(some(sizes.y, 10), 2), KERNEL, scale="standard").chosen.scale == "standard"


def test_labels_guide_the_axes_only_if_that_finds_more_hidden_labels(choice: Choice, clear: Labelled) -> None:
    assert choice.mu is None
    paradigm = SemiSupervised(some(clear.y, 10), 3)
    unguided = choose(clear.X, paradigm, KERNEL)
    assert unguided.mu == 0
    assert "clusters without guidance recovered" in unguided.reason
    free = choose(clear.X, Unsupervised(3), KERNEL)
    assert unguided.chosen.kernel == free.chosen.kernel
    assert choose(clear.X, paradigm.unguided, KERNEL).reason == free.reason


def test_clusters_without_guidance_are_numbered_like_the_labels(clear: Labelled) -> None:
    scores = some(clear.y, 10)
    free = UnsupervisedISM(KERNEL, n_clusters=3).fit(clear.X)
    guided = SemiSupervisedISM(KERNEL, n_clusters=3).fit(clear.X, scores)
    assert nmi(free.labels_, clear.y) > 0.9
    np.testing.assert_allclose(guided.components_, free.components_, atol=1e-9)
    assert np.mean(guided.labels_ == clear.y) > 0.9
