"""The scikit-learn estimators, used as its users use them."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from ism_core import (
    AlternativeISM,
    Gaussian,
    Linear,
    Polynomial,
    RelativeGaussian,
    SemiSupervisedISM,
    SupervisedISM,
    UnsupervisedISM,
    aligned,
    solve,
)
from ism_core.engines.base import Threads
from ism_core.linalg.subspaces import largest_angle
from ism_core.metrics import nmi
from ism_core.paradigms import Supervised
from ism_jobs.spec import JOB_SPEC
from tests.ism_core.conftest import Labelled

ESTIMATORS = [SupervisedISM, UnsupervisedISM, SemiSupervisedISM, AlternativeISM]
CLUSTERINGS = ESTIMATORS[1:]


@parametrize_with_checks([*(estimator("gaussian") for estimator in ESTIMATORS), SupervisedISM(Polynomial(2))])
def test_scikit_learns_own_checks_hold(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(params=ESTIMATORS)
def estimator(request: pytest.FixtureRequest) -> Any:
    return request.param("gaussian")


@pytest.fixture(scope="module")
def raw() -> Labelled:
    X, y = load_wine(return_X_y=True)
    return Labelled(X[:90], y[:90])


def test_what_is_fitted_is_what_solve_finds_on_standardized_rows(wine: Labelled) -> None:
    X, y = load_wine(return_X_y=True)
    fitted = SupervisedISM("gaussian", q=3).fit(X, y)
    result = solve(wine.X, Supervised(y), "gaussian", 3)
    np.testing.assert_array_equal(fitted.components_, result.W.T)
    np.testing.assert_array_equal(fitted.eigenvalues_, result.eigenvalues)
    assert fitted.objective_ == fitted.result_.objective == result.objective
    assert fitted.n_iter_ >= 1
    np.testing.assert_allclose(fitted.transform(X), wine.X @ result.W, atol=1e-12)


class Counted(Threads):
    """Threads of this process that count what they are asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def _iter_rounds(self, work: Any, items: int, args: Any) -> Any:
        self.asked += 1
        return super()._iter_rounds(work, items, args)

    def __deepcopy__(self, memo: Any) -> "Counted":
        return self


