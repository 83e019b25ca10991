"""The paper's clusterings with guidance, and what its printed page leaves open: the numbers that the report tells."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.datasets import stored
from benchmarks.measuring import Row
from benchmarks.paper import differences
from benchmarks.paper.cells import Part
from benchmarks.paper.experiments import alternative, evidence, semisupervised
from benchmarks.paper.printed import PRINTED

with_flower = pytest.mark.skipif(not stored("flower").exists(), reason="Flower may not be redistributed")
with_cancer = pytest.mark.skipif(not stored("cancer").exists(), reason="Cancer is not in ISM_DATA_DIR")


@with_flower
@pytest.mark.parametrize("kernel", alternative.KERNELS)
def test_the_two_segmentations_of_flower_differ(kernel: str) -> None:
    row = alternative.flower(kernel)
    assert row["nmi"] < 0.2
    assert set(row["original"]) == set(row["alternative"]) == {0, 1}
    assert 0.1 < np.mean(row["alternative"]) < 0.9


@with_flower
def test_the_flower_section_shows_the_segmentations_and_no_picture(tmp_path: Path) -> None:
    rows = {f"alternative/flower/{kernel}": alternative.flower(kernel) for kernel in alternative.KERNELS}
    alternative.figures(rows, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [alternative.FLOWER_PICTURE]
    text = alternative.section(rows, fast=True)
    assert "| gaussian | 0.0" in text
    assert "© Alain Nicolas" in text


def test_scores_without_noise_help_and_much_noise_does_not() -> None:
    level = semisupervised.levels("wine, 100 more")
    good, useless = (np.mean(semisupervised.guided("wine, 100 more", noise, 1.0, 1)["nmi"]) for noise in (0.0, 4.0))
    assert good > level["unsupervised"] + 0.1
    assert good > useless + 0.1
    assert useless == pytest.approx(level["unsupervised"], abs=0.05)
    assert good == pytest.approx(level["supervised"], abs=0.05)


def test_negating_the_printed_distances_gives_the_papers_accuracy() -> None:
    for kernel, paper in (("squared", 0.966), ("multiquadratic", 0.972)):
        row = evidence.signs(kernel, 3)
        assert np.mean(row["printed"]) < 0.7
        assert np.mean(row["negated"]) > paper - 0.02


@pytest.mark.parametrize("kernel", differences.KERNELS)
def test_the_loop_as_printed_ends_at_once(kernel: str) -> None:
    row = evidence.stopping("wine", kernel)
    assert row["first change"] > evidence.DELTA
    assert row["passes"] > 1
    assert row["short"][0] > row["short"][1] >= 0
    assert row["away"][0] > row["away"][1]


def test_with_a_larger_scale_fewer_rows_carry_the_polynomial() -> None:
    small, large = (evidence.scale("wine", gamma, 3) for gamma in ("1/d", "1"))
    assert large["heaviest"] > 1.3 * small["heaviest"]
    assert np.mean(large["cost"]) < 100 * np.mean(small["cost"])
    assert abs(np.mean(large["accuracy"]) - np.mean(small["accuracy"])) < 0.04


@with_cancer
def test_no_scale_of_the_polynomial_gives_the_papers_costs_on_two_data_sets() -> None:
    wine, cancer = (
        evidence.fitted(data, PRINTED["supervised", data, "polynomial", "ISM", "cost"].value or 0.0)
        for data in ("wine", "cancer")
    )
    assert wine["gamma"]["0"] == pytest.approx(0.324, rel=0.01)
    assert wine["gamma"]["1"] == pytest.approx(0.248, rel=0.03)
    for c in ("0", "1"):
        for factor in ("q", "d"):
            assert wine["gamma"][c] * wine[factor] > 5 * cancer["gamma"][c] * cancer[factor]


def test_the_cost_of_wine_without_the_diagonal_matches_the_paper() -> None:
    row = evidence.diagonal("wine", 10)
    assert np.mean(row["without"]) == pytest.approx(-1311, abs=26)
    assert np.mean(row["with"]) < -1311 - 3 * 26


@with_cancer
def test_duplicate_rows_of_cancer_do_not_raise_the_accuracy() -> None:
    row = evidence.duplicates("polynomial", 5)
    assert (row["rows"], row["distinct"]) == (683, 449)
    assert 0.3 < row["twins"] < 0.5
    assert row["right of twins"] > row["right of others"]
    assert np.mean(row["grouped"]) == pytest.approx(np.mean(row["random"]), abs=0.015)


@with_cancer
def test_cancer_is_the_original_one() -> None:
    sizes = evidence.sizes()
    assert sizes["cancer"] == {"rows": 683, "columns": 9, "whole": True}
    assert sizes["wdbc"] == {"rows": 569, "columns": 30, "whole": False}


@pytest.mark.parametrize("module", [alternative, differences, semisupervised])
def test_part_names_are_unique_and_a_section_leaves_out_failed_parts(module: object) -> None:
    for fast in (True, False):
        parts: list[Part] = module.parts(fast)  # type: ignore[attr-defined]
        names = [part.name for part in parts]
        assert len(set(names)) == len(names)
        failed: dict[str, Row] = {name: {"failed": "it rained"} for name in names}
        assert module.section(failed, fast).startswith("## ")  # type: ignore[attr-defined]
