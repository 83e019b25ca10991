"""One job from its table to its outcome, beside what ism_core gives for the same numbers."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_wine

from ism_core import Alternative, InvalidInput, Result, SemiSupervised, Supervised, Unsupervised, iter_solve, solve
from ism_core.paradigms import Paradigm
from ism_jobs.spec import JOB_SPEC
from ism_jobs.tables import read_table
from worker.checkpoint import pack_trace, unpack_trace
from worker.pipeline.run import Outcome, iter_run
from worker.progress import ProgressEvent
from worker.trace import Trace

WINE = load_wine()
X, Y = WINE.data, WINE.target
NAMES = [name.replace("/", " ") for name in WINE.feature_names]
CLASSES = np.array(["one", "two", "three"])[Y]


def wine(**columns: Any) -> pa.Table:
    return pa.table(dict(zip(NAMES, X.T.copy(), strict=True)) | {"class": CLASSES} | columns)


def drain(
    table: pa.Table,
    folder: Path,
    trace: Trace | None = None,
    *,
    memory_limit: int | None = None,
    scheduler: str | None = None,
    **spec: Any,
) -> tuple[list[ProgressEvent], Outcome]:
    """All moments of a job, and its outcome; the table goes through a file, as it would with a service."""
    pq.write_table(table, folder / "table.parquet")
    table, description = read_table(folder / "table.parquet")
    posted = JOB_SPEC.validate_python({"dataset": "wine"} | spec)
    moments, job = [], iter_run(table, posted, description, trace, memory_limit=memory_limit, scheduler=scheduler)
    while True:
        try:
            moments.append(next(job))
        except StopIteration as end:
            return moments, end.value


def standard(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def assert_same(outcome: Outcome, result: Result, X: np.ndarray) -> None:
    np.testing.assert_allclose(outcome.result.W, result.W, atol=1e-10)
    np.testing.assert_allclose(outcome.result.eigenvalues, result.eigenvalues, rtol=1e-10)
    np.testing.assert_allclose(outcome.embedding, X @ result.W, atol=1e-10 * np.abs(X).max())
    assert outcome.result.objective == pytest.approx(result.objective, rel=1e-10)
    assert outcome.metrics["iterations"] == result.iterations
    assert outcome.result.stop is result.stop
    if result.labels is not None:
        np.testing.assert_array_equal(outcome.result.labels, result.labels)


PARADIGMS: dict[str, tuple[dict[str, Any], Paradigm]] = {
    "classes": ({"paradigm": "supervised", "kernel": "gaussian", "target": "class", "folds": 0}, Supervised(CLASSES)),
    "unsupervised": ({"paradigm": "unsupervised", "kernel": "gaussian", "clusters": 3}, Unsupervised(3)),
    "semi_supervised": (
        {"paradigm": "semi_supervised", "kernel": "gaussian", "scores": "class", "clusters": 3, "mu": 2.0},
        SemiSupervised(CLASSES, 3, 2.0),
    ),
    "alternative": (
        {"paradigm": "alternative", "kernel": "gaussian", "clustering": "class", "clusters": 2, "mu": 3.0},
        Alternative(CLASSES, 2, 3.0),
    ),
}


@pytest.mark.parametrize("scale", ["standard", "none"])
@pytest.mark.parametrize("paradigm", PARADIGMS)
def test_a_job_finds_what_the_core_finds(tmp_path: Path, paradigm: str, scale: str) -> None:
    spec, wanted = PARADIGMS[paradigm]
    if paradigm in ("unsupervised", "semi_supervised"):
        spec = {"reference": "class"} | spec
    features = standard(X) if scale == "standard" else X
    _, outcome = drain(wine(), tmp_path, scale=scale, q=2, seed=3, delta=1e-4, **spec)
    assert_same(outcome, solve(features, wanted, "gaussian", 2, seed=3, delta=1e-4), features)
    assert outcome.model.features == tuple(NAMES)


COMPUTED: list[dict[str, Any]] = [
    {"precision": "single"},
    {"tolerance": 0.0},
    {"tolerance": 1e-3},
    {"approximation": {"features": 64}},
    {"features_per_axis": 4},
]


@pytest.mark.parametrize("options", COMPUTED, ids=str)
@pytest.mark.parametrize("paradigm", ["classes", "unsupervised"])
def test_a_job_computes_as_the_core_does_when_asked_the_same(
    tmp_path: Path, paradigm: str, options: dict[str, Any]
) -> None:
    spec, wanted = PARADIGMS[paradigm]
    _, outcome = drain(wine(), tmp_path, features=NAMES, **spec, **options)
    result = solve(standard(X), wanted, "gaussian", 2, **options)
    np.testing.assert_allclose(outcome.result.W, result.W, atol=1e-6)
    assert outcome.result.objective == pytest.approx(result.objective, rel=1e-8)
    assert (outcome.result.method, outcome.result.error.kind) == (result.method, result.error.kind)
    assert outcome.result.error.objective == pytest.approx(result.error.objective, rel=1e-6)


def test_what_is_asked_for_and_what_there_is_reach_every_solve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows and each fold."""
    asked: list[dict[str, Any]] = []

    def listening(X: np.ndarray, paradigm: Paradigm, kernel: Any, q: int, **options: Any) -> Any:
        asked.append(options)
        return iter_solve(X, paradigm, kernel, q, delta=0.1, max_iter=5)

    monkeypatch.setattr("worker.pipeline.choose.SHARED_CELLS", 0)  # another process would listen in vain
    monkeypatch.setattr("worker.pipeline.run.iter_solve", listening)
    monkeypatch.setattr("worker.pipeline.validate.iter_solve", listening)
    options = {"delta": 0.02, "starts": 2, "seed": 5, "precision": "single", "tolerance": 1e-4}
    options |= {"approximation": {"features": 128}, "max_iter": 9, "features_per_axis": 3}
    drain(
        wine(),
        tmp_path,
        paradigm="supervised",
        kernel="gaussian",
        target="class",
        folds=2,
        memory_limit=2**30,
        **options,
    )
    assert len(asked) == 3
    for given in asked:
        assert given.pop("initial_W", None) is None
        assert given == options | {"engine": "local", "memory_limit": 2**30, "whitening": None}


