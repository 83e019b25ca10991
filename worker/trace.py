"""The trace of a job: one row per iteration, across all its attempts."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ism_core import Result, Step
from ism_core.arrays import Array
from ism_core.selection import Journal

Row = dict[str, Any]

FINISHED = "The ascent was finished early on request, before it converged."


@dataclass
class Trace:
    """The steps of the ascent so far, including those of earlier attempts."""

    rows: list[Row] = field(default_factory=list)
    W: Array | None = None  # the iterate of the last step
    choice: Row | None = None  # the document of the automatic choice, with the spec that the steps belong to
    out_of_fold: Row | None = None  # the predictions that the choice made, and their scores
    journal: Journal = field(default_factory=dict)  # scores of a choice that is under way
    resumed_at: int = 0  # the iteration that this attempt started from
    resumed_round: int = 0  # the round of that iteration
    is_cut_short: bool = False  # whether the ascent ended on request

    def add(self, step: Step) -> Row:
        """Return a step as a row, and append it to the trace if it belongs to the ascent."""
        is_ascent = step.stage == "ascent"
        row = {
            "iteration": step.iteration + (self.resumed_at if is_ascent else 0),
            "round": step.round + (self.resumed_round if is_ascent else 0),
            "stage": step.stage,
            "objective": step.objective,
            "change": step.change,
            "angle": step.angle,
            "gradient": step.gradient,
            "eigenvalues": step.eigenvalues.tolist(),
        }
        if is_ascent:
            self.W = step.W
            if not self.rows or row["iteration"] > self.rows[-1]["iteration"]:
                self.rows.append(row)
        return row

    def cut_short(self) -> None:
        """Record that the ascent ends on request, and count the steps that follow from here."""
        self.is_cut_short = True
        self.resumed_at, self.resumed_round = self.rows[-1]["iteration"], self.rows[-1]["round"]

    @property
    def warnings(self) -> list[str]:
        """What ended early, in sentences."""
        notes = []
        if self.choice and self.choice.get("cut_short"):
            notes.append("The search for settings was finished early; a complete search may find better ones.")
        if self.is_cut_short:
            notes.append(FINISHED)
        return notes

    def stop(self, result: Result) -> str:
        """Return why the ascent ended: a request to finish ends it as `max_iter` would."""
        return FINISHED if self.is_cut_short and not result.converged else result.stop.value

    def warnings_of(self, result: Result) -> list[str]:
        """Return the warnings of a result and what ended early."""
        hidden = result.stop.value if self.stop(result) == FINISHED else None
        return [*self.warnings, *(warning for warning in result.warnings if warning != hidden)]

    def table(self) -> pa.Table:
        """Return the trace as a table."""
        columns: dict[str, pa.Array] = {
            name: pa.array([row[name] for row in self.rows], kind)
            for name, kind in (
                ("iteration", pa.int64()),
                ("round", pa.int64()),
                ("stage", pa.string()),
                ("objective", pa.float64()),
                ("change", pa.float64()),
                ("angle", pa.float64()),
                ("gradient", pa.float64()),
            )
        }
        eigenvalues = np.array([row["eigenvalues"] for row in self.rows])
        for axis in range(eigenvalues.shape[1]):
            columns[f"eigenvalue{axis + 1}"] = pa.array(eigenvalues[:, axis])
        return pa.table(columns)
