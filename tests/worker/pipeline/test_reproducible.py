"""The same spec gives the same numbers with other threads and another BLAS, as a report promises."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WINE = Path(__file__).parents[3] / "examples" / "wine.csv"
SPEC = {
    "dataset": "wine.csv",
    "paradigm": "supervised",
    "target": "class",
    "kernel": {"name": "gaussian", "sigma": 2.0},
    "q": 2,
    "folds": 3,
    "delta": 1e-6,
}
RUN = """
import json, sys
from ism_core.solver import ReturnCapture
from ism_jobs.spec import read_one
from ism_jobs.tables import read_table
from pathlib import Path
from threadpoolctl import threadpool_info
from worker.artifacts import result_document
from worker.pipeline import iter_run
table, description = read_table(Path(sys.argv[1]), filename="wine.csv", header=None)
events = ReturnCapture(iter_run(table, read_one(json.loads(sys.argv[2])), description, memory_limit=2**31))
for _ in events:
    pass
blas = [[each["num_threads"], each["architecture"]] for each in threadpool_info() if each["user_api"] == "blas"]
print(json.dumps({"result": result_document(events.value), "blas": blas}))
"""


def run_on(**variables: str) -> dict[str, Any]:
    """Run the job in a process with these environment variables."""
    command = [sys.executable, "-c", RUN, str(WINE), json.dumps(SPEC)]
    ran = subprocess.run(command, env={**os.environ, **variables}, check=True, capture_output=True, text=True)
    return json.loads(ran.stdout)


def test_a_spec_gives_the_same_numbers_with_other_threads_and_another_blas() -> None:
    # OpenBLAS has code for many processors; that for an old one is another BLAS.
    one, other = run_on(OPENBLAS_NUM_THREADS="2"), run_on(OPENBLAS_NUM_THREADS="1", OPENBLAS_CORETYPE="Prescott")
    assert one["blas"] != other["blas"]
    first, second = one["result"], other["result"]
    assert second["objective"] == pytest.approx(first["objective"], rel=1e-9)
    assert second["eigenvalues"] == pytest.approx(first["eigenvalues"], rel=1e-6)
    np.testing.assert_allclose(second["W"], first["W"], atol=1e-6)
    for name in ("accuracy", "hsic"):
        assert second["metrics"][name] == pytest.approx(first["metrics"][name], rel=1e-9)
