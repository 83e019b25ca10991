"""The documents are true: their examples run, their links resolve, and they list every route and setting."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

from app.main import create_app
from ism_core import SupervisedISM
from ism_jobs.settings import Settings
from tests.support.forked_commands import forked_service

ROOT = Path(__file__).parents[1]


PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
PACKAGES = ("app", "ism_cli", "ism_client", "ism_core", "ism_jobs", "ism_plots", "worker")
LONGEST_LINE = 120  # characters


def blocks(language: str, page: str = "README.md") -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory with the examples in it, as the README's commands expect."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_readme_python_runs_as_written(service: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    over_http, *in_process = blocks("python")
    assert len(in_process) == 1
    names: dict[str, Any] = {}
    exec(compile(over_http.replace("http://127.0.0.1:8000", service), "README.md", "exec"), names)
    names["client"].close()
    assert "proline" in capsys.readouterr().out
    for block in in_process:
        exec(compile(block, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "Converged" in printed
    assert "proline" in printed


def test_the_readme_shell_runs_as_written_and_gives_what_the_library_gives(service: str, folder: Path) -> None:
    curl, fit = blocks("sh")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for block in (curl.replace("http://127.0.0.1:8000", service), fit):
        subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block], check=True, env={**os.environ, "PATH": path}, capture_output=True
        )

    wine = load_wine()
    ism = SupervisedISM("auto", "auto").fit(wine.data, wine.target)
    W, shown = ism.components_.T, ism.transform(wine.data)
    assert np.abs(np.load("W.npy") - W).max() < 1e-8
    with np.load("wine/model.npz") as model:
        assert np.abs(model["W"] - W).max() < 1e-8
    for table in ("embedding.csv", "projected.csv", "wine/embedding.csv"):
        rows = list(csv.DictReader(Path(table).read_text().splitlines()))
        embedding = np.array([[float(row[f"axis{axis + 1}"]) for axis in range(W.shape[1])] for row in rows])
        assert np.abs(embedding - shown).max() < 1e-8
    assert Path("loadings.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in Path("embedding.svg").read_text()


def test_the_tasks_of_the_api_run_as_written(folder: Path) -> None:
    tasks = "\n".join(blocks("sh", "docs/api.md"))
    data = folder / "data"
    data.mkdir()
    with forked_service(data, workers=1) as (url, _):
        variables = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "ISM_REDIS_DIR": str(data)}
        command = ["bash", "-euo", "pipefail", "-c", tasks.replace("http://127.0.0.1:8000", url)]
        done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    first, again = re.findall(r"^(?:first|again): (\w+)$", done.stdout, re.MULTILINE)
    assert first == again, "posted once"
    files = [(folder / f"{name}.csv").read_text().splitlines() for name in ("embedding", "grid", "night")]
    embedding, grid, night = (list(csv.DictReader(lines)) for lines in files)
    assert [len(embedding), len(grid), len(night)] == [178, 4, 6]
    assert {row["state"] for row in grid + night} == {"succeeded"}


def test_the_manual_lists_every_setting_and_no_other() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    rows = re.findall(r"^\| `ISM_(\w+)` \|", page, re.MULTILINE)
    assert sorted(rows) == sorted(name.upper() for name in Settings.model_fields)


def test_every_route_is_documented() -> None:
    page = (ROOT / "docs" / "api.md").read_text()
    paths = create_app(Settings(redis_url="redis://nowhere")).openapi()["paths"]
    for path in paths:
        shown = path.replace("/plots/{plot}.{format}", "/plots/").replace("/jobs/{id}/{table}", "/jobs/{id}/W")
        assert f"`{shown}" in page or f" {shown}" in page, path


def prose(page: Path) -> list[tuple[int, str]]:
    """The lines of a page with their numbers, without tables and code blocks."""
    text = re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), page.read_text(), flags=re.M | re.S)
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if not line.startswith(("|", "    "))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_line_of_prose_is_short_enough_for_a_diff(page: Path) -> None:
    long = [f"{page.name}:{number}" for number, line in prose(page) if len(line) > LONGEST_LINE]
    assert not long


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_resolves(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:]*)(#[^):]*)?\)", page.read_text()):
        linked = page.parent / target if target else page
        assert linked.exists(), f"{page.name} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(), re.MULTILINE)
            anchors = {"#" + re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in anchors, f"{page.name} links to {target}{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_in_the_documents_exists(page: Path) -> None:
    packages = "app|benchmarks|drills|examples|ism_cli|ism_client|ism_core|ism_jobs|ism_plots|tests|tools|worker"
    paths = re.findall(rf"`((?:{packages})/[\w/.-]+)`", page.read_text())
    generated = {"benchmarks/results", "benchmarks/results/", "benchmarks/results/choose.md"}
    assert not [path for path in paths if path not in generated and not (ROOT / path).exists()]


def test_every_test_that_the_guarantees_name_exists() -> None:
    named = re.findall(r"`(test_\w+)", (ROOT / "docs" / "guarantees.md").read_text())
    tests = {name for file in ROOT.glob("tests/**/*.py") for name in re.findall(r"def (test_\w+)", file.read_text())}
    assert named
    assert set(named) <= tests


def test_every_name_in_the_glossary_occurs_in_the_code() -> None:
    modules = [module for package in PACKAGES for module in (ROOT / package).rglob("*.py")]
    code = "\n".join(f"{module}\n{module.read_text()}" for module in modules)
    rows = re.findall(r"^\| .* \| (.*) \|$", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    names = re.findall(r"`([^`]+)`", "\n".join(rows))
    assert names
    assert not [name for name in names if name not in code]


def test_the_example_makes_its_picture(tmp_path: Path) -> None:
    picture = tmp_path / "wine.png"
    subprocess.run(
        [sys.executable, ROOT / "examples" / "wine.py", picture],
        check=True,
        env={"MPLBACKEND": "agg", "HOME": str(tmp_path)},
    )
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_every_module_says_what_it_is_for() -> None:
    for package in PACKAGES:
        for module in (ROOT / package).rglob("*.py"):
            assert module.read_text().startswith('"""'), module