def test_how_exact_it_is_and_where_it_is_done_may_be_chosen(
    estimator: Any, raw: Labelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = estimator.fit(raw.X, raw.y).result_
    assert plain.method == "tiles"
    single = clone(estimator).set_params(precision="single", tolerance=0).fit(raw.X, raw.y).result_
    assert single.error.objective > plain.error.objective
    random = clone(estimator).set_params(approximation={"features": 256}).fit(raw.X, raw.y).result_
    assert random.method == "random features"
    monkeypatch.setattr("ism_core.objective.data.in_memory.REMOTE_FLOPS", 0.0)  # less work stays in this process
    engine = Counted()
    elsewhere = clone(estimator).set_params(engine=engine).fit(raw.X, raw.y).result_
    assert engine.asked > 0
    np.testing.assert_allclose(elsewhere.W, plain.W, atol=1e-8)


def test_attributes_have_the_shapes_they_promise(estimator: Any, raw: Labelled) -> None:
    fitted = estimator.fit(raw.X, raw.y)
    assert fitted.components_.shape == (2, 13)
    assert fitted.eigenvalues_.shape == (2,)
    assert fitted.mean_.shape == fitted.scale_.shape == fitted.feature_importances_.shape == (13,)
    assert fitted.transform(raw.X).shape == (90, 2)
    assert hasattr(fitted, "labels_") == (type(estimator) in CLUSTERINGS)


def test_importances_add_up_to_1(estimator: Any, raw: Labelled) -> None:
    importances = estimator.set_params(q=3).fit(raw.X, raw.y).feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert (importances >= 0).all()


def test_a_column_that_tells_the_classes_apart_is_the_important_one(rng: np.random.Generator) -> None:
    y = np.arange(80) % 2
    X = rng.standard_normal((80, 4))
    X[:, 2] += 6 * y
    importances = SupervisedISM("gaussian", q=1).fit(X, y).feature_importances_
    assert importances.argmax() == 2
    assert importances[2] > 0.8


def test_there_and_back_is_a_projection(estimator: Any, raw: Labelled) -> None:
    fitted = estimator.fit(raw.X, raw.y)
    there = fitted.transform(raw.X)
    back = fitted.inverse_transform(there)
    assert back.shape == raw.X.shape
    np.testing.assert_allclose(fitted.transform(back), there, atol=1e-9)
    np.testing.assert_allclose(fitted.inverse_transform(fitted.transform(back)), back, rtol=1e-9)
    full = estimator.set_params(q=13).fit(raw.X, raw.y)
    np.testing.assert_allclose(full.inverse_transform(full.transform(raw.X)), raw.X, rtol=1e-9)


def test_scale_none_takes_x_as_it_is(blobs: Labelled) -> None:
    fitted = SupervisedISM("gaussian", scale="none").fit(blobs.X + 1, blobs.y)
    np.testing.assert_array_equal(fitted.mean_, 0)
    np.testing.assert_array_equal(fitted.scale_, 1)
    np.testing.assert_allclose(fitted.transform(blobs.X), blobs.X @ fitted.components_.T)


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "linear", "multiquadratic"])
def test_offset_and_unit_of_a_column_do_not_matter(kernel: str, raw: Labelled) -> None:
    plain = SupervisedISM(kernel, starts=1).fit_transform(raw.X, raw.y)
    moved = raw.X.copy()
    moved[:, 0] = moved[:, 0] / moved[:, 0].std() + 1e8
    moved[:, 1] *= 1e-8
    moved[:, 2] = moved[:, 2] * 1e8 - 1e8
    np.testing.assert_allclose(SupervisedISM(kernel, starts=1).fit_transform(moved, raw.y), plain, atol=1e-5)


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "linear", "squared"])
def test_constant_columns_get_no_weight(kernel: str, raw: Labelled) -> None:
    padded = np.insert(raw.X, [0, 5], [0.1, 1e8 + 0.1], axis=1)
    plain, wide = (SupervisedISM(kernel, starts=1).fit(X, raw.y) for X in (raw.X, padded))
    np.testing.assert_array_equal(wide.feature_importances_[[0, 6]], 0)
    np.testing.assert_allclose(wide.transform(padded), plain.transform(raw.X), atol=1e-9)


def test_labels_may_be_text_numbers_or_truth_values(blobs: Labelled) -> None:
    plain = SupervisedISM("gaussian").fit_transform(blobs.X, blobs.y)
    for labels in (
        np.array(["red", "green", "blue"])[blobs.y],
        pd.Series(blobs.y),
        pd.Categorical(blobs.y),
        blobs.y + 0.0,
    ):
        np.testing.assert_allclose(
            np.abs(SupervisedISM("gaussian").fit_transform(blobs.X, labels)), np.abs(plain), atol=1e-9
        )


def test_real_targets_may_be_given(rng: np.random.Generator) -> None:
    X = rng.standard_normal((80, 4))
    for y in (X[:, 1] + 0.01 * rng.standard_normal(80), X[:, [1, 3]]):
        q = 1 if y.ndim == 1 else 2
        fitted = SupervisedISM("gaussian", q=q).fit(X, y)
        assert largest_angle(np.eye(4)[:, [1, 3][:q]], fitted.components_.T) < 0.3


def test_unknown_scores_may_be_missing(blobs: Labelled) -> None:
    scores = blobs.y.astype(float)
    scores[::4] = np.nan
    fitted = SemiSupervisedISM("gaussian", n_clusters=3).fit(blobs.X, scores)
    assert len(fitted.labels_) == 60
    nullable = pd.Series(scores).astype("Int64")  # with pd.NA where nobody gave one
    np.testing.assert_array_equal(
        SemiSupervisedISM("gaussian", n_clusters=3).fit(blobs.X, nullable).labels_, fitted.labels_
    )


@pytest.mark.parametrize("kind", CLUSTERINGS)
def test_clusterings_have_a_label_for_each_row(kind: Any, blobs: Labelled) -> None:
    fitted = kind(n_clusters=3).fit(blobs.X, blobs.y)
    assert fitted.labels_.shape == (60,)
    assert set(fitted.labels_) == {0, 1, 2}
    np.testing.assert_array_equal(fitted.labels_, fitted.result_.labels)


