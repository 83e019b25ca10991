"""Pictures and summaries for notebooks: an SVG or PNG of the service, and results as HTML."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

MAX_RANKED = 10  # features in the summary of a result


@dataclass(frozen=True)
class Picture:
    """A plot of the service. A notebook shows it; `save` writes it to a file.

    job.plot("importance").save("importance.svg")
    """

    content: bytes = field(repr=False)
    format: str  # "svg" or "png"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a file; the suffix should be that of the format."""
        target = Path(path)
        target.write_bytes(self.content)
        return target

    def _repr_svg_(self) -> str | None:
        return self.content.decode() if self.format == "svg" else None

    def _repr_png_(self) -> bytes | None:
        return self.content if self.format == "png" else None


def result_html(document: Mapping[str, Any]) -> str:
    """Return the summary of a result: its size, its score and its most important features."""
    features, importance = document["features"], document.get("importance") or ()
    errors = document.get("importance_errors") or [None] * len(features)
    ranked = sorted(zip(features, importance, errors, strict=False), key=lambda each: -each[1])[:MAX_RANKED]
    rows = [(name, f"{share:.1%}", "" if error is None else f"± {error:.1%}") for name, share, error in ranked]
    lines = [
        f"{len(features)} features, {len(document['W'][0]) if document['W'] else 0} axes",
        document.get("stop") or "",
    ]
    if baseline := document.get("baseline"):
        lines.insert(1, baseline["sentence"])
    return "".join(f"<p>{escape(line)}</p>" for line in lines if line) + table_html(("feature", "importance", ""), rows)


def table_html(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return an HTML table of plain text."""

    def line(tag: str, cells: Sequence[Any]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{line('th', heads)}{''.join(line('td', row) for row in rows)}</table>"
