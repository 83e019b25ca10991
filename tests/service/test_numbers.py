"""A job through HTTP, `ism fit` and `ism_core.solve` give the same W.

Each kernel runs in the supervised paradigm, and each paradigm with one kernel; `make test-all` has all combinations.
"""

import functools
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ism_cli.main import main
from ism_core import (
    Alternative,
    Gaussian,
    Linear,
    Multiquadratic,
    Polynomial,
    RelativeGaussian,
    SemiSupervised,
    Squared,
    Supervised,
    Unsupervised,
    aligned,
    solve,
)
from ism_core.linalg import standardized
from tests.support.api import Api

KERNELS: dict[str, tuple[Any, Any]] = {
    "linear": ("linear", Linear()),
    "squared": ("squared", Squared()),
    "polynomial": ({"name": "polynomial", "degree": 2, "c": 0.5}, Polynomial(2, 0.5)),
    "gaussian": ("gaussian", Gaussian("median")),
    "relative_gaussian": ({"name": "relative_gaussian", "neighbors": 5}, RelativeGaussian(5)),
    "multiquadratic": ("multiquadratic", Multiquadratic()),
    "sum": (
        {"sum": [{"weight": 2.0, "kernel": {"name": "gaussian", "sigma": 4.0}}, {"weight": 0.5, "kernel": "linear"}]},
        2.0 * Gaussian(4.0) + 0.5 * Linear(),
    ),
    "aligned": ({"aligned": ["gaussian", "polynomial"]}, aligned(Gaussian("median"), Polynomial())),
}
PARADIGMS: dict[str, dict[str, Any]] = {
    "supervised": {"target": "class", "folds": 0},
    "unsupervised": {"clusters": 3},
    "semi_supervised": {"scores": "class", "clusters": 3, "mu": 2.0},
    "alternative": {"clustering": "strong", "clusters": 2, "mu": 10.0},
}
PAIRS = [
    (paradigm, kernel)
    for paradigm in PARADIGMS
    for kernel in KERNELS
    if kernel != "aligned" or paradigm in ("supervised", "semi_supervised")
]

ONE_EACH = [("supervised", kernel) for kernel in KERNELS]
ONE_EACH += [("unsupervised", "linear"), ("semi_supervised", "aligned"), ("alternative", "gaussian")]
Posted = Callable[[str, str], str]  # from paradigm and kernel to the id of a job


@pytest.fixture(scope="module")
def few(wine: Any) -> Any:
    return wine.iloc[::3]


@pytest.fixture(scope="module")
def specs(features: list[str]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (paradigm, kernel): {
            "paradigm": paradigm,
            "kernel": KERNELS[kernel][0],
            "features": features,
            "q": 2,
            **PARADIGMS[paradigm],
        }
        for paradigm, kernel in PAIRS
    }


@pytest.fixture(scope="module")
def posted(api: Api, few: Any, specs: dict[tuple[str, str], dict[str, Any]]) -> Posted:
    """A function that posts the job of a paradigm and a kernel, once."""
    dataset = api.upload(few.to_csv(index=False).encode(), "few.csv")["id"]
    return functools.cache(lambda *pair: api.submit(dataset=dataset, **specs[pair]))


def expected(few: Any, features: list[str], paradigm: str, kernel: str) -> Any:
    X, _, _ = standardized(few[features].to_numpy(float))
    classes, strong = few["class"].to_numpy(float), few["strong"].to_numpy(object)
    asked = {
        "supervised": lambda: Supervised(classes),
        "unsupervised": lambda: Unsupervised(3),
        "semi_supervised": lambda: SemiSupervised(classes, 3, 2.0),
        "alternative": lambda: Alternative(strong, 2, 10.0),
    }[paradigm]()
    return solve(X, asked, KERNELS[kernel][1], 2)


