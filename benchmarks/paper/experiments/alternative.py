"""Alternative clustering: the Flower picture cut in two another way, and faces grouped by pose instead of by person.

Flower's samples are its 256 colors. The original segmentation is scikit-learn's spectral clustering of them, at the
median distance; the alternative one is `Alternative` given that. Face is given its 20 people, and 4 clusters are sought
in 20 dimensions. The picture itself is not shown: it may not be redistributed.
"""

from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import pdist
from sklearn.cluster import SpectralClustering

from benchmarks.datasets import load
from benchmarks.measuring import Row, timed
from benchmarks.paper.cells import Part
from ism_core import Alternative, solve
from ism_core.arrays import Array, Ints
from ism_core.metrics import nmi

matplotlib.use("Agg")
from matplotlib import pyplot as plt

KERNELS = ("gaussian", "polynomial")
POSES = ("left", "right", "up", "straight")
FACE = (30, 32)  # pixels
FLOWER_PICTURE, FACE_PICTURE = "alternative_flower.png", "alternative_face.png"


def parts(fast: bool) -> list[Part]:
    found = [Part(f"alternative/flower/{kernel}", partial(flower, kernel), ("flower",), 1) for kernel in KERNELS]
    if not fast:
        found += [Part(f"alternative/face/{kernel}", partial(face, kernel), ("face",), 3) for kernel in KERNELS]
    return found


def flower(kernel: str) -> Row:
    """Return both segmentations, as one bit per color."""
    colors = load("flower")
    X = colors.standardized
    original = segmentation(X)
    seconds, result = timed(partial(solve, X, Alternative(original, 2), kernel, 2))
    # White is the brighter cluster.
    original, found = (_brighter(colors.X, labels) for labels in (original, result.labels))
    return {
        "seconds": seconds,
        "nmi": nmi(original, found),
        "original": original.tolist(),
        "alternative": found.tolist(),
        "W": result.W.round(4).tolist(),
        "converged": result.converged,
    }


def segmentation(X: Array, clusters: int = 2) -> Ints:
    """Cluster with scikit-learn's spectral clustering and a gaussian affinity of median width."""
    width = float(np.median(pdist(X)))
    labels: Ints = SpectralClustering(clusters, gamma=0.5 / width**2, random_state=0).fit_predict(X)
    return labels


def face(kernel: str) -> Row:
    """Return the mean face of each cluster, matched to the poses."""
    people = load("face")
    seconds, result = timed(partial(solve, people.standardized, Alternative(people.y, 4), kernel, 20))
    pose = people.extra["pose"]
    counts = np.zeros((4, 4), dtype=int)  # of each pose in each cluster
    np.add.at(counts, (pose, result.labels), 1)
    order = linear_sum_assignment(-counts)[1]
    return {
        "seconds": seconds,
        "pose": nmi(pose, result.labels),
        "people": nmi(people.y, result.labels),
        "counts": counts[:, order].tolist(),
        "means": [people.X[result.labels == c].mean(axis=0).round(1).tolist() for c in order],
        "poses": [people.X[pose == p].mean(axis=0).round(1).tolist() for p in range(4)],
        "converged": result.converged,
    }


def section(rows: dict[str, Row], fast: bool) -> str:
    flowers, faces = (_done(rows, data) for data in ("flower", "face"))
    text = ["## Alternative clustering", ""]
    if flowers:
        text += _flower_text(flowers)
    if faces:
        text += _face_text(faces)
    elif fast:
        text += ["The fast run skips Face.", ""]
    return "\n".join(text)


def figures(rows: dict[str, Row], folder: Path) -> None:
    for name, draw, data in ((FLOWER_PICTURE, _draw_flower, "flower"), (FACE_PICTURE, _draw_face, "face")):
        own = _done(rows, data)
        if own:
            figure = draw(own)
            figure.savefig(folder / name, dpi=150, bbox_inches="tight", metadata={"Software": None})
            plt.close(figure)


