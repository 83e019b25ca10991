"""Jobs with automatic settings: what they choose, what their results say about it, and how they go on after it."""

import io
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ism_core import Choice, Gaussian, Polynomial, Squared, Supervised, Unsupervised, choose
from ism_core.linalg import Scaling
from ism_core.selection import Candidate, Settings
from ism_jobs.spec import JOB_SPEC, SemiSupervisedSpec, SupervisedSpec
from ism_jobs.tables import read_table
from tests.worker.pipeline.test_run import CLASSES, NAMES, X, drain, wine
from worker.artifacts import result_document
from worker.checkpoint import pack_trace, unpack_trace
from worker.pipeline.choose import with_settings
from worker.pipeline.run import Outcome, iter_run
from worker.progress import ProgressEvent
from worker.trace import Trace

FEW = slice(None, None, 3)  # of the rows: what is chosen from them is found soon
SPEC: dict[str, Any] = {"paradigm": "supervised", "target": "class", "features": NAMES, "folds": 0}


def few_wines() -> pa.Table:
    return wine().take(np.arange(len(X))[FEW])


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[ProgressEvent], Outcome]:
    """A job that says what it wants to explain, and nothing else."""
    return drain(few_wines(), tmp_path_factory.mktemp("chosen"), **SPEC)


def test_jobs_and_library_choose_the_same(chosen: tuple[list[ProgressEvent], Outcome]) -> None:
    document = result_document(chosen[1])["choice"]
    choice = choose(X[FEW], Supervised(CLASSES[FEW]))
    assert (document["criterion"], document["reason"], document["rows"]) == ("accuracy", choice.reason, choice.rows)
    assert [each["score"] for each in document["candidates"]] == pytest.approx(
        [each.score for each in choice.candidates]
    )
    (taken,) = [each for each in document["candidates"] if each["chosen"]]
    assert isinstance(choice.chosen.kernel, Gaussian)
    assert taken["kernel"] == {"name": "gaussian", "sigma": pytest.approx(choice.chosen.kernel.sigma)}
    assert (taken["scale"], taken["q"]) == (choice.chosen.scale, choice.chosen.q)
    spec = document["spec"]
    assert (spec["kernel"], spec["scale"], spec["q"]) == (taken["kernel"], taken["scale"], taken["q"])
    assert isinstance(spec["delta"], float)
    stops = [np.array(each["W"]) for each in document["candidates"] if "W" in each]
    assert stops
    assert {stop.shape[0] for stop in stops} == {len(NAMES)}
    assert not any("W" in each for each in document["candidates"] if each["chosen"])
    json.dumps(document, allow_nan=False)


def test_the_spec_of_a_choice_gives_the_same_result_when_it_is_posted(
    chosen: tuple[list[ProgressEvent], Outcome], tmp_path: Path
) -> None:
    document = result_document(chosen[1])
    spec = {name: value for name, value in document["choice"]["spec"].items() if name != "dataset"}
    again = result_document(drain(few_wines(), tmp_path, **spec)[1])
    np.testing.assert_allclose(again["W"], document["W"], atol=1e-10)
    assert again["objective"] == pytest.approx(document["objective"], rel=1e-12)
    assert "choice" not in again
    assert "seconds_choice" not in again["metrics"]


def test_events_tell_what_is_tried_and_then_what_was_chosen(
    chosen: tuple[list[ProgressEvent], Outcome],
) -> None:
    moments, outcome = chosen
    kinds = [moment.kind for moment in moments]
    place = kinds.index("choice")
    assert "trial" in kinds[:place]
    assert set(kinds[:place]) <= {"trial", "picture", ""}
    assert set(kinds[place + 1 :]) <= {"step", "picture", ""}
    trials = [moment.document() for moment in moments[:place] if moment.kind == "trial"]
    assert {(trial["scale"], trial["fold"]) for trial in trials} >= {("standard", 1), ("whiten", 1)}
    assert {trial["fold"] for trial in trials} == {1, 2, 3, 4, 5}
    assert all(later["tried"] >= sooner["tried"] for sooner, later in pairwise(trials))  # equal before its first score
    assert trials[-1]["best"] > 0.9
    choosing = [moment.progress.document() for moment in moments[1:place] if moment.kind != "picture"]
    assert {progress["stage"] for progress in choosing} == {"choosing"}
    assert choosing[-1]["trying"]["q"] == trials[-1]["q"]
    event = moments[place].document()
    assert outcome.choice is not None
    assert (event["spec"], event["reason"]) == (outcome.choice["spec"], outcome.choice["reason"])
    assert "candidates" not in event


def is_choice(moment: ProgressEvent) -> bool:
    return moment.kind == "choice"


def is_second_step(moment: ProgressEvent) -> bool:
    return moment.row is not None and (moment.row.get("stage"), moment.row.get("iteration")) == ("ascent", 1)


def left_at(spec: dict[str, Any], folder: Path, moment: Callable[[ProgressEvent], bool]) -> Trace:
    """What an attempt has left that ended at such a moment."""
    table, description = read_table(folder / "table.parquet")
    trace = Trace()
    job = iter_run(table, JOB_SPEC.validate_python({"dataset": "wine"} | spec), description, trace)
    assert any(moment(each) for each in job)
    job.close()
    return unpack_trace(pack_trace(trace))


