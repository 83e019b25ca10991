"""Semi-supervised clustering, which the paper formulates but does not measure: expert scores of growing noise.

The experts' scores are the one-hot labels plus normal noise of a standard deviation from 0 to 4, drawn anew for each
seed. Two levels bound what is to be expected: the clustering without any scores, and the clustering of XW for the W
learned from the labels themselves. Beside them stands what the scores say alone: the label of the largest one.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from benchmarks.datasets import load
from benchmarks.measuring import Row
from benchmarks.paper.cells import Part
from benchmarks.paper.tables import table
from ism_core import SemiSupervised, Supervised, Unsupervised, solve
from ism_core.arrays import Array, Ints
from ism_core.metrics import nmi
from ism_core.paradigms import Projected

matplotlib.use("Agg")
from matplotlib import pyplot as plt

NOISES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
FEW_NOISES = (0.0, 1.0, 4.0)
FAST_SEEDS = 2
WEIGHTS = (1.0, 5.0)  # μ; 5 is the default for real scores of all rows
KERNEL = "gaussian"
POSE = "semisupervised/face by pose"
PICTURE = "semisupervised.png"
SKY, BLUE, ORANGE, GREEN, BLACK = "#56B4E9", "#0072B2", "#E69F00", "#009E73", "#000000"  # Okabe and Ito


@dataclass(frozen=True)
class Case:
    title: str
    data: str
    columns: int  # number of added noise columns
    seeds: int
    seconds: float  # estimated time of one clustering

    def table(self) -> tuple[Array, Ints]:
        """Return standardized rows and their classes."""
        found = load(self.data)
        noise = np.random.default_rng(0).standard_normal((len(found.X), self.columns))
        return np.hstack([found.standardized, noise]), found.y


CASES = {
    "wine": Case("Wine", "wine", 0, 5, 0.1),
    "wine, 100 more": Case("Wine and 100 columns of noise", "wine", 100, 5, 0.3),
    "cancer": Case("Cancer", "cancer", 0, 5, 0.3),
    "face": Case("Face", "face", 0, 2, 4.0),
}


def parts(fast: bool) -> list[Part]:
    found = []
    for name, case in CASES.items():
        if fast and name != "wine":
            continue
        seeds = FAST_SEEDS if fast else case.seeds
        found.append(Part(f"semisupervised/{name}/levels", partial(levels, name), (case.data,), 2 * case.seconds))
        for noise in FEW_NOISES if fast else NOISES:
            for mu in WEIGHTS:
                compute = partial(guided, name, noise, mu, seeds)
                found.append(Part(_name(name, noise, mu, seeds), compute, (case.data,), seeds * case.seconds))
    if not fast:
        found.append(Part(POSE, pose, ("face",), 15))
    return found


def levels(case: str) -> Row:
    """Measure the NMI without scores, and with W learned from the labels."""
    X, y = CASES[case].table()
    k = len(np.unique(y))
    without = solve(X, Unsupervised(k), KERNEL, k)
    taught = solve(X, Supervised(y), KERNEL, k)
    _, clustering = Unsupervised(k).gamma(Projected(X @ taught.W, taught.kernel, 0))
    assert clustering is not None
    return {"unsupervised": nmi(y, without.labels), "supervised": nmi(y, clustering.labels(0))}


def guided(case: str, noise: float, mu: float, seeds: int) -> Row:
    """Measure the NMI with scores of this noise and weight, and that of the scores alone, for each seed."""
    X, y = CASES[case].table()
    k = len(np.unique(y))
    found, alone = [], []
    for seed in range(seeds):
        scores = noisy(y, noise, seed)
        found.append(nmi(y, solve(X, SemiSupervised(scores, k, mu), KERNEL, k, seed=seed).labels))
        alone.append(nmi(y, scores.argmax(axis=1)))
    return {"nmi": found, "alone": alone}


def pose() -> Row:
    """Cluster Face into 4 with perfect scores of the pose, which is not the main structure of the columns."""
    faces = load("face")
    X, y = faces.standardized, faces.extra["pose"]
    taught = solve(X, Supervised(y), KERNEL, 4)
    _, clustering = Unsupervised(4).gamma(Projected(X @ taught.W, taught.kernel, 0))
    assert clustering is not None
    found = {"unsupervised": nmi(y, solve(X, Unsupervised(4), KERNEL, 4).labels)}
    for mu in (*WEIGHTS, 20.0):
        found[f"μ = {mu:g}"] = nmi(y, solve(X, SemiSupervised(noisy(y, 0.0, 0), 4, mu), KERNEL, 4).labels)
    return {**found, "supervised W": nmi(y, clustering.labels(0))}


def noisy(y: Ints, noise: float, seed: int) -> Array:
    """Return one-hot labels plus noise."""
    onehot = np.eye(y.max() + 1)[y]
    return onehot + noise * np.random.default_rng(seed).standard_normal(onehot.shape)


def section(rows: dict[str, Row], fast: bool) -> str:
    noises = FEW_NOISES if fast else NOISES
    lines = []
    for name, case in CASES.items():
        level = rows.get(f"semisupervised/{name}/levels", {"failed": ""})
        if "failed" in level:
            continue
        ends = f"{level['unsupervised']:.2f}", f"{level['supervised']:.2f}"
        for mu in WEIGHTS:
            lines.append([case.title, f"μ = {mu:g}", *_cells(rows, name, mu, "nmi", noises), *ends])
        lines.append([case.title, "scores alone", *_cells(rows, name, WEIGHTS[0], "alone", noises), "", ""])
    head = ["data", "", *(f"noise {noise:g}" for noise in noises), "unsupervised", "supervised W"]
    return "\n".join(
        [
            "## Semi-supervised clustering",
            "",
            TEXT,
            f"![NMI over the noise of the expert scores](images/paper/{PICTURE})",
            "",
            f"*NMI with the true classes: mean and standard deviation of {FAST_SEEDS if fast else 5} draws of the noise"
            f"{'' if fast else ' (Face: 2)'}, for one draw of the 100 columns. Gaussian kernel, q = k = classes.*",
            "",
            table(head, lines, left=2),
            _limit(rows),
        ]
    )


TEXT = """The paper formulates semi-supervised reduction, but measures only its opposite, the alternative clustering. In
this experiment of our own, experts score each row for each class: 1 for its own class and 0 for the others, plus normal
noise. The clustering uses the scores, through `SemiSupervised` with weight μ, and never the labels. We expect its NMI
to lie between two levels: the clustering without scores, and the spectral clustering of XW for the W that `Supervised`
learns from the true labels.

