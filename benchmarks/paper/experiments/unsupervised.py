"""The lower half of the paper's Table 4: clusterings without labels by ISM and its competitors."""

from functools import partial

from benchmarks.measuring import Row
from benchmarks.paper.cells import Part
from benchmarks.paper.experiments import rounds
from benchmarks.paper.experiments.folds import FILES
from benchmarks.paper.printed import METHODS
from benchmarks.paper.tables import number, sentence
from benchmarks.paper.verdicts import AS_LOW, Cell, cells, other_last_steps, side_by_side, verdicts

KERNELS = ("gaussian", "polynomial")
LIMITS = {
    "wine": 5.0,
    "cancer": 5.0,
    "face": 10.0,
    "mnist": 20.0,
}  # seconds, per run of a competitor
FAST_LIMIT = 0.5
FINE, FINE_DELTA = ("wine", "cancer"), 1e-4
FAST_DATA = ("wine", "cancer")
OURS = {"wine": 0.2, "cancer": 1.0, "face": 3.0, "mnist": 30.0}  # estimated seconds of ISM
OWN = {"own cost": "Γ as printed", "own cost with degrees": "Γ with degrees"}
MEASURES = ("time", "cost", "NMI")


def parts(fast: bool) -> list[Part]:
    found = []
    for data in FAST_DATA if fast else LIMITS:
        limit = FAST_LIMIT if fast else LIMITS[data]
        for kernel in KERNELS:
            for method in METHODS:
                compute = partial(rounds.measure, data, kernel, method, limit)
                name, estimate = f"unsupervised/{data}/{kernel}/{method}", OURS[data] if method == "ISM" else limit
                found.append(Part(name, compute, (FILES.get(data, data),), estimate))
    return found + [
        _finer(data, kernel, method) for data in FINE for kernel in KERNELS for method in METHODS if not fast
    ]


def _finer(data: str, kernel: str, method: str) -> Part:
    """Return the same part with a smaller δ, which shows how accurate the costs are."""
    compute = partial(rounds.measure, data, kernel, method, LIMITS[data], FINE_DELTA)
    return Part(f"unsupervised/{data}/{kernel}/{method}/finer", compute, (data,), 2)


def section(rows: dict[str, Row], fast: bool) -> str:
    own = cells("unsupervised", rows, FAST_DATA if fast else list(LIMITS), KERNELS)
    text = [INTRODUCTION]
    for kernel in KERNELS:
        text += [f"### {kernel.capitalize()} kernel\n", side_by_side([c for c in own if c.kernel == kernel], MEASURES)]
    return "\n".join(
        filter(None, [*text, verdicts(own, "NMI"), _own_costs(own), _told_apart(rows, own), other_last_steps(own)])
    )


def _own_costs(own: list[Cell]) -> str:
    """List the competitors with a lower cost if each method keeps its own final clustering."""
    lines = [f"- {how}: {_lower(own, measure)}." for measure, how in OWN.items()]
    return "\n".join([WITH_ITS_OWN, "", *lines, ""])


def _lower(own: list[Cell], measure: str) -> str:
    lower = [
        f"{cell.title}, {method} ({100 * cell.excess(row, measure):.2g} %)"
        for cell in own
        for method, row in cell.rivals.items()
        if cell.excess(row, measure) > AS_LOW
    ]
    return sentence(lower) if lower else "none"


def _told_apart(rows: dict[str, Row], own: list[Cell]) -> str:
    """List the costs at a smaller δ, without and with degrees, for cells in which own costs differ."""
    lines = []
    for cell in own:
        if not any(cell.excess(row, measure) > AS_LOW for row in cell.rivals.values() for measure in OWN):
            continue
        finer = {name: rows.get(f"unsupervised/{cell.data}/{cell.kernel}/{name}/finer", {}) for name in METHODS}
        ended = {name: row for name, row in finer.items() if all(row.get("finished", [False]))}
        shown = [f"{name} {' and '.join(number(row[measure]) for measure in OWN)}" for name, row in ended.items()]
        lines += [f"- {cell.title}: {'; '.join(shown)}"] if shown else []
    return "\n".join([FINER.format(delta=FINE_DELTA), *lines, ""]) if lines else ""


INTRODUCTION = """## Unsupervised: the lower half of Table 4

k = q = classes. All methods alternate in the same way, starting at W = I: Γ from the clustering, W for that Γ, then the
clustering of XW, until the clustering turns by less than δ. A competitor starts each ascent at its own random W. Time
includes the final labels. NMI is that of these labels, from k-means on the last spectral embedding.

Each method ends with its own clustering, and so with its own Γ. Costs for different Γ do not show which optimizer is
better. The cost in the tables is therefore that of the W that each method finds for the same Γ: HYYᵀH, as the paper
prints it, with the final Y of ISM. The Γ of the alternation itself includes degrees ([method](method.md)).
"""
WITH_ITS_OWN = "With each method's own final clustering, a competitor's cost is more than 1e-4 lower in these cells:"
FINER = """No method lowers this cost at every step, because the clustering and the degrees in Γ change with W. For the
alternations that reach δ = {delta:g} within the time limit, the costs without and with degrees are:
"""
