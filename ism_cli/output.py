"""A finished result as a page for the terminal: why it stopped, what it reached, which features make the picture."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

STRONGEST = 10  # features shown


def print_summary(result: Mapping[str, Any]) -> None:
    """Write the page to stdout; `result` is the document that GET /jobs/{id}/result answers with.

    print_summary(client.job("…").result().document)
    """
    click.echo(summary(result))


def summary(result: Mapping[str, Any]) -> str:
    """The page as text."""
    facts = [("objective", number(result.get("objective")))]
    if result.get("kernel"):
        facts.append(("kernel", kernel(result["kernel"])))
    if result.get("eigenvalues"):
        facts.append(("eigenvalues", ", ".join(map(number, result["eigenvalues"]))))
    if result.get("sparsity"):
        facts.append(("features", _few(result["sparsity"])))
    facts += _measured(result.get("metrics") or {})
    ended = "\n".join(sentence for sentence in (str(result.get("stop") or ""), exactness(result)) if sentence)
    parts = [ended, table([], facts), _tried(result.get("choice") or {}), _strongest(result)]
    parts += [f"Note: {warning}" for warning in result.get("warnings") or ()]
    return "\n\n".join(part for part in parts if part)


def _few(sparsity: Mapping[str, Any]) -> str:
    loss = sparsity.get("loss")
    cost = "" if loss is None else f", which costs {100 * loss:.3g} % of the objective"
    return f"at most {sparsity.get('features_per_axis')} in each axis{cost}"


def exactness(result: Mapping[str, Any]) -> str:
    """How exact J is, as a sentence; empty where the result does not say."""
    error = result.get("error") or {}
    if error.get("objective") is None:
        return ""
    method, most = result.get("method"), _at_most(error["objective"])
    sure = {"rounding": "rounding alone", "bound": "proven bound", "estimate": "estimated"}
    return f"J is exact to {most} of its size ({sure.get(error.get('kind', ''), 'estimated')}), computed by {method}."


def kernel(spec: Any) -> str:
    """A kernel spec in a few words: "polynomial (degree 3, c 1)", "0.5 gaussian + 2 linear"."""
    if not isinstance(spec, Mapping):
        return str(spec)
    if "sum" in spec:
        return " + ".join(f"{number(part.get('weight', 1))} {kernel(part.get('kernel'))}" for part in spec["sum"])
    if "aligned" in spec:
        return f"aligned: {', '.join(kernel(part) for part in spec['aligned'])}"
    parameters = [f"{name} {number(value)}" for name, value in spec.items() if name != "name" and value is not None]
    return f"{spec.get('name')} ({', '.join(parameters)})" if parameters else str(spec.get("name"))


def number(value: Any) -> str:
    """A number with six digits at most; "–" where there is none, and a sample of what is not a number."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = str(value)
        return text if len(text) <= 40 else f"{text[:39]}…"
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows in aligned columns, under a header if there is one."""
    lines = [*([header] if header else []), *rows]
    if not lines:
        return ""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _measured(metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Means with their deviations, and without what the page says elsewhere."""
    deviations = {name for name in metrics if name.endswith("_std") and name.removesuffix("_std") in metrics}
    return [
        (name, number(value) + (f" ± {number(metrics[f'{name}_std'])}" if f"{name}_std" in deviations else ""))
        for name, value in metrics.items()
        if name not in deviations and name not in ("objective", "converged")
    ]


def _tried(choice: Mapping[str, Any]) -> str:
    """The candidates of a choice, the best first; the one that was taken is marked."""
    candidates = sorted(choice.get("candidates") or (), key=_by_score)
    if not candidates:
        return ""
    header = ["tried", "scale", "q", str(choice.get("criterion")), "seconds"]
    rows = [
        [
            f"{'→ ' if each.get('chosen') else '  '}{_setting(each)}",
            str(each.get("scale")),
            number(each.get("q")),
            _with_error(each),
            f"{each.get('seconds') or 0:.2f}",
        ]
        for each in candidates
    ]
    shown = rows[:STRONGEST] + [row for row in rows[STRONGEST:] if row[0].startswith("→")]
    nested = " Scores in folds above come from choices that never saw the rows they are judged by."
    return f"{table(header, shown)}\n{choice.get('reason')}{'' if choice.get('criterion') == 'consensus' else nested}"


def _setting(candidate: Mapping[str, Any]) -> str:
    return kernel(candidate.get("kernel")) + (", neighbors" if candidate.get("neighbors") else "")


def _by_score(candidate: Mapping[str, Any]) -> float:
    score = candidate.get("score")
    return math.inf if score is None else -score


def _with_error(candidate: Mapping[str, Any]) -> str:
    if candidate.get("score") is None:
        return number(None)
    error = "" if candidate.get("error") is None else f" ± {candidate['error']:.3f}"
    return f"{candidate['score']:.3f}{error}"


def _strongest(result: Mapping[str, Any]) -> str:
    features, importance, W = result.get("features") or [], result.get("importance") or [], result.get("W") or []
    if not features or not importance:
        return ""
    order = sorted(range(len(features)), key=lambda row: -importance[row])[:STRONGEST]
    axes = min(len(W[0]), 4) if W else 0
    header = [f"feature ({len(order)} of {len(features)})", "importance", *(f"axis{axis + 1}" for axis in range(axes))]
    rows = [
        [_elided(features[row]), f"{importance[row]:.3f}", *(f"{W[row][axis]:+.3f}" for axis in range(axes))]
        for row in order
    ]
    return table(header, rows)


def _at_most(value: float) -> str:
    """A number that is not below the value, with one digit: what is proven stays true."""
    if not 0 < value < math.inf:
        return number(value)
    unit = 10.0 ** math.floor(math.log10(value))
    return f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.0g}"


def _elided(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
