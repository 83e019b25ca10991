"""What the figures of `benchmarks.choose` show: the table, and the claims that it bears out or not."""

import numpy as np

from benchmarks.measuring import Row, claim

AUTO, PAPER, NCA = "ISM auto", "ISM paper", "NCA"
RIVALS = ("PCA", "kernel PCA", "LDA", NCA)
JUDGES = ("SVM", "5-NN")
BEHIND = -0.5  # points that a cell may be behind the best rival
LONG = 1.0  # seconds of NCA from which on time counts
TIMES = 2  # NCA's time
LESS = -0.01  # of NMI that a clustering may be behind the paper's settings
LOST = 1  # points that few features may cost


def verdicts(rows: list[Row], few: list[Row], clustered: list[Row]) -> list[Row]:
    """Accuracy and time against the rivals, few features against all, clusterings against the paper's settings."""
    table = {(row["data"], row["q"], row["method"]): row for row in rows}
    places = list(dict.fromkeys((row["data"], row["q"]) for row in rows))
    leads: list[tuple[float, str]] = []
    for data, q in places:
        for judge in JUDGES:
            best = max(table[data, q, rival][judge] for rival in RIVALS)
            leads.append((table[data, q, AUTO][judge] - best, f"{data}, q = {q}, {judge}"))
    least, where = min(leads)
    claims = [claim(f"points ahead of the best rival, worst cell ({where})", least, "≥", BEHIND)]
    behind = sum(lead < BEHIND for lead, _ in leads)
    claims.append(claim(f"cells of {len(leads)} that are behind it by more than {-BEHIND:g}", behind, "≤", 0))
    for rival in RIVALS:
        ahead = [table[data, q, AUTO][judge] - table[data, q, rival][judge] for data, q in places for judge in JUDGES]
        claims.append(claim(f"points ahead of {rival}, average of cells", float(np.mean(ahead)), "≥", 1e-9))
    slow = [
        (table[data, q, AUTO]["s"] / table[data, q, NCA]["s"], f"{data}, q = {q}")
        for data, q in places
        if table[data, q, NCA]["s"] > LONG
    ]
    if slow:
        ratio, where = max(slow)
        claims.append(claim(f"time over NCA's where that is over 1 s, worst cell ({where})", ratio, "≤", TIMES))
    claims += [
        claim(f"points lost on {row['data']} with {row['features']} features an axis", row["lost"], "≤", LOST)
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
        claim(f"NMI of the chosen clustering less that at the paper's settings, worst ({where})", least, "≥", LESS),
        claim("the same, average", mean, "≥", 1e-9),
    ]


def as_markdown(rows: list[Row], few: list[Row], clustered: list[Row], claims: list[Row], methods: list[str]) -> str:
    """A line for each cell: SVM / 5-NN accuracy in %, and seconds; then the other tables and the claims."""
    lines = [f"| | folds | {' | '.join(methods)} |", f"|---|{'---|' * (len(methods) + 1)}"]
    for data, q in dict.fromkeys((row["data"], row["q"]) for row in rows):
        cells = {row["method"]: row for row in rows if (row["data"], row["q"]) == (data, q)}
        text = [f"{cells[m]['SVM']:.1f} / {cells[m]['5-NN']:.1f}, {cells[m]['s']:.2g} s" for m in methods]
        lines.append(f"| {data}, q {q} | {cells[AUTO]['folds']} | {' | '.join(text)} |")
    if clustered:
        lines += ["", "| NMI | chosen | paper's settings | kernel that was chosen |", "|---|---|---|---|"]
    for row in clustered:
        both = " | ".join(f"{row[name]:.3f}, {row[f'{name}, s']:.2g} s" for name in (AUTO, PAPER))
        lines.append(f"| {row['data']} | {both} | {row['chosen']} |")
    if few:
        lines += ["", "| SVM, q 2 | all features | few | features of an axis |", "|---|---|---|---|"]
    lines += [f"| {row['data']} | {row['all']:.1f} | {row['few']:.1f} | {row['features']} |" for row in few]
    lines += ["", "| | measured | asked for | met |", "|---|---|---|---|"]
    for each in claims:
        met = "yes" if each["met"] else "NO"
        lines.append(f"| {each['claim']} | {each['measured']:.3g} | {each['limit']} | {met} |")
    return "\n".join([*lines, ""])
