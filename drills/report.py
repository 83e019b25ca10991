"""Print results as tables and save them as JSON."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Row = Sequence[object]


def table(title: str, rows: Sequence[Row]) -> str:
    """Return rows of cells under a title; the first column is aligned to the left, the others to the right."""
    text = [[_cell(cell) for cell in row] for row in rows]
    columns = max(len(row) for row in text)
    widths = [max((len(row[place]) for row in text if len(row) > place), default=0) for place in range(columns)]
    lines = []
    for row in text:
        cells = [
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([title, "-" * max(len(line) for line in [title, *lines]), *lines])


def save(path: Path, document: dict[str, Any]) -> None:
    """Write a document as JSON."""
    path.write_text(json.dumps(document, indent=1, default=str))


def _cell(cell: object) -> str:
    if cell is None:
        return "–"
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)
