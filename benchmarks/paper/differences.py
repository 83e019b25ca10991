"""Where the paper as printed does not reproduce: each place in a paragraph and a small table of `evidence.py`'s."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from benchmarks.measuring import Row
from benchmarks.paper import evidence
from benchmarks.paper.cells import Part
from benchmarks.paper.printed import PRINTED, Printed
from benchmarks.paper.tables import number, percent, score, table

KERNELS = ("gaussian", "polynomial")
DIGIT_FOLDS = 2
FACE_FOLDS = 5  # of the polynomial at several scales

INTRODUCTION = """Some of what the paper prints cannot be what was run, or does not say enough to be run again. Each
such place is listed here with what was measured, for whoever sets out from the printed page. The method itself holds.
"""


def parts(fast: bool) -> list[Part]:
    folds = 3 if fast else 10
    data = ("wine", "cancer") if fast else ("wine", "cancer", "face")
    found = [_part("signs", (kernel, folds), ("wine",), 2) for kernel in evidence.DISTANCES]
    found += [_part("stopping", (name, kernel), (name,), 2) for name in data[:2] for kernel in KERNELS]
    for name in data:
        few = min(folds, FACE_FOLDS) if name == "face" else folds
        found += [_part("scale", (name, gamma, few), (name,), _seconds(name)) for gamma in evidence.SCALES]
    found += [_part("fitted", (name, _cost(name)), (name,), _seconds(name)) for name in data]
    found += [_part("diagonal", (name, folds), (name,), _seconds(name)) for name in data]
    found += [_part("duplicates", (kernel, folds), ("cancer",), 3) for kernel in KERNELS]
    found.append(_part("sizes", (), ("cancer", "wdbc"), 1))
    if not fast:
        found.append(_part("digits", (DIGIT_FOLDS,), ("mnist_test",), 60))
    return found


def section(rows: dict[str, Row], fast: bool) -> str:
    text = ["## Where we differ", "", INTRODUCTION]
    for title, tell, kind in (
        ("Signs of the squared and multiquadratic kernels", _signs, "signs"),
        ("The loop's condition in Algorithm 1", _stopping, "stopping"),
        ("The scale of the polynomial kernel", _scale, "scale"),
        ("The diagonal in the gaussian's cost", _diagonal, "diagonal"),
        ("785 features of MNIST", _digits, "digits"),
        ("Duplicates in Cancer", _duplicates, "duplicates"),
        ("Which Cancer", _sizes, "sizes"),
    ):
        own = _of(rows, kind)
        if own:
            text += [f"### {title}", "", tell(own, rows)]
    return "\n".join(text)


def _signs(own: dict[tuple[str, ...], Row], rows: dict[str, Row]) -> str:
    lines = [
        [
            kernel,
            percent(row["printed"]),
            _passes(row["printed passes"]),
            percent(row["negated"]),
            _passes(row["negated passes"]),
            PRINTED["supervised", "wine", kernel, "ISM", "accuracy"].text,
        ]
        for (kernel, *_), row in own.items()
    ]
    return f"""Tables 2 and 3 print both kernels as distances, Φ = +XᵀℒX. J is maximized, so that what Γ calls alike
is then pushed apart and the directions that remain are those in which the classes differ least. With a minus, −β and
−√(β + c²), they are similarities like the others, and the accuracies are those that the paper reports in Table 5: it is
the printed sign that slipped, not the experiment. The authors' public code takes the smallest eigenvalues of XᵀℒX,
which amounts to the minus. Wine, q = 3:

{table(["kernel", "as printed", "passes", "negated", "passes", "paper"], lines)}"""


def _stopping(own: dict[tuple[str, ...], Row], rows: dict[str, Row]) -> str:
    lines = [
        [
            f"{data.capitalize()} {kernel}",
            f"{row['first change']:.2f}",
            f"{row['short'][0]:.1e}",
            f"{math.degrees(row['away'][0]):.0f}°",
            str(row["passes"]),
            f"{max(row['short'][1], 0):.1e}",
            f"{math.degrees(row['away'][1]):.0f}°",
        ]
        for (data, kernel), row in own.items()
    ]
    head = ["", "first change", "as printed: J short by", "W off by", "turned: passes", "J short by", "W off by"]
    return f"""Algorithm 1 goes on *while* ‖Λi − Λi−1‖/‖Λi‖ < δ; the text around it says until. Taken literally it ends