def test_a_job_that_would_need_too_much_memory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        drain(wine(), tmp_path, paradigm="supervised", kernel="gaussian", target="class", memory_limit=1_000)
    assert caught.value.parameter == "memory"


def test_values_as_targets_are_explained(tmp_path: Path) -> None:
    spec = {"paradigm": "supervised", "features": NAMES[2:], "folds": 0, "kernel": "linear"}
    for target, y in ((NAMES[0], X[:, 0]), (NAMES[:2], X[:, :2])):
        _, outcome = drain(wine(), tmp_path, target=target, **spec)
        assert_same(outcome, solve(standard(X[:, 2:]), Supervised(y), "linear", 2), standard(X[:, 2:]))


@pytest.mark.parametrize("kind", ["classes", "values"])
def test_the_kind_of_a_target_is_as_the_spec_says_in_all_that_is_measured(tmp_path: Path, kind: str) -> None:
    """0, 1, 2 would be read as classes, and 0 to 22 as values."""
    y = Y.astype(float) if kind == "values" else np.arange(len(X)) // 8 * 1.0
    _, outcome = drain(
        wine(y=y),
        tmp_path,
        paradigm="supervised",
        target="y",
        target_kind=kind,
        features=NAMES,
        folds=2,
        kernel="linear",
    )
    wanted = Supervised(y, kind)
    result = solve(standard(X), wanted, "linear", 2)
    assert_same(outcome, result, standard(X))
    assert ("accuracy" if kind == "classes" else "r2") in outcome.metrics
    assert outcome.metrics["hsic"] == pytest.approx(result.objective / (len(X) - 1) ** 2, rel=1e-9)


