"""What the terminal shows of a result."""

import pytest

from ism_cli.output import STRONGEST, kernel, number, summary, table
from tests.support.scripted_service import RESULT


def test_the_page_says_why_it_stopped_and_what_was_found():
    page = summary(RESULT)
    assert page.startswith("Converged: all has settled.\n")
    for line in ("objective    12.5", "kernel       gaussian (sigma 2.5)", "accuracy     0.975", "nmi          –",
                 "Note: One class has two rows only."):  # fmt: skip
        assert line in page.splitlines()


def test_the_page_says_what_the_score_is_worth_and_what_the_axes_miss():
    classes = [{"class": "a", "precision": None, "recall": 0.0, "rows": 3}]
    classes += [{"class": "b", "precision": 0.94, "recall": 1.0, "rows": 47}]
    baseline = {"sentence": "No better than a constant.", "classes": classes}
    lines = summary(
        RESULT | {"baseline": baseline, "missed": {"sentence": "The test found no dependence."}}
    ).splitlines()
    place = lines.index("No better than a constant.")
    assert lines[place + 1 : place + 6] == [
        "The test found no dependence.", "", "class  precision  recall   rows", "a      –          0.0 %    3",
        "b      94.0 %     100.0 %  47",
    ]  # fmt: skip


def test_a_mean_is_said_with_its_deviation_and_nothing_twice():
    metrics = {"objective": 12.5, "converged": 1.0, "accuracy": 0.9, "accuracy_std": 0.05, "rows": 178.0}
    lines = summary(RESULT | {"metrics": metrics}).splitlines()
    assert [line.split(maxsplit=1) for line in lines[3:8]] == [
        ["objective", "12.5"], ["kernel", "gaussian (sigma 2.5)"], ["eigenvalues", "3, 2"],
        ["accuracy", "0.9 ± 0.05"], ["rows", "178"],
    ]  # fmt: skip


@pytest.mark.parametrize(("error", "sentence"), [
    ({"kind": "rounding", "objective": 1e-14, "gradient": None},
     "Relative error of J: at most 1e-14 (rounding error only)"),
    ({"kind": "bound", "objective": 5.2e-6, "gradient": 6e-5}, "Relative error of J: at most 6e-06 (proven bound)"),
    ({"kind": "bound", "objective": 9.1e-7, "gradient": 0}, "Relative error of J: at most 1e-06 (proven bound)"),
    ({"kind": "bound", "objective": 0, "gradient": 0}, "Relative error of J: at most 0 (proven bound)"),
    ({"kind": "estimate", "objective": 0.004, "gradient": None}, "Relative error of J: at most 0.004 (estimated)"),
])  # fmt: skip
def test_how_exact_the_objective_is_stands_below_why_it_stopped(error, sentence):
    lines = summary(RESULT | {"method": "features", "error": error}).splitlines()
    assert lines[:3] == ["Converged: all has settled.", f"{sentence}, computed by features.", ""]


@pytest.mark.parametrize("error", [None, {}, {"kind": "bound", "objective": None, "gradient": None}])
def test_a_result_that_does_not_say_how_exact_it_is_has_no_such_sentence(error):
    assert "J is" not in summary(RESULT | {"error": error})


def candidate(sigma, score, error=0.01, chosen=False):
    kernel = {"name": "gaussian", "sigma": sigma}
    return {"kernel": kernel, "scale": "whiten", "q": 2, "score": score, "error": error, "seconds": 0.25,
            "chosen": chosen}  # fmt: skip


def test_what_was_tried_is_a_table_with_the_best_first_and_the_one_that_was_taken_marked():
    tried = [candidate(3.5, 0.9), candidate(2.5, 0.97, chosen=True), candidate(1.25, 0.98, None), candidate(1, None)]
    choice = {"criterion": "accuracy", "reason": "It is the simplest.", "candidates": tried}
    lines = summary(RESULT | {"choice": choice}).splitlines()
    first = next(i for i, line in enumerate(lines) if "tried" in line)
    assert [line.split() for line in lines[first : first + 5]] == [
        ["tried", "scale", "q", "accuracy", "seconds"],
        ["gaussian", "(sigma", "1.25)", "whiten", "2", "0.980", "0.25"],
        ["→", "gaussian", "(sigma", "2.5)", "whiten", "2", "0.970", "±", "0.010", "0.25"],
        ["gaussian", "(sigma", "3.5)", "whiten", "2", "0.900", "±", "0.010", "0.25"],
        ["gaussian", "(sigma", "1)", "whiten", "2", "–", "0.25"],
    ]
    assert lines[first + 5].startswith("It is the simplest. The score above is corrected")
    assert "folds" not in summary(RESULT | {"choice": choice | {"criterion": "consensus"}})


def test_the_one_that_was_taken_is_shown_however_many_were_tried():
    tried = [candidate(1 + place, 0.9 - place / 100) for place in range(40)] + [candidate(50, 0.1, chosen=True)]
    lines = summary(RESULT | {"choice": {"criterion": "r2", "reason": "So.", "candidates": tried}}).splitlines()
    shown = [line for line in lines if "whiten" in line]
    assert len(shown) == STRONGEST + 1
    assert shown[-1].startswith("→ gaussian (sigma 50)")


def test_features_are_listed_by_importance_with_signs():
    lines = summary(RESULT).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("feature"))
    assert [line.split() for line in lines[first + 1 : first + 4]] == [
        ["c", "0.500", "+0.000", "+1.000"],
        ["b", "0.320", "+0.800", "+0.000"],
        ["a", "0.180", "+0.600", "+0.000"],
    ]


def test_many_features_and_axes_are_cut_to_a_page():
    d, q = 500, 9
    result = RESULT | {
        "features": [f"{'x' * 100}{i}" for i in range(d)],
        "importance": [1 / d] * d,
        "W": [[0.1] * q] * d,
    }
    page = summary(result)
    assert f"feature ({STRONGEST} of 500)" in page
    assert "axis4" in page
    assert "axis5" not in page
    assert max(map(len, page.splitlines())) < 100


def test_a_result_with_little_in_it_is_still_a_page():
    assert summary({"stop": "Stopped.", "objective": 1.0}) == "Stopped.\n\nobjective  1"


def test_kernels_read_as_they_are_said():
    assert kernel("gaussian") == "gaussian"
    assert (
        kernel({"name": "polynomial", "degree": 3, "c": 1.0, "gamma": 0.25}) == "polynomial (degree 3, c 1, gamma 0.25)"
    )
    parts = [{"weight": 0.5, "kernel": "gaussian"}, {"weight": 2, "kernel": {"name": "linear"}}]
    assert kernel({"sum": parts}) == "0.5 gaussian + 2 linear"
    assert kernel({"aligned": ["gaussian", "linear"]}) == "aligned: gaussian, linear"


def test_numbers_are_short():
    assert [number(value) for value in (None, 1234567, 5.0, 0.123456789, 1e-20, True, "text")] == [
        "–", "1,234,567", "5", "0.123457", "1e-20", "True", "text",
    ]  # fmt: skip


def test_a_table_without_rows_is_nothing():
    assert table([], []) == ""
