"""What the documents say is run."""

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

ROOT = Path(__file__).parents[1]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the examples, where the README's commands are given."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_readme_python_runs_as_written(service: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    over_http, *in_process = blocks("python")
    assert len(in_process) == 2
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


def test_every_setting_is_documented_with_its_description() -> None:
    rows = dict(re.findall(r"^\| `ISM_(\w+)` \|[^|]*\| (.*) \|$", (ROOT / "docs" / "operations.md").read_text(), re.M))
    assert rows == {name.upper(): field.description for name, field in Settings.model_fields.items()}


def test_every_route_is_documented() -> None:
    page = (ROOT / "docs" / "api.md").read_text()
    paths = create_app(Settings(redis_url="redis://nowhere")).openapi()["paths"]
    for path in paths:
        shown = path.replace("/plots/{plot}.{format}", "/plots/").replace("/jobs/{id}/{table}", "/jobs/{id}/W")
        assert f"`{shown}" in page or f" {shown}" in page, path


def test_every_link_in_the_documents_leads_to_a_file() -> None:
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_example_makes_its_picture(tmp_path: Path) -> None:
    picture = tmp_path / "wine.png"
    subprocess.run(
        [sys.executable, ROOT / "examples" / "wine.py", picture],
        check=True,
        env={"MPLBACKEND": "agg", "HOME": str(tmp_path)},
    )
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_every_module_says_what_it_is_for() -> None:
    for package in ("app", "cli", "ism_client", "ism_core", "ism_jobs", "worker"):
        for module in (ROOT / package).rglob("*.py"):
            assert module.read_text().startswith('"""'), module
