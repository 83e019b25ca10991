"""The start from products of two columns."""

import numpy as np
import pytest

from ism_core import Gaussian, InvalidInput, Supervised, Unsupervised, solve
from ism_core.arrays import Array
from ism_core.solver.starts.interactions import interaction_directions


def share(W: Array) -> float:
    """The share of the first two columns in W."""
    return float((W[:2] ** 2).sum() / (W**2).sum())


@pytest.mark.parametrize("kind", ["xor", "ring", "values"])
def test_directions_hold_the_columns_that_matter_only_together(rng: np.random.Generator, kind: str) -> None:
    X = rng.standard_normal((400, 30))
    product, radius = X[:, 0] * X[:, 1], X[:, 0] ** 2 + X[:, 1] ** 2
    y = {"xor": (product > 0).astype(int), "ring": (radius > 1.4).astype(int), "values": product}[kind]
    directions, are_significant = interaction_directions(X, Supervised(y).target_gamma(), 2, rng)
    assert are_significant
    assert share(directions) > 0.99
    np.testing.assert_allclose(directions.T @ directions, np.eye(2), atol=1e-12)


def test_chance_is_not_significant(rng: np.random.Generator) -> None:
    found = 0
    for _ in range(20):
        X = rng.standard_normal((100, 12))
        gamma = Supervised(rng.integers(0, 3, 100)).target_gamma()
        found += interaction_directions(X, gamma, 2, rng)[1]
    assert found <= 2


def test_a_mean_that_matters_comes_with_the_products(rng: np.random.Generator) -> None:
    X = rng.standard_normal((600, 20))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    directions, _ = interaction_directions(X, Supervised(y).target_gamma(), 3, rng)
    assert (directions[:3] ** 2).sum() > 2.9


def test_a_solve_from_interactions_finds_what_a_path_misses(rng: np.random.Generator) -> None:
    X = rng.standard_normal((300, 20))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    found, missed = (solve(X, Supervised(y), Gaussian(0.8), 2, starts=s, delta=0.1) for s in ("interactions", "path"))
    assert share(found.W) > 0.8 > share(missed.W)


def test_clusterings_have_no_interactions(rng: np.random.Generator) -> None:
    with pytest.raises(InvalidInput, match='starts is "interactions", which is not available for clusterings'):
        solve(rng.standard_normal((20, 3)), Unsupervised(2), "gaussian", 2, starts="interactions")
