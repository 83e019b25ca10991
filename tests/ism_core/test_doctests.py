"""The examples in the docstrings of the public names, and the notebook, run and give what they say."""

import ast
import doctest
import json
from pathlib import Path
from typing import Any

import pytest

import ism_core

NOTEBOOK = Path(__file__).parents[2] / "examples" / "wine.ipynb"

EXAMPLES = [
    example
    for name in ism_core.__all__
    for example in doctest.DocTestFinder().find(getattr(ism_core, name), name, globs=vars(ism_core).copy())
    if example.examples
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_gives_what_it_says(example: doctest.DocTest) -> None:
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert report == []


def test_solving_and_choosing_have_examples() -> None:
    assert {"solve", "choose"} <= {example.name for example in EXAMPLES}


def test_the_notebook_runs_from_the_top(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(NOTEBOOK.parent)
    notebook = json.loads(NOTEBOOK.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    names: dict[str, Any] = {}
    shown = [run("".join(cell["source"]), names) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    picture, ranking = (each for each in shown if each is not None)
    assert "<svg" in picture._repr_svg_()
    assert ranking["importance"].sum() == pytest.approx(1)
    assert names["accuracy"] > 0.9
    assert "informative: True" in capsys.readouterr().out


def run(cell: str, names: dict[str, Any]) -> Any:
    """Run a cell like a notebook: return the value of its last line if that is an expression."""
    *lines, last = ast.parse(cell).body
    exec(compile(ast.Module(lines, []), "cell", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    exec(compile(ast.Module([last], []), "cell", "exec"), names)
    return None
