"""What limits a pass over files: reading them, or the sums over their rows."""

import tempfile
from pathlib import Path

from benchmarks.measuring import Row, claim, run_part
from benchmarks.out_of_core import files

ROWS = 1_000_000  # in 60 files, 120 MB
CASES = ("polynomial", "gaussian")
MOST = 1.5  # times reading the files once by pyarrow plus the same sums in memory


def compared(folder: str, count: int, case: str) -> Row:
    """Compare a pass over files with its parts."""
    ours = run_part("out_of_core.solves", "in_process", folder=folder, count=count, case=case)
    apart = run_part("out_of_core.solves", "in_memory", folder=folder, count=count, case=case)
    row = {"kernel": case, "files": count, "passes": ours["passes"]}
    for unit in ("s", "CPU s"):
        row[f"a pass, {unit}"] = ours[f"{unit} a pass"]
        row[f"reading, {unit}"] = apart[f"reading {unit}"]
        row[f"reading by pyarrow, {unit}"] = apart[f"pyarrow {unit}"]
        row[f"sums, {unit}"] = apart[f"{unit} a pass"]
        row[f"ratio, {unit}"] = row[f"a pass, {unit}"] / (apart[f"pyarrow {unit}"] + apart[f"{unit} a pass"])
    row["limited by"] = "reading" if apart["reading s"] > apart["s a pass"] else "the sums"
    return row


def claims(rows: list[Row]) -> list[Row]:
    """Return a claim about each comparison."""
    text = "a pass over the files over reading them by pyarrow plus the same sums in memory, CPU seconds"
    return [claim(f"{row['kernel']}, {row['files']} files: {text}", row["ratio, CPU s"], "≤", MOST) for row in rows]


def section() -> Row:
    """Make a million rows and compare the passes over them."""
    with tempfile.TemporaryDirectory() as folder:
        files.make(Path(folder), ROWS)
        rows = [compared(folder, files.FILES, case) for case in CASES]
    return {
        "claims": claims(rows),
        "tables": {f"Passes over {ROWS:,}×{files.COLUMNS} in {files.FILES} Parquet files, one thread": rows},
        "notes": [f"{row['kernel']}: a pass is limited by {row['limited by']}." for row in rows],
    }