after its first pass, since Φ0 and Φ differ in scale and the first change is far above δ = 0.01. The other way round, as
in the authors' public code, it ends when it should for the gaussian. For the polynomial the eigenvalues settle long
before the subspace does, which the paper's appendix foresees: it recommends them as a preliminary check, with the
principal angle to confirm. We do both, and refuse steps that lower J. Below, J and the largest principal angle are
compared with those after {evidence.MOST} passes, first for the loop as printed, then for the loop turned round.

{table(head, lines)}"""


def _scale(own: dict[tuple[str, ...], Row], rows: dict[str, Row]) -> str:
    lines = [
        [
            data.capitalize(),
            f"γ = {gamma}",
            number(row["cost"]),
            percent(row["accuracy"]),
            score([row["nmi"]]),
            percent([row["heaviest"]]),
        ]
        for (data, gamma, _), row in own.items()
    ]
    head = ["", "", "cost", "accuracy", "NMI, unsupervised", "J in 5 % of the rows"]
    fits = {data: row for (data, _), row in _of(rows, "fitted").items()}
    needed = []
    for data, row in fits.items():
        for c, gamma in row["gamma"].items():
            times = [f"{gamma * factor:.2g}" for factor in (1, row["q"], row["d"])]
            needed.append([data.capitalize(), _printed(data, "cost").text, c, *times])
    return f"""The paper gives the degree, 3, but not the scale γ and the offset c of (γβ + c)³. Ours are γ = 1/d, as in
scikit-learn, and c = 1. On standardized data β grows with the number of columns, so that γ = 1 raises a few large
products to the third power: more of J hangs on the rows that weigh most. Accuracy moves
within its deviation and NMI by a few hundredths, but the cost by powers of ten: the polynomial's costs of Table 4 can
be compared with each other and not with ours. (Ten folds; Face five.)

{table(head, lines, left=2)}
The authors' public code leaves γ to scikit-learn, on XW, which is 1/q, with c = 1; the table has it. We found no scale
that gives back the paper's costs: the γ that does so on one fold is neither a constant nor a multiple of 1/q or 1/d.

{table(["", "paper's cost", "c", "γ", "γ·q", "γ·d"], needed)}"""


def _diagonal(own: dict[tuple[str, ...], Row], rows: dict[str, Row]) -> str:
    lines = [
        [data.capitalize(), number(row["with"]), number(row["without"]), _printed(data, "cost", "gaussian").text]
        for (data, _), row in own.items()
    ]
    return f"""Cost = −Tr(ΓK) has the diagonal of K in it, n ones weighted by Γii. The paper does not say so, but
its costs are reproduced only when the diagonal is left out, as the authors' public code does: plainly on Wine and Face.
It does not depend on W, so no result changes. On Cancer it is too small to tell; there our cost is lower than the
paper's either way. In this report costs of the gaussian are without the diagonal; `Result.objective` has it.

{table(["gaussian, supervised", "with the diagonal", "without", "paper"], lines)}"""


def _digits(own: dict[tuple[str, ...], Row], rows: dict[str, Row]) -> str:
    (row,) = own.values()
    lines = [
        [f"{row['columns']} pixels, {row['varying']} of which vary", percent(row["pixels"])],
        [f"the same and the label, {row['columns'] + 1} columns", percent(row["label too"])],
        ["paper", _printed("mnist", "accuracy", "gaussian").text],
    ]
    ways = [[f"gamma {way}", percent(values)] for way, values in row["judged"].items()]
    return f"""The appendix speaks of 785 features; an image has 28×28 = 784, of which those that never vary must be
