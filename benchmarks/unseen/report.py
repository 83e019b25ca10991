"""The results as Markdown: a table of scores, mean ranks, Wilcoxon tests, the worst cells, and what is required."""

from collections.abc import Iterable

import numpy as np
from scipy.stats import rankdata, wilcoxon

from benchmarks.unseen.cells import ISM, KINDS, METHODS, VALUE_AXES, Cell
from benchmarks.unseen.peers import LINEAR_PEERS
from ism_core.arrays import Array

WORST = 8  # cells that are listed
TITLES = {
    "classes": "Classes: mean accuracy in % of an SVM and of 5 nearest neighbors",
    "values": "Values: R² of a support vector regression, q = 2",
    "clusters": "Clusterings: NMI with the classes",
}
DIGITS = {"classes": 1, "values": 3, "clusters": 3}

Scores = dict[tuple[str, str], dict[str, float]]  # table and q → method → mean over the seeds


def as_markdown(cells: Iterable[Cell]) -> str:
    """Return all tables."""
    cells = list(cells)
    lines: list[str] = []
    for kind in KINDS:
        scores = means(cells, kind)
        if any(ISM in row for row in scores.values()):
            lines += [f"## {TITLES[kind]}", "", *_scores(scores, kind)]
            if any(len(row) > 1 for row in scores.values()):  # with other methods
                lines += [*_ranks(scores, kind), *_worst(scores, kind)]
                lines += [f"- {claim}" for claim in CLAIMS[kind](scores)] + [""]
    return "\n".join(lines)


def means(cells: Iterable[Cell], kind: str) -> Scores:
    """Return the mean scores of the rows that are complete."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for cell in cells:
        if cell.kind == kind:
            found.setdefault((cell.table, cell.q), {}).setdefault(cell.method, []).append(cell.score)
    return {row: {method: float(np.mean(each)) for method, each in values.items()} for row, values in found.items()}


def _comparable(scores: Scores, kind: str) -> tuple[list[tuple[str, str]], list[str], Array]:
    """Return the rows that all methods have, the methods, and their scores."""
    methods = [name for name in METHODS[kind] if any(name in row for row in scores.values())]
    rows = [row for row in sorted(scores) if all(name in scores[row] for name in methods)]
    return rows, methods, np.array([[scores[row][name] for name in methods] for row in rows])


def _scores(scores: Scores, kind: str) -> list[str]:
    rows, methods, values = _comparable(scores, kind)
    digits = DIGITS[kind]
    extra = [*VALUE_AXES, "auto"] if kind == "values" else []
    titles = [*methods, *(f"ISM, q {q}" for q in extra)]
    lines = [f"| table | {' | '.join(titles)} |", "|---|" + "---|" * len(titles)]
    for (table, q), row in zip(rows, values, strict=True):
        more = [scores.get((table, str(other)), {}).get(ISM, np.nan) for other in extra]
        name = f"{table}, q {q}" if kind == "classes" else table
        lines.append(f"| {name} | {' | '.join(f'{value:.{digits}f}' for value in [*row, *more])} |")
    lines.append(f"| mean | {' | '.join(f'{value:.{digits}f}' for value in values.mean(axis=0))} |" + " |" * len(extra))
    return [*lines, ""]


def _ranks(scores: Scores, kind: str) -> list[str]:
    """Return mean ranks, and the leads of ISM with Wilcoxon's signed-rank tests over the rows."""
    _, methods, values = _comparable(scores, kind)
    ranks = rankdata(-values, axis=1).mean(axis=0)
    lines = [
        "| | mean rank | mean lead of ISM | median lead | wins, losses | p (Wilcoxon) |",
        "|---|---|---|---|---|---|",
    ]
    digits = DIGITS[kind]
    own = values[:, methods.index(ISM)]
    for place in np.argsort(ranks):
        lead = own - values[:, place]
        cells = ["", "", "", ""]
        if methods[place] != ISM and (lead != 0).any():
            p = float(wilcoxon(lead).pvalue)
            wins = f"{(lead > 0).sum()}, {(lead < 0).sum()}"
            cells = [f"{lead.mean():+.{digits}f}", f"{np.median(lead):+.{digits}f}", wins, f"{p:.3f}"]
        lines.append(f"| {methods[place]} | {ranks[place]:.2f} | {' | '.join(cells)} |")
    return [*lines, ""]


def _worst(scores: Scores, kind: str) -> list[str]:
    """Return the rows in which ISM is farthest behind the best other method."""
    rows, methods, values = _comparable(scores, kind)
    others = np.delete(values, methods.index(ISM), axis=1)
    gaps = others.max(axis=1) - values[:, methods.index(ISM)]
    names = [name for name in methods if name != ISM]
    lines = ["| worst | behind | best method |", "|---|---|---|"]
    for place in np.argsort(-gaps)[:WORST]:
        if gaps[place] > 0:
            table, q = rows[place]
            best = names[int(others[place].argmax())]
            lines.append(f"| {table}, q {q} | {gaps[place]:.{DIGITS[kind]}f} | {best} |")
    return [*lines, ""]


def _class_claims(scores: Scores) -> list[str]:
    rows, methods, values = _comparable(scores, "classes")
    ranks = rankdata(-values, axis=1).mean(axis=0)
    behind = {}
    for table in sorted({table for table, _ in rows}):
        some = values[[place for place, row in enumerate(rows) if row[0] == table]].mean(axis=0)
        best = max(some[methods.index(name)] for name in LINEAR_PEERS if name in methods)
        behind[table] = best - some[methods.index(ISM)]
    far = {table: gap for table, gap in behind.items() if gap > 2}
    return [
        f"mean rank {ranks[methods.index(ISM)]:.2f} of {len(methods)} (required: at most 2.8)",
        f"tables more than 2 points behind the best linear peer, mean over q: {_listed(far, 1)} (required: none)",
    ]


def _value_claims(scores: Scores) -> list[str]:
    rows, methods, values = _comparable(scores, "values")
    own = values[:, methods.index(ISM)]
    lead = own.mean() - values[:, methods.index("MLKR")].mean() if "MLKR" in methods else np.nan
    rivals = [methods.index(name) for name in ("MLKR", "SIR", "PLS") if name in methods]
    gaps = {row[0]: gap for row, gap in zip(rows, values[:, rivals].max(axis=1) - own, strict=True) if gap > 0.03}
    losses = [
        max(scores[table, str(q)][ISM] for q in VALUE_AXES) - scores[table, "auto"][ISM]
        for table, _ in rows
        if (table, "auto") in scores
    ]
    return [
        f"mean R² minus that of MLKR: {lead:+.3f} (required: at least +0.02)",
        f"tables more than 0.03 behind the best of MLKR, SIR and PLS: {_listed(gaps, 3)} (required: none)",
        f'mean R² that q = "auto" loses to the best fixed q: {np.mean(losses):.3f} (required: at most 0.01)',
    ]


def _cluster_claims(scores: Scores) -> list[str]:
    _, methods, values = _comparable(scores, "clusters")
    averages = dict(zip(methods, values.mean(axis=0), strict=True))
    own = averages.pop(ISM)
    best = max(averages, key=lambda name: averages[name])
    return [f"mean NMI minus that of the best peer, {best}: {own - averages[best]:+.3f} (required: at least +0.02)"]


def _listed(gaps: dict[str, float], digits: int) -> str:
    return ", ".join(f"{table} ({gap:.{digits}f})" for table, gap in gaps.items()) or "none"


CLAIMS = {"classes": _class_claims, "values": _value_claims, "clusters": _cluster_claims}
