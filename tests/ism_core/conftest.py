"""Data that the tests of ism_core share."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from threadpoolctl import threadpool_limits

from ism_core.arrays import Array, Ints
from ism_core.gamma import Gamma, LabelGamma
from ism_core.linalg import standardized

settings.register_profile("core", deadline=None, max_examples=30, derandomize=True)
settings.load_profile("core")


@pytest.fixture(scope="session", autouse=True)
def openmp_on_one_thread() -> Iterator[None]:
    """k-means on 60 rows takes 20 times as long on the OpenMP threads of a busy machine as without them."""
    with threadpool_limits(1, user_api="openmp"):
        yield


@dataclass(frozen=True)
class Labelled:
    """Rows and their classes."""

    X: Array
    y: Ints


@dataclass(frozen=True)
class Planted:
    """Rows whose structure lies in `axes` and nowhere else."""

    X: Array
    axes: Array
    hidden: Array  # what the rows have along the axes
    labels: Ints


@dataclass(frozen=True)
class TwoClusterings:
    """Rows with two clusterings that have nothing to do with each other, each along an axis of its own."""

    X: Array
    axes: Array
    clear: Ints  # the one that clustering finds unaided
    faint: Ints


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def rows() -> Array:
    """23 correlated rows in 4 columns, off the origin."""
    rng = np.random.default_rng(10)
    X = rng.standard_normal((23, 4)) @ rng.standard_normal((4, 4)) + [0.5, -1.0, 0.0, 2.0]
    X.flags.writeable = False
    return X


@pytest.fixture(scope="session")
def projection() -> Array:
    """An orthonormal W for `rows`, q = 2."""
    return np.linalg.qr(np.random.default_rng(11).standard_normal((4, 2)))[0]


@pytest.fixture(scope="session", params=["labels", "signed"])
def gamma(request: pytest.FixtureRequest) -> Gamma:
    """Γ for `rows`: of class labels, or of any factor with weights of both signs, and not centered."""
    rng = np.random.default_rng(12)
    if request.param == "labels":
        return LabelGamma.of(rng.integers(0, 3, 23))
    return Gamma(rng.standard_normal((23, 3)), np.array([1.0, -0.6, 0.3]))


@pytest.fixture(scope="session")
def blobs() -> Labelled:
    """Three overlapping classes, 60 standardized rows in 5 columns."""
    rng = np.random.default_rng(1)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 5))
    X[:, 0] += 2.0 * y
    X[:, 1] += 2.0 * (y == 1)
    return Labelled(standardized(X)[0], y)


@pytest.fixture(scope="session")
def planted() -> Planted:
    """Three classes in a plane of 7 dimensions; every direction varies alike, so that variance gives nothing away."""
    rng = np.random.default_rng(2)
    labels = np.arange(150) % 3
    corners = 4.0 * np.array([[1.0, 0.0], [-0.5, 0.87], [-0.5, -0.87]])
    hidden = standardized(corners[labels] + rng.standard_normal((150, 2)))[0]
    noise = standardized(rng.standard_normal((150, 5)))[0]
    turn = np.linalg.qr(rng.standard_normal((7, 7)))[0]
    return Planted(np.hstack([hidden, noise]) @ turn.T, turn[:, :2], hidden, labels)


@pytest.fixture(scope="session")
def two_clusterings() -> TwoClusterings:
    rng = np.random.default_rng(3)
    clear, faint = rng.permuted(np.tile(np.arange(120) % 2, (2, 1)), axis=1)
    hidden = standardized(np.column_stack([8.0 * clear, 7.0 * faint]) + rng.standard_normal((120, 2)))[0]
    noise = 0.5 * standardized(rng.standard_normal((120, 3)))[0]
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    return TwoClusterings(np.hstack([hidden * [1.0, 7 / 8], noise]) @ turn.T, turn[:, :2], clear, faint)


@pytest.fixture(scope="session")
def wine() -> Labelled:
    X, y = load_wine(return_X_y=True)
    return Labelled(standardized(X)[0], y)


@pytest.fixture(scope="session")
def wdbc() -> Labelled:
    X, y = load_breast_cancer(return_X_y=True)
    return Labelled(standardized(X)[0], y)


@pytest.fixture(scope="session")
def digits() -> Labelled:
    X, y = load_digits(return_X_y=True)
    return Labelled(standardized(X)[0], y)
