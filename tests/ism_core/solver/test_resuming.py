"""Going on from a W that is known already."""

from collections.abc import Callable

import numpy as np
import pytest

from ism_core import Alternative, SemiSupervised, Supervised, Unsupervised, iter_solve, solve
from ism_core.linalg.subspaces import largest_angle
from ism_core.objective.strategies import all_pairs, base
from ism_core.paradigms import Paradigm
from tests.ism_core.conftest import Labelled

CLUSTERINGS: dict[str, Callable[[Labelled], Paradigm]] = {
    "unsupervised": lambda data: Unsupervised(3),
    "semi-supervised": lambda data: SemiSupervised(data.y, 3),
    "alternative": lambda data: Alternative(data.y % 2, 3),
}


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "multiquadratic"])
def test_a_solve_that_was_stopped_early_goes_on_from_its_last_w(kernel: str, blobs: Labelled) -> None:
    whole = solve(blobs.X, Supervised(blobs.y), kernel, 2, starts=1, delta=1e-6)
    assert whole.iterations > 2
    steps = iter_solve(blobs.X, Supervised(blobs.y), kernel, 2, starts=1, delta=1e-6)
    for _ in range(3):
        last = next(steps)
    steps.close()
    resumed = solve(blobs.X, Supervised(blobs.y), kernel, 2, initial_W=last.W, delta=1e-6)
    assert resumed.steps[0].objective == pytest.approx(last.objective, rel=1e-12)
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-9)
    assert resumed.iterations <= whole.iterations


@pytest.mark.parametrize("name", CLUSTERINGS)
def test_a_clustering_that_was_stopped_early_goes_on_from_its_last_w(name: str, blobs: Labelled) -> None:
    whole = solve(blobs.X, CLUSTERINGS[name](blobs), "gaussian", 2)
    half = whole.steps[len(whole.steps) // 2]
    resumed = solve(blobs.X, CLUSTERINGS[name](blobs), "gaussian", 2, initial_W=half.W)
    assert resumed.converged
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-2)
    assert largest_angle(whole.W, resumed.W) < 0.1


def test_a_start_at_the_maximum_stays_there(blobs: Labelled) -> None:
    best = solve(blobs.X, Supervised(blobs.y), "gaussian", 2, delta=1e-8)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((2, 2)))[0]
    again = solve(blobs.X, Supervised(blobs.y), "gaussian", 2, initial_W=3.0 * best.W @ turn)
    assert again.objective == pytest.approx(best.objective, rel=1e-12)
    assert largest_angle(best.W, again.W) < 1e-6
    assert again.iterations <= 2


def test_an_initial_w_replaces_the_search(blobs: Labelled) -> None:
    steps = list(iter_solve(blobs.X, Supervised(blobs.y), "gaussian", 2, initial_W=np.eye(5)[:, :2], starts=5))
    assert all(step.stage == "ascent" for step in steps)
    assert largest_angle(np.eye(5)[:, :2], steps[0].W) < 1e-12


def test_a_dear_solve_goes_on_as_well(wdbc: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Φ is not computed anew at every step."""
    monkeypatch.setattr(base, "SMALL_FLOPS", 0.0)
    monkeypatch.setattr(all_pairs, "PAIR_FLOPS", 0.0)
    whole = solve(wdbc.X, Supervised(wdbc.y), "gaussian", 2, delta=1e-3, tolerance=0)
    last = next(step for step in iter_solve(wdbc.X, Supervised(wdbc.y), "gaussian", 2, tolerance=0))
    resumed = solve(wdbc.X, Supervised(wdbc.y), "gaussian", 2, delta=1e-3, tolerance=0, initial_W=last.W)
    assert resumed.steps[0].objective == pytest.approx(last.objective, rel=1e-6)
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-6)