- If the columns alone hide the classes (Wine with 100 columns of noise), and on Face, NMI falls from the supervised
  level to the unsupervised one as the noise grows. At noise 1 the scores alone say little, but still help.
- μ is the confidence in the experts. At μ = 1 useless scores do little harm. At the default of 5, good scores are
  followed more closely, and useless scores mislead: among 100 columns of noise some projection always fits them.
- Wine and Cancer without added columns have little to gain: the clustering without scores is already at the supervised
  level.
- Scores act through W only, so even perfect scores show no more than the clusters of the projected rows.
"""


def figures(rows: dict[str, Row], folder: Path) -> None:
    shown = {name: case for name, case in CASES.items() if f"semisupervised/{name}/levels" in rows}
    figure, panels = plt.subplots(2, 2, figsize=(9, 7), sharey=True, layout="constrained")
    for axes in panels.flat[len(shown) :]:
        axes.remove()
    for axes, (name, case) in zip(panels.flat, shown.items(), strict=False):
        _draw(axes, rows, name)
        axes.set_title(case.title, fontsize=14)
    figure.supxlabel("standard deviation of the noise in the expert scores", fontsize=13)
    figure.supylabel("NMI with the true classes", fontsize=13)
    figure.legend(*panels.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=12)
    figure.savefig(folder / PICTURE, dpi=150, metadata={"Software": None})
    plt.close(figure)


def _draw(axes: Any, rows: dict[str, Row], case: str) -> None:
    lines = [(mu, "nmi", f"semi-supervised, μ = {mu:g}") for mu in WEIGHTS] + [
        (WEIGHTS[0], "alone", "the scores alone")
    ]
    noises = [noise for noise in NOISES if _row(rows, case, noise, WEIGHTS[0])]
    styles = ((SKY, "o-"), (BLUE, "^-"), (ORANGE, "s--"))
    for offset, ((mu, key, label), (color, style)) in enumerate(zip(lines, styles, strict=True)):
        own = [(place, row[key]) for place, noise in enumerate(noises) if (row := _row(rows, case, noise, mu))]
        places = [place + 0.08 * (offset - 1) for place, _ in own]
        means, spreads = ([f(values) for _, values in own] for f in (np.mean, np.std))
        axes.errorbar(places, means, spreads, fmt=style, color=color, capsize=4, label=label)
    level = rows[f"semisupervised/{case}/levels"]
    if "failed" not in level:
        axes.axhline(level["supervised"], color=BLACK, linestyle=":", label="supervised W")
        axes.axhline(level["unsupervised"], color=GREEN, linestyle="-.", label="unsupervised")
    axes.set_xticks(range(len(noises)), [f"{noise:g}" for noise in noises])
    axes.tick_params(labelsize=12)
    axes.set_ylim(0, 1.03)
    axes.grid(alpha=0.3)


def _limit(rows: dict[str, Row]) -> str:
    row = rows.get(POSE, {"failed": ""})
    if "failed" in row:
        return ""
    told = ", ".join(f"{name} {value:.2f}" for name, value in row.items())
    return f"""Guidance has a limit. With 4 clusters of the faces and perfect scores of the *pose*, which is not the
main structure of the columns, the clustering follows the scores only in part. NMI with the pose: {told}.
"""


def _name(case: str, noise: float, mu: float, seeds: int) -> str:
    return f"semisupervised/{case}/noise {noise:g}/mu {mu:g}/{seeds} seeds"


def _row(rows: dict[str, Row], case: str, noise: float, mu: float) -> Row | None:
    """Return the row of a successful part, with any number of seeds."""
    for seeds in {FAST_SEEDS, CASES[case].seeds}:
        row = rows.get(_name(case, noise, mu, seeds))
        if row is not None and "failed" not in row:
            return row
    return None


def _cells(rows: dict[str, Row], case: str, mu: float, key: str, noises: tuple[float, ...]) -> list[str]:
    own = [_row(rows, case, noise, mu) for noise in noises]
    return ["" if row is None else f"{np.mean(row[key]):.2f} ± {np.std(row[key]):.2f}" for row in own]