@pytest.mark.parametrize("missing", ["mean", "drop"])
def test_missing_values_are_filled_or_dropped(tmp_path: Path, missing: str) -> None:
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.01] = np.nan
    table = wine(**dict(zip(NAMES, holes.T.copy(), strict=True)))
    _, outcome = drain(
        table, tmp_path, paradigm="supervised", kernel="gaussian", target="class", missing=missing, folds=2
    )
    complete = np.flatnonzero(~np.isnan(holes).any(axis=1))
    if missing == "mean":
        prepared, rows = standard(np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)), np.arange(len(X))
    else:
        prepared, rows = standard(holes[complete]), complete
        dropped = len(X) - len(complete)
        assert outcome.warnings[0] == f"{dropped} of {len(X)} rows were dropped because they have missing values."
    np.testing.assert_array_equal(outcome.training.rows, rows)
    assert_same(outcome, solve(prepared, Supervised(CLASSES[rows]), "gaussian", 2), prepared)
    assert outcome.metrics["accuracy"] > 0.85


def test_text_becomes_a_feature_for_each_level(tmp_path: Path) -> None:
    table = wine(region=np.array(["north", "south"])[np.arange(len(X)) % 2])
    _, outcome = drain(
        table, tmp_path, paradigm="supervised", kernel="gaussian", target="class", categorical="onehot", folds=0
    )
    encoded = np.column_stack([X, np.arange(len(X)) % 2 == 0, np.arange(len(X)) % 2 == 1])
    assert outcome.model.features == (*NAMES, "region=north", "region=south")
    assert_same(outcome, solve(standard(encoded), Supervised(CLASSES), "gaussian", 2), standard(encoded))


def test_rows_without_a_score_or_a_reference_are_clustered_all_the_same(tmp_path: Path) -> None:
    scores = [None if row % 3 else name for row, name in enumerate(CLASSES)]
    _, outcome = drain(
        wine(scores=scores).drop_columns("class").append_column("known", pa.array(scores)),
        tmp_path,
        paradigm="semi_supervised",
        scores="scores",
        reference="known",
        clusters=3,
    )
    assert len(outcome.result.labels) == len(X)
    assert outcome.metrics["nmi_reference"] == outcome.metrics["nmi_scores"] > 0.8


def test_the_moments_tell_every_step_and_every_fold(tmp_path: Path) -> None:
    moments, outcome = drain(wine(), tmp_path, paradigm="supervised", kernel="gaussian", target="class", folds=3)
    steps = [moment for moment in moments if moment.kind == "step"]
    ascent = [moment.row for moment in steps if moment.row["stage"] == "ascent"]
    assert ascent == outcome.trace.rows
    assert [row["iteration"] for row in ascent] == list(range(len(ascent)))
    assert steps[-1].progress.iteration == outcome.result.iterations
    assert [moment.progress.fold for moment in moments if moment.kind == "validation"] == [0, 1, 2, 3]
    assert moments[-1].progress.stage == "measuring"
    assert set(steps[0].document()) == {
        *("iteration", "round", "stage", "objective", "eigenvalues", "change", "angle", "gradient"),
        *("elapsed_seconds", "remaining_seconds"),
    }
    stages = [moment.progress.stage for moment in moments]
    order = ["preparing", "search", "ascent", "stability", "validation", "measuring"]
    assert [order.index(stage) for stage in stages] == sorted(order.index(stage) for stage in stages)
    times = [moment.progress.elapsed_seconds for moment in moments]
    assert times == sorted(times)


