"""Write the results as JSON, as one Markdown page and as plots."""

import json
import os
import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.measuring import Row
from benchmarks.plots import draw

HIDDEN = {"part seconds", "W"}  # columns that the page leaves out


def save(folder: Path, name: str, section: Row, order: Iterable[str]) -> Row:
    """Replace the results of one section in the folder, and return all results."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "results.json"
    known = json.loads(file.read_text())["sections"] if file.exists() else {}
    known[name] = section
    results = {"machine": machine(), "sections": {name: known[name] for name in order if name in known}}
    file.write_text(json.dumps(results, indent=1, ensure_ascii=False))
    (folder / "results.md").write_text(as_markdown(results))
    draw(results["sections"], folder)
    return results


def machine() -> Row:
    """Return the machine and the versions that the figures were measured with."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory GiB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
    }


def as_markdown(results: Row) -> str:
    """Return the page: the claims and whether they are met, then every table."""
    sections = results["sections"]
    lines = ["# Benchmarks", "", _sentence(results["machine"]), ""]
    claims = [
        {**claim, "met": "yes" if claim["met"] else "NO"} for name in sections for claim in sections[name]["claims"]
    ]
    lines += _table(claims) if claims else []
    for name, section in sections.items():
        lines += [f"## {name}", ""]
        if "failed" in section:
            lines += ["Failed:", "", "```", section["failed"].strip(), "```", ""]
        for title, rows in section["tables"].items():
            lines += [f"### {title}", "", *_table(rows)]
        lines += [f"- {note}" for note in section.get("notes", [])]
        lines += ["", f"Took {section['seconds']:.0f} s.", ""]
    return "\n".join(lines)


def _table(rows: list[Row]) -> list[str]:
    columns = [name for name in dict.fromkeys(key for row in rows for key in row) if name not in HIDDEN]
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    lines += [f"| {' | '.join(_cell(row.get(column, '')) for column in columns)} |" for row in rows]
    return [*lines, ""]


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.3g}"
    return "" if value is None else str(value)


def _sentence(where: Row) -> str:
    return f"Measured by `make bench` in one run. {', '.join(f'{name} {value}' for name, value in where.items())}."


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
