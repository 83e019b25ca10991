"""What the clients ask for: a few jobs of some seconds, of which everybody knows how they must end."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

COLUMNS = 20
GROUPS = 4
TIGHT = 1e-9  # so that a supervised job that was resumed ends where it would have
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
    """A data set that has been uploaded, and the jobs on it by kind."""

    dataset: str

    def spec(self, kind: str, metadata: Mapping[str, str]) -> dict[str, Any]:
        """The body of POST /jobs."""
        supervised = KINDS[kind]["paradigm"] == "supervised"
        return {
            "dataset": self.dataset,
            "features": [f"x{place}" for place in range(COLUMNS)],
            "q": 3,
            "seed": 7,
            "delta": TIGHT if supervised else 1e-6,
            "label": kind,
            "metadata": dict(metadata),
            **KINDS[kind],
        }

    def draw(self, rng: random.Random) -> str:
        """A kind."""
        return rng.choice(list(KINDS))


def table(rows: int) -> bytes:
    """A CSV of groups that lie apart, and a value that follows from three of the columns."""
    rng = np.random.default_rng(5)
    group = rng.integers(0, GROUPS, rows)
    X = rng.standard_normal((GROUPS, COLUMNS))[group] + rng.standard_normal((rows, COLUMNS))
    value = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + rng.standard_normal(rows) / 2
    header = ",".join([*(f"x{place}" for place in range(COLUMNS)), "value", "group"])
    lines = [
        ",".join([*(f"{cell:.3f}" for cell in (*row, v)), f"g{g}"]) for row, v, g in zip(X, value, group, strict=True)
    ]
    return "\n".join([header, *lines]).encode()
