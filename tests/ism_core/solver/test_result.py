"""Reasons for stopping are sentences, and results can be kept."""

import pickle

import numpy as np
import pytest

from ism_core import Stop, Supervised, Unsupervised, choose, solve
from tests.ism_core.conftest import Labelled


@pytest.mark.parametrize("stop", Stop)
def test_a_reason_to_stop_is_a_sentence(stop: Stop) -> None:
    assert stop.value.endswith(".")
    assert stop.value.startswith("Converged:" if stop.converged else "Stopped:")


def test_sentences_about_max_iter_say_what_to_change() -> None:
    for stop in (Stop.MAX_ITER, Stop.ROUNDS):
        assert "raise max_iter" in stop.value


def test_one_iteration_is_not_enough_and_the_result_says_so(blobs: Labelled) -> None:
    result = solve(blobs.X, Supervised(blobs.y), "gaussian", 2, max_iter=1, starts=1, delta=1e-6)
    assert result.stop is Stop.MAX_ITER
    assert not result.converged
    assert Stop.MAX_ITER.value in result.warnings
    assert result.iterations == 1
    clustered = solve(blobs.X, Unsupervised(3), "gaussian", 2, max_iter=1)
    assert clustered.stop is Stop.ROUNDS
    assert Stop.ROUNDS.value in clustered.warnings


def test_a_converged_result_has_no_warnings(blobs: Labelled) -> None:
    result = solve(blobs.X, Supervised(blobs.y), "gaussian", 2)
    assert result.converged
    assert result.warnings == ()


def test_a_result_survives_pickling(blobs: Labelled) -> None:
    for paradigm, kernel in ((Supervised(blobs.y), "polynomial"), (Unsupervised(3), "relative_gaussian")):
        result = solve(blobs.X, paradigm, kernel, 2)
        again = pickle.loads(pickle.dumps(result))
        np.testing.assert_array_equal(again.W, result.W)
        assert again.stop is result.stop
        assert again.certificate == result.certificate
        assert len(again.steps) == len(result.steps)


def test_the_text_of_a_result_is_short(blobs: Labelled) -> None:
    result = solve(blobs.X, Unsupervised(3), "gaussian", 2)
    assert "steps" not in repr(result)
    assert len(repr(result)) < 2_000


def test_a_result_and_a_choice_show_themselves_in_notebooks(blobs: Labelled) -> None:
    result = solve(blobs.X, Supervised(blobs.y), "gaussian", 2)
    assert f"<td>{result.stop.value}</td>" in result._repr_html_()
    chosen = choose(blobs.X, Supervised(blobs.y), "auto", 2)
    shown = chosen._repr_html_()
    assert shown.count("<td>chosen</td>") == 1
    assert chosen.reason in shown
