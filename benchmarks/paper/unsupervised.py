"""The lower half of the paper's Table 4: clusterings without labels by ISM and its competitors."""

from functools import partial

from benchmarks.measuring import Row
from benchmarks.paper import rounds
from benchmarks.paper.cells import Part
from benchmarks.paper.folds import FILES
from benchmarks.paper.printed import METHODS
from benchmarks.paper.tables import number, sentence
from benchmarks.paper.verdicts import AS_LOW, Cell, cells, dearer, other_last_steps, side_by_side, verdicts

KERNELS = ("gaussian", "polynomial")
LIMITS = {"wine": 5.0, "cancer": 5.0, "face": 10.0, "mnist": 40.0}  # seconds of a competitor
FAST_LIMIT = 0.5
FINE, FINE_DELTA = ("wine", "cancer"), 1e-4
FAST_DATA = ("wine", "cancer")
OURS = {"wine": 0.2, "cancer": 1.0, "face": 3.0, "mnist": 30.0}  # seconds of ISM, about
WITH = "cost with degrees"
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
    """The same until the clustering stands still to more digits: how far the costs are told apart at δ."""
    compute = partial(rounds.measure, data, kernel, method, LIMITS[data], FINE_DELTA)
    return Part(f"unsupervised/{data}/{kernel}/{method}/finer", compute, (data,), 2)


def section(rows: dict[str, Row], fast: bool) -> str:
    own = cells("unsupervised", rows, FAST_DATA if fast else list(LIMITS), KERNELS)
    text = [INTRODUCTION]
    for kernel in KERNELS:
        text += [f"### {kernel.capitalize()} kernel\n", side_by_side([c for c in own if c.kernel == kernel], MEASURES)]
    return "\n".join(
        filter(None, [*text, verdicts(own, "NMI"), _with_degrees(own), _told_apart(rows, own), other_last_steps(own)])
    )


def _with_degrees(own: list[Cell]) -> str:
    """Where a competitor is lower when the cost is counted the other way."""
    lower = [
        f"{cell.title}, {method} by {100 * cell.excess(row, WITH):.2g} %"
        for cell in own
        for method, row in cell.rivals.items()
        if cell.excess(row, WITH) > AS_LOW
    ]
    return f"Counted with the degrees in Γ, a competitor's cost is lower here: {'; '.join(lower) or 'nowhere'}.\n"


def _told_apart(rows: dict[str, Row], own: list[Cell]) -> str:
    """For each cell whose cost is not the lowest: the costs at a smaller δ, without degrees and with them."""
    lines = []
    for cell in dearer(own):
        finer = {name: rows.get(f"unsupervised/{cell.data}/{cell.kernel}/{name}/finer", {}) for name in METHODS}
        ended = {name: row for name, row in finer.items() if all(row.get("finished", [False]))}
        shown = [f"{name} {number(row['cost'])} ({number(row['cost with degrees'])})" for name, row in ended.items()]
        lines += [f"- {cell.title}: {sentence(shown)}"] if shown else []
    return "\n".join([FINER.format(delta=FINE_DELTA), *lines, ""]) if lines else ""


INTRODUCTION = """## Unsupervised: the lower half of Table 4

k = q = classes. All methods alternate in the same way, from W = I: Γ of the clustering, W for that Γ, the clustering of
XW, until the clustering turns by less than δ; a competitor begins each climb at its own random start. Time includes the
labels at the end. NMI is that of these labels, k-means of the last spectral embedding. Cost is that of W with its own
clustering, for Γ = HYYᵀH as the paper prints it; what W is sought by has degrees in Γ ([method](method.md)).
"""
FINER = """Each method stops once its clustering turns by less than δ, and the degrees in Γ change with W, so that none
lowers this cost step by step: at δ = 0.01 it is not settled to 1e-4. Where the alternation goes on to δ = {delta:g} and
ends within the limit, the costs are as follows; in brackets with the degrees in Γ, which is what W is sought by.
"""