kept from scaling. Files of MNIST often have the label as one more column, the 785th. Whether it was among the paper's
features we cannot know, but it would hardly matter: one column among hundreds weighs little, and the paper's accuracy
is not explained by it (gaussian, q = 10, {DIGIT_FOLDS} of 10 folds).

{table(["columns", "accuracy"], lines)}
What does explain it we do not know. The same W judged by an SVM in six ways, with both values that scikit-learn has had
as the default of `gamma` ("auto" until December 2019), gives

{table(["SVM", "accuracy"], ways)}
The paper's figure is met only with the default of that time and on the rows that the SVM was fitted to, while the paper
states that it was judged on others. That some of several ways meet a figure proves nothing; the question stays open.
"""


def _duplicates(own: dict[tuple[str, ...], Row], rows: dict[str, Row]) -> str:
    row = next(iter(own.values()))
    p, n = _printed("cancer", "accuracy", "gaussian").value, row["rows"] / 10
    assert p is not None
    lines = [
        [
            kernel,
            percent(row["random"]),
            percent(row["grouped"]),
            percent([row["right of twins"]]),
            percent([row["right of others"]]),
            _printed("cancer", "accuracy", kernel).text,
        ]
        for (kernel, _), row in own.items()
    ]
    head = ["accuracy", "random folds", "grouped folds", "rows with a twin", "rows without", "paper"]
    return f"""Of Cancer's {row["rows"]} rows only {row["distinct"]} are distinct, so that in random folds
{percent([row["twins"]])} of the test rows have a twin, with the same values, among the rows that were learnt from. With
folds that keep twins together the accuracy is the same within its deviation, so the paper's figure is not inflated by
them: rows that occur often are easy. Its deviation of ± 0.3 % is hardly one over single folds, though: among
{n:.0f} test rows at {percent([p])} chance alone makes ± {percent([math.sqrt(p * (1 - p) / n)])}.

{table(head, lines)}"""


def _sizes(own: dict[tuple[str, ...], Row], rows: dict[str, Row]) -> str:
    (row,) = own.values()
    titles = {"cancer": "Breast Cancer Wisconsin (Original)", "wdbc": "Breast Cancer Wisconsin (Diagnostic)"}
    lines = [
        [titles[data], f"{size['rows']}", f"{size['columns']}", "whole numbers" if size["whole"] else "real numbers"]
        for data, size in row.items()
    ]
    return f"""The appendix links to the Diagnostic set and describes the Original one, less its 16 incomplete rows: "9
features and 683 samples", discrete. All figures here are of the Original.

{table(["", "rows", "columns", "values"], [*lines, ["described in the paper", "683", "9", "discrete"]])}"""


def _part(kind: str, arguments: tuple[str | int | float, ...], data: tuple[str, ...], seconds: float) -> Part:
    """Named by what it is given: differences/diagonal/wine/10"""
    compute: Callable[..., Row] = getattr(evidence, kind)
    named = "/".join(str(argument).replace("/", " over ") for argument in arguments)
    return Part(f"differences/{kind}/{named}".rstrip("/"), partial(compute, *arguments), data, seconds)


def _of(rows: dict[str, Row], kind: str) -> dict[tuple[str, ...], Row]:
    """The rows of one kind by their arguments, without those that failed."""
    found = {}
    for name, row in rows.items():
        _, own, *arguments = name.split("/")
        if own == kind and "failed" not in row:
            found[tuple(argument.replace(" over ", "/") for argument in arguments)] = row
    return found


def _printed(data: str, measure: str, kernel: str = "polynomial") -> Printed:
    return PRINTED["supervised", data, kernel, "ISM", measure]


def _cost(data: str) -> float:
    cost = _printed(data, "cost").value
    assert cost is not None
    return cost


def _seconds(data: str) -> float:
    return 15 if data == "face" else 2


def _passes(numbers: Sequence[int]) -> str:
    return f"≥ {evidence.MOST}" if max(numbers) == evidence.MOST else f"{np.mean(numbers):.0f}"