def _flower_text(rows: dict[str, Row]) -> list[str]:
    lines = [
        "**Flower.** Each of the 256 colors of the picture is a sample of 3 numbers. The original segmentation is"
        " scikit-learn's spectral clustering (gaussian affinity, σ = median). The alternative segmentations come from"
        " `Alternative` given the original, with k = q = 2 and the default μ. The paper gives no number. It says that"
        " the two segmentations look “completely different”; an NMI near 0 agrees.",
        "",
        f"![Three black-and-white segmentations of the Flower picture](images/paper/{FLOWER_PICTURE})",
        "",
        "*Each pixel shows the cluster of its color. The picture itself, © Alain Nicolas, is not reproduced.*",
        "",
        "| kernel | NMI with the original | colors that change sides | time |",
        "|---|---|---|---|",
    ]
    for kernel, row in rows.items():
        moved = np.mean(np.array(row["original"]) != np.array(row["alternative"]))
        lines.append(f"| {kernel} | {row['nmi']:.3f} | {100 * min(moved, 1 - moved):.0f} % | {row['seconds']:.2f} s |")
    return [*lines, ""]


def _face_text(rows: dict[str, Row]) -> list[str]:
    lines = [
        "**Face.** The known clustering is that of the 20 people. `Alternative` finds 4 other clusters with q = 20 and"
        " the default μ. As in the paper, they follow the pose, for both kernels. The paper shows mean faces and no"
        " numbers.",
        "",
        f"![Mean faces of the alternative clusters](images/paper/{FACE_PICTURE})",
        "",
        "*The mean face of each cluster, below the mean face of each pose. The percentage is the share"
        " of the cluster's images that have that pose. Faces: CMU Face Images (Tom Mitchell, Carnegie Mellon),"
        " from the UCI Machine Learning Repository.*",
        "",
        "| kernel | NMI with the pose | NMI with the people | images in their pose's cluster | time |",
        "|---|---|---|---|---|",
    ]
    for kernel, row in rows.items():
        counts = np.array(row["counts"])
        share = np.trace(counts) / counts.sum()
        lines.append(
            f"| {kernel} | {row['pose']:.2f} | {row['people']:.2f} | {100 * share:.0f} % | {row['seconds']:.2f} s |"
        )
    return [*lines, ""]


def _draw_flower(rows: dict[str, Row]) -> Any:
    pixels = load("flower").extra["pixel_to_row"]
    first = next(iter(rows.values()))
    panels = {"original\n(spectral clustering)": first["original"]}
    panels |= {f"alternative\n({kernel}, NMI {row['nmi']:.2f})": row["alternative"] for kernel, row in rows.items()}
    figure, places = plt.subplots(1, len(panels), figsize=(10, 3.2), layout="constrained")
    for axes, (title, labels) in zip(places, panels.items(), strict=True):
        axes.imshow(np.array(labels)[pixels], cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        axes.set_title(title, fontsize=13)
        axes.set(xticks=[], yticks=[])
    return figure


def _draw_face(rows: dict[str, Row]) -> Any:
    first = next(iter(rows.values()))
    lines = {"mean of\neach pose": first["poses"]} | {kernel: row["means"] for kernel, row in rows.items()}
    figure, places = plt.subplots(len(lines), 4, figsize=(8, 2.15 * len(lines)), layout="constrained")
    for line, (name, means) in zip(places, lines.items(), strict=True):
        for pose, (axes, mean) in enumerate(zip(line, means, strict=True)):
            axes.imshow(np.array(mean).reshape(FACE), cmap="gray")
            axes.set(xticks=[], yticks=[])
            if name in rows:
                counts = np.array(rows[name]["counts"])[:, pose]
                axes.set_xlabel(
                    f"{100 * counts[pose] / counts.sum():.0f} % {POSES[pose]}, n = {counts.sum()}", fontsize=11.5
                )
            else:
                axes.set_title(POSES[pose], fontsize=14)
        line[0].set_ylabel(name, fontsize=14)
    return figure


def _brighter(colors: Array, labels: Ints) -> Ints:
    """Return 1 for the brighter cluster and 0 for the other."""
    means = [colors[labels == c].mean() for c in (0, 1)]
    brighter: Ints = (labels == int(np.argmax(means))).astype(int)
    return brighter


def _done(rows: dict[str, Row], data: str) -> dict[str, Row]:
    """Return the successful rows by kernel."""
    named = {kernel: rows.get(f"alternative/{data}/{kernel}", {"failed": ""}) for kernel in KERNELS}
    return {kernel: row for kernel, row in named.items() if "failed" not in row}
