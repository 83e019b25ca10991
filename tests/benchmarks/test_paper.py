"""The paper's experiments on small data, and how their parts are kept and told."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from benchmarks.datasets import stored as data_file
from benchmarks.measuring import Row
from benchmarks.paper import __main__ as command
from benchmarks.paper import cells, tables, verdicts
from benchmarks.paper.cells import Part, fingerprint, run
from benchmarks.paper.experiments import folds, rounds
from benchmarks.paper.printed import PRINTED
from benchmarks.paper.verdicts import Cell

KERNELS = ("gaussian", "polynomial")


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `make paper FAST=1` has filled."""
    missing = [name for name in ("cancer", "flower") if not data_file(name).exists()]
    if missing:
        pytest.skip(f"{data_file(missing[0])} does not exist")
    folder = tmp_path_factory.mktemp("paper")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "SHORT", 0.0)  # nothing is repeated for the median of its seconds: no test is about them
        assert command.main(["--fast", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def measured(fast: Path) -> dict[str, Row]:
    parts = [part for experiment in command.EXPERIMENTS.values() for part in experiment.parts(True)]
    return {part.name: cells.stored(part, fast / "rows") or {} for part in parts}


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", KERNELS)
def test_accuracy_matches_the_paper(measured: dict[str, Row], kernel: str) -> None:
    assert np.mean(measured[f"supervised/wine/{kernel}/ISM"]["accuracy"]) >= 0.93
    assert np.mean(measured[f"supervised/cancer/{kernel}/ISM"]["accuracy"]) >= 0.955


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("data", ["wine", "cancer"])
@pytest.mark.parametrize("paradigm", ["supervised", "unsupervised"])
def test_no_competitor_finds_a_lower_cost_for_the_same_classes_or_clusters(
    measured: dict[str, Row], paradigm: str, data: str, kernel: str
) -> None:
    (cell,) = verdicts.cells(paradigm, measured, [data], [kernel])
    assert set(cell.rows) == {"ISM", "DG", "SM", "GM"}
    assert max(cell.excess(row) for row in cell.rivals.values()) < 1e-4


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", KERNELS)
def test_nmi_matches_the_paper(measured: dict[str, Row], kernel: str) -> None:
    assert measured[f"unsupervised/wine/{kernel}/ISM"]["NMI"][0] >= 0.82
    assert measured[f"unsupervised/cancer/{kernel}/ISM"]["NMI"][0] >= 0.77


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", ["linear", "squared", "multiquadratic", "gaussian+polynomial"])
def test_other_kernels_classify_as_well(measured: dict[str, Row], kernel: str) -> None:
    assert np.mean(measured[f"kernels/supervised/wine/{kernel}"]["accuracy"]) >= 0.93
    assert np.mean(measured[f"kernels/supervised/cancer/{kernel}"]["accuracy"]) >= 0.955


@pytest.mark.thorough
def test_the_report_has_every_section_and_picture(fast: Path) -> None:
    page = (fast / "paper.md").read_text()
    assert "Not measured yet" not in page
    assert page.count("\n## ") == len(command.EXPERIMENTS)
    pictures = [line.split("(")[1].split(")")[0] for line in page.splitlines() if line.startswith("![")]
    assert pictures
    assert all((fast / picture).exists() for picture in pictures)


@pytest.mark.thorough
def test_a_second_run_computes_nothing(fast: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--fast", "--out", str(fast)]) == 0
    assert capsys.readouterr().out.startswith("0 parts computed")


def test_scaling_is_fitted_to_the_training_folds() -> None:
    table = folds.load("wine")
    for X, _, X_test, _ in folds.standardized_folds(table, 3):
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(X.std(axis=0), 1)
        assert np.abs(X_test.mean(axis=0)).max() > 1e-3


def toy(path: Path, text: str) -> Callable[[], Row]:
    """The function `compute` of a module of that text."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("toy", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(Callable[[], Row], module.compute)


def test_a_fingerprint_changes_with_the_source_and_with_the_arguments(tmp_path: Path) -> None:
    compute = toy(tmp_path / "toy.py", "def compute(a=1):\n    return {'a': a}\n")
    part = Part("toy", compute)
    before = fingerprint(part)
    assert fingerprint(part) == before
    assert fingerprint(Part("toy", cells.partial(compute, 2))) != before
    assert fingerprint(Part("toy", compute, ("wine",))) != before
    (tmp_path / "toy.py").write_text("def compute(a=1):\n    return {'a': a + 1}\n")
    assert fingerprint(part) != before


def test_a_fingerprint_covers_what_a_part_imports() -> None:
    names = {path.name for path in cells.sources(folds.measure)}
    assert {"folds.py", "competitors.py", "objective.py", "datasets.py"} <= names
    assert "supervised.py" not in names


def test_finished_parts_are_skipped_unless_forced(tmp_path: Path) -> None:
    calls = []

    def compute() -> Row:
        calls.append(1)
        return {"values": np.arange(3), "mean": np.float64(1)}

    parts = [Part("a/b c", compute)]
    expected = {"a/b c": {"values": [0, 1, 2], "mean": 1.0}}
    assert run(parts, tmp_path) == run(parts, tmp_path) == expected
    assert len(calls) == 1
    run(parts, tmp_path, force=True)
    assert len(calls) == 2


def test_two_parts_with_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Two parts have the name 'a'"):
        run([Part("a", dict), Part("a", dict)], tmp_path)


def test_a_failing_part_is_reported_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    troubles: list[Exception] = [ArithmeticError("no such number")]

    def compute() -> Row:
        if troubles:
            raise troubles[0]
        return {"x": 1}

    def section(rows: dict[str, Row], fast: bool) -> str:
        return f"## Toy\n\nx = {rows['toy/a']['x']}, y = {rows['toy/b']['y']}\n"

    experiment: Any = SimpleNamespace(
        parts=lambda fast: [Part("toy/a", compute), Part("toy/b", lambda: {"y": 2})], section=section
    )
    monkeypatch.setattr(command, "EXPERIMENTS", {"toy": cast(ModuleType, experiment)})
    assert command.main(["--out", str(tmp_path)]) == 1
    told = capsys.readouterr()
    assert told.out.startswith("1 parts computed, 0 skipped since nothing has changed, 1 failed")
    assert "FAILED toy/a: ArithmeticError: no such number" in told.err
    assert "no such number" in (tmp_path / "paper.md").read_text()
    troubles.clear()
    assert command.main(["--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("1 parts computed, 1 skipped")
    assert "x = 1, y = 2" in (tmp_path / "paper.md").read_text()


def test_the_papers_tables_are_all_there_in_plain_units() -> None:
    assert len(PRINTED) == 8 * 3 * 8 + 4 * 2 * 4 + 4 * 2 * 3
    assert PRINTED["supervised", "face", "gaussian", "DG", "time"].value == pytest.approx(1.92 * 86_400)
    assert PRINTED["supervised", "face", "gaussian", "DG", "time"].deviation == pytest.approx(11 * 3_600)
    assert PRINTED["supervised", "wine", "polynomial", "ISM", "accuracy"].value == pytest.approx(0.972)
    assert PRINTED["unsupervised", "mnist", "gaussian", "SM", "cost"].text == "−2001"
    assert PRINTED["unsupervised", "mnist", "gaussian", "GM", "time"].cut
    assert PRINTED["unsupervised", "face", "polynomial", "DG", "cost"].value is None


def test_verdicts_give_the_figures_of_what_does_not_hold() -> None:
    ours = {"seconds": [2.0, 4.0], "cost": [-100.0, -120.0], "accuracy": [0.9, 0.9], "finished": [True, True]}
    better = {"seconds": [1.0], "cost": [-101.0], "accuracy": [0.9], "finished": [True]}
    cell = Cell("supervised", "mnist", "gaussian", {"ISM": ours, "SM": better})
    assert cell.excess(better) == pytest.approx(1 / 101)
    assert cell.ratio(better) == pytest.approx(0.5)
    text = verdicts.verdicts([cell], "accuracy")
    assert "MNIST gaussian (90.0 %; the paper has 99% ± 0%, and 97.5 % would be enough)" in text
    assert "SM is lower by 0.99 %" in text
    assert "SM took 0.50 times as long" in text
    worse = {**better, "cost": [-99.0], "seconds": [8.0]}
    good = Cell("supervised", "wine", "gaussian", {"ISM": {**ours, "accuracy": [0.99, 1.0]}, "SM": worse})
    assert verdicts.verdicts([good], "accuracy").count("holds:** ") == 3


def test_prose_is_wrapped_and_tables_are_not() -> None:
    words, row = "word " * 60, f"| {'cell ' * 60}|"
    text = tables.wrapped(f"# Title\n\n{words}\n- {words}\n\n{row}")
    assert text.splitlines()[0] == "# Title"
    assert text.splitlines()[-1] == row
    assert all(len(line) <= tables.LINE_WIDTH for line in text.splitlines()[:-1])
    assert text.split() == f"# Title {words} - {words} {row}".split()
