"""Tasks of the sandbox: plots of artifacts."""

import numpy as np
import pyarrow as pa

from app.sandbox.drawing import draw_plot
from ism_jobs.store import pack


def trace(n: int, stage: str) -> pa.Table:
    steps = np.arange(n)
    return pa.table(
        {
            "iteration": steps,
            "round": np.zeros(n),
            "stage": [stage] * n,
            "objective": 100 - 1.0 / (1 + steps),
            "eigenvalue1": 2.0 + steps,
            "eigenvalue2": 1.0 + steps,
        }
    )


def test_the_plot_of_a_trace_shows_the_ascent_and_not_the_search() -> None:
    ascent = trace(10, "ascent")
    whole = pa.concat_tables([trace(5, "search"), ascent])
    assert draw_plot("trace", pack(whole), "svg", {}, {}) == draw_plot("trace", pack(ascent), "svg", {}, {})
