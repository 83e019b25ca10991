"""The paper's Tables 1 to 3 and Algorithm 1 written down on n×n arrays, as a reader of the paper would at first.

    python -m benchmarks transcription

H, K_Y, Γ, β and Ψ are matrices of n×n numbers; Φ = XᵀΨX or 2Xᵀ(D − Ψ)X; W is the eigenvectors of the q largest
eigenvalues of Φ, from Φ0 on until the eigenvalues stand still. Two misprints are corrected: the distances
(squared, multiquadratic) have the minus that makes them similarities, and the loop ends, not goes on, when
‖Λi − Λi−1‖/‖Λi‖ < δ. On one data set it is timed beside `solve`, on others it is a reference for the tests.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.datasets import load
from benchmarks.measuring import Row, claim, medians, run_part, say, serve_parts, timed
from ism_core import Gaussian, Linear, Multiquadratic, Polynomial, Squared, Supervised, solve
from ism_core.arrays import Array
from ism_core.kernels import Term

FASTER = {"gaussian": 20, "polynomial": 30, "linear": 500}  # how many times `solve` should be, on MNIST's 10,000
AS_HIGH = 1 - 1e-6  # J counts as equal from here on


@dataclass(frozen=True)
class Found:
    W: Array
    eigenvalues: Array
    iterations: int


def label_gamma(y: ArrayLike) -> Array:
    """Γ = H K_Y H, K_Y = 1 where labels agree."""
    labels = np.asarray(y)
    n = len(labels)
    H = np.eye(n) - 1 / n
    K = (labels[:, None] == labels).astype(float)
    gamma: Array = H @ K @ H
    return gamma


def is_product(kernel: Term) -> bool:
    return isinstance(kernel, Linear | Polynomial)


def beta(X: Array, kernel: Term, W: Array) -> Array:
    P = X @ W
    products: Array = P @ P.T
    if is_product(kernel):
        return products
    squares = np.diag(products)
    return np.maximum(squares[:, None] + squares - 2 * products, 0)


def value(kernel: Term, b: Array) -> Array:
    """f(β)"""
    match kernel:
        case Linear():
            return b
        case Squared():
            return -b
        case Polynomial(degree, c, gamma):
            return (gamma * b + c) ** degree
        case Gaussian(sigma):
            return np.exp(-b / (2 * sigma**2))
        case Multiquadratic(c):
            return -np.sqrt(b + c**2)
    raise AssertionError(kernel)


def slope(kernel: Term, b: Array) -> Array:
    """f′(β)"""
    match kernel:
        case Polynomial(degree, c, gamma):
            return degree * gamma * (gamma * b + c) ** (degree - 1)
        case Gaussian(sigma):
            return -np.exp(-b / (2 * sigma**2)) / (2 * sigma**2)
        case Multiquadratic(c):
            return -0.5 / np.sqrt(b + c**2)
    raise AssertionError(kernel)


def from_psi(X: Array, kernel: Term, psi: Array) -> Array:
    if is_product(kernel):
        phi: Array = X.T @ psi @ X
    else:
        degrees = psi.sum(axis=1)
        phi = 2 * (X.T @ (degrees[:, None] * X) - X.T @ psi @ X)  # D is diagonal: no one would write it as n×n
    return phi


def surrogate(X: Array, gamma: Array, kernel: Term, W: Array) -> Array:
    """Φ(W); f′ of linear and squared is 1 and −1."""
    if isinstance(kernel, Linear | Squared):
        return initial_surrogate(X, gamma, kernel)
    return from_psi(X, kernel, gamma * slope(kernel, beta(X, kernel, W)))


def initial_surrogate(X: Array, gamma: Array, kernel: Term) -> Array:
    """Φ0: the sign of f′(0) in place of f′."""
    return from_psi(X, kernel, gamma if is_product(kernel) else -gamma)


def objective(X: Array, gamma: Array, kernel: Term, W: Array) -> float:
    """J(W)"""
    return float(np.sum(gamma * value(kernel, beta(X, kernel, W))))


def largest(phi: Array, q: int) -> tuple[Array, Array]:
    eigenvalues, vectors = np.linalg.eigh(phi)
    return eigenvalues[::-1][:q], vectors[:, ::-1][:, :q]


def transcribed(X: Array, gamma: Array, kernel: Term, q: int, delta: float = 0.01, max_iter: int = 100) -> Found:
    """Algorithm 1."""
    before, W = largest(initial_surrogate(X, gamma, kernel), q)
    iteration, change = 0, np.inf
    while change >= delta and iteration < max_iter:
        eigenvalues, W = largest(surrogate(X, gamma, kernel, W), q)
        change = float(np.linalg.norm(eigenvalues - before) / np.linalg.norm(eigenvalues))
        iteration, before = iteration + 1, eigenvalues
    return Found(W, before, iteration)


def beside_solve(data: str, q: int) -> Row:
    """Both on one data set, kernel by kernel; J of both by the n×n arrays."""
    table = load(data)
    X = table.standardized
    seconds_gamma, gamma = timed(partial(label_gamma, table.y))
    say(f"Γ = HKH: {seconds_gamma:.1f} s")
    rows = []
    for name in FASTER:
        result = solve(X, Supervised(table.y), name, q)
        ours = medians({"": partial(solve, X, Supervised(table.y), name, q)}, repeats=5, enough=8)[""]
        ((_, kernel),) = result.kernel.terms
        seconds, found = timed(partial(transcribed, X, gamma, kernel, q))
        J, J_found = objective(X, gamma, kernel, result.W), objective(X, gamma, kernel, found.W)
        rows.append(
            {
                "kernel": name,
                "transcription s": seconds_gamma + seconds,
                "of it Γ s": seconds_gamma,
                "its iterations": found.iterations,
                "ISM s": ours,
                "times faster": (seconds_gamma + seconds) / ours,
                "without Γ": seconds / ours,
                "its J": J_found,
                "J of ISM": J,
                "J/its J − 1": J / J_found - 1,
            }
        )
        say(f"{name}: {seconds:.1f} s and Γ, ISM {ours:.3f} s, J/its J − 1 {J / J_found - 1:.1e}")
    return {"rows": rows}


def section() -> Row:
    """The transcription on MNIST's 10,000 test rows, q = 10, δ = 0.01, beside `solve` at its defaults."""
    rows = run_part("speed.transcription", "beside_solve", data="mnist_test", q=10)["rows"]
    claims = []
    for row in rows:
        name = row["kernel"]
        claims.append(claim(f"{name}: times faster than the n×n transcription", row["times faster"], "≥", FASTER[name]))
        claims.append(claim(f"{name}: J over the transcription's", row["J of ISM"] / row["its J"], "≥", AS_HIGH))
    return {"claims": claims, "tables": {"n×n transcription, MNIST 10,000, q = 10": rows}}


if __name__ == "__main__":
    serve_parts(beside_solve)
