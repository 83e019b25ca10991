"""Measure the test of what W misses: its false alarms if nothing is missed, and its power.

    python -m benchmarks.missed [problems]

Each family has so many seeded problems (200 by default), whose target depends on one true axis. The test is run with
the true W, with a fitted W and its standard errors, and with the true W if another feature has an effect of 0.3: that
many standard deviations of the noise. Classes come from a latent value with logistic noise. A family of XOR has two
features that matter only together, and W is fitted. The table is Markdown.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import kstest

from ism_core import Gaussian, Missed, Supervised, missed_dependence, solve
from ism_core.arrays import Array
from ism_core.linalg import standardized
from ism_core.missed import LEVEL
from ism_core.solver import stability

PROBLEMS = 200
EFFECT = 0.3  # of the missed feature
RESAMPLES = 10  # halves that give the standard error of W, as in a job
AXIS = np.array([1.0, 0.8, -0.6]) / np.sqrt(2)  # weights of the first three features
MISSED = 5  # the missed feature
LOGISTIC = np.pi / np.sqrt(3)  # standard deviation of the logistic distribution

Rng = np.random.Generator
Target = Callable[[Array, Array, Rng], Any]  # of the rows and of the mean of the latent value


def noisy(X: Array, mean: Array, rng: Rng) -> Array:
    return mean + rng.normal(size=len(mean))


def uneven(X: Array, mean: Array, rng: Rng) -> Array:
    return mean + (0.3 + abs(X[:, 4])) * rng.normal(size=len(mean))


def classes(X: Array, mean: Array, rng: Rng) -> Array:
    return np.digitize(LOGISTIC * mean + rng.logistic(size=len(mean)), [-1, 1])


def two_classes(X: Array, mean: Array, rng: Rng) -> Array:
    return (LOGISTIC * mean + rng.logistic(size=len(mean)) > 0).astype(int)


FAMILIES: dict[str, tuple[int, int, Callable[[Array], Array], Target]] = {  # n, d, f(p) and the target
    "values, sine": (500, 10, lambda p: 1.5 * np.sin(2 * p), noisy),
    "values, linear": (200, 10, lambda p: p, noisy),
    "values, uneven noise": (500, 10, lambda p: 2 * np.tanh(3 * p), uneven),
    "two classes": (500, 10, lambda p: p, two_classes),
    "three classes": (500, 30, lambda p: p, classes),
    "two classes, 100 features": (500, 100, lambda p: p, two_classes),
}


def drawn(name: str, seed: int, effect: float = 0.0) -> tuple[Array, Array, Array]:
    """Return rows, target and the true W of a problem."""
    n, d, function, target = FAMILIES[name]
    rng = np.random.default_rng(seed)
    X = standardized(rng.normal(size=(n, d)))[0]
    W = np.concatenate([AXIS, np.zeros(d - 3)])[:, None]
    return X, target(X, function(X @ W[:, 0]) + effect * X[:, MISSED], rng), W


def fitted(X: Array, y: Array, seed: int) -> Missed:
    """Test a W that was fitted to the rows."""
    paradigm = Supervised(y)
    result = solve(X, paradigm, Gaussian(), 1, seed=seed)
    resamples = stability(X, paradigm, result, resamples=RESAMPLES, seed=seed).resamples
    deviations = [each.W - result.W for each in resamples]
    return missed_dependence(X, y, result.W, result.kernel, deviations=deviations, seed=seed)


def xor(n: int, d: int, seed: int) -> tuple[Array, Array]:
    """Return classes with a strong effect of feature 0; features 3 and 4 matter only together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (2.5 * X[:, 0] + 2.5 * np.sign(X[:, 3] * X[:, 4]) + rng.logistic(size=n) > 0).astype(int)


def main(problems: int) -> None:
    print("| family | rows × features | uniform: KS p | p ≤ 0.05, true W | p ≤ 0.05, fitted W | power |")
    print("|---|---|---|---|---|---|")
    for name, (n, d, _, _) in FAMILIES.items():
        null, fits, power = [], [], []
        for seed in range(problems):
            X, y, W = drawn(name, seed)
            null.append(missed_dependence(X, y, W, Gaussian(3.0), seed=seed).p_value)
            fits.append(fitted(X, y, seed).p_value <= LEVEL)
            X, y, W = drawn(name, seed, EFFECT)
            power.append(missed_dependence(X, y, W, Gaussian(3.0), seed=seed).p_value <= LEVEL)
        rates = f"{np.mean(np.array(null) <= LEVEL):.3f} | {np.mean(fits):.3f} | {np.mean(power):.2f}"
        print(f"| {name} | {n}×{d} | {kstest(null, 'uniform').pvalue:.2f} | {rates} |", flush=True)
    for n, d in ((500, 10), (500, 100)):
        found = [fitted(*xor(n, d, seed), seed).features == (3, 4) for seed in range(problems // 4)]
        print(f"| XOR beside a main effect | {n}×{d} | | | | {np.mean(found):.2f} (names both features) |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PROBLEMS)
