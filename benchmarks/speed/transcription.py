"""Compare with a literal transcription of the paper: Tables 1 to 3 and Algorithm 1 on n×n arrays.

    python -m benchmarks transcription

H, K_Y, Γ, β and Ψ are n×n matrices; Φ = XᵀΨX or 2Xᵀ(D − Ψ)X. W has the eigenvectors of the q largest eigenvalues of Φ,
from Φ0 on until the eigenvalues converge. Two misprints are corrected: squared and multiquadratic have the minus that
makes a distance a similarity, and the loop ends, instead of going on, when ‖Λi − Λi−1‖/‖Λi‖ < δ. The tests use the
transcription as a reference.
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

MIN_SPEEDUP = {"gaussian": 20, "polynomial": 30, "linear": 500}  # of `solve`, on MNIST's 10,000 test rows
MIN_J_RATIO = 1 - 1e-6  # J of `solve` over that of the transcription


@dataclass(frozen=True)
class Found:
    W: Array
    eigenvalues: Array
    iterations: int


def label_gamma(y: ArrayLike) -> Array:
    """Return Γ = H K_Y H, with K_Y = 1 for equal labels and 0 otherwise."""
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
    """Return f(β)."""
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


def derivative(kernel: Term, b: Array) -> Array:
    """Return f′(β)."""
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
        phi = 2 * (X.T @ (degrees[:, None] * X) - X.T @ psi @ X)  # D is diagonal and not written as n×n
    return phi


def surrogate(X: Array, gamma: Array, kernel: Term, W: Array) -> Array:
    """Return Φ(W); f′ of linear and squared is 1 and −1."""
    if isinstance(kernel, Linear | Squared):
        return initial_surrogate(X, gamma, kernel)
    return from_psi(X, kernel, gamma * derivative(kernel, beta(X, kernel, W)))


def initial_surrogate(X: Array, gamma: Array, kernel: Term) -> Array:
    """Return Φ0, with the sign of f′(0) in place of f′."""
    return from_psi(X, kernel, gamma if is_product(kernel) else -gamma)


def objective(X: Array, gamma: Array, kernel: Term, W: Array) -> float:
    """Return J(W)."""
    return float(np.sum(gamma * value(kernel, beta(X, kernel, W))))


def largest(phi: Array, q: int) -> tuple[Array, Array]:
    eigenvalues, vectors = np.linalg.eigh(phi)
    return eigenvalues[::-1][:q], vectors[:, ::-1][:, :q]


def transcribed(X: Array, gamma: Array, kernel: Term, q: int, delta: float = 0.01, max_iter: int = 100) -> Found:
    """Run Algorithm 1 of the paper."""
    before, W = largest(initial_surrogate(X, gamma, kernel), q)
    iteration, change = 0, np.inf
    while change >= delta and iteration < max_iter:
        eigenvalues, W = largest(surrogate(X, gamma, kernel, W), q)
        change = float(np.linalg.norm(eigenvalues - before) / np.linalg.norm(eigenvalues))
        iteration, before = iteration + 1, eigenvalues
    return Found(W, before, iteration)


def beside_solve(data: str, q: int) -> Row:
    """Run both on one data set, kernel by kernel; J of both comes from the n×n arrays."""
    table = load(data)
    X = table.standardized
    seconds_gamma, gamma = timed(partial(label_gamma, table.y))
    say(f"Γ = HKH: {seconds_gamma:.1f} s")
    rows = []
    for name in MIN_SPEEDUP:
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
                "speed-up": (seconds_gamma + seconds) / ours,
                "without Γ": seconds / ours,
                "its J": J_found,
                "J of ISM": J,
                "J/its J − 1": J / J_found - 1,
            }
        )
        say(f"{name}: {seconds:.1f} s and Γ, ISM {ours:.3f} s, J/its J − 1 {J / J_found - 1:.1e}")
    return {"rows": rows}


def section() -> Row:
    """Compare the transcription (δ = 0.01) with `solve` (default settings) on MNIST's 10,000 test rows, q = 10."""
    rows = run_part("speed.transcription", "beside_solve", data="mnist_test", q=10)["rows"]
    claims = []
    for row in rows:
        name = row["kernel"]
        claims.append(claim(f"{name}: speed-up over n×n", row["speed-up"], "≥", MIN_SPEEDUP[name]))
        claims.append(claim(f"{name}: J over the transcription's", row["J of ISM"] / row["its J"], "≥", MIN_J_RATIO))
    return {"claims": claims, "tables": {"n×n transcription, MNIST 10,000, q = 10": rows}}


if __name__ == "__main__":
    serve_parts(beside_solve)