def test_fit_predict_gives_the_labels(blobs: Labelled) -> None:
    np.testing.assert_array_equal(
        UnsupervisedISM("gaussian", n_clusters=3).fit_predict(blobs.X),
        UnsupervisedISM("gaussian", n_clusters=3).fit(blobs.X).labels_,
    )


def test_a_pipeline_and_its_cross_validation(raw: Labelled) -> None:
    pipeline = make_pipeline(SupervisedISM("gaussian", q=1), KNeighborsClassifier())
    assert cross_val_score(pipeline, raw.X, raw.y, cv=3).mean() > 0.9


def test_a_grid_over_a_parameter_of_the_kernel(raw: Labelled) -> None:
    pipeline = make_pipeline(SupervisedISM(Gaussian(), q=1), KNeighborsClassifier())
    grid = {"supervisedism__kernel__sigma": [0.5, 3.0, "median"]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(raw.X, raw.y)
    assert set(search.cv_results_["param_supervisedism__kernel__sigma"]) == {0.5, 3.0, "median"}
    best = search.best_estimator_[0].kernel
    assert best == Gaussian(search.best_params_["supervisedism__kernel__sigma"])


def test_a_grid_over_kernels(raw: Labelled) -> None:
    kernels = ["linear", Gaussian(3.0), Polynomial(2) + Linear(), aligned("gaussian", "linear")]
    pipeline = make_pipeline(SupervisedISM("gaussian", q=1), KNeighborsClassifier())
    search = GridSearchCV(pipeline, {"supervisedism__kernel": kernels}, cv=3, error_score="raise").fit(raw.X, raw.y)
    assert (search.cv_results_["mean_test_score"] > 0.8).all()
    assert search.best_params_["supervisedism__kernel"] in kernels


def test_a_kernel_and_its_parameter_may_be_set_together() -> None:
    estimator = SupervisedISM("gaussian").set_params(kernel=Polynomial(), kernel__degree=2, q=4)
    assert estimator.kernel == Polynomial(degree=2)
    assert estimator.q == 4
    assert SupervisedISM("gaussian").set_params(kernel__sigma=2.5).kernel == Gaussian(2.5)


def test_parameters_of_the_kernel_are_listed() -> None:
    assert SupervisedISM("polynomial").get_params()["kernel__degree"] == 3
    assert SupervisedISM(Gaussian(2.0)).get_params()["kernel__sigma"] == 2.0
    assert SupervisedISM(RelativeGaussian()).get_params()["kernel__neighbors"] == 7
    for kernel in (Gaussian() + Linear(), aligned("gaussian", "linear"), "no such kernel"):
        assert not [name for name in SupervisedISM(kernel).get_params() if name.startswith("kernel__")]
    assert not [name for name in SupervisedISM("gaussian").get_params(deep=False) if "__" in name]


def test_a_clone_is_the_same_and_not_fitted(estimator: Any, blobs: Labelled) -> None:
    estimator.set_params(kernel=Gaussian(1.5) + Polynomial(), q=3).fit(blobs.X, blobs.y)
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(blobs.X)
    np.testing.assert_array_equal(copy.fit(blobs.X, blobs.y).components_, estimator.components_)


def test_new_features_have_names(estimator: Any, blobs: Labelled) -> None:
    name = type(estimator).__name__.lower()
    assert list(estimator.fit(blobs.X, blobs.y).get_feature_names_out()) == [f"{name}0", f"{name}1"]


def test_data_frames_go_in_and_come_out(estimator: Any, blobs: Labelled) -> None:
    frame = pd.DataFrame(blobs.X, columns=list("abcde"), index=np.arange(60) + 100)
    out = estimator.set_output(transform="pandas").fit(frame, blobs.y).transform(frame)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == list(estimator.get_feature_names_out())
    assert list(out.index) == list(frame.index)
    assert list(estimator.feature_names_in_) == list("abcde")
    with pytest.raises(ValueError, match="feature names"):
        estimator.transform(frame[list("edcba")])


@pytest.mark.parametrize(
    "kernel", ["gaussian", "relative_gaussian", "polynomial", aligned("gaussian", "linear")], ids=str
)
def test_a_fitted_estimator_survives_pickling(kernel: Any, blobs: Labelled) -> None:
    fitted = SupervisedISM(kernel).fit(blobs.X, blobs.y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(blobs.X), fitted.transform(blobs.X))
    assert again.get_params().keys() == fitted.get_params().keys()


def test_random_state_may_be_a_number_a_generator_or_nothing(blobs: Labelled) -> None:
    for state in (3, np.int64(3), np.random.RandomState(3), None):
        assert SupervisedISM("gaussian", starts=5, random_state=state).fit(blobs.X, blobs.y).result_.converged
    first, again = (
        SupervisedISM("gaussian", starts=5, random_state=np.random.RandomState(3)).fit(blobs.X, blobs.y) for _ in "ab"
    )
    np.testing.assert_array_equal(first.components_, again.components_)


def test_what_did_not_converge_warns(blobs: Labelled) -> None:
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        SupervisedISM("gaussian", max_iter=1, delta=1e-6, starts=1).fit(blobs.X, blobs.y)


def test_new_rows_are_placed_by_the_training_rows_alone(raw: Labelled) -> None:
    fitted = SupervisedISM("gaussian").fit(raw.X, raw.y)
    whole = fitted.transform(raw.X)
    np.testing.assert_allclose(fitted.transform(raw.X[3:4]), whole[3:4], atol=1e-12)


def test_an_alternative_estimator_repeats_nothing(blobs: Labelled) -> None:
    fitted = AlternativeISM("gaussian", n_clusters=3).fit(blobs.X, blobs.y)
    assert nmi(fitted.labels_, blobs.y) < 0.2


def test_gross_cells_do_not_spoil_the_ranking_and_are_named() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8))
    y = X[:, 0] + 0.8 * X[:, 1] + 0.4 * rng.standard_normal(300) > 0
    X = np.where(rng.random(X.shape) < 0.01, rng.choice([-1, 1], X.shape) * rng.uniform(10, 50, X.shape), X)
    with pytest.warns(UserWarning, match=r"cells far outside .*: x0 \(\d\), x1 \(\d\)"):
        fitted = SupervisedISM("gaussian", q=1).fit(X, y)
    assert set(np.argsort(-fitted.feature_importances_)[:2]) == {0, 1}
    assert fitted.limits_ is not None
    np.testing.assert_allclose(fitted.transform(X), fitted.transform(np.clip(X, *fitted.limits_)))


