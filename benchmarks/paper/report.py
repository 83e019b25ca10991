"""docs/paper.md: a head that says how it was made, then the section of each experiment."""

import os
import subprocess
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from types import ModuleType

from benchmarks.measuring import Row
from benchmarks.paper.cells import ROOT, Part, stored
from benchmarks.report import machine

PICTURES = Path("images") / "paper"  # from where the report is

SETTINGS = """Settings are the paper's: columns centered and scaled to deviation 1 on the rows that are learnt from,
without constant ones; σ of the gaussian the median distance between rows; polynomial of degree 3; q = number of
classes; δ = 0.01. MNIST is its 10,000 test images. Cost is −J, for the gaussian kernel without the diagonal of K, which
the paper zeroes. The polynomial here is (β/d + 1)³ for d columns; the paper prints no such scale, so that costs of the
polynomial kernel can be compared along a line of a table, but not with the paper's.

The competitors maximize the same J, of the same Γ and kernel: **DG**, dimension growth; **SM**, feasible steps on the
Stiefel manifold; **GM**, trust regions on the Grassmann manifold (`benchmarks/paper/competitors.py`). They begin at a
random W and end by their own rules or at a time limit: "> 5 s" is a run that was stopped after 5 s, with the cost and
the score that it had by then. The paper let them run for up to 3 days.
"""


def write(page: Path, experiments: dict[str, ModuleType], folder: Path, fast: bool, stale: Sequence[str] = ()) -> None:
    """From the rows that the folder holds, with pictures beside the page."""
    pictures = page.parent / PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    text = [_head(fast, stale)]
    for name, experiment in experiments.items():
        parts: list[Part] = experiment.parts(fast)
        rows = {part.name: row for part in parts if (row := stored(part, folder)) is not None}
        text.append(_section(name, experiment, rows, len(parts), pictures, fast))
    page.write_text("\n".join(text).rstrip() + "\n")


def _section(name: str, experiment: ModuleType, rows: dict[str, Row], count: int, pictures: Path, fast: bool) -> str:
    failed = {part: row["failed"] for part, row in rows.items() if "failed" in row}
    if len(rows) < count:
        return f"## {name.capitalize()}\n\nNot measured yet: {count - len(rows)} of its {count} parts are missing.\n"
    notes = [f"Failed: `{part}`: {why}\n" for part, why in failed.items()]
    try:
        if hasattr(experiment, "figures"):
            experiment.figures(rows, pictures)
        return "\n".join([experiment.section(rows, fast), *notes])
    except (KeyError, ValueError):
        if not failed:
            raise
        return "\n".join([f"## {name.capitalize()}\n", *notes])


def _head(fast: bool, stale: Sequence[str]) -> str:
    where = machine()
    versions = ", ".join(f"{name} {where[name]}" for name in ("python", "numpy", "scipy", "scikit-learn"))
    command = "FAST=1 make paper" if fast else "make paper"
    lines = [
        "# The paper's experiments",
        "",
        f"Made by `{command}` on {date.today():%-d %B %Y}, from commit {_commit()}, on {os.cpu_count()} cores",
        f"({where['processor']}), {versions}; not edited by hand. Beside each figure of ours stands that of the paper",
        "(Wu, Miller, Chang, Sznaier and Dy, NeurIPS 2019, Tables 4 and 5), measured on 20 cores of a Xeon of 2013.",
        "",
        SETTINGS,
    ]
    if stale:
        lines += [f"Measured with an earlier state of the code: {', '.join(stale)}.", ""]
    return "\n".join(lines)


def _commit() -> str:
    told = subprocess.run(
        ["git", "describe", "--always", "--dirty=, with changes"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return told.stdout.strip() or "unknown"
