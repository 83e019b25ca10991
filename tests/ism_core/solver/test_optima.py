"""Known optima, accuracies and clusterings of real data, at the defaults."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from ism_core import Gaussian, Polynomial, Supervised, SupervisedISM, Unsupervised, aligned, solve
from ism_core.kernels import Kernel
from ism_core.metrics import nmi
from tests.ism_core.conftest import Labelled

KNOWN = [  # data set, q, kernel, the highest J known
    ("wine", 3, "gaussian", 1752.4),
    ("wine", 3, "polynomial", 18699.2),
    ("wine", 3, "multiquadratic", 17432.8),
    ("wdbc", 2, "gaussian", 19161.8),
    ("wdbc", 2, "polynomial", 229546.7),
    ("wdbc", 2, "multiquadratic", 249952.2),
    ("digits", 10, "polynomial", 535302),
    ("digits", 5, "polynomial", 365495),  # 336,013 without exchanges
    ("digits", 10, "gaussian", 49378.1),
]


@pytest.mark.parametrize(("name", "q", "kernel", "known"), KNOWN)
def test_the_known_optimum_is_reached_at_the_defaults(
    name: str, q: int, kernel: str, known: float, request: pytest.FixtureRequest
) -> None:
    data: Labelled = request.getfixturevalue(name)
    result = solve(data.X, Supervised(data.y), kernel, q)
    assert result.converged
    assert result.objective > known * (1 - 1e-5)
    assert result.objective == pytest.approx(known, rel=1e-3)  # J has its true scale
    assert result.certificate.gradient < 1e-3
    assert result.certificate.second_order


@pytest.mark.parametrize(("name", "q", "kernel", "known"), [case for case in KNOWN if case[0] != "digits"])
def test_a_fine_delta_brings_a_fine_gradient(
    name: str, q: int, kernel: str, known: float, request: pytest.FixtureRequest
) -> None:
    data: Labelled = request.getfixturevalue(name)
    result = solve(data.X, Supervised(data.y), kernel, q, delta=1e-6)
    assert result.converged
    assert result.certificate.gradient < 1e-5
    assert result.objective > known * (1 - 1e-5)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "multiquadratic"])
def test_the_seed_does_not_decide_what_is_reached(kernel: str, seed: int, wine: Labelled) -> None:
    base, other = (solve(wine.X, Supervised(wine.y), kernel, 3, seed=s).objective for s in (0, seed))
    assert other == pytest.approx(base, rel=1e-5)


ACCURATE: list[Kernel | str] = [
    "linear",
    "squared",
    "polynomial",
    "gaussian",
    "multiquadratic",
    aligned(Gaussian(), Polynomial()),
]


@pytest.mark.parametrize("kernel", ACCURATE, ids=str)
def test_wine_is_told_apart_in_three_dimensions(kernel: Kernel | str) -> None:
    X, y = load_wine(return_X_y=True)
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=5, random_state=0)
    assert cross_val_score(make_pipeline(SupervisedISM(kernel, q=3), SVC()), X, y, cv=folds).mean() >= 0.965


@pytest.mark.parametrize(("kernel", "floor"), [("gaussian", 0.86), ("polynomial", 0.84)])
def test_wine_is_clustered_without_labels(kernel: str, floor: float, wine: Labelled) -> None:
    result = solve(wine.X, Unsupervised(3), kernel, 3)
    assert result.converged
    assert nmi(result.labels, wine.y) >= floor


@pytest.mark.parametrize("kernel", ["squared", "multiquadratic", "linear"])
def test_wine_is_clustered_by_kernels_that_are_no_affinities_too(kernel: str, wine: Labelled) -> None:
    assert nmi(solve(wine.X, Unsupervised(3), kernel, 3).labels, wine.y) > 0.75


def test_the_cost_of_wine_without_the_diagonal_is_the_papers(wine: Labelled) -> None:
    """The paper reports −1311 ± 26 over ten folds of nine tenths of the rows; the diagonal of K, which is 1, is out."""
    costs = []
    for fold in range(10):
        keep = np.arange(178) % 10 != fold
        X, y = wine.X[keep], wine.y[keep]
        gamma = Supervised(y).target_gamma()
        result = solve(X, Supervised(y), "gaussian", 3)
        costs.append(np.einsum("ir,r,ir->", gamma.U, gamma.s, gamma.U) - result.objective)
    assert np.mean(costs) == pytest.approx(-1311, abs=26)
