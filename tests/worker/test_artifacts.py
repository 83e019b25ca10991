"""What a job leaves, also where its data is barely data."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ism_core.metrics import silhouette
from ism_jobs.data import Model
from ism_jobs.store import unpack
from tests.worker.pipeline.test_run import drain, wine
from worker.artifacts import artifacts_of, summary_document
from worker.pipeline.run import Outcome

METRICS = {
    *("objective", "iterations", "converged", "rows", "features", "seconds_solve", "seconds_total"),
    *("peak_memory_bytes", "objective_error", "gradient_error"),
}
CLUSTERING = {"clusters", "silhouette", "association", "hsic", "hsic_normalized"}


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def documents(outcome: Outcome) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """The result, and the tables, as they are kept; all checked against each other."""
    kept = artifacts_of(outcome)
    result = json.loads(kept["result"], parse_constant=refuse)
    json.loads(json.dumps(summary_document(outcome)), parse_constant=refuse)
    tables = {name: unpack(value) for name, value in kept.items() if name not in ("result", "model")}
    W = np.array(result["W"])
    np.testing.assert_array_equal(Model.from_npz(kept["model"]).W, W)
    np.testing.assert_array_equal(np.column_stack([tables["W"][axis] for axis in result["axes"]]), W)
    assert tables["W"]["feature"].to_pylist() == result["features"]
    assert tables["embedding"]["row"].to_pylist() == outcome.training.rows.tolist()
    assert len(tables["trace"]) > 0
    assert (
        dict(zip(*(tables["metrics"][name].to_pylist() for name in ("metric", "value")), strict=True))
        == (result["metrics"])
    )
    assert sum(result["importance"]) == pytest.approx(1) or not any(result["importance"])
    assert result["method"] in ("tiles", "features", "random features")
    assert result["error"] == asdict(outcome.result.error)
    assert result["error"]["objective"] == result["metrics"]["objective_error"]
    assert result["error"]["gradient"] == result["metrics"]["gradient_error"]
    if outcome.result.labels is not None:
        assert sum(result["cluster_sizes"]) == result["rows"]
        assert tables["labels"]["cluster"].to_pylist() == tables["embedding"]["group"].to_pylist()
    assert np.isfinite(outcome.embedding).all()
    return result, tables


@pytest.mark.parametrize(
    ("spec", "metrics"),
    [
        (
            {"paradigm": "supervised", "target": "class", "q": 2, "folds": 2},
            {"hsic", "hsic_normalized", "accuracy", "accuracy_std", "folds", "seconds_choice"},
        ),
        ({"paradigm": "supervised", "target": "class", "kernel": "gaussian", "folds": 0}, {"hsic", "hsic_normalized"}),
        (
            {"paradigm": "supervised", "target": ["alcohol", "ash"], "kernel": "gaussian", "categorical": "onehot"},
            {"hsic", "hsic_normalized", "r2", "r2_std", "folds"},
        ),
        (
            {"paradigm": "unsupervised", "kernel": "gaussian", "clusters": 3, "reference": "class"},
            CLUSTERING | {"nmi_reference"},
        ),
        (
            {"paradigm": "semi_supervised", "kernel": "gaussian", "scores": "class", "clusters": 3},
            CLUSTERING | {"nmi_scores"},
        ),
        (
            {
                "paradigm": "semi_supervised",
                "kernel": "gaussian",
                "scores": ["alcohol", "ash"],
                "clusters": 3,
                "categorical": "onehot",
            },
            CLUSTERING,
        ),
        (
            {"paradigm": "alternative", "kernel": "gaussian", "clustering": "class", "clusters": 2},
            CLUSTERING | {"novelty"},
        ),
    ],
)
def test_every_paradigm_has_its_metrics(tmp_path: Path, spec: dict[str, Any], metrics: set[str]) -> None:
    _, outcome = drain(wine(), tmp_path, **spec)
    result, tables = documents(outcome)
    assert set(result["metrics"]) == METRICS | metrics
    assert all(value is not None for value in result["metrics"].values())
    assert ("labels" in tables) is (spec["paradigm"] != "supervised")
    supervised = spec["paradigm"] == "supervised"
    assert (result["missed"] is not None) is supervised
    assert (result["baseline"] is not None) is (supervised and spec.get("folds") != 0)
    one_target = not supervised or isinstance(spec["target"], str)
    assert ("group" in tables["embedding"].column_names) is one_target


def test_a_result_says_what_the_axes_miss_and_what_the_score_is_worth(tmp_path: Path) -> None:
    job = {"paradigm": "supervised", "target": "class", "kernel": "gaussian"}
    one, both = (documents(drain(wine(), tmp_path, q=q, **job)[1])[0] for q in (1, 2))
    assert one["missed"]["advice"] == "more_axes"
    assert set(one["missed"]["features"]) <= set(one["features"])
    assert both["missed"]["advice"] == "nothing"
    assert both["missed"]["p_value"] > 0.05
    assert both["missed"]["rows"] == 178
    assert both["baseline"]["verdict"] == "keeps"
    assert both["baseline"]["score"] == both["metrics"]["accuracy"]
    assert [each["class"] for each in both["baseline"]["classes"]] == ["one", "three", "two"]
    assert np.sum(both["baseline"]["confusion"]) == 178


X2 = {"a": [0.0, 1.0], "b": [1.0, 0.5]}
DEGENERATE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "two rows": (X2 | {"y": ["p", "q"]}, {"paradigm": "supervised", "target": "y"}),
    "two rows, values": (X2 | {"y": [0.5, 2.5]}, {"paradigm": "supervised", "target": "y"}),
    "two clusters of two rows": (X2, {"paradigm": "unsupervised", "clusters": 2}),
    "one cluster": (X2 | {"c": [1.0, 1.0]}, {"paradigm": "unsupervised", "clusters": 1}),
    "constant features": (
        {"a": np.ones(8), "b": np.arange(8.0), "c": np.full(8, 1e9), "y": list("ppppqqqq")},
        {"paradigm": "supervised", "target": "y", "q": 3, "features": "all"},
    ),
    "constant projection": (
        {"a": [0.0, 0, 0, 0, 0, 0, 0, 1], "y": list("ppppqqqq")},
        {"paradigm": "supervised", "target": "y", "q": 1, "kernel": "linear"},
    ),
    "one feature": (
        {"a": np.arange(9.0), "y": list("pppqqqrrr")},
        {"paradigm": "supervised", "target": "y", "q": 1},
    ),
    "rows that repeat": (
        {"a": np.repeat([0.0, 1.0], 6), "b": np.repeat([1.0, 3.0], 6)},
        {"paradigm": "unsupervised", "clusters": 3, "kernel": "relative_gaussian"},
    ),
    "a class for each row": (
        {"a": np.arange(6.0), "b": np.arange(6.0) ** 2, "y": list("abcdef")},
        {"paradigm": "supervised", "target": "y"},
    ),
    "a cluster for each row": (
        {"a": np.arange(6.0), "b": np.arange(6.0) ** 2},
        {"paradigm": "unsupervised", "clusters": 6},
    ),
    "large and small numbers": (
        {"a": np.arange(12) * 1e15, "b": np.arange(12) ** 2 * 1e-15, "y": list("pppppqqqqqqp")},
        {"paradigm": "supervised", "target": "y"},
    ),
    "a reference that is known where rows are dropped only": (
        {
            "a": pa.array([*np.arange(9.0), None]),
            "b": np.arange(10.0) ** 2,
            "r": pa.array([None] * 9 + ["known"], pa.string()),
        },
        {"paradigm": "unsupervised", "clusters": 2, "missing": "drop", "reference": "r"},
    ),
    "a known clustering of one row": (
        {"a": np.arange(10.0) / 2, "b": np.arange(10.0) ** 2, "c": list("pqqqqqqqqq")},
        {"paradigm": "alternative", "clustering": "c", "clusters": 2},
    ),
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("kernel", ["gaussian", "auto"])
def test_results_are_strict_json_whatever_the_data(tmp_path: Path, case: str, kernel: str) -> None:
    columns, spec = DEGENERATE[case]
    if kernel == "auto" and "kernel" in spec:
        pytest.skip("it names its kernel")
    spec = {"kernel": kernel} | spec
    _, outcome = drain(pa.table(columns), tmp_path, **spec)
    result, _ = documents(outcome)
    nothing_known = {"nmi_reference"} if "reference" in spec else set()
    assert {name for name, value in result["metrics"].items() if value is None} == nothing_known


def test_a_silhouette_is_told_where_a_cluster_is_too_small_for_a_sample() -> None:
    """Of many rows a sample is scored; without care it would hold rows of one cluster only."""
    P = np.random.default_rng(0).normal(size=(60_000, 1))
    labels = np.zeros(len(P), dtype=int)
    labels[5] = 1
    assert -1 <= silhouette(P, labels) <= 1


def test_the_price_of_few_features_is_told(tmp_path: Path) -> None:
    _, outcome = drain(
        wine(), tmp_path, paradigm="supervised", target="class", kernel="gaussian", folds=2, features_per_axis=3
    )
    result, _ = documents(outcome)
    dense, _ = documents(drain(wine(), tmp_path, paradigm="supervised", target="class", kernel="gaussian", folds=0)[1])
    assert (np.count_nonzero(result["W"], axis=0) <= 3).all()
    assert result["sparsity"]["features_per_axis"] == 3
    assert result["sparsity"]["dense_objective"] == pytest.approx(dense["objective"])
    assert result["sparsity"]["loss"] == pytest.approx(1 - result["objective"] / dense["objective"])
    assert "sparsity" not in dense


@pytest.mark.parametrize("few", [None, 3])
def test_the_loadings_have_errors_from_ten_halves_or_as_many_as_were_asked_for(tmp_path: Path, few: int | None) -> None:
    spec: dict[str, Any] = {"paradigm": "supervised", "target": "class", "kernel": "gaussian", "folds": 0}
    _, outcome = drain(wine(), tmp_path, resamples=4, features_per_axis=few, **spec)
    result, tables = documents(outcome)
    errors = np.array(result["stability"]["errors"])
    assert errors.shape == np.shape(result["W"])
    assert (errors[np.array(result["W"]) != 0] > 0).all()
    assert (result["stability"]["resamples"], result["stability"]["rows"]) == (4, 89)
    assert 0 < result["stability"]["angle"] < np.pi / 2
    np.testing.assert_array_equal(np.column_stack([tables["stability"][axis] for axis in result["axes"]]), errors)
    assert documents(drain(wine(), tmp_path, **spec)[1])[0]["stability"]["resamples"] == 10
