"""Pictures of a running job: what they show, and that one follows the other without a turn."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_wine

from ism_core import Gaussian
from ism_core.selection import Leader
from ism_core.solver import ReturnCapture
from ism_jobs.data import TrainingData
from ism_jobs.spec import JOB_SPEC
from ism_jobs.tables import read_table
from worker.artifacts import result_document
from worker.pipeline import picture, run
from worker.pipeline.picture import Pictures
from worker.to_core import paradigm_of

SUPERVISED = {"dataset": "x", "paradigm": "supervised", "target": "y"}
RNG = np.random.default_rng(0)
WINE_FEATURES = [f"x{place}" for place in range(13)]
CLUSTERING = {"dataset": "x", "paradigm": "unsupervised", "clusters": 3, "features": WINE_FEATURES}


@pytest.fixture(autouse=True)
def _always_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "SECONDS_BETWEEN_PICTURES", -1.0)


def table_of(X: np.ndarray, y: list[Any]) -> pa.Table:
    return pa.table({f"x{place}": column for place, column in enumerate(X.T.copy())} | {"y": y})


def wine() -> pa.Table:
    found = load_wine()
    return table_of(found.data, [f"class {each}" for each in found.target])


def pictures(table: pa.Table, folder: Path, spec: dict[str, Any]) -> Pictures:
    pq.write_table(table, folder / "table.parquet")
    read, description = read_table(folder / "table.parquet")
    posted = JOB_SPEC.validate_python(spec)
    training = TrainingData.of(read, posted, description)
    return Pictures(posted, training, paradigm_of(posted, training))


def coordinates(shown: dict[str, Any] | None) -> np.ndarray:
    assert shown is not None
    return np.array(shown["coordinates"])


def leader(loadings: np.ndarray) -> Leader:
    return Leader(Gaussian(sigma=1.0), "standard", loadings.shape[1], 0.9, loadings)


def test_the_first_picture_of_a_target_separates_its_classes(tmp_path: Path) -> None:
    shown = pictures(wine(), tmp_path, SUPERVISED).first()
    P = coordinates(shown)
    assert shown is not None
    groups = np.array(shown["group"])
    within = sum(P[groups == each].var(axis=0).sum() * (groups == each).mean() for each in set(groups))
    assert within < 0.2 * P.var(axis=0).sum()
    assert shown["score"] is None
    assert shown["rows"] == list(range(178))
    assert sum(shown["importance"]) == pytest.approx(1, abs=0.01)


def test_the_first_picture_of_a_clustering_has_the_directions_of_largest_variance(tmp_path: Path) -> None:
    P = coordinates(pictures(wine(), tmp_path, CLUSTERING).first())
    X = load_wine().data
    variances = np.linalg.eigvalsh(np.corrcoef(X.T))[::-1]
    np.testing.assert_allclose(P.var(axis=0), variances[:2], rtol=0.01)


def test_a_picture_turns_and_mirrors_to_the_one_before(tmp_path: Path) -> None:
    drawn = pictures(wine(), tmp_path, SUPERVISED)
    W = RNG.standard_normal((13, 2))
    turn = np.array([[0.0, 1.0], [1.0, 0.0]])
    first, second = drawn.of_leader(leader(W)), drawn.of_leader(leader(W @ turn))
    np.testing.assert_allclose(coordinates(first), coordinates(second), atol=0.01)
    assert first is not None
    assert second is not None
    assert (first["number"], second["number"]) == (1, 2)
    assert first["W"] == second["W"]


def test_one_axis_gets_a_second_one_for_the_picture_that_is_uncorrelated(tmp_path: Path) -> None:
    drawn = pictures(wine(), tmp_path, SUPERVISED)
    W = np.eye(13)[:, :1]
    shown = drawn.of_leader(leader(W))
    assert shown is not None
    assert (shown["q"], shown["axes"]) == (1, ["axis1", "picture"])
    assert abs(np.corrcoef(coordinates(shown).T)[0, 1]) < 0.01
    flipped = coordinates(drawn.of_leader(leader(-W)))
    np.testing.assert_allclose(flipped, coordinates(shown), atol=0.01)


def test_large_and_wide_tables_have_pictures_of_limited_size(tmp_path: Path) -> None:
    tall = pictures(table_of(RNG.standard_normal((5_000, 3)), ["a", "b"] * 2_500), tmp_path, SUPERVISED).first()
    wide = pictures(table_of(RNG.standard_normal((40, 500)), ["a", "b"] * 20), tmp_path, SUPERVISED).first()
    assert tall is not None
    assert len(tall["rows"]) == len(tall["coordinates"]) == len(tall["group"]) == 2_000
    assert wide is not None
    assert len(wide["features"]) == len(wide["W"]) == 200
    assert len(json.dumps(tall, allow_nan=False)) < 100_000


def test_rows_that_do_not_vary_have_no_picture_or_a_finite_one(tmp_path: Path) -> None:
    shown = pictures(
        table_of(np.ones((10, 3)), ["a", "b"] * 5), tmp_path, SUPERVISED | {"features": ["x0", "x1"]}
    ).first()
    assert shown is None or np.isfinite(coordinates(shown)).all()


def events_of(folder: Path, spec: dict[str, Any], **options: Any) -> tuple[list[Any], Any]:
    pq.write_table(wine(), folder / "table.parquet")
    table, description = read_table(folder / "table.parquet")
    job = ReturnCapture(run.iter_run(table, JOB_SPEC.validate_python(spec), description, **options))
    return list(job), job.value


def test_a_job_shows_a_picture_before_all_else_and_ends_with_that_of_its_result(tmp_path: Path) -> None:
    events, outcome = events_of(tmp_path, SUPERVISED | {"kernel": "gaussian", "folds": 0})
    kinds = [event.kind for event in events if event.kind]
    assert kinds[0] == "picture"
    last = [event.row for event in events if event.kind == "picture"][-1]
    P = outcome.embedding - outcome.embedding.mean(axis=0)
    np.testing.assert_allclose(coordinates(last), P, atol=0.01)
    np.testing.assert_allclose(last["W"], outcome.result.W[np.argsort(-(outcome.result.W**2).sum(axis=1))], atol=0.01)


def test_a_clustering_colors_its_last_picture_by_its_clusters(tmp_path: Path) -> None:
    events, outcome = events_of(tmp_path, CLUSTERING | {"kernel": "linear", "q": 2})
    last = [event.row for event in events if event.kind == "picture"][-1]
    assert last["group"] == outcome.result.labels.tolist()


def test_a_job_that_is_finished_while_it_chooses_says_so(tmp_path: Path) -> None:
    _, outcome = events_of(tmp_path, SUPERVISED | {"folds": 3}, finish=lambda: True)
    assert outcome.choice["cut_short"]
    assert any("search for settings was finished early" in warning for warning in outcome.warnings)
    assert outcome.validation is not None


def test_a_job_that_is_finished_in_its_ascent_and_folds_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "FINISH_SECONDS", 0.0)
    spec = SUPERVISED | {"kernel": {"name": "gaussian", "sigma": 0.5}, "starts": 1, "delta": 1e-9, "folds": 3}
    _, outcome = events_of(tmp_path, spec, finish=lambda: True)
    assert any("ascent was finished early" in warning for warning in outcome.warnings)
    assert any("0 of 3 folds" in warning for warning in outcome.warnings)
    assert not any("max_iter" in warning for warning in outcome.warnings)  # the request ended it, not max_iter
    assert "finished early on request" in result_document(outcome)["stop"]
    assert outcome.validation is None
    assert np.isfinite(outcome.embedding).all()
    iterations = [row["iteration"] for row in outcome.trace.rows]
    assert iterations == list(range(len(iterations)))