@pytest.mark.parametrize(
    ("paradigm", "kernel"),
    [pytest.param(*pair, marks=[] if pair in ONE_EACH else [pytest.mark.thorough]) for pair in PAIRS],
)
def test_http_and_command_line_and_core_agree(
    api: Api,
    few: Any,
    features: list[str],
    specs: dict[tuple[str, str], dict[str, Any]],
    posted: Posted,
    tmp_path: Path,
    paradigm: str,
    kernel: str,
) -> None:
    job = posted(paradigm, kernel)
    api.succeeded(job)
    W = np.load(io.BytesIO(api.get(f"/jobs/{job}/W", params={"format": "npy"}).content))
    result = api.get(f"/jobs/{job}/result").json()
    core = expected(few, features, paradigm, kernel)
    np.testing.assert_allclose(W, core.W, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(W, result["W"])
    np.testing.assert_allclose(W.T @ W, np.eye(2), atol=1e-10)
    assert result["objective"] == pytest.approx(core.objective, rel=1e-9)
    assert result["stop"] == core.stop.value
    if core.labels is not None:
        labels = np.load(io.BytesIO(api.get(f"/jobs/{job}/labels", params={"format": "npy"}).content))
        np.testing.assert_array_equal(labels, core.labels)
        assert sum(result["cluster_sizes"]) == len(few)

    few.to_csv(tmp_path / "few.csv", index=False)
    (tmp_path / "spec.json").write_text(json.dumps(specs[paradigm, kernel]))
    fit = CliRunner().invoke(main, ["fit", str(tmp_path / "few.csv"), "--spec", str(tmp_path / "spec.json"), "--json"])
    assert fit.exit_code == 0, fit.output
    np.testing.assert_allclose(json.loads(fit.stdout)["W"], W, rtol=0, atol=1e-8)


COMPUTED: dict[str, dict[str, Any]] = {
    "single": {"precision": "single"},
    "exact": {"tolerance": 0},
    "coarse": {"tolerance": 1e-3},
    "random": {"approximation": {"features": 64}},
    "random single": {"approximation": {"features": 32}, "precision": "single"},
}


def test_every_way_to_compute_is_the_core_s(api: Api, few: Any, features: list[str], tmp_path: Path) -> None:
    """A job through HTTP and `ism fit` with the options of each: the same W, the same way, the same error."""
    few.to_csv(tmp_path / "few.csv", index=False)
    dataset = api.upload((tmp_path / "few.csv").read_bytes(), "few.csv")["id"]
    spec = {"paradigm": "supervised", "target": "class", "kernel": "gaussian", "features": features, "folds": 0}
    posted = {name: api.submit(dataset=dataset, **spec, **options) for name, options in COMPUTED.items()}
    X, _, _ = standardized(few[features].to_numpy(float))
    for name, options in COMPUTED.items():
        view = api.succeeded(posted[name])
        assert {field: view["spec"][field] for field in options} == options
        result = api.get(f"/jobs/{posted[name]}/result").json()
        core = solve(X, Supervised(few["class"].to_numpy(float)), Gaussian("median"), 2, **options)
        np.testing.assert_allclose(result["W"], core.W, rtol=0, atol=1e-6)
        assert (result["method"], result["error"]["kind"]) == (core.method, core.error.kind)
        assert result["error"]["objective"] == pytest.approx(core.error.objective, rel=1e-6, abs=1e-15)
        assert view["metrics"]["objective_error"] == result["error"]["objective"]

        (tmp_path / "spec.json").write_text(json.dumps({**spec, **options}))
        fit = CliRunner().invoke(main, ["fit", str(tmp_path / "few.csv"), "--spec", str(tmp_path / "spec.json")])
        assert fit.exit_code == 0, fit.output
        assert "Relative error of J: at most " in fit.stdout.splitlines()[1]
        assert fit.stdout.splitlines()[1].endswith(f"computed by {core.method}.")


def test_ism_fit_writes_what_the_service_gives(
    api: Api, few: Any, features: list[str], posted: Posted, tmp_path: Path
) -> None:
    few.to_csv(tmp_path / "few.csv", index=False)
    arguments = [
        "--paradigm",
        "unsupervised",
        "--clusters",
        "3",
        "--kernel",
        "linear",
        "--features",
        ",".join(features),
    ]
    out = tmp_path / "out"
    fit = CliRunner().invoke(main, ["fit", str(tmp_path / "few.csv"), *arguments, "--out", str(out), "--format", "npy"])
    assert fit.exit_code == 0, fit.output
    job = posted("unsupervised", "linear")
    api.succeeded(job)
    for table in ("W", "embedding", "labels"):
        served = np.load(io.BytesIO(api.get(f"/jobs/{job}/{table}?format=npy").content))
        np.testing.assert_allclose(np.load(out / f"{table}.npy"), served, rtol=0, atol=1e-8)


def test_the_kernel_of_a_result_can_be_posted_again(
    api: Api, few: Any, specs: dict[tuple[str, str], dict[str, Any]], posted: Posted
) -> None:
    again = {}
    for kernel in ("gaussian", "polynomial", "sum", "aligned", "relative_gaussian", "multiquadratic"):
        view = api.succeeded(posted("supervised", kernel))
        fitted = api.get(f"/jobs/{view['id']}/result").json()["kernel"]
        spec = {**specs["supervised", kernel], "kernel": fitted, "dataset": view["dataset"]}
        again[kernel] = api.submit(**spec)
    for kernel, job in again.items():
        before, after = (
            api.get(f"/jobs/{id}/result").json() for id in (posted("supervised", kernel), job) if api.ended(id)
        )
        np.testing.assert_allclose(after["W"], before["W"], atol=1e-6)
