"""The way to the result: one row a step, and what a later attempt needs to go on from the last."""

import io
import json
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ism_core import Step
from ism_core.arrays import Array

Row = dict[str, Any]


@dataclass
class Trace:
    """The steps of the ascent so far, those of an earlier attempt included."""

    rows: list[Row] = field(default_factory=list)
    W: Array | None = None  # where the last step was
    choice: Row | None = None  # what was chosen before, and the spec that the steps belong to
    resumed_at: int = 0  # the iteration that this attempt began from
    resumed_round: int = 0  # and its round

    def add(self, step: Step) -> Row:
        """The step as a row; kept if it belongs to the ascent."""
        of_ascent = step.stage == "ascent"
        row = {
            "iteration": step.iteration + (self.resumed_at if of_ascent else 0),
            "round": step.round + (self.resumed_round if of_ascent else 0),
            "stage": step.stage,
            "objective": step.objective,
            "change": step.change,
            "angle": step.angle,
            "gradient": step.gradient,
            "eigenvalues": step.eigenvalues.tolist(),
        }
        if of_ascent:
            self.W = step.W
            if not self.rows or row["iteration"] > self.rows[-1]["iteration"]:
                self.rows.append(row)
        return row

    def table(self) -> pa.Table:
        """As the columns of a table."""
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

    def packed(self) -> bytes:
        """The trace for a later attempt."""
        file = io.BytesIO()
        W = np.empty((0, 0)) if self.W is None else self.W
        np.savez(file, W=W, rows=_json(self.rows), choice=_json(self.choice))
        return file.getvalue()

    @classmethod
    def unpacked(cls, packed: bytes) -> Self:
        """The trace of an earlier attempt, to go on from."""
        with np.load(io.BytesIO(packed), allow_pickle=False) as file:
            rows = json.loads(file["rows"].tobytes())
            choice = json.loads(file["choice"].tobytes()) if "choice" in file else None  # older ones have none
            if not rows:
                return cls(choice=choice)
            return cls(rows, file["W"], choice, rows[-1]["iteration"], rows[-1]["round"])


def _json(value: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
