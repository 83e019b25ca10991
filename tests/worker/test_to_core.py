"""Kernels between specs and the core, there and back."""

import json
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from ism_core import Supervised, solve
from ism_core.kernels import KERNELS, parameters
from ism_jobs.spec import JOB_SPEC
from worker.to_core import kernel_document, kernel_of

IRIS = load_iris()
SPECS: list[Any] = [
    *KERNELS,
    {"name": "polynomial", "degree": 2, "c": 0, "gamma": 0.5},
    {"name": "gaussian", "sigma": 2},
    {"name": "relative_gaussian", "neighbors": 3},
    {"name": "multiquadratic", "c": 0.25},
    {"sum": [{"weight": 2, "kernel": "gaussian"}]},
    {"sum": [{"weight": 1, "kernel": "linear"}, {"weight": 0, "kernel": "squared"}, {"kernel": "polynomial"}]},
    {"aligned": ["gaussian", "linear", "polynomial"]},
    {"aligned": ["relative_gaussian", {"name": "gaussian", "sigma": 0.5}]},
]


def spec(kernel: Any):
    return JOB_SPEC.validate_python({"dataset": "d", "paradigm": "supervised", "target": "y", "kernel": kernel})


@pytest.mark.parametrize("kernel", SPECS, ids=json.dumps)
def test_the_kernel_of_a_result_can_be_posted_again_and_finds_the_same(kernel: Any) -> None:
    paradigm = Supervised(IRIS.target)
    result = solve(IRIS.data, paradigm, kernel_of(spec(kernel)), 2)
    document = json.loads(json.dumps(kernel_document(result.kernel), allow_nan=False))
    assert "auto" not in json.dumps(document)
    assert "median" not in json.dumps(document)
    again = solve(IRIS.data, paradigm, kernel_of(spec(document)), 2)
    assert kernel_document(again.kernel) == document
    np.testing.assert_allclose(again.objective, result.objective, rtol=1e-12)
    np.testing.assert_allclose(again.W, result.W, atol=1e-6)


@pytest.mark.parametrize("name", KERNELS)
def test_the_defaults_of_specs_are_those_of_the_core(name: str) -> None:
    assert parameters(kernel_of(spec(name))) == parameters(KERNELS[name]())