@pytest.mark.parametrize("moment", [is_choice, is_second_step])
def test_a_job_does_not_choose_again_what_an_earlier_attempt_chose(
    chosen: tuple[list[ProgressEvent], Outcome], tmp_path: Path, moment: Callable[[ProgressEvent], bool]
) -> None:
    whole = chosen[1]
    pq.write_table(few_wines(), tmp_path / "table.parquet")
    left = left_at(SPEC, tmp_path, moment)
    assert left.choice is not None
    assert left.resumed_at == (moment is is_second_step)
    moments, outcome = drain(few_wines(), tmp_path, left, **SPEC)
    assert not {"trial", "choice"} & {moment.kind for moment in moments}
    assert outcome.choice == left.choice
    assert outcome.metrics["seconds_choice"] == left.choice["seconds"]
    assert outcome.result.objective == pytest.approx(whole.result.objective, rel=1e-3)
    assert [row["iteration"] for row in outcome.trace.rows] == list(range(len(outcome.trace.rows)))


def test_a_choice_is_validated_by_its_own_folds_unless_nested_ones_are_asked_for(tmp_path: Path) -> None:
    spec = SPEC | {"kernel": "linear", "q": 2, "scale": "auto", "folds": 2}
    pq.write_table(few_wines(), tmp_path / "table.parquet")
    moments, outcome = drain(few_wines(), tmp_path, **spec)
    assert "validation" not in {moment.kind for moment in moments}
    document = result_document(outcome)["validation"]
    assert (document["method"], document["measure"], document["folds"]) == ("bootstrap", "accuracy", 5)
    assert document["score"] == outcome.metrics["accuracy"] > 0.8
    assert outcome.validation is not None
    np.testing.assert_array_equal(outcome.validation.rows, np.arange(len(few_wines())))
    again = drain(few_wines(), tmp_path, left_at(spec, tmp_path, is_choice), **spec)[1]
    assert result_document(again)["validation"] == document
    moments, nested = drain(few_wines(), tmp_path, **spec, validation="nested")
    assert "validation" in {moment.kind for moment in moments}
    assert result_document(nested)["validation"]["method"] == "nested"


def test_a_checkpoint_that_knows_of_no_choice_is_gone_on_from() -> None:
    """As one that was written before there were choices."""
    file = io.BytesIO()
    rows = [{"iteration": 4, "round": 1}]
    np.savez(file, W=np.eye(3, 2), rows=np.frombuffer(json.dumps(rows).encode(), dtype=np.uint8))
    trace = unpack_trace(file.getvalue())
    assert (trace.choice, trace.resumed_at, trace.resumed_round) == (None, 4, 1)


def test_w_is_one_of_the_standardized_features_where_whitening_is_chosen(tmp_path: Path) -> None:
    """The model that is kept projects rows as the solver saw them, so what is chosen can be read and applied."""
    _, outcome = drain(few_wines(), tmp_path, **SPEC | {"scale": "whiten", "q": 2})
    assert outcome.choice is not None
    codes = Supervised(CLASSES[FEW]).codes
    scaling, rows = Scaling.learned(X[FEW], "whiten", codes)
    inside = scaling.inside(outcome.result.W)
    np.testing.assert_allclose(rows @ inside, outcome.embedding, atol=1e-8)
    np.testing.assert_allclose(outcome.model.project(X[FEW]), outcome.embedding, atol=1e-8)


@pytest.mark.parametrize(
    ("open_", "kept"),
    [
        ({"kernel": {"name": "gaussian", "sigma": "auto"}}, {"q": 2, "scale": "standard"}),
        ({"kernel": {"name": "multiquadratic", "c": "auto"}}, {"q": 2, "scale": "standard"}),
        ({"kernel": {"name": "polynomial", "degree": 2, "gamma": "auto"}}, {"q": 2, "scale": "standard"}),
        ({"kernel": "gaussian", "scale": "auto"}, {"q": 2, "delta": 0.01}),
        ({"kernel": "linear", "q": "auto"}, {"scale": "standard", "delta": 0.01}),
        ({"kernel": "auto", "q": 1, "scale": "none", "delta": 0.05}, {"q": 1, "scale": "none", "delta": 0.05}),
    ],
)
def test_only_automatic_settings_are_chosen(tmp_path: Path, open_: dict[str, Any], kept: dict[str, Any]) -> None:
    _, outcome = drain(few_wines(), tmp_path, **SPEC | open_)
    assert outcome.choice is not None
    assert {name: outcome.choice["spec"][name] for name in kept} == kept
    for each in outcome.choice["candidates"]:
        assert all(each[name] == value for name, value in kept.items() if name in each)


def test_values_are_chosen_for_by_how_much_of_them_is_explained(tmp_path: Path) -> None:
    _, outcome = drain(few_wines(), tmp_path, paradigm="supervised", target="proline", features=NAMES[:-1], folds=0)
    assert outcome.choice is not None
    assert outcome.choice["criterion"] == "r2"


