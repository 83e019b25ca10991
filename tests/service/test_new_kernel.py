"""A new kernel is one class of the core and one row of a table: a service with both solves a job with it."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.support.api import Api, problem
from tools.local_service import running_service

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("app", "ism_cli", "ism_client", "ism_core", "ism_jobs", "ism_plots", "worker")
CLASS = '''
@dataclass(frozen=True)
class Cauchy(Term):
    """f = 1/(1 + β/scale²)"""

    scale: float = 1.0

    form = "difference"
    is_nonnegative = True

    def value(self, beta: Array, out: Array | None = None) -> Array:
        return np.divide(1, 1 + beta / self.scale**2, out=out)

    def derivative(self, beta: Array, value: Array, out: Array | None = None) -> Array:
        return np.multiply(-value / self.scale**2, value, out=out)


'''
ROW = """    KernelRow(
        "cauchy",
        "Cauchy",
        "difference",
        "f = 1/(1 + β/scale²)",
        "Distant rows count more than with a gaussian.",
        (Parameter("scale", Number(SMALLEST, LARGEST), 1.0, "The width."),),
        is_affinity=True,
    ),
"""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A service that runs a copy of the packages with the class and the row."""
    copy = tmp_path_factory.mktemp("packages")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, copy / package)  # with the compiled code, which takes half a minute to make
    family, table = copy / "ism_core/kernels/family.py", copy / "ism_jobs/spec/kernel_table.py"
    family.write_text(re.sub("(?m)^KERNELS: ", lambda found: CLASS + found.group(), family.read_text()))
    table.write_text(table.read_text().rstrip().removesuffix(")") + ROW + ")\n")
    variables = {"PYTHONPATH": str(copy), "PYTHONSAFEPATH": "1"}
    with (
        running_service(tmp_path_factory.mktemp("service"), workers=1, **variables) as (url, _),
        Api(base_url=url, timeout=90) as client,
    ):
        yield client


def test_a_job_with_the_kernel_maximizes_its_objective(api: Api) -> None:
    rng, y = np.random.default_rng(0), np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 4)) + np.eye(4)[y] * 4
    rows = [",".join([*map(repr, row), f"k{k}"]) for row, k in zip(X.tolist(), y, strict=True)]
    dataset = api.upload("\n".join(["a,b,c,d,class", *rows]).encode())["id"]
    kernel = {"name": "cauchy", "scale": 2.0}
    job = api.submit(dataset=dataset, paradigm="supervised", target="class", kernel=kernel, q=2, folds=2)
    api.succeeded(job)
    result = api.get(f"/jobs/{job}/result").json()
    assert result["kernel"] == kernel

    standardized = (X - X.mean(axis=0)) / X.std(axis=0)
    P = standardized @ np.array(result["W"])
    distances = ((P[:, None] - P[None]) ** 2).sum(axis=2)
    H = np.eye(60) - 1 / 60
    gamma = H @ (y[:, None] == y[None]) @ H
    np.testing.assert_allclose(result["objective"], (gamma / (1 + distances / 4)).sum(), rtol=1e-9)


def test_the_kernel_is_in_the_catalogue(api: Api) -> None:
    (entry,) = [entry for entry in api.get("/kernels").json()["items"] if entry["name"] == "cauchy"]
    assert entry["form"] == "difference"
    assert [(parameter["name"], parameter["default"]) for parameter in entry["parameters"]] == [("scale", 1.0)]


def test_a_wrong_parameter_is_refused_with_a_sentence(api: Api) -> None:
    spec = {"dataset": "none", "paradigm": "unsupervised", "clusters": 2, "kernel": {"name": "cauchy", "width": 2}}
    assert "The cauchy kernel has no parameter" in problem(api.post("/jobs", json=spec), 422)["detail"]
