"""What is known of Φ, in a space of few directions, beside the matrix itself."""

from dataclasses import dataclass

import numpy as np
import pytest

from ism_core.arrays import Array
from ism_core.linalg.subspaces import corrected, dominant, largest_angle
from ism_core.solver.ascent import surrogate_model as module
from ism_core.solver.ascent.surrogate_model import SurrogateModel

Q = 3


@dataclass
class Directions:
    """All of them may be chosen."""

    dimensions: int

    @property
    def scatter(self) -> Array:
        return np.eye(self.dimensions)

    def without_null_directions(self, phi: Array) -> Array:
        return phi


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A space is used for small matrices too."""
    monkeypatch.setattr(module, "NARROW", 0)
    monkeypatch.setattr(module, "BESIDE", 5)


def symmetric(rng: np.random.Generator, d: int = 60) -> Array:
    """With eigenvalues that fall slowly, of both signs."""
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return (turn * np.linspace(8, -3, d)) @ turn.T


def orthonormal(rng: np.random.Generator, d: int = 60) -> Array:
    return np.linalg.qr(rng.standard_normal((d, Q)))[0]


def changed(rng: np.random.Generator, times: int, d: int = 60) -> tuple[SurrogateModel, Array]:
    """A model that was set right a few times, and the matrix that it stands for."""
    phi = symmetric(rng, d)
    model = SurrogateModel.of(phi, Directions(d), Q)
    for _ in range(times):
        W, half_gradient = orthonormal(rng, d), rng.standard_normal((d, Q))
        half_gradient += W @ (0.5 * (half_gradient.T @ W - W.T @ half_gradient))  # WᵀΦW is symmetric
        model, phi = model.corrected(W, half_gradient - model.times(W)), corrected(phi, W, half_gradient)
        np.testing.assert_allclose(model.times(W), half_gradient, atol=1e-10)
    return model, phi


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("times", [0, 1, 3, 12])
def test_corrections_are_those_of_the_matrix(times: int, rng: np.random.Generator) -> None:
    model, phi = changed(rng, times)
    assert model.space is not None
    assert len(model.space.change) <= module.WIDE * (Q + module.BESIDE)
    np.testing.assert_allclose(model.matrix, phi, atol=1e-9)
    V = rng.standard_normal((60, 2))
    np.testing.assert_allclose(model.times(V), phi @ V, atol=1e-9)
    np.testing.assert_allclose(model.scaled(2.5).matrix, 2.5 * phi, atol=1e-9)
    np.testing.assert_allclose(model.padded(4).matrix, np.pad(phi, (0, 4)), atol=1e-9)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("shift", [0.0, 2.0, -0.1])
@pytest.mark.parametrize("times", [0, 3])
def test_dominant_vectors_are_near_those_of_the_matrix(times: int, shift: float, rng: np.random.Generator) -> None:
    model, phi = changed(rng, times)
    W = orthonormal(rng)
    expected, gap = dominant(phi + shift * W @ W.T, Q, Directions(60))
    found = model.dominant(W, shift)
    assert largest_angle(expected, found.vectors) < 0.3 * largest_angle(expected, W)
    best = np.linalg.eigvalsh(phi + shift * W @ W.T)[-Q:].sum()
    assert np.trace(found.vectors.T @ (phi + shift * W @ W.T) @ found.vectors) == pytest.approx(best, rel=0.02)
    assert found.gap > 0.9 * gap
    np.testing.assert_allclose(found.model.matrix, phi, atol=1e-9)


@pytest.mark.usefixtures("narrow")
def test_dominant_vectors_are_the_more_exact_the_nearer_they_are(rng: np.random.Generator) -> None:
    model, phi = changed(rng, 2)
    expected, _ = dominant(phi, Q, Directions(60))
    for off in (1e-1, 1e-3, 1e-5):
        W = np.linalg.qr(expected + off * orthonormal(rng))[0]
        assert largest_angle(expected, model.dominant(W).vectors) < max(0.2 * largest_angle(expected, W), 1e-7)


@pytest.mark.usefixtures("narrow")
def test_zero_eigenvalues_are_left_to_the_whole_matrix(rng: np.random.Generator) -> None:
    turn = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    phi = (turn[:, :2] * [3.0, 2.0]) @ turn[:, :2].T - np.outer(turn[:, 2], turn[:, 2])
    W = orthonormal(rng)
    found = SurrogateModel.of(phi, Directions(60), Q).dominant(W)
    np.testing.assert_array_equal(found.vectors, dominant(phi, Q, Directions(60))[0])


@pytest.mark.usefixtures("narrow")
def test_a_space_is_taken_over_from_a_model_like_it(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    phi = symmetric(rng)
    near = SurrogateModel.of(phi, Directions(60), Q)
    bent = phi + 1e-3 * symmetric(rng)
    expected, _ = dominant(bent, Q, Directions(60))
    monkeypatch.setattr(Directions, "without_null_directions", None)  # what all of Φ is decomposed through
    model = SurrogateModel.of(bent, Directions(60), Q, near)
    assert model.space is not None
    assert largest_angle(expected, model.space.basis[:, :Q]) < 1e-2


def test_few_columns_need_no_space(rng: np.random.Generator) -> None:
    model = SurrogateModel.of(symmetric(rng), Directions(60), Q)
    W = orthonormal(rng)
    assert model.space is None
    np.testing.assert_array_equal(model.dominant(W).vectors, dominant(model.matrix, Q, Directions(60))[0])


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("times", [0, 3])
def test_eigenvalues_that_the_space_does_not_know_are_told_from_those_of_v(
    times: int, rng: np.random.Generator
) -> None:
    model, phi = changed(rng, times)
    values, vectors = np.linalg.eigh(phi)
    top, gap = vectors[:, -Q:], values[-Q] - values[-Q - 1]
    assert model.is_beside(top, 0.99 * gap)
    assert not model.is_beside(top, 1.01 * gap)
    assert not model.is_beside(np.delete(vectors, -2, axis=1)[:, -Q:], 0.0)