@pytest.mark.parametrize("paradigm", ["classes", "unsupervised"])
def test_a_job_goes_on_where_an_earlier_attempt_stopped(tmp_path: Path, paradigm: str) -> None:
    spec = PARADIGMS[paradigm][0] | {"features": NAMES, "delta": 1e-7, "folds": 2}
    _, whole = drain(wine(), tmp_path, **spec)
    trace, stop = Trace(), whole.result.iterations // 2
    table, description = read_table(tmp_path / "table.parquet")
    job = iter_run(table, JOB_SPEC.validate_python({"dataset": "wine"} | spec), description, trace)
    for moment in job:
        if moment.progress.stage == "ascent" and moment.progress.iteration == stop:
            break
    job.close()
    left = unpack_trace(pack_trace(trace))
    assert left.resumed_at == stop
    moments, outcome = drain(wine(), tmp_path, left, **spec)
    assert [row["iteration"] for row in outcome.trace.rows] == list(range(len(outcome.trace.rows)))
    rounds = [row["round"] for row in outcome.trace.rows]
    assert rounds == sorted(rounds)
    assert "search" not in {moment.progress.stage for moment in moments}
    iterations = [moment.progress.iteration for moment in moments]
    assert iterations == sorted(iterations)
    assert iterations[0] == stop
    assert iterations[-1] == outcome.trace.rows[-1]["iteration"] == outcome.metrics["iterations"]
    assert outcome.result.objective == pytest.approx(whole.result.objective, rel=1e-6)
    if paradigm == "classes":
        objectives = [row["objective"] for row in outcome.trace.rows]
        assert all(late >= early * (1 - 1e-12) for early, late in pairwise(objectives))
        np.testing.assert_allclose(outcome.result.W, whole.result.W, atol=1e-4)


def test_a_job_that_goes_on_at_its_last_iteration_ends(tmp_path: Path) -> None:
    spec = {
        "paradigm": "supervised",
        "kernel": "gaussian",
        "target": "class",
        "delta": 1e-12,
        "max_iter": 3,
        "folds": 2,
    }
    _, first = drain(wine(), tmp_path, **spec)
    moments, outcome = drain(wine(), tmp_path, unpack_trace(pack_trace(first.trace)), **spec)
    assert outcome.result.objective >= first.result.objective * (1 - 1e-12)
    remaining = [moment.progress.remaining_seconds for moment in moments]
    assert all(seconds is None or 0 <= seconds < np.inf for seconds in remaining)


def test_the_time_left_is_told_or_unknown_but_never_negative(tmp_path: Path) -> None:
    for spec in (PARADIGMS["unsupervised"][0], PARADIGMS["classes"][0] | {"folds": 3}):
        moments, _ = drain(wine(), tmp_path, features=NAMES, **spec)
        remaining = [moment.progress.remaining_seconds for moment in moments]
        assert all(seconds is None or 0 <= seconds < np.inf for seconds in remaining)
        assert any(seconds is not None for seconds in remaining)


def test_a_budget_cuts_the_search_short(tmp_path: Path) -> None:
    _, outcome = drain(wine(), tmp_path, paradigm="supervised", target="class", budget=0)
    assert outcome.choice is not None
    assert outcome.choice["cut_short"]
    assert any("search for settings was finished early" in warning for warning in outcome.warnings)


def test_gross_cells_are_named_and_new_rows_are_projected_the_same_way(tmp_path: Path) -> None:
    column = X[:, 0].copy()
    column[:2] = 1e4, -1e4
    outcome = drain(wine(**{NAMES[0]: column}), tmp_path, paradigm="supervised", target="class", q=2, folds=0)[1]
    assert [text for text in outcome.warnings if f'"{NAMES[0]}" (2)' in text]
    mended = np.clip(column, column[2:].min(), column[2:].max())
    plain = drain(wine(**{NAMES[0]: mended}), tmp_path, paradigm="supervised", target="class", q=2, folds=0)[1]
    np.testing.assert_allclose(outcome.result.W, plain.result.W, atol=1e-10)
    np.testing.assert_allclose(outcome.embedding, plain.embedding, atol=1e-8)
    np.testing.assert_allclose(outcome.model.project(outcome.training.X), outcome.embedding)