CLUSTERINGS: dict[str, dict[str, Any]] = {
    "unsupervised": {"clusters": 3},
    "semi_supervised": {"clusters": 3, "scores": "class"},
    "alternative": {"clusters": 2, "clustering": "class"},
}


@pytest.mark.parametrize("paradigm", CLUSTERINGS)
def test_a_clustering_takes_what_most_settings_agree_on(tmp_path: Path, paradigm: str) -> None:
    spec = {"paradigm": paradigm, "features": NAMES} | CLUSTERINGS[paradigm]
    moments, outcome = drain(few_wines(), tmp_path, **spec)
    document = result_document(outcome)
    choice = document["choice"]
    assert choice["criterion"] == "consensus"
    assert {each["kernel"]["name"] for each in choice["candidates"]} == {"gaussian", "polynomial"}
    (taken,) = [each for each in choice["candidates"] if each["chosen"]]
    assert taken["score"] == max(each["score"] for each in choice["candidates"])
    assert choice["spec"]["kernel"] == taken["kernel"]
    assert (choice["spec"]["q"], choice["spec"]["delta"]) == (spec["clusters"], 0.01)
    assert {m.progress.fold for m in moments if m.kind == "trial"} == {1, 2, 3, 4, 5}
    pinned = {name: value for name, value in choice["spec"].items() if name != "dataset"}
    again = result_document(drain(few_wines(), tmp_path, **pinned)[1])
    np.testing.assert_allclose(again["W"], document["W"], atol=1e-10)
    assert again["cluster_sizes"] == document["cluster_sizes"]


def test_an_approximation_is_left_out_where_the_kernel_that_is_chosen_needs_none() -> None:
    spec = JOB_SPEC.validate_python(
        {"dataset": "d", "paradigm": "unsupervised", "clusters": 3, "approximation": {"features": 64}}
    )
    for kernel, kept in ((Gaussian(2.0), {"features": 64}), (Polynomial(3, 1.0, 0.1), None)):
        found = with_settings(spec, Settings(Unsupervised(3), kernel, 3, "standard", 0.01, None, None))
        assert (found.approximation and found.approximation.model_dump()) == kept
        assert not found.has_automatic_settings


def test_labels_that_do_not_guide_the_axes_are_posted_with_a_weight_of_0() -> None:
    spec = JOB_SPEC.validate_python({"dataset": "d", "paradigm": "semi_supervised", "scores": "y", "clusters": 2})
    taken = Candidate(Gaussian(0.5), "standard", 2, False, 0.9, None, 0.0)
    for mu, posted in ((0.0, 0.0), (None, "auto")):
        choice = Choice("consensus", (taken,), taken, 100, "", mu=mu)
        found = with_settings(spec, Settings(Unsupervised(2), Gaussian(0.5), 2, "standard", 0.01, 1, choice))
        assert isinstance(found, SemiSupervisedSpec)
        assert found.mu == posted


def test_neighbors_that_are_chosen_are_posted_with_their_path_and_without_an_approximation() -> None:
    open_spec = {"dataset": "d", "paradigm": "supervised", "target": "y", "approximation": {"features": 64}}
    paradigm = Supervised([0, 1, 0], neighbors=True)
    decision = Settings(paradigm, Gaussian(0.5), 2, "whiten", 0.1, "path", None)
    found = with_settings(JOB_SPEC.validate_python(open_spec), decision)
    again = JOB_SPEC.validate_python(found.model_dump(mode="json"))
    assert again == found
    assert isinstance(again, SupervisedSpec)
    assert (again.neighbors, again.starts, again.approximation, again.has_automatic_settings) == (
        True,
        "path",
        None,
        False,
    )


def test_a_linear_candidate_is_posted_with_the_kernel_between_values() -> None:
    open_spec = {"dataset": "d", "paradigm": "supervised", "target": "y", "approximation": {"features": 64}}
    taken = Candidate(Squared(), "whiten", 2, False, 0.9, None, 0.0, linear=True)
    choice = Choice("r2", (taken,), taken, 100, "")
    decision = Settings(Supervised([0.5, 1.5, 2.0], "values", "linear"), Squared(), 2, "whiten", 0.01, None, choice)
    found = with_settings(JOB_SPEC.validate_python(open_spec), decision)
    assert isinstance(found, SupervisedSpec)
    assert (found.target_kernel, found.approximation, found.has_automatic_settings) == ("linear", None, False)
    assert JOB_SPEC.validate_python(found.model_dump(mode="json")) == found


def test_few_features_and_errors_of_the_loadings_go_with_what_is_chosen(tmp_path: Path) -> None:
    _, outcome = drain(few_wines(), tmp_path, **SPEC | {"q": 2, "features_per_axis": 3, "resamples": 3})
    document = result_document(outcome)
    assert (np.count_nonzero(document["W"], axis=0) <= 3).all()
    assert document["sparsity"]["features_per_axis"] == document["choice"]["spec"]["features_per_axis"] == 3
    errors = np.array(document["stability"]["errors"])
    assert errors.shape == (len(NAMES), 2)
    assert (errors[np.array(document["W"]) == 0] == 0).all()
