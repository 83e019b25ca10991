"""Text output of the commands: the summary of a result, tables, and numbers."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

STRONGEST = 10  # number of features and candidates in a summary
MAX_TEXT_LENGTH = 40  # characters of a name or value in a table
MAX_AXES = 4  # number of axes in a summary


def print_summary(result: Mapping[str, Any]) -> None:
    """Write the summary to stdout. `result` is the document of GET /jobs/{id}/result.

    print_summary(client.job("…").result().document)
    """
    click.echo(summary(result))


def summary(result: Mapping[str, Any]) -> str:
    """Return the summary of a result as text."""
    facts = [("objective", number(result.get("objective")))]
    if result.get("kernel"):
        facts.append(("kernel", kernel(result["kernel"])))
    if result.get("eigenvalues"):
        facts.append(("eigenvalues", ", ".join(map(number, result["eigenvalues"]))))
    if result.get("contributions"):
        facts.append(("axes", _contribution_text(result["contributions"])))
    if result.get("sparsity"):
        facts.append(("features", _sparsity_text(result["sparsity"])))
    facts += _metric_rows(result.get("metrics") or {})
    ended = "\n".join(sentence for sentence in (str(result.get("stop") or ""), exactness(result)) if sentence)
    parts = [ended, table([], facts), _comparison(result), _candidate_table(result.get("choice") or {})]
    parts += [_feature_table(result)]
    parts += [f"Note: {warning}" for warning in result.get("warnings") or ()]
    return "\n\n".join(part for part in parts if part)


def _comparison(result: Mapping[str, Any]) -> str:
    """Return what the score is worth, what the axes miss, and the precision and recall of each class."""
    baseline, missed = result.get("baseline") or {}, result.get("missed") or {}
    sentences = "\n".join(str(each["sentence"]) for each in (baseline, missed) if each.get("sentence"))
    rows = [
        [
            _shortened(str(each.get("class"))),
            _percent(each.get("precision")),
            _percent(each.get("recall")),
            number(each.get("rows")),
        ]
        for each in (baseline.get("classes") or ())[:STRONGEST]
    ]
    classes = table(["class", "precision", "recall", "rows"], rows) if rows else ""
    return "\n\n".join(part for part in (sentences, classes) if part)


def _percent(share: float | None) -> str:
    return number(None) if share is None else f"{100 * share:.1f} %"


def _sparsity_text(sparsity: Mapping[str, Any]) -> str:
    loss = sparsity.get("loss")
    cost = "" if loss is None else f", which costs {100 * loss:.3g} % of the objective"
    return f"at most {sparsity.get('features_per_axis')} in each axis{cost}"


def exactness(result: Mapping[str, Any]) -> str:
    """Return the accuracy of J as a sentence; empty if the result does not contain it."""
    error = result.get("error") or {}
    if error.get("objective") is None:
        return ""
    method, bound = result.get("method"), _rounded_up(error["objective"])
    kinds = {"rounding": "rounding error only", "bound": "proven bound", "estimate": "estimated"}
    return (
        f"Relative error of J: at most {bound} ({kinds.get(error.get('kind', ''), 'estimated')}), computed by {method}."
    )


def kernel(spec: Any) -> str:
    """Return a kernel spec in a few words: "polynomial (degree 3, c 1)", "0.5 gaussian + 2 linear"."""
    if not isinstance(spec, Mapping):
        return str(spec)
    if "sum" in spec:
        return " + ".join(f"{number(part.get('weight', 1))} {kernel(part.get('kernel'))}" for part in spec["sum"])
    if "aligned" in spec:
        return f"aligned: {', '.join(kernel(part) for part in spec['aligned'])}"
    parameters = [f"{name} {number(value)}" for name, value in spec.items() if name != "name" and value is not None]
    return f"{spec.get('name')} ({', '.join(parameters)})" if parameters else str(spec.get("name"))


def number(value: Any) -> str:
    """Format a number with at most six digits. None becomes "–"; other values are shortened."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = str(value)
        return _shortened(text)
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format rows in aligned columns, with an optional header."""
    lines = [*([header] if header else []), *rows]
    if not lines:
        return ""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _metric_rows(metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the metrics, means with their standard deviations. The objective is shown elsewhere."""
    deviations = {name for name in metrics if name.endswith("_std") and name.removesuffix("_std") in metrics}
    return [
        (name, number(value) + (f" ± {number(metrics[f'{name}_std'])}" if f"{name}_std" in deviations else ""))
        for name, value in metrics.items()
        if name not in deviations and name not in ("objective", "converged")
    ]


