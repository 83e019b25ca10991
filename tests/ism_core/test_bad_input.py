"""What cannot be used is refused with a sentence that holds the value that came."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ism_core import (
    Alternative,
    AlternativeISM,
    Gaussian,
    InvalidInput,
    Linear,
    Multiquadratic,
    Polynomial,
    RelativeGaussian,
    SemiSupervised,
    SemiSupervisedISM,
    Supervised,
    SupervisedISM,
    Unsupervised,
    UnsupervisedISM,
    aligned,
    iter_solve,
    solve,
)

X = np.random.default_rng(0).standard_normal((12, 4))
y = np.arange(12) % 3
INITIAL = np.eye(4)[:, :2]


def spoilt(value: float) -> np.ndarray:
    table = X.copy()
    table[7, 2] = value
    return table


def fit(**changed: Any) -> Callable[[], object]:
    """A solve that would work, but for what is changed."""
    given = {"X": X, "paradigm": Supervised(y), "kernel": "gaussian", "q": 2} | changed
    return lambda: solve(**given)


def text_columns() -> np.ndarray:
    table = X.astype(object)
    table[:, 1] = "red"
    return table


# what is given, the parameter that is blamed, and what the sentence must hold
CASES: dict[str, tuple[Callable[[], object], str, list[str]]] = {
    "NaN in X": (fit(X=spoilt(np.nan)), "X", ["1 value", "NaN", "row 7", "column 2"]),
    "infinity in X": (fit(X=spoilt(-np.inf)), "X", ["infinity", "row 7", "column 2"]),
    "no rows": (fit(X=np.empty((0, 4))), "X", ["0 sample", "2"]),
    "one row": (fit(X=X[:1], paradigm=Unsupervised(1)), "X", ["1 sample", "2"]),
    "no columns": (fit(X=np.empty((12, 0))), "X", ["0 feature"]),
    "one dimension": (fit(X=X[:, 0]), "X", ["(12,)"]),
    "three dimensions": (fit(X=X[None]), "X", ["(1, 12, 4)"]),
    "nothing at all": (fit(X=None), "X", ["()"]),
    "text columns": (fit(X=text_columns()), "X", ["column 1"]),
    "text only": (fit(X=X.astype(str)), "X", ["column 0"]),
    "complex numbers": (fit(X=X + 1j), "X", ["complex"]),
    "rows of different lengths": (fit(X=[[1.0, 2.0], [3.0]]), "X", []),
    "numbers that overflow": (fit(X=1e200 * X, kernel=Polynomial(3, 1.0, 1.0)), "X", ["large"]),
    "q of 0": (fit(q=0), "q", ["0", "1", "4"]),
    "negative q": (fit(q=-3), "q", ["-3", "4"]),
    "q beyond d": (fit(q=5), "q", ["5", "4"]),
    "fractional q": (fit(q=2.0), "q", ["2.0"]),
    "q as text": (fit(q="2"), "q", ["'2'"]),
    "q as a truth value": (fit(q=True), "q", ["True"]),
    "no q": (fit(q=None), "q", ["None"]),
    "more clusters than rows": (fit(paradigm=Unsupervised(13)), "n_clusters", ["13", "12"]),
    "no clusters": (lambda: Unsupervised(0), "n_clusters", ["0"]),
    "fractional clusters": (lambda: Unsupervised(2.5), "n_clusters", ["2.5"]),
    "clusters as a truth value": (lambda: Unsupervised(True), "n_clusters", ["True"]),
    "one class": (fit(paradigm=Supervised(np.ones(12))), "y", ["1 class", "2"]),
    "one class of text": (fit(paradigm=Supervised(["a"] * 12)), "y", ["1 class"]),
    "constant target": (fit(paradigm=Supervised(np.full(12, 0.5))), "y", ["same number"]),
    "too few labels": (fit(paradigm=Supervised(y[:9])), "y", ["9", "12"]),
    "too many labels": (fit(paradigm=Supervised(np.arange(20) % 2)), "y", ["20", "12"]),
    "no labels": (fit(paradigm=Supervised(None)), "y", ["None"]),
    "missing label": (fit(paradigm=Supervised([None, *y[1:]])), "y", ["1 missing", "row 0"]),
    "missing target": (fit(paradigm=Supervised([0.5] * 3 + [np.nan] * 2 + [1.5] * 7)), "y", ["2 missing", "row 3"]),
    "infinite target": (lambda: Supervised([0.5, np.inf]), "y", ["infinity", "row 1"]),
    "complex target": (lambda: fit(paradigm=Supervised(y + 0.5j))(), "y", []),
    "labels in several columns": (lambda: Supervised(np.ones((12, 2)), kind="classes"), "y", ["2 columns"]),
    "text as measurements": (lambda: Supervised(["a", "b"], kind="values"), "y", ["numbers"]),
    "three-dimensional target": (lambda: Supervised(np.ones((12, 2, 2))), "y", ["(12, 2, 2)"]),
    "unknown kind": (lambda: Supervised(y, kind="numbers"), "kind", ["'numbers'"]),
    "unknown target kernel": (lambda: Supervised(y, target_kernel="cubic"), "target_kernel", ["'cubic'"]),
    "scores of the wrong length": (fit(paradigm=SemiSupervised(y[:5], 2)), "scores", ["5", "12"]),
    "scores that are all missing": (fit(paradigm=SemiSupervised([np.nan] * 12, 2)), "scores", ["no value", "12"]),
    "clustering of the wrong length": (fit(paradigm=Alternative(y[:5], 2)), "clustering", ["5", "12"]),
    "clustering with one cluster": (fit(paradigm=Alternative([4] * 12, 2)), "clustering", ["1 class"]),
    "negative mu": (lambda: SemiSupervised(y, 2, mu=-0.5), "mu", ["-0.5"]),
    "negative mu of an alternative": (lambda: Alternative(y, 2, mu=-1), "mu", ["-1"]),
    "mu that is no number": (lambda: SemiSupervised(y, 2, mu=np.nan), "mu", ["nan"]),
    "mu as text": (lambda: Alternative(y, 2, mu="20"), "mu", ["'20'"]),
    "negative weight": (lambda: -0.3 * Gaussian(), "weight", ["-0.3", "Gaussian"]),
    "negative weight in a sum": (lambda: Gaussian() + -2 * Linear(), "weight", ["-2.0", "Linear"]),
    "weight that is no number": (lambda: np.nan * Linear(), "weight", ["nan"]),
    "all weights zero": (lambda: fit(kernel=0 * Gaussian() + 0 * Linear())(), "weight", ["0"]),
    "sigma of 0": (lambda: Gaussian(sigma=0), "sigma", ["0"]),
    "negative sigma": (lambda: Gaussian(sigma=-1.5), "sigma", ["-1.5"]),
    "infinite sigma": (lambda: Gaussian(sigma=np.inf), "sigma", ["inf"]),
    "unknown sigma": (lambda: Gaussian(sigma="mean"), "sigma", ["'mean'"]),
    "rows that coincide": (fit(X=np.ones((12, 4))), "sigma", ["0", "12 rows"]),
    "rows that coincide, local scales": (fit(X=np.ones((12, 4)), kernel="relative_gaussian"), "sigma", ["0"]),
    "degree of 0": (lambda: Polynomial(degree=0), "degree", ["0"]),
    "degree beyond reason": (lambda: Polynomial(degree=21), "degree", ["21", "20"]),
    "fractional degree": (lambda: Polynomial(degree=2.5), "degree", ["2.5"]),
    "degree as a truth value": (lambda: Polynomial(degree=True), "degree", ["True"]),
    "negative c": (lambda: Polynomial(c=-1.0), "c", ["-1.0"]),
    "gamma of 0": (lambda: Polynomial(gamma=0), "gamma", ["0"]),
    "unknown gamma": (lambda: Polynomial(gamma="scale"), "gamma", ["'scale'"]),
    "multiquadratic with c of 0": (lambda: Multiquadratic(c=0), "c", ["0"]),
    "multiquadratic with negative c": (lambda: Multiquadratic(c=-2), "c", ["-2"]),
    "no neighbors": (lambda: RelativeGaussian(neighbors=0), "neighbors", ["0"]),
    "fractional neighbors": (lambda: RelativeGaussian(neighbors=1.5), "neighbors", ["1.5"]),
    "delta of 0": (fit(delta=0), "delta", ["0"]),
    "negative delta": (fit(delta=-0.01), "delta", ["-0.01"]),
    "delta that is no number": (fit(delta=np.nan), "delta", ["nan"]),
    "delta as text": (fit(delta="0.01"), "delta", ["'0.01'"]),
    "max_iter of 0": (fit(max_iter=0), "max_iter", ["0"]),
    "fractional max_iter": (fit(max_iter=10.0), "max_iter", ["10.0"]),
    "starts of 0": (fit(starts=0), "starts", ["0"]),
    "negative starts": (fit(starts=-1), "starts", ["-1"]),
    "negative seed": (fit(seed=-1), "seed", ["-1"]),
    "fractional seed": (fit(seed=0.5), "seed", ["0.5"]),
    "no seed": (fit(seed=None), "seed", ["None"]),
    "unknown precision": (fit(precision="half"), "precision", ["'half'", "double", "single"]),
    "precision as a type": (fit(precision=np.float32), "precision", ["float32"]),
    "negative tolerance": (fit(tolerance=-1e-9), "tolerance", ["-1e-09", "0"]),
    "tolerance of 1": (fit(tolerance=1), "tolerance", ["1", "0.01"]),
    "tolerance that is no number": (fit(tolerance=np.nan), "tolerance", ["nan"]),
    "tolerance as text": (fit(tolerance="1e-6"), "tolerance", ["'1e-6'"]),
    "approximation as a number": (fit(approximation=2048), "approximation", ["2048", "features"]),
    "approximation by something else": (fit(approximation={"rows": 64}), "approximation", ["'rows'", "features"]),
    "approximation by two things": (fit(approximation={"features": 64, "rows": 9}), "approximation", ["'rows'"]),
    "too few random features": (fit(approximation={"features": 15}), "approximation", ["15", "16"]),
    "too many random features": (fit(approximation={"features": 10**6}), "approximation", ["1000000", "65,536"]),
    "half a random feature": (fit(approximation={"features": 64.5}), "approximation", ["64.5"]),
    "random features of local scales": (
        fit(kernel="relative_gaussian", approximation={"features": 64}),
        "approximation",
        ["relative Gaussian"],
    ),
    "unknown engine": (fit(engine="spark"), "engine", ["'spark'", "local", "dask"]),
    "engine of another kind": (fit(engine=4), "engine", ["4"]),
    "no memory": (fit(memory_limit=0), "memory_limit", ["0", "bytes"]),
    "memory as text": (fit(memory_limit="2 GiB"), "memory_limit", ["'2 GiB'"]),
    "fractional memory": (fit(memory_limit=2e9), "memory_limit", ["2000000000.0"]),
    "too little memory": (fit(memory_limit=2**20), "memory", ["1 MiB"]),
    "unknown kernel": (fit(kernel="gauss"), "kernel", ["'gauss'", "gaussian", "multiquadratic"]),
    "kernel of another kind": (fit(kernel=42), "kernel", ["42"]),
    "kernel class in place of a kernel": (fit(kernel=Gaussian), "kernel", ["Gaussian"]),
    "nothing to align with": (fit(paradigm=Unsupervised(2), kernel=aligned("linear", "squared")), "kernel", ["labels"]),
    "one kernel to align": (lambda: aligned(Gaussian()), "kernel", ["1 came"]),
    "initial_W of the wrong shape": (fit(initial_W=np.eye(4)[:, :3]), "initial_W", ["(4, 3)", "(4, 2)"]),
    "initial_W lying down": (fit(initial_W=INITIAL.T), "initial_W", ["(2, 4)", "(4, 2)"]),
    "initial_W of low rank": (fit(initial_W=INITIAL[:, [0, 0]]), "initial_W", ["rank 1", "2"]),
    "initial_W with NaN": (fit(initial_W=INITIAL * np.nan), "initial_W", ["NaN"]),
    "initial_W as a vector": (fit(initial_W=np.ones(4)), "initial_W", ["(4,)"]),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_refused_with_what_came(name: str) -> None:
    call, parameter, parts = CASES[name]
    with pytest.raises(InvalidInput) as caught:
        call()
    sentence = str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert caught.value.parameter == parameter
    assert all(part in sentence for part in parts), sentence
    assert sentence[0].isupper() or sentence.startswith(parameter) or sentence.startswith("aligned")
    assert sentence.endswith(".")


def test_iterate_refuses_what_solve_refuses() -> None:
    with pytest.raises(InvalidInput) as caught:
        next(iter_solve(X, Supervised(y), "gaussian", 9))
    assert caught.value.parameter == "q"


ESTIMATORS = [
    SupervisedISM("gaussian"),
    UnsupervisedISM("gaussian"),
    SemiSupervisedISM("gaussian"),
    AlternativeISM("gaussian"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("q", 9),
        ("q", 0),
        ("kernel", "gauss"),
        ("delta", 0),
        ("max_iter", 0),
        ("starts", 0),
        ("scale", "minmax"),
        ("precision", "half"),
        ("tolerance", 2),
        ("approximation", 64),
        ("engine", "spark"),
    ],
)
def test_estimators_refuse_at_fit(estimator: Any, parameter: str, value: object) -> None:
    bad = type(estimator)(**{"kernel": "gaussian", parameter: value})
    with pytest.raises(InvalidInput, match=str(value)) as caught:
        bad.fit(X, y)
    assert caught.value.parameter == parameter


@pytest.mark.parametrize(
    "estimator", [SupervisedISM("gaussian"), SemiSupervisedISM("gaussian"), AlternativeISM("gaussian")], ids=repr
)
def test_guided_estimators_ask_for_y(estimator: Any) -> None:
    with pytest.raises(InvalidInput, match="requires y to be passed") as caught:
        estimator.fit(X)
    assert caught.value.parameter == "y"


def test_an_unknown_parameter_of_a_kernel_is_named_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"'width'.*sigma"):
        SupervisedISM("gaussian").set_params(kernel__width=3)


def test_columns_too_large_to_standardize_are_named() -> None:
    table = X.copy()
    table[:, 3] *= 3e307
    with pytest.raises(InvalidInput, match="Column 3") as caught:
        SupervisedISM("gaussian").fit(table, y)
    assert caught.value.parameter == "X"


def test_the_wrong_number_of_new_features_is_refused_on_the_way_back() -> None:
    fitted = SupervisedISM("gaussian", q=2).fit(X, y)
    with pytest.raises(InvalidInput, match="3 columns; 2"):
        fitted.inverse_transform(np.ones((5, 3)))
