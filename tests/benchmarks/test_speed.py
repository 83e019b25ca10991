"""The benchmarks' own arithmetic: the transcription of the paper, the exponents, the report."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.datasets import load, rare_indicators, synthetic
from benchmarks.measuring import PartFailed, claim, run_part
from benchmarks.report import save
from benchmarks.speed import far_rows, growth, transcription
from ism_core import Gaussian, Linear, Multiquadratic, Polynomial, Squared, Supervised, solve
from ism_core.gamma import LabelGamma
from ism_core.kernels import Term
from tests.ism_core import reference

KERNELS = [Linear(), Squared(), Polynomial(3, 1.0, 0.5), Gaussian(1.5), Multiquadratic(0.7)]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_the_transcription_matches_the_definition(kernel: Term) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((15, 4)), rng.integers(0, 3, 15)
    W = np.linalg.qr(rng.standard_normal((4, 2)))[0]
    labels, gamma = LabelGamma.of(y), transcription.label_gamma(y)
    np.testing.assert_allclose(gamma, reference.dense(labels), atol=1e-12)
    np.testing.assert_allclose(
        transcription.surrogate(X, gamma, kernel, W), reference.evaluate(X, labels, kernel, W), atol=1e-9
    )
    assert transcription.objective(X, gamma, kernel, W) == pytest.approx(reference.objective(X, labels, kernel, W))
    first, expected = transcription.initial_surrogate(X, gamma, kernel), reference.initial_surrogate(X, labels, kernel)
    np.testing.assert_allclose(first / np.linalg.norm(first), expected / np.linalg.norm(expected), atol=1e-9)


@pytest.mark.parametrize("name", ["linear", "squared", "polynomial", "gaussian", "multiquadratic"])
def test_the_transcription_and_solve_agree_on_wine(name: str) -> None:
    wine = load("wine")
    X = wine.standardized
    result = solve(X, Supervised(wine.y), name, 2, delta=1e-6)
    ((_, kernel),) = result.kernel.terms
    gamma = transcription.label_gamma(wine.y)
    found = transcription.transcribed(X, gamma, kernel, 2, delta=1e-9)
    J = transcription.objective(X, gamma, kernel, found.W)
    assert result.objective == pytest.approx(transcription.objective(X, gamma, kernel, result.W), rel=1e-8)
    assert result.objective == pytest.approx(J, rel=1e-6)


def test_the_exponent_is_the_slope_of_the_logarithms() -> None:
    rows = [{"n": n, "s": 3.0 * n**1.5} for n in (10, 20, 50)]
    assert growth.exponent(rows, "s") == pytest.approx(1.5)


def test_a_claim_says_whether_it_is_met() -> None:
    assert claim("a", 2.0, "≤", 2)["met"]
    assert not claim("a", 1.9, "≥", 2)["met"]
    assert not claim("a", float("nan"), "≤", 2)["met"]


def test_a_part_measures_the_memory_of_its_own_process() -> None:
    row = run_part("speed.growth", "imports")
    assert 0.01 < row["peak GiB"] < 1


def test_a_part_that_fails_says_why() -> None:
    with pytest.raises(PartFailed, match="Unknown data set 'none'"):
        run_part("speed.transcription", "beside_solve", data="none", q=2)


def test_a_section_that_runs_again_replaces_its_last_results(tmp_path: Path) -> None:
    order = ("first", "growth")
    runs = [{"solved": "gaussian", "n": n, "s": n / 1e3, "peak GiB": 0.5} for n in (1000, 2000)]
    old = {"claims": [claim("speed", 5.0, "≤", 1)], "tables": {"Growth": runs}, "seconds": 1.0}
    save(tmp_path, "growth", old, order)
    save(tmp_path, "first", {"claims": [], "tables": {}, "seconds": 1.0, "failed": "no such thing"}, order)
    save(tmp_path, "growth", {**old, "claims": [claim("speed", 0.5, "≤", 1)]}, order)
    sections = json.loads((tmp_path / "results.json").read_text())["sections"]
    page = (tmp_path / "results.md").read_text()
    assert list(sections) == ["first", "growth"]
    assert "| speed | 0.5 | ≤ 1 | yes |" in page
    assert "no such thing" in page
    assert (tmp_path / "growth.svg").exists()


def test_synthetic_rows_are_standardized_and_of_every_class() -> None:
    X, y = synthetic(1000, 12, 5)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    assert set(y) == set(range(5))


def test_rare_indicators_put_a_few_rows_far_out() -> None:
    X, y = rare_indicators(20_000)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    assert set(y) == set(range(7))
    lengths = np.linalg.norm(X, axis=1)
    assert lengths.max() > 10 * np.median(lengths)
    assert np.quantile(lengths, 0.95) < 4 * np.median(lengths)


def test_far_rows_are_measured_beside_discriminants() -> None:
    row = far_rows.solved(rows=5_000, q=2, exact=True)
    assert row["method"] == "features"
    assert row["error of J"] <= 1e-5
    assert far_rows.discriminants(rows=5_000)["s"] > 0
