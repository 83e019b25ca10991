"""The paper's Table 5: ISM with less usual kernels, supervised and unsupervised."""

from functools import partial

import numpy as np

from benchmarks.measuring import Row
from benchmarks.paper.cells import Part
from benchmarks.paper.experiments import folds, rounds
from benchmarks.paper.experiments.supervised import FAST_DATA, FAST_FOLDS, FOLDS
from benchmarks.paper.tables import bold, percent, score, seconds, sentence, table
from benchmarks.paper.verdicts import TITLES, Cell, misses, other_last_steps, score_verdict, training_accuracies

KERNELS = {
    "supervised": ("linear", "squared", "multiquadratic", "gaussian+polynomial"),
    "unsupervised": ("linear", "squared", "multiquadratic"),
}
AS_ONE, AS_ONE_KERNELS = "kernels/unsupervised/mnist/scaled as one", ("linear", "squared")
MEASURE = {"supervised": "accuracy", "unsupervised": "NMI"}
SECONDS = {  # estimated seconds of a part
    "supervised": {"wine": 1, "cancer": 2, "face": 8, "mnist": 60},
    "unsupervised": {"wine": 1, "cancer": 1, "face": 3, "mnist": 30},
}


def parts(fast: bool) -> list[Part]:
    found = []
    for paradigm, kernels in KERNELS.items():
        for data in FAST_DATA if fast else TITLES:
            for kernel in kernels:
                if paradigm == "supervised":
                    compute = partial(folds.measure, data, kernel, "ISM", FAST_FOLDS if fast else FOLDS, np.inf)
                else:
                    compute = partial(rounds.measure, data, kernel, "ISM", np.inf)
                name = f"kernels/{paradigm}/{data}/{kernel}"
                found.append(Part(name, compute, (folds.FILES.get(data, data),), SECONDS[paradigm][data]))
    if not fast:
        found.append(Part(AS_ONE, partial(rounds.scaled_as_one, "mnist", AS_ONE_KERNELS), ("mnist_test",), 30))
    return found


def section(rows: dict[str, Row], fast: bool) -> str:
    text = [INTRODUCTION.format(count=FAST_FOLDS if fast else FOLDS)]
    for paradigm, kernels in KERNELS.items():
        own = [
            Cell(paradigm, data, kernel, {"ISM": row})
            for data in (FAST_DATA if fast else TITLES)
            for kernel in kernels
            if "failed" not in (row := rows.get(f"kernels/{paradigm}/{data}/{kernel}", {"failed": ""}))
        ]
        text += [f"### {paradigm.capitalize()}\n", _table(own, kernels, MEASURE[paradigm])]
        text.append(score_verdict(own, MEASURE[paradigm]) + "\n")
        text.append(training_accuracies(own) if paradigm == "supervised" else other_last_steps(own))
        text.append(_as_one(rows, own) if paradigm == "unsupervised" else "")
    return "\n".join(filter(None, text))


def _as_one(rows: dict[str, Row], own: list[Cell]) -> str:
    """Explain the effect of scaling on the NMI of MNIST, if that is below the paper's."""
    row = rows.get(AS_ONE, {"failed": ""})
    if "failed" in row or not any(cell.data == "mnist" for cell in misses(own, "NMI")):
        return ""
    return SCALING.format(
        whole=row["k-means"],
        each=row["k-means standardized"],
        kernels=sentence([f"{kernel} {row[kernel]:.3f}" for kernel in AS_ONE_KERNELS]),
    )


def _table(own: list[Cell], kernels: tuple[str, ...], measure: str) -> str:
    lines = []
    for data in dict.fromkeys(cell.data for cell in own):
        row = {cell.kernel: cell for cell in own if cell.data == data}
        times = {kernel: float(np.mean(cell.ours["seconds"])) for kernel, cell in row.items()}
        scores = {kernel: round(float(np.mean(cell.ours[measure])), 3) for kernel, cell in row.items()}
        show = percent if measure == "accuracy" else score
        shown = {
            "time": {k: bold(seconds(c.ours["seconds"]), times[k] == min(times.values())) for k, c in row.items()},
            measure: {k: bold(show(c.ours[measure]), scores[k] == max(scores.values())) for k, c in row.items()},
        }
        for what, ours in shown.items():
            lines.append(
                [
                    f"**{TITLES[data]}**" if what == "time" else "",
                    what,
                    "ours",
                    *(ours.get(k, "failed") for k in kernels),
                ]
            )
            lines.append(["", "", "paper", *(row[k].printed(what).text if k in row else "" for k in kernels)])
    return table(["data", "", "", *kernels], lines, left=3)


INTRODUCTION = """## Other kernels: Table 5

The same for ISM alone; {count} folds for the supervised part. gaussian+polynomial is a weighted sum. Its weights come
from centered alignment with the labels of the training folds (`aligned`).
"""
SCALING = """Scaling matters on MNIST, but does not explain the gap. k-means on all pixels, without W, has an NMI of
{each:.3f} if each pixel is scaled to standard deviation 1, as the paper says, and {whole:.3f} if all pixels are divided
by the same number. With the latter scaling ISM has: {kernels}. We do not know how the paper obtained its figures.
"""
