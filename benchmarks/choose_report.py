"""The tables of `benchmarks.choose`, and its claims with their limits."""

import numpy as np

from benchmarks.measuring import Row, claim

AUTO, PAPER, NCA = "ISM auto", "ISM paper", "NCA"
PEERS = ("PCA", "kernel PCA", "LDA", NCA)
CLASSIFIERS = ("SVM", "5-NN")
MIN_LEAD = -0.5  # percentage points over the best peer, in each cell
NCA_SECONDS = 1.0  # times are compared in cells in which NCA takes longer
MAX_TIME_RATIO = 2  # time over that of NCA
MIN_NMI_GAIN = -0.01  # NMI over that with the paper's settings
MAX_LOSS = 1  # percentage points of accuracy that few features per axis may cost


def claims_of(rows: list[Row], few: list[Row], clustered: list[Row]) -> list[Row]:
    """Check accuracy and time against the peers, few features against all, clusterings against the paper's settings."""
    table = {(row["data"], row["q"], row["method"]): row for row in rows}
    places = list(dict.fromkeys((row["data"], row["q"]) for row in rows))
    leads: list[tuple[float, str]] = []
    for data, q in places:
        for classifier in CLASSIFIERS:
            best = max(table[data, q, peer][classifier] for peer in PEERS)
            leads.append((table[data, q, AUTO][classifier] - best, f"{data}, q = {q}, {classifier}"))
    least, where = min(leads)
    claims = [claim(f"percentage points over the best peer, worst cell ({where})", least, "≥", MIN_LEAD)]
    behind = sum(lead < MIN_LEAD for lead, _ in leads)
    claims.append(claim(f"cells of {len(leads)} that are more than {-MIN_LEAD:g} points below it", behind, "≤", 0))
    for peer in PEERS:
        ahead = [
            table[data, q, AUTO][classifier] - table[data, q, peer][classifier]
            for data, q in places
            for classifier in CLASSIFIERS
        ]
        claims.append(claim(f"percentage points over {peer}, mean of the cells", float(np.mean(ahead)), "≥", 1e-9))
    slow = [
        (table[data, q, AUTO]["s"] / table[data, q, NCA]["s"], f"{data}, q = {q}")
        for data, q in places
        if table[data, q, NCA]["s"] > NCA_SECONDS
    ]
    if slow:
        ratio, where = max(slow)
        claims.append(claim(f"time over that of NCA if over 1 s, worst cell ({where})", ratio, "≤", MAX_TIME_RATIO))
    claims += [
        claim(
            f"points lost on {row['data']} with {row['features']} features per axis",
            row["lost"],
            "≤",
            MAX_LOSS,
        )
        for row in few
    ]
    return claims + _of_clusterings(clustered)


def _of_clusterings(rows: list[Row]) -> list[Row]:
    if not rows:
        return []
    gains = [(row[AUTO] - row[PAPER], row["data"]) for row in rows]
    least, where = min(gains)
    mean = float(np.mean([gain for gain, _ in gains]))
    return [
        claim(f"NMI with chosen settings minus NMI with the paper's, worst ({where})", least, "≥", MIN_NMI_GAIN),
        claim("the same, mean", mean, "≥", 1e-9),
    ]


def as_markdown(rows: list[Row], few: list[Row], clustered: list[Row], claims: list[Row], methods: list[str]) -> str:
    """Return one row per cell (SVM / 5-NN accuracy in %, and seconds), then the other tables and the claims."""
    lines = [f"| | folds | {' | '.join(methods)} |", f"|---|{'---|' * (len(methods) + 1)}"]
    for data, q in dict.fromkeys((row["data"], row["q"]) for row in rows):
        cells = {row["method"]: row for row in rows if (row["data"], row["q"]) == (data, q)}
        text = [f"{cells[m]['SVM']:.1f} / {cells[m]['5-NN']:.1f}, {cells[m]['s']:.2g} s" for m in methods]
        lines.append(f"| {data}, q {q} | {cells[AUTO]['folds']} | {' | '.join(text)} |")
    if clustered:
        lines += ["", "| NMI | chosen settings | paper's settings | chosen kernel |", "|---|---|---|---|"]
    for row in clustered:
        both = " | ".join(f"{row[name]:.3f}, {row[f'{name}, s']:.2g} s" for name in (AUTO, PAPER))
        lines.append(f"| {row['data']} | {both} | {row['chosen']} |")
    if few:
        lines += ["", "| SVM, q 2 | all features | few features | features per axis |", "|---|---|---|---|"]
    lines += [f"| {row['data']} | {row['all']:.1f} | {row['few']:.1f} | {row['features']} |" for row in few]
    lines += ["", "| | measured | limit | met |", "|---|---|---|---|"]
    for each in claims:
        met = "yes" if each["met"] else "NO"
        lines.append(f"| {each['claim']} | {each['measured']:.3g} | {each['limit']} | {met} |")
    return "\n".join([*lines, ""])
