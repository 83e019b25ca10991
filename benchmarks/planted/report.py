"""The tables of the planted exam, and its claims with their limits."""

from collections.abc import Sequence

import numpy as np

from benchmarks.measuring import Row, claim
from benchmarks.planted.families import INTERACTIONS
from benchmarks.planted.peers import LINEAR_PEERS, PEERS

ISM, ISM_GAUSSIAN = "ISM", "Gaussian ISM"
MIN_AUC = 0.97  # mean of a family
MIN_AUC_OF_INTERACTIONS = 0.9
MIN_LEAD = -0.0005  # mean AUC over that of a peer: not less in the three digits that the table shows
MIN_WITHOUT_COLLINEAR = 0.99  # share of problems without collinear noise among the top k
MIN_RIGHT_Q = 0.9  # share of problems with the true number of informative axes

Rows = dict[tuple[str, str], list[Row]]


def mean(rows: Sequence[Row], name: str) -> float:
    """Return the mean of a measure over problems."""
    return float(np.mean([row[name] for row in rows]))


def right_q(rows: Sequence[Row]) -> float:
    """Return the share of problems with the true number of informative axes."""
    return float(np.mean([row["q"] == row["true_q"] for row in rows]))


def claims_of(rows: Rows, families: Sequence[str]) -> list[Row]:
    """Check the AUC against its limits and the peers, collinear noise, and the number of axes."""
    claims = []
    for family in families:
        linear = family not in INTERACTIONS
        own = mean(rows[family, ISM], "auc")
        claims.append(claim(f"{family}: mean AUC", own, "≥", MIN_AUC if linear else MIN_AUC_OF_INTERACTIONS))
        peers = {peer: mean(rows[family, peer], "auc") for peer in (PEERS if linear else LINEAR_PEERS)}
        best = max(peers, key=peers.__getitem__)
        claims.append(claim(f"{family}: mean AUC over that of {best}", own - peers[best], "≥", MIN_LEAD))
    every = [row for family in families for row in rows[family, ISM]]
    with_pairs = [row for family in families if family == "collinear noise" for row in rows[family, ISM]]
    if with_pairs:
        without = 1 - mean(with_pairs, "collinear")
        claims.append(claim("no collinear noise among the top k", without, "≥", MIN_WITHOUT_COLLINEAR))
    claims.append(claim("the true number of informative axes", right_q(every), "≥", MIN_RIGHT_Q))
    return claims


def as_markdown(rows: Rows, families: Sequence[str], methods: Sequence[str], claims: Sequence[Row]) -> str:
    """Return the tables: AUC, false alarms, axes, then the claims."""
    lines = _by_method("mean AUC", "auc", 1, ".3f", rows, families, methods)
    lines += ["", *_by_method("irrelevant among the top k, %", "false", 100, ".0f", rows, families, methods)]
    with_axes = [method for method in methods if rows[families[0], method][0]["angle"] is not None]
    header = [*(f"angle, {method}" for method in with_axes), "right q, %", "axes too many", "seconds"]
    lines += ["", f"| median angle in degrees | {' | '.join(header)} |", f"|---|{'---|' * len(header)}"]
    for family in families:
        own = rows[family, ISM]
        angles = [f"{np.median([row['angle'] for row in rows[family, method]]):.0f}" for method in with_axes]
        beyond = np.mean([max(0, row["q"] - row["true_q"]) for row in own])
        figures = [f"{100 * right_q(own):.0f}", f"{beyond:.2f}", f"{mean(own, 'seconds'):.1f}"]
        lines.append(f"| {family} | {' | '.join([*angles, *figures])} |")
    lines += ["", "| | measured | limit | met |", "|---|---|---|---|"]
    for each in claims:
        met = "yes" if each["met"] else "NO"
        lines.append(f"| {each['claim']} | {each['measured']:.3f} | {each['limit']} | {met} |")
    return "\n".join([*lines, ""])


def _by_method(
    title: str, measure: str, times: float, form: str, rows: Rows, families: Sequence[str], methods: Sequence[str]
) -> list[str]:
    """Return a table of the mean of one measure: a row for each family, a column for each method."""
    lines = [f"| {title} | {' | '.join(methods)} |", f"|---|{'---|' * len(methods)}"]
    for family in families:
        figures = [format(times * mean(rows[family, method], measure), form) for method in methods]
        lines.append(f"| {family} | {' | '.join(figures)} |")
    return lines
