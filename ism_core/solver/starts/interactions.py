"""A start from interactions: products of two columns that the target depends on.

Φ0 knows the means of the columns in each class. It cannot find columns that matter only together, such as the two
columns of an exclusive or, or the variance of a column. Their trace is in the second moments Ba = Xᵀ diag(ua) X, for
the columns ua of Γ's factor U.

Each entry of Ba is divided by its standard deviation under random permutations of the rows of U. Entries that chance
explains are shrunk to 0 (soft thresholding), since most pairs of columns do not matter. The start has the dominant
eigenvectors of Σ BaBaᵀ + Σ mamaᵀ, with the first moments ma = Xᵀua treated likewise.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.stats import norm

from ism_core.arrays import Array
from ism_core.gamma import Gamma

SIGNIFICANCE = 0.01  # probability that any entry of unrelated columns exceeds the threshold (Bonferroni)
MOST_COMPONENTS = 10  # principal components of U that are used
SMALLEST_COMPONENT = 0.05  # share of the largest singular value of U from which a component is used
MOST_FLOPS = 4e9  # of the second moments; if all rows need more, a sample of them is used
COMPLETION = 1e-9  # weight of the entries below the threshold: they order the directions that the others leave open


def interaction_directions(X: Array, gamma: Gamma, count: int, rng: np.random.Generator) -> tuple[Array, bool]:
    """Return orthonormal directions, the most important first, and whether any second moment is significant.

    Parameters
    ----------
    X
        The rows, with columns of comparable units.
    count
        The number of directions.
    """
    n, d = X.shape
    rows = int(MOST_FLOPS / (2 * d**2 * min(MOST_COMPONENTS, gamma.U.shape[1])))
    if rows < n:
        sample = gamma.sample(max(rows, 2 * count), rng)
        X, gamma = X[sample], gamma.restricted(sample)
    components = _components(gamma.U)
    X = X - X.mean(axis=0)
    squares, covariance = X**2, X.T @ X / len(X)
    variances = squares.T @ squares / len(X) - covariance**2
    spreads, deviations = (np.sqrt(np.where(each > 0, each, np.inf)) for each in (squares.mean(axis=0), variances))
    surrogate, is_significant = np.zeros((d, d)), False
    for u in components.T:
        first, second = (X.T @ u / spreads)[:, None], (X * u[:, None]).T @ X / deviations
        for moments in (first, second):
            threshold = _threshold(moments.size * components.shape[1])
            shrunk = np.sign(moments) * np.maximum(np.abs(moments) - threshold, 0)
            surrogate += shrunk @ shrunk.T + COMPLETION * (moments @ moments.T)
        is_significant = is_significant or bool(shrunk.any())
    directions: Array = eigh(surrogate, subset_by_index=[d - count, d - 1])[1][:, ::-1]
    return directions, is_significant


def _components(U: Array) -> Array:
    """Return the principal components of the columns of U, each of length 1."""
    left, sizes, _ = np.linalg.svd(U - U.mean(axis=0), full_matrices=False)
    components: Array = left[:, sizes > SMALLEST_COMPONENT * sizes[0]][:, :MOST_COMPONENTS]
    return components


def _threshold(count: int) -> float:
    """Return the absolute value that any of `count` unrelated moments exceeds with a probability of SIGNIFICANCE."""
    return float(norm.isf(SIGNIFICANCE / 2 / count))
