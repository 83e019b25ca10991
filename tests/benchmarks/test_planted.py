"""The planted exam: its problems have the answer that they state, and its measures tell right from wrong answers."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from benchmarks.planted.families import FAMILIES, INTERACTIONS, problem
from benchmarks.planted.ism import found_by_ism
from benchmarks.planted.measures import angle, of_columns, ranking_measures
from benchmarks.planted.peers import ranking
from benchmarks.planted.problems import Encoded, PlantedProblem
from benchmarks.planted.report import ISM, as_markdown, claims_of


def relevant_matrix(posed: PlantedProblem, encoded: Encoded) -> np.ndarray:
    return encoded.X[:, [name in posed.relevant for name in encoded.column]]


def explained(axes: np.ndarray, X: np.ndarray) -> float:
    """The share of the axes' variance that a linear model explains."""
    design = np.column_stack([np.ones(len(X)), StandardScaler().fit_transform(X)])
    rest = axes - design @ np.linalg.lstsq(design, axes)[0]
    return float(1 - rest.var(axis=0).sum() / axes.var(axis=0).sum())


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_number_gives_the_same_problem_and_another_number_another_one(family: str) -> None:
    one, same, other = problem(family, 1), problem(family, 1), problem(family, 2)
    assert list(one.columns) == list(same.columns)
    np.testing.assert_array_equal(one.encoded().X, same.encoded().X)
    np.testing.assert_array_equal(one.encoded().target, same.encoded().target)
    assert one.relevant == same.relevant
    assert one.n != other.n or not np.array_equal(one.axes, other.axes)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_the_true_axes_are_made_of_the_relevant_columns(family: str, number: int) -> None:
    posed = problem(family, number)
    encoded = posed.encoded()
    assert posed.relevant < set(posed.columns)
    assert posed.collinear.isdisjoint(posed.relevant)
    axes, clean = posed.true_axes(encoded.rows)
    share = explained(axes[clean], relevant_matrix(posed, encoded)[clean])
    assert share > (0.7 if family == "missing cells" else 1 - 1e-9)  # medians fill the missing cells


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "clusterings"])
def test_the_target_depends_on_the_true_axes(family: str) -> None:
    posed = problem(family, 0)
    encoded = posed.encoded()
    axes = StandardScaler().fit_transform(posed.axes[encoded.rows])
    if family in INTERACTIONS:
        axes = np.column_stack([(axes**2).sum(axis=1), axes.prod(axis=1)])
    target = np.asarray(encoded.target)
    if target.dtype.kind in "iu":
        target = np.eye(target.max() + 1)[target]
    assert explained(target.reshape(len(axes), -1), axes) > 0.25


@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_collinear_noise_comes_in_pairs_that_nearly_copy_each_other(number: int) -> None:
    posed = problem("collinear noise", number)
    correlations = np.abs(np.corrcoef([posed.columns[name] for name in posed.collinear]))
    np.fill_diagonal(correlations, 0)
    assert len(correlations) == 2 * (1 + number % 3)
    assert (correlations.max(axis=1) > 0.99).all()


def test_tables_have_the_text_gaps_and_identifiers_of_their_family() -> None:
    assert all(problem(family, 0).is_table for family in ("categorical", "missing cells", "identifiers"))
    missing = problem("missing cells", 0)
    assert 0.04 < np.mean([np.isnan(values).mean() for values in missing.columns.values()]) < 0.16
    assert len(missing.encoded().rows) < missing.n
    assert {"id", "sample"} < set(problem("identifiers", 0).columns) - problem("identifiers", 0).relevant


def test_a_perfect_ranking_has_an_auc_of_1_and_a_reversed_one_0() -> None:
    posed = problem("collinear noise", 0)
    assert ranking_measures(posed, posed.truth.astype(float)) == {"auc": 1.0, "false": 0.0, "collinear": False}
    assert ranking_measures(posed, 1.0 - posed.truth) == {"auc": 0.0, "false": 1.0, "collinear": True}
    assert ranking_measures(posed, np.zeros(len(posed.columns))) == {"auc": 0.5, "false": 0.0, "collinear": False}


def test_importance_of_encoded_columns_adds_up_and_left_out_columns_get_none() -> None:
    posed = problem("identifiers", 0)
    importance = of_columns(posed, ["x0", "x1", "x0"], np.array([0.25, 0.5, 0.25]))
    assert dict(zip(posed.columns, importance, strict=True))["x0"] == 0.5
    assert dict(zip(posed.columns, importance, strict=True))["sample"] == 0.0


def test_the_angle_is_0_for_any_basis_of_the_true_axes_and_90_if_one_is_missing() -> None:
    rng = np.random.default_rng(0)
    axes = rng.standard_normal((50, 2))
    assert angle(axes, axes @ rng.standard_normal((2, 2)) + 3) == pytest.approx(0, abs=1e-4)
    assert angle(axes, axes[:, :1]) == 90
    assert angle(axes, axes[:, [0, 0]]) == 90
    assert angle(axes[:, :1], axes) == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("method", ["LDA", "PLS"])
def test_peers_find_the_columns_behind_two_classes(method: str) -> None:
    posed = problem("two classes", 0)
    encoded, ranked = ranking(method, posed)
    assert ranking_measures(posed, of_columns(posed, encoded.column, ranked.importance))["auc"] > 0.99


def test_ism_with_the_defaults_of_its_estimator_gives_one_importance_for_each_column() -> None:
    posed = problem("two classes", 4)
    found = found_by_ism(posed, is_chosen=False)
    assert found.importance.shape == (len(posed.columns),)
    assert found.axes.shape[0] == posed.n


def test_the_report_has_a_row_for_each_family_and_says_which_limits_are_missed() -> None:
    def row(auc: float, q: int | None) -> dict[str, object]:
        return {"auc": auc, "false": 0.0, "collinear": False, "angle": 5.0, "q": q, "true_q": 1, "seconds": 0.1}

    methods = (ISM, "LDA", "PLS", "NCA", "forest", "HSIC Lasso")
    rows = {(family, method): [row(0.99, 1)] for family in ("two classes", "ring") for method in methods}
    rows["ring", ISM] = [row(0.95, 2)]
    claims = claims_of(rows, ["two classes", "ring"])
    assert [each["claim"] for each in claims if not each["met"]] == [
        "ring: mean AUC over that of LDA",
        "the true number of informative axes",
    ]
    text = as_markdown(rows, ["two classes", "ring"], methods, claims)
    assert "| ring | 0.950 | 0.990 |" in text
    assert text.count("NO") == 2
