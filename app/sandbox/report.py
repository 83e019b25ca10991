"""The report of a job: one HTML file without network, with everything that is known about the job."""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pyarrow as pa

import ism_plots
from app.sandbox import report_facts as facts
from app.sandbox.drawing import axis_shares
from app.sandbox.report_facts import Document, Facts
from app.sandbox.report_script import report_script, script_hash, stylesheet
from ism_jobs.store import unpack

MAX_ROWS = 20_000  # rows in the picture; of more rows, a seeded sample is drawn
MAX_RANKED = 40  # features that are shown before a table with all of them
REPORT_POLICY = {
    "default-src": "'none'",
    "script-src": script_hash(),
    "style-src": "'unsafe-inline'",
    "img-src": "data:",
}


def render_report(job: Document, result: Document, dataset: Document | None, embedding: bytes, url: str) -> bytes:
    """Return the report of a job as HTML.

    `dataset` has the name, rows and columns of the table, or is None if the table has been deleted. `url` is the
    address of the service in the lines that repeat the job.
    """
    name = dataset["name"] if dataset else "the table"
    title = job["label"] or name
    policy = "; ".join(f"{directive} {sources}" for directive, sources in REPORT_POLICY.items())
    body = [
        f"<header><h1>{escape(title)}</h1><p class='lead'>{escape(facts.question(job['spec'], name))}</p></header>",
        _section("Result", _summary(result)),
        _section("Rows in the new axes", "<div id='picture' class='card'></div>"),
        _section("Which features matter", _ranking(result)),
        _section("Axes", _axes(result)),
        _section("Quality", _quality(result)),
        _section("Choice of settings", _choice(result.get("choice"))),
        _section("Columns of the table", _columns(job["spec"], result, dataset)),
        _section("Repeat it", _repeat(job, result, name, url)),
    ]
    data = json.dumps(_picture(job["spec"], result, unpack(embedding)), allow_nan=False).replace("<", "\\u003c")
    page = (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)} · ISM report</title><style>{stylesheet()}</style></head>"
        f"<body><main class='report'>{''.join(body)}</main>"
        f"<script type='application/json' id='data'>{data}</script><script>{report_script()}</script></body></html>"
    )
    return page.encode("utf-8", "replace")


def _section(title: str, content: str) -> str:
    return f"<section><h2>{title}</h2>{content}</section>" if content else ""


def _table(content: Facts, most: int | None = None) -> str:
    """Return a table, or its first rows."""

    def line(tag: str, cells: Sequence[Any]) -> str:
        classes = ["" if place < content.numbers else " class='number'" for place in range(len(cells))]
        return "".join(f"<{tag}{kind}>{escape(str(cell))}</{tag}>" for kind, cell in zip(classes, cells, strict=True))

    lines = "".join(f"<tr>{line('td', row)}</tr>" for row in content.rows[:most])
    table = f"<table><thead><tr>{line('th', content.heads)}</tr></thead><tbody>{lines}</tbody></table>"
    return f"<div class='scroll' tabindex='0'>{table}</div>"


def _details(title: str, content: Facts | str | None) -> str:
    if content is None:
        return ""
    inner = _table(content) if isinstance(content, Facts) else f"<pre tabindex='0'>{escape(content)}</pre>"
    return f"<details class='expandable'><summary>{escape(title)}</summary>{inner}</details>"


def _paragraph(text: str, kind: str = "") -> str:
    return f"<p{f' class={kind!r}' if kind else ''}>{escape(text)}</p>"


def _summary(result: Document) -> str:
    warnings = "".join(f"<li>{escape(text)}</li>" for text in result["warnings"])
    return (
        _paragraph(facts.claim(result), "claim")
        + "".join(map(_paragraph, facts.remarks(result)))
        + (f"<ul class='notice plain'>{warnings}</ul>" if warnings else "")
    )


def _ranking(result: Document) -> str:
    ranking = facts.ranking(result)
    count = len(ranking.rows)
    more = _details(f"All {count:,}", ranking) if count > MAX_RANKED else ""
    return _table(ranking, MAX_RANKED) + more + _paragraph(facts.RANKING_NOTE, "hint")


def _axes(result: Document) -> str:
    return (
        _table(facts.contributions(result))
        + _details("Weights (W)", facts.weights(result))
        + _details("Correlations with the axes", facts.structure(result))
    )


def _quality(result: Document) -> str:
    scores = facts.scores(result)
    return (
        (_table(scores) if scores else "")
        + _details("Confusion matrix of held-out rows", facts.confusion(result))
        + _paragraph(result["stop"])
        + _details("Certificate", facts.certificate(result))
        + _details("Metrics", facts.metrics(result))
    )


def _choice(choice: Document | None) -> str:
    if not choice:
        return ""
    tried = _details(f"{len(choice['candidates'])} candidates", facts.candidates(choice))
    return _paragraph(facts.chosen(choice)) + tried


def _columns(spec: Document, result: Document, dataset: Document | None) -> str:
    if dataset is None:
        return "<p>The table has been deleted.</p>"
    sentence, columns = facts.columns(spec, result, dataset)
    return _paragraph(sentence) + _details("All columns", columns)


def _repeat(job: Document, result: Document, name: str, url: str) -> str:
    sentence, numbers = facts.exact_numbers(job, result)
    return (
        _paragraph(sentence)
        + _table(numbers)
        + f"<h3>Python</h3><pre class='python' tabindex='0'>{escape(facts.python_lines(job, name, url))}</pre>"
        + f"<h3>curl</h3><pre tabindex='0'>{escape(facts.curl_lines(job, name, url))}</pre>"
        + _details("The job as it was posted", json.dumps(job["spec"], indent=2))
        + _details("The job with all settings chosen", json.dumps(facts.pinned_spec(job, result), indent=2))
        + _details("Versions", facts.versions(result))
        + _paragraph(f"Job {job['id']}, data set {job['dataset']}.", "hint")
    )


def _picture(spec: Document, result: Document, table: pa.Table) -> dict[str, Any]:
    """Return what the script draws; numbers have six digits."""
    count = table.num_rows
    if count > MAX_ROWS:
        table = table.take(np.sort(np.random.default_rng(0).permutation(count)[:MAX_ROWS]))
    names = table.column_names

    def column(name: str) -> list[float]:
        return [float(f"{value:.6g}") for value in table[name].to_pylist()]

    contributions = result.get("contributions") or [None] * len(result["axes"])
    titles, muted = [], []
    for place, each in enumerate(contributions, 1):
        muted.append(bool(each) and not each["informative"])
        text = f": contributes {each['share']:.0%}" if each else ""
        titles.append(f"axis {place}" + (": adds nothing, for plots only" if muted[-1] else text))
    values = spec["paradigm"] == "supervised" and (result.get("validation") or {}).get("measure") == "r2"
    targets = spec.get("target")
    return {
        "rows": table["row"].to_pylist(),
        "axes": [column(name) for name in names if name.startswith("axis")],
        "picture": column("picture") if "picture" in names else None,
        "group": table["group"].to_pylist() if "group" in names else None,
        "groupKind": "values" if values or spec.get("target_kind") == "values" else "classes",
        "groupTitle": targets if isinstance(targets, str) else "cluster",
        "shown": ism_plots.leading_axes(axis_shares(result), len(result["axes"])),
        "titles": titles,
        "muted": muted,
        "total": count,
        "result": {name: result.get(name) for name in ("features", "W", "structure")}
        | {"groups": result.get("groups") or []},
    }
