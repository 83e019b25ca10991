"""Downloads: plots, tables and models as files, and Python code that reproduces the numbers."""

import io
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Opener
from tests.page.jobs import WINE, done, drawn
from tests.support.api import Api

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def job(api: Api) -> str:
    return done(api, paradigm="unsupervised", clusters=3, q=2, kernel="linear", features=["alcohol", "hue", "proline"])


@pytest.fixture
def result(opened: Opener, job: str) -> Page:
    return drawn(opened(f"#/jobs/{job}"), 178)


def downloaded(page: Page, button: str) -> tuple[str, bytes]:
    """Click a button and return the name and content of the file that it downloads."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


@pytest.mark.parametrize("format", ["SVG", "PNG"])
def test_every_kind_of_plot_can_be_exported(result: Page, format: str) -> None:
    with_features = ("Scatter plot", "Which features matter", "Axis 1")
    for plot in (*with_features, "Eigenvalues and eigengap", "Objective by iteration"):
        name, body = downloaded(result, f"{plot} as {format}")
        assert name.endswith(f".{format.lower()}")
        if format == "PNG":
            assert body.startswith(b"\x89PNG"), plot
            assert len(body) > 5_000, plot
            continue
        text = " ".join(ET.fromstring(body).itertext())
        assert ("proline" in text) == (plot in with_features), plot
        if plot == "Scatter plot":
            assert body.count(b"<path") > 178


def test_every_plot_has_export_buttons(result: Page) -> None:
    expect(result.get_by_role("heading", name="Convergence", exact=True)).to_be_visible()
    plots = result.locator(".plot").count()
    assert result.locator(".exports").count() == plots


def test_tables_models_and_clusters_can_be_downloaded(result: Page, api: Api, job: str) -> None:
    assert downloaded(result, "Loadings (W) as CSV")[1] == api.get(f"/jobs/{job}/W?format=csv").content
    name, body = downloaded(result, "Embedding as NPY")
    assert name == f"embedding-{job}.npy"
    assert np.load(io.BytesIO(body)).shape == (178, 2)
    assert len(pd.read_parquet(io.BytesIO(downloaded(result, "Clusters as PARQUET")[1]))) == 178
    with np.load(io.BytesIO(downloaded(result, "Model as NPZ")[1])) as model:
        assert model["W"].shape == (3, 2)
    assert len(downloaded(result, "Model as ONNX")[1]) > 100


def test_the_python_code_on_the_page_reproduces_the_job(
    result: Page, api: Api, job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result.get_by_role("button", name="Copy Python").click()
    expect(result.get_by_role("button", name="Copied")).to_be_visible()
    lines = result.evaluate("navigator.clipboard.readText()")
    assert lines == result.locator(".python").text_content()
    name, table = downloaded(result, "Table as Parquet")
    (tmp_path / name).write_bytes(table)
    monkeypatch.chdir(tmp_path)
    assert_reproduces(lines, api, job)


def assert_reproduces(lines: str, api: Api, job: str) -> None:
    names: dict[str, Any] = {}
    exec(compile(lines, "the page's code", "exec"), names)
    found = api.get(f"/jobs/{job}/result").json()
    assert np.abs(names["W"] - np.array(found["W"])).max() < 1e-6
    table = api.get(f"/jobs/{job}/embedding").json()
    places = [place for place, name in enumerate(table["columns"]) if name.startswith("axis")]
    expected = np.array([[row[place] for place in places] for row in table["rows"]])
    assert np.abs(names["embedding"] - expected).max() < 1e-5
    if "labels" in names:
        labels = np.array([row[1] for row in api.get(f"/jobs/{job}/labels").json()["rows"]])
        assert (names["labels"] == labels).all()


def gaps() -> str:
    """The wines with text features, a name that must be quoted, and some missing values."""
    frame = pd.read_csv(io.StringIO(WINE)).rename(columns={"alcohol": 'alc "%" \\ ü'})
    frame["strong"] = np.where(frame['alc "%" \\ ü'] > 13, "yes", "no")
    frame["size"] = np.array(["small", "large", "medium"])[frame.index * 7 % 3]
    frame["maker"] = np.array(["ann", "bob", "cat", ""])[frame.index * 5 % 11 % 4]
    frame["made"] = [f"{1 + row % 28:02}.{1 + row % 12:02}.{2000 + row % 19}" for row in frame.index]
    frame.loc[frame.index % 17 == 3, "hue"] = np.nan
    frame.loc[frame.index % 23 == 5, "class"] = None
    frame["expert"] = np.where(frame.index % 3 == 0, frame["proline"], np.nan)
    return frame.to_csv(index=False)


FEATURES = ['alc "%" \\ ü', "proline", "hue"]
CASES: dict[str, dict[str, Any]] = {
    "classes, rows dropped": {"target": "class", "features": FEATURES, "missing": "drop", "kernel": "polynomial"},
    "as it comes": {"target": "class"},
    "dates": {"target": "strong", "features": ["hue", "size", "made", "ash"]},
    "dates in parts": {"target": "strong", "features": ["hue", "made", "ash"], "dates": "parts"},
    "values, texts encoded": {
        "target": "proline",
        "features": ["hue", "strong", "ash"],
        "missing": "mean",
        "categorical": "onehot",
        "kernel": {"name": "gaussian", "sigma": 2.5},
        "starts": 2,
    },
    "two targets": {"target": ["proline", "ash"], "features": ["magnesium", "malic_acid"], "scale": "none", "q": 1},
    "guided by scores": {
        "paradigm": "semi_supervised",
        "clusters": 2,
        "scores": "expert",
        "mu": 3,
        "features": ["magnesium", "ash", "malic_acid"],
        "kernel": "squared",
    },
    "other groups": {
        "paradigm": "alternative",
        "clusters": 2,
        "clustering": "strong",
        "features": ["magnesium", "ash", "malic_acid"],
        "kernel": {"sum": [{"weight": 0.5, "kernel": "linear"}, {"weight": 1, "kernel": "multiquadratic"}]},
    },
    "settings chosen": {
        "kernel": "auto",
        "q": "auto",
        "target": "strong",
        "features": ["magnesium", "malic_acid", "ash"],
    },
    "clusters, settings chosen": {
        "kernel": "auto",
        "q": "auto",
        "paradigm": "unsupervised",
        "clusters": 2,
        "features": ["magnesium", "malic_acid", "ash"],
    },
    "few features, balanced, whitened": {
        "target": "strong",
        "features": ["magnesium", "ash", "malic_acid"],
        "scale": "whiten",
        "balance": True,
        "features_per_axis": 2,
    },
    "neighbors": {
        "target": "strong",
        "features": ["magnesium", "ash", "malic_acid"],
        "kernel": {"name": "gaussian", "sigma": 1.0},
        "neighbors": True,
    },
    "weights by the target": {
        "target": "strong",
        "features": ["magnesium", "ash", "malic_acid"],
        "kernel": {"aligned": ["gaussian", "linear"]},
        "seed": 7,
    },
}


@pytest.mark.parametrize("case", CASES)
def test_python_code_reproduces_jobs_of_every_kind(
    page: Page, api: Api, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = {"q": 2, "folds": 0, "paradigm": "supervised"} | CASES[case]
    spec = spec if spec["paradigm"] == "supervised" else {k: v for k, v in spec.items() if k != "folds"}
    job = done(api, gaps(), "wine, with gaps.csv", **spec)
    view = api.get(f"/jobs/{job}").json()
    dataset = api.get(f"/datasets/{view['dataset']}").json()
    found = api.get(f"/jobs/{job}/result").json()
    build = """async ([job, dataset, result]) => {
        const { fileName, pythonCode } = await import("/page/result/python_code.js");
        return [fileName(dataset), pythonCode({ job, dataset, result })];
    }"""
    name, lines = page.evaluate(build, [view, dataset, found])
    assert name == "wine_with_gaps.parquet"
    (tmp_path / name).write_bytes(api.get(f"/datasets/{dataset['id']}/rows?format=parquet").content)
    monkeypatch.chdir(tmp_path)
    assert_reproduces(lines, api, job)
