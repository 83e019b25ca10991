"""The report of a job: one HTML file without network, with everything that is known about the job."""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pprint import pformat
from typing import Any

import numpy as np
import pyarrow as pa

from app.sandbox.drawing import ranked_entries
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
Document = Mapping[str, Any]


def render_report(job: Document, result: Document, dataset: Document | None, embedding: bytes, url: str) -> bytes:
    """Return the report of a job as HTML.

    `dataset` has the name, rows and columns of the table, or is None if the table has been deleted. `url` is the
    address of the service in the lines that repeat the job.
    """
    name = dataset["name"] if dataset else "the table"
    title = job["label"] or name
    policy = "; ".join(f"{directive} {sources}" for directive, sources in REPORT_POLICY.items())
    body = [
        f"<header><h1>{escape(title)}</h1><p class='lead'>{escape(_question(job['spec'], name))}</p></header>",
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


def _table(heads: Sequence[str], rows: Iterable[Sequence[Any]], numbers: int = 1) -> str:
    """Return a table; its columns from the index `numbers` on are aligned to the right."""

    def line(tag: str, cells: Sequence[Any]) -> str:
        classes = ["" if place < numbers else " class='number'" for place in range(len(cells))]
        return "".join(f"<{tag}{kind}>{escape(str(cell))}</{tag}>" for kind, cell in zip(classes, cells, strict=True))

    lines = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{line('th', heads)}</tr></thead><tbody>{lines}</tbody></table>"
    return f"<div class='scroll' tabindex='0'>{table}</div>"


def _details(title: str, content: str) -> str:
    return f"<details class='expandable'><summary>{escape(title)}</summary>{content}</details>"


def _number(value: Any, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _question(spec: Document, name: str) -> str:
    if spec["paradigm"] == "supervised":
        targets = spec["target"] if isinstance(spec["target"], list) else [spec["target"]]
        return f"Which features of {name} explain {', '.join(targets)}?"
    return f"Which features of {name} show {spec['clusters']} clusters? ({spec['paradigm'].replace('_', '-')})"


def _summary(result: Document) -> str:
    validation, d, q = result.get("validation"), len(result["features"]), len(result["axes"])
    claim = f"{d:,} features were reduced to {q} new {'axis' if q == 1 else 'axes'}."
    if validation and validation["score"] is not None:
        measure = "accuracy" if validation["measure"] == "accuracy" else "R²"
        claim += f" Cross-validated {measure}: {validation['score']:.3f} ± {validation['error'] or 0:.3f}."
    sentences = [each["sentence"] for each in (result.get("baseline"), result.get("missed")) if each]
    sentences += [] if result["converged"] else [result["stop"]]
    warnings = "".join(f"<li>{escape(text)}</li>" for text in result["warnings"])
    return f"<p class='claim'>{escape(claim)}</p>{''.join(f'<p>{escape(text)}</p>' for text in sentences)}" + (
        f"<ul class='notice plain'>{warnings}</ul>" if warnings else ""
    )


def _ranking(result: Document) -> str:
    entries = ranked_entries(result)

    def rows(shown: Sequence[Any]) -> Iterable[Sequence[Any]]:
        for entry in shown:
            error = "" if entry.error is None else f" ± {entry.error:.1%}"
            drop = "" if entry.drop is None else f"{entry.drop:.3g} ± {entry.drop_error:.2g}"
            yield entry.name, "unclear" if entry.unclear else "", f"{entry.share:.1%}{error}", drop

    heads = ("Feature", "", "Importance", "Explained variance lost if shuffled")
    more = _details(f"All {len(entries):,}", _table(heads, rows(entries), 2)) if len(entries) > MAX_RANKED else ""
    return (
        _table(heads, rows(entries[:MAX_RANKED]), 2)
        + more
        + "<p class='hint'>The importance of a feature is its share of the axes that count; ± is one standard error. "
        "Unclear: within two standard errors of 0. Collinear features share a line.</p>"
    )


def _axes(result: Document) -> str:
    contributions = result.get("contributions") or [{}] * len(result["axes"])
    lines = [
        (axis, "yes" if each.get("informative", True) else "no, for plots only", _percent(each.get("share")),
         _number(value))
        for axis, each, value in zip(result["axes"], contributions, result["eigenvalues"], strict=True)
    ]  # fmt: skip
    errors = (result.get("stability") or {}).get("errors")
    weights = [
        (name, *(_number(value) + (f" ± {_number(errors[row][axis], 2)}" if errors else "")
                 for axis, value in enumerate(result["W"][row])))
        for row, name in enumerate(result["features"])
    ]  # fmt: skip
    structure = [
        (name, *(_number(value, 3) for value in values))
        for name, values in zip(result["features"], result.get("structure") or (), strict=False)
    ]
    return (
        _table(("Axis", "Tells about held-out rows", "Contribution", "Eigenvalue"), lines, 2)
        + _details("Weights (W)", _table(("Feature", *result["axes"]), weights))
        + (_details("Correlations with the axes", _table(("Feature", *result["axes"]), structure)) if structure else "")
    )


def _quality(result: Document) -> str:
    parts, baseline = [], result.get("baseline")
    if baseline:
        rows = [("The axes", _number(baseline["score"]), _number(baseline["error"], 2)),
                ("Linear model on all features", _number(baseline["linear"]), _number(baseline["linear_error"], 2)),
                ("Constant", _number(baseline["constant"]), "")]  # fmt: skip
        parts.append(_table(("Prediction by", baseline["measure"], "Standard error"), rows))
        classes = baseline["classes"]
        if classes:
            heads = ("Class", "Precision", "Recall", "Rows", *(f"as {each['class']}" for each in classes))
            lines = [
                (each["class"], _percent(each["precision"]), _percent(each["recall"]), each["rows"], *counts)
                for each, counts in zip(classes, baseline["confusion"], strict=True)
            ]
            parts.append(_details("Confusion matrix of held-out rows", _table(heads, lines)))
    certificate = [(name.replace("_", " "), _number(value, 3)) for name, value in result["certificate"].items()]
    error = result.get("error") or {}
    certificate += [("method", result["method"]), ("relative error of J", _number(error.get("objective"), 2))]
    metrics = [(name, _number(value)) for name, value in result["metrics"].items()]
    parts += [
        f"<p>{escape(result['stop'])}</p>",
        _details("Certificate", _table(("", "Value"), certificate)),
        _details("Metrics", _table(("Metric", "Value"), metrics)),
    ]
    return "".join(parts)


def _choice(choice: Document | None) -> str:
    if not choice:
        return ""
    rows = [
        (json.dumps(each["kernel"]), each["scale"], "chosen" if each["chosen"] else "", each["q"],
         _number(each["score"]), _number(each["error"], 2))
        for each in choice["candidates"]
    ]  # fmt: skip
    heads = ("Kernel", "Scale", "", "Axes", choice["criterion"], "Standard error")
    return f"<p>{escape(choice['reason'])}</p>" + _details(f"{len(rows)} candidates", _table(heads, rows, 3))


def _columns(spec: Document, result: Document, dataset: Document | None) -> str:
    if dataset is None:
        return "<p>The table has been deleted.</p>"
    used = set((result.get("encoding") or {}).get("columns") or result["features"])
    given = [spec.get(role) for role in ("target", "scores", "clustering", "reference")]
    roles = {name for each in given if each for name in (each if isinstance(each, list) else [each])}
    rows = [
        (column["name"], column["kind"],
         "feature" if column["name"] in used else "given" if column["name"] in roles else "left out",
         "" if column["name"] in used | roles else column.get("reason") or "see the notes above",
         column["missing"])
        for column in dataset["columns"]
    ]  # fmt: skip
    left_out = sum(row[2] == "left out" for row in rows)
    return f"<p>{dataset['rows']:,} rows, {len(rows):,} columns; {left_out:,} left out.</p>" + _details(
        "All columns", _table(("Column", "Kind", "Use", "Reason", "Missing values"), rows, 4)
    )


def _repeat(job: Document, result: Document, name: str, url: str) -> str:
    spec = {key: value for key, value in job["spec"].items() if key != "dataset"}
    pinned = (result.get("choice") or {}).get("spec") or job["spec"]
    file = shlex.quote(name)
    python = (
        "from ism_client import Client\n\n"
        f"spec = {pformat(spec, width=100, sort_dicts=False)}\n"
        f"client = Client({url!r})\n"
        f"job = client.submit(client.upload({name!r}), **spec)\n"
        "result = job.wait().result()\n"
        "print(result.objective, result.metrics)\n"
    )
    field = "python3 -c \"import json, sys; print(json.load(sys.stdin)['id'])\""
    body = json.dumps(spec, ensure_ascii=False).replace("'", "'\\''")
    curl = (
        f"DATASET=$(curl -s -F file=@{file} {url}/datasets | {field})\n"
        f"echo '{body[:-1]}, \"dataset\": \"'$DATASET'\"}}' |\n"
        f"  curl -s {url}/jobs -H 'Content-Type: application/json' -d @-\n"
    )
    versions = _table(("Package", "Version"), (result.get("versions") or {}).items())
    numbers = [("J", repr(result["objective"]))]
    for axis, value in zip(result["axes"], result["eigenvalues"], strict=True):
        numbers.append((f"eigenvalue of {axis}", repr(value)))
    return (
        "<p>The same table and the same lines give the numbers below. Other versions, processors or numbers of threads "
        f"may change them by rounding; the iteration itself stops at a tolerance of {_number(pinned.get('delta'))}.</p>"
        + _table(("Number", "Value"), numbers)
        + f"<h3>Python</h3><pre class='python' tabindex='0'>{escape(python)}</pre>"
        + f"<h3>curl</h3><pre tabindex='0'>{escape(curl)}</pre>"
        + _details("The job as it was posted", f"<pre tabindex='0'>{escape(json.dumps(job['spec'], indent=2))}</pre>")
        + _details(
            "The job with all settings chosen", f"<pre tabindex='0'>{escape(json.dumps(dict(pinned), indent=2))}</pre>"
        )
        + _details("Versions", versions)
        + f"<p class='hint'>Job {escape(job['id'])}, data set {escape(job['dataset'])}.</p>"
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
        "titles": titles,
        "muted": muted,
        "total": count,
        "result": {name: result.get(name) for name in ("features", "W", "structure")}
        | {"groups": result.get("groups") or []},
    }
