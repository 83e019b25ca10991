"""The peers that are written out, and the report of the comparison on other tables."""

import numpy as np
import pytest

from benchmarks.unseen.cells import ISM, METHODS, Cell
from benchmarks.unseen.peers import lfda, sir
from benchmarks.unseen.report import as_markdown
from ism_core.arrays import Array


def share_of_first_column(W: Array) -> float:
    return float(abs(W[0, 0]) / np.linalg.norm(W[:, 0]))


def test_sliced_inverse_regression_finds_the_column_that_a_value_depends_on() -> None:
    X = np.random.default_rng(0).standard_normal((300, 5))
    assert share_of_first_column(sir(X, np.exp(X[:, 0]), 1)) > 0.95


def test_local_fisher_analysis_separates_a_class_in_two_clusters_from_one_between_them() -> None:
    rng = np.random.default_rng(0)
    X, cluster = rng.standard_normal((300, 5)), rng.integers(0, 3, 300)
    X[:, 0] = 8 * cluster + 0.5 * rng.standard_normal(300)
    assert share_of_first_column(lfda(X, (cluster == 1).astype(int), 1)) > 0.95


def cells(own: float) -> list[Cell]:
    """Two tables with values on which ISM has one R² and each peer another."""
    others = {ISM: own, "MLKR": 0.7, "SIR": 0.6}
    found = [
        Cell("values", table, method, "2", 0, others.get(method, 0.5)) for table in "ab" for method in METHODS["values"]
    ]
    return [*found, *(Cell("values", table, ISM, q, 0, own) for table in "ab" for q in ("1", "3", "auto"))]


@pytest.mark.parametrize(("own", "rank", "behind"), [(0.8, "1.00", "none"), (0.65, "2.00", "a (0.050), b (0.050)")])
def test_the_report_has_mean_ranks_and_names_the_tables_that_are_behind(own: float, rank: str, behind: str) -> None:
    page = as_markdown(cells(own))
    assert f"| ISM | {rank} |" in page
    assert f"best of MLKR, SIR and PLS: {behind} (required" in page
    assert f"minus that of MLKR: {own - 0.7:+.3f}" in page
