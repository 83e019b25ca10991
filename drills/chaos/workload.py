"""The jobs that clients post: six kinds of some seconds each, with known results."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

COLUMNS = 20
GROUPS = 4
SUPERVISED_DELTA = 1e-9  # tight, so that a resumed job ends at the same W
CLUSTERING_DELTA = 1e-6
KINDS: dict[str, dict[str, Any]] = {
    "values, gaussian": {"paradigm": "supervised", "target": "value", "kernel": "gaussian", "folds": 3},
    "values, multiquadratic": {"paradigm": "supervised", "target": "value", "kernel": "multiquadratic", "folds": 3},
    "classes, gaussian": {"paradigm": "supervised", "target": "group", "kernel": "gaussian", "folds": 3},
    "classes, polynomial": {"paradigm": "supervised", "target": "group", "kernel": "polynomial", "folds": 0},
    "clustering, gaussian": {"paradigm": "unsupervised", "clusters": GROUPS, "kernel": "gaussian"},
    "clustering, multiquadratic": {"paradigm": "unsupervised", "clusters": GROUPS, "kernel": "multiquadratic"},
}


@dataclass(frozen=True)
class Workload:
    """An uploaded data set and the jobs on it."""

    dataset: str

    def spec(self, kind: str, metadata: Mapping[str, str]) -> dict[str, Any]:
        """Return the body of POST /jobs for a job of this kind."""
        supervised = KINDS[kind]["paradigm"] == "supervised"
        return {
            "dataset": self.dataset,
            "features": [f"x{place}" for place in range(COLUMNS)],
            "q": 3,
            "seed": 7,
            "delta": SUPERVISED_DELTA if supervised else CLUSTERING_DELTA,
            "label": kind,
            "metadata": dict(metadata),
            **KINDS[kind],
        }

    def draw(self, rng: random.Random) -> str:
        """Return a random kind."""
        return rng.choice(list(KINDS))


def table(rows: int) -> bytes:
    """Return a CSV with separated groups and a value that depends on three of the columns."""
    rng = np.random.default_rng(5)
    group = rng.integers(0, GROUPS, rows)
    X = rng.standard_normal((GROUPS, COLUMNS))[group] + rng.standard_normal((rows, COLUMNS))
    value = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + rng.standard_normal(rows) / 2
    header = ",".join([*(f"x{place}" for place in range(COLUMNS)), "value", "group"])
    lines = [
        ",".join([*(f"{cell:.3f}" for cell in (*row, v)), f"g{g}"]) for row, v, g in zip(X, value, group, strict=True)
    ]
    return "\n".join([header, *lines]).encode()
