"""NewtonMixing the Φs of the last rounds."""

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg.subspaces import eigenpairs, largest_angle
from ism_core.solver.newton_mixing import NewtonMixing

D, Q = 30, 3


def problem() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    base = rng.standard_normal((D, D))
    turn = np.linalg.qr(rng.standard_normal((D, D)))[0]
    return 0.1 * (base + base.T) + np.diag(np.linspace(2, 0, D)), turn


def phi_at(W: Array) -> Array:
    """A Φ that moves with W, slowly enough for plain rounds to close in on a fixed point, if slowly."""
    base, turn = problem()
    moved, back = turn @ W, turn.T @ W
    return base + 0.8 * (moved @ moved.T + back @ back.T)


def rounds(mixing: NewtonMixing | None, count: int) -> list[float]:
    """The residual round by round."""
    W = np.eye(D)[:, :Q]
    residuals = []
    for _ in range(count):
        phi = phi_at(W)
        half_gradient = phi @ W
        residuals.append(float(np.linalg.norm(half_gradient - W @ (W.T @ half_gradient))))
        W = eigenpairs(phi if mixing is None else mixing.mixed(phi, W), Q)[1]
    return residuals


def test_mixing_reaches_the_fixed_point_in_fewer_rounds() -> None:
    plain, mixed = rounds(None, 25), rounds(NewtonMixing(), 25)
    assert mixed[-1] < 1e-3 * plain[-1]
    assert mixed[-1] < 1e-6


def test_the_first_round_is_not_mixed() -> None:
    W = np.eye(D)[:, :Q]
    phi = phi_at(W)
    np.testing.assert_allclose(NewtonMixing().mixed(phi, W), phi)


def test_a_fixed_point_is_left_alone() -> None:
    base, _ = problem()
    W = eigenpairs(base, Q)[1]
    mixing = NewtonMixing()
    for _ in range(12):
        assert largest_angle(W, eigenpairs(mixing.mixed(base, W), Q)[1]) < 1e-9


def test_a_saddle_is_passed_by() -> None:
    """J = ½wᵀBw + ¼Σw⁴ on the sphere: largest near an axis, and nearly so halfway between two, where it is a saddle."""
    B = np.diag([0.0, 0.0, -0.3, -0.6])
    B[0, 1] = B[1, 0] = 0.48  # from 0.5 on the saddle would be a maximum

    def value(w: Array) -> float:
        return float(0.5 * w @ B @ w + 0.25 * (w**4).sum())

    w = np.array([1.02, 1.0, 0.2, 0.1])
    w /= np.linalg.norm(w)
    mixing = NewtonMixing()
    for _ in range(25):
        w = eigenpairs(mixing.mixed(B + np.diag(w**2), w[:, None]), 1)[1][:, 0]
    residual = B @ w + w**3
    assert np.linalg.norm(residual - w * (w @ residual)) < 1e-6
    assert value(w) > value(np.array([1.0, 1.0, 0.0, 0.0]) / np.sqrt(2)) + 1e-4
