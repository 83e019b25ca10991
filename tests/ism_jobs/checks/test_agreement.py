"""A job is refused when it is posted if ism_core would refuse it later."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ism_core import Alternative, InvalidInput, SemiSupervised, Supervised, Unsupervised, solve
from ism_core.linalg import standardized
from ism_core.paradigms import Paradigm, Targets
from ism_jobs.checks import column_roles, problems
from ism_jobs.tables import Description, read_table
from tests.ism_jobs.checks.test_job import spec

COLUMNS: dict[str, list[float]] = {
    "plain": [0.1, 0.5, 0.2, 0.9, 0.4, 0.7],
    "other": [3.0, -1.0, 2.0, 2.5, 0.0, 1.0],
    "ones": [1.0] * 6,
    "huge": [1e21, 2e21, 3e21, 4e21, 0.0, 1.0],
    "vast": [1e160, -1e160, 0.0, 0.0, 1.0, 2.0],
    "tiny": [1e-25, 2e-25, 3e-25, 0.0, 0.0, 1e-25],
    "pair": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
}
CASES = [
    (paradigm, features, given, extra)
    for paradigm in ("supervised", "unsupervised", "semi_supervised", "alternative")
    for features in (["plain"], ["plain", "other"], ["ones"], ["huge", "plain"], ["vast", "plain"], ["tiny"])
    for given in ("pair", "ones")
    for extra in ({"q": 1}, {"q": 2}, {"q": 1, "scale": "none"}, {"q": 1, "clusters": 7})
    if not (paradigm == "supervised" and "clusters" in extra)
]


@pytest.fixture(scope="module")
def described_columns(tmp_path_factory: pytest.TempPathFactory) -> Description:
    path = tmp_path_factory.mktemp("table") / "table.csv"
    rows = zip(*COLUMNS.values(), strict=True)
    path.write_text("\n".join([",".join(COLUMNS), *(",".join(map(repr, row)) for row in rows)]) + "\n")
    return read_table(path)[1]


def _paradigm(name: str, y: Any, clusters: int) -> Paradigm:
    if name == "supervised":
        return Supervised(y)
    if name == "unsupervised":
        return Unsupervised(clusters)
    return SemiSupervised(y, clusters) if name == "semi_supervised" else Alternative(y, clusters)


@pytest.mark.parametrize(("paradigm", "features", "given", "extra"), CASES)
def test_a_job_is_refused_if_and_only_if_the_core_would_refuse_it(
    described_columns: Description, paradigm: str, features: list[str], given: str, extra: dict[str, Any]
) -> None:
    field = {"supervised": "target", "semi_supervised": "scores", "alternative": "clustering"}.get(paradigm)
    job = spec(paradigm, features=features, **({field: given} if field else {}), **extra)
    X, y = np.column_stack([COLUMNS[name] for name in features]), np.array(COLUMNS[given])
    try:
        core = _paradigm(paradigm, y, getattr(job, "clusters", 0))
        solve(X if job.scale == "none" else standardized(X)[0], core, "gaussian", job.q, max_iter=2)
    except InvalidInput:
        refused = True
    else:
        refused = False
    assert bool(problems(job, described_columns)) is refused


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b", "a"], "classes"),
        ([1.0, 2.0, 1.0], "classes"),
        ([float(i) for i in range(20)], "classes"),
        ([float(i) for i in range(21)], "values"),
        ([0.5, 1.0, 2.0], "values"),
    ],
)
def test_auto_reads_a_target_as_the_core_does(tmp_path: Path, values: list[Any], kind: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text("x,class\n" + "".join(f"{row}.5,{value}\n" for row, value in enumerate(values)))
    assert column_roles(spec(), read_table(path)[1]).guidance_kind == kind
    assert (Targets(values, "y").codes is not None) == (kind == "classes")