def _candidate_table(choice: Mapping[str, Any]) -> str:
    """Return the candidates of a choice, best first; an arrow marks the chosen one."""
    candidates = sorted(choice.get("candidates") or (), key=_by_score)
    if not candidates:
        return ""
    header = ["tried", "scale", "q", str(choice.get("criterion")), "seconds"]
    rows = [
        [
            f"{'→ ' if each.get('chosen') else '  '}{_setting_text(each)}",
            str(each.get("scale")),
            number(each.get("q")),
            _score_text(each),
            f"{each.get('seconds') or 0:.2f}",
        ]
        for each in candidates
    ]
    shown = rows[:STRONGEST] + [row for row in rows[STRONGEST:] if row[0].startswith("→")]
    honest = " The score above is corrected for the choice of the best candidate."
    return f"{table(header, shown)}\n{choice.get('reason')}{'' if choice.get('criterion') == 'consensus' else honest}"


def _setting_text(candidate: Mapping[str, Any]) -> str:
    kinds = [name for name in ("neighbors", "interactions") if candidate.get(name)]
    return ", ".join([kernel(candidate.get("kernel")), *kinds])


def _by_score(candidate: Mapping[str, Any]) -> float:
    score = candidate.get("score")
    return math.inf if score is None else -score


def _score_text(candidate: Mapping[str, Any]) -> str:
    if candidate.get("score") is None:
        return number(None)
    error = "" if candidate.get("error") is None else f" ± {candidate['error']:.3f}"
    return f"{candidate['score']:.3f}{error}"


def _contribution_text(contributions: Sequence[Mapping[str, Any]]) -> str:
    """Return the share of each axis in the importance; axes without information are there for plots only."""
    return ", ".join(
        f"{each.get('axis')} {100 * each.get('share', 0):.0f} %"
        if each.get("informative")
        else f"{each.get('axis')} for plots only"
        for each in contributions
    )


def _feature_table(result: Mapping[str, Any]) -> str:
    """Return the most important features. A group of collinear features is one line."""
    features, importance, W = result.get("features") or [], result.get("importance") or [], result.get("W") or []
    if not features or not importance:
        return ""
    groups = [group["features"] for group in result.get("groups") or ()]
    grouped = {name for group in groups for name in group}
    entries = groups + [[name] for name in features if name not in grouped]
    places = {name: row for row, name in enumerate(features)}
    lines = [[places[name] for name in entry] for entry in entries]
    lines.sort(key=lambda rows: -sum(importance[row] for row in rows))
    axes = min(len(W[0]), MAX_AXES) if W else 0
    errors, unclear = result.get("importance_errors"), set(result.get("unclear") or ())
    header = [
        f"feature ({min(len(lines), STRONGEST)} of {len(lines)})",
        "importance",
        *(["error", ""] if errors else []),
        *(f"axis{axis + 1}" for axis in range(axes)),
    ]
    shown = []
    for rows in lines[:STRONGEST]:
        total = f"{sum(importance[row] for row in rows):.3f}"
        doubt = (
            [f"± {sum(errors[row] for row in rows):.3f}", "unclear" * (features[rows[0]] in unclear)] if errors else []
        )
        weights = [f"{W[rows[0]][axis]:+.3f}" if len(rows) == 1 else "group" for axis in range(axes)]
        shown.append([_shortened(", ".join(features[row] for row in rows)), total, *doubt, *weights])
    return table(header, shown)


def _rounded_up(value: float) -> str:
    """Round a bound up to one digit, so that it remains a bound."""
    if not 0 < value < math.inf:
        return number(value)
    unit = 10.0 ** math.floor(math.log10(value))
    return f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.0g}"


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TEXT_LENGTH else f"{text[: MAX_TEXT_LENGTH - 1]}…"