def test_the_score_is_that_of_the_nearest_rows_of_the_fit() -> None:
    wine = load_wine()
    names = wine.target_names[wine.target]
    train, test = np.arange(178) % 2 == 0, np.arange(178) % 2 == 1
    fitted = SupervisedISM("gaussian", q=2).fit(wine.data[train], names[train])
    neighbors = KNeighborsClassifier(5).fit(fitted.transform(wine.data[train]), names[train])
    expected = neighbors.score(fitted.transform(wine.data[test]), names[test])
    assert fitted.score(wine.data[test], names[test]) == expected > 0.9
    assert pickle.loads(pickle.dumps(fitted)).score(wine.data[test], names[test]) == expected
    hue, rest = wine.data[:, 10], np.delete(wine.data, 10, axis=1)
    values = SupervisedISM("gaussian", q=1).fit(rest[train], hue[train])
    regressor = KNeighborsRegressor(5).fit(values.transform(rest[train]), hue[train])
    assert values.score(rest[test], hue[test]) == regressor.score(values.transform(rest[test]), hue[test]) > 0.2


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_estimator_and_a_job_have_the_same_defaults(estimator: type) -> None:
    paradigm = {"SemiSupervisedISM": "semi_supervised"}.get(estimator.__name__, estimator.__name__[:-3].lower())
    needed = {"supervised": {"target": "y"}, "semi_supervised": {"scores": "y"}, "alternative": {"clustering": "y"}}
    body = {"dataset": "d", "paradigm": paradigm} | needed.get(paradigm, {})
    spec = JOB_SPEC.validate_python(body if paradigm == "supervised" else body | {"clusters": 2}).model_dump()
    ours = estimator().get_params(deep=False)
    shared = set(ours) & set(spec) - {"q", "scale", "must_link", "cannot_link"}
    assert shared >= {"kernel", "delta", "max_iter", "starts", "precision", "tolerance", "features_per_axis"}
    assert {name: ours[name] for name in shared} == {name: spec[name] for name in shared}
    assert (spec["q"], spec["scale"]) == ("auto", "auto")
    assert (ours["q"], ours["scale"]) == (None, None)  # which mean "auto", because the kernel is
