"""Measure one cell: a method on a table with a number of axes, learned from one half of the rows."""

import time
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, SVR

from benchmarks.unseen.peers import CLASS_PEERS, CLUSTERERS, VALUE_PEERS
from benchmarks.unseen.tables import CLASSES, VALUES, Halves, complete, halves, load
from ism_core import Gaussian, SupervisedISM, UnsupervisedISM
from ism_core.arrays import Array
from ism_core.linalg import standardized
from ism_core.metrics import nmi

ISM, PAPER = "ISM", "ISM, paper"  # automatic settings; the paper's kernel width, on standardized rows
VALUE_AXES = (1, 2, 3)  # numbers of axes that "auto" is compared with, for values
KINDS = ("classes", "values", "clusters")
METHODS = {
    "classes": (ISM, PAPER, *CLASS_PEERS),
    "values": (ISM, PAPER, *VALUE_PEERS),
    "clusters": (ISM, *CLUSTERERS),
}


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    rows: int  # of a table at most, before it is halved
    clustered_rows: int  # of a table that is clustered at most
    seeds: int  # random halves of each table, or samples to be clustered


@dataclass(frozen=True)
class Cell:
    """What is measured, and the result."""

    kind: str
    table: str
    method: str
    q: str  # "2", "classes", "auto", …
    seed: int
    score: float = float("nan")  # accuracy in %, R² or NMI
    seconds: float = 0.0
    chosen: str = ""  # the settings that were chosen

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        return self.kind, self.table, self.method, self.q, self.seed


def planned(kind: str, table: str, size: Size) -> list[Cell]:
    """Return the cells of a table, without results."""
    folder = VALUES if kind == "values" else CLASSES
    known = load(folder, table, size.rows, 0)
    cells = []
    for seed in range(size.seeds):
        for method in METHODS[kind]:
            axes: tuple[str, ...] = ("classes",)
            if kind == "classes" and 2 < known.classes <= known.X.shape[1]:
                axes = ("2", "classes")
            elif kind == "classes":
                axes = ("2",)
            elif kind == "values":
                axes = (*(str(q) for q in VALUE_AXES), "auto") if method == ISM else ("2",)
            cells += [Cell(kind, table, method, q, seed) for q in axes]
    return cells


def measured(cell: Cell, size: Size) -> Cell:
    """Return the cell with its result."""
    folder = VALUES if cell.kind == "values" else CLASSES
    rows = size.clustered_rows if cell.kind == "clusters" else size.rows
    table = load(folder, cell.table, rows, cell.seed)
    began = time.perf_counter()
    chosen = ""
    if cell.kind == "clusters":
        X, k = complete(table.X), table.classes
        if cell.method == ISM:
            clustering = UnsupervisedISM("auto", "auto", n_clusters=k).fit(X)
            labels, chosen = clustering.labels_, _settings(clustering)
        else:
            labels = CLUSTERERS[cell.method](X, k, cell.seed)
        seconds = time.perf_counter() - began
        score = nmi(table.y, labels)
    else:
        parts = halves(table, cell.seed)
        q = {"classes": table.classes, "auto": 0}.get(cell.q) if not cell.q.isdigit() else int(cell.q)
        P, P_test, chosen = _projected(cell, parts, min(q or 0, parts.X.shape[1]))
        seconds = time.perf_counter() - began
        score = _accuracy(P, P_test, parts) if cell.kind == "classes" else _r2(P, P_test, parts)
    return Cell(*cell.key, score, seconds, chosen)


def _projected(cell: Cell, parts: Halves, q: int) -> tuple[Array, Array, str]:
    """Return both halves in the new axes; q = 0 stands for "auto"."""
    if cell.method in (ISM, PAPER):
        kernel = "auto" if cell.method == ISM else Gaussian()
        kind = "classes" if cell.kind == "classes" else "values"
        model = SupervisedISM(kernel, q or "auto", kind=kind).fit(parts.X, parts.y)
        chosen = _settings(model) if cell.method == ISM else ""
        return model.transform(parts.X), model.transform(parts.X_test), chosen
    rows, mean, scale = standardized(parts.X)
    peers = CLASS_PEERS if cell.kind == "classes" else VALUE_PEERS
    W = peers[cell.method](rows, parts.y, q)
    return rows @ W, (parts.X_test - mean) / scale @ W, ""


def _settings(model: SupervisedISM | UnsupervisedISM) -> str:
    assert model.choice_ is not None
    chosen = model.choice_.chosen
    kinds = [name for name in ("neighbors", "interactions") if getattr(chosen, name)]
    return " ".join([f"q={chosen.q}", chosen.scale, str(chosen.kernel), *kinds, f"score={chosen.score:.3f}"])


def _accuracy(P: Array, P_test: Array, parts: Halves) -> float:
    """Return the mean accuracy of an SVM and of 5 nearest neighbors, in %."""
    models = SVC(), KNeighborsClassifier(5)
    return 100 * float(np.mean([model.fit(P, parts.y).score(P_test, parts.y_test) for model in models]))


def _r2(P: Array, P_test: Array, parts: Halves) -> float:
    """Return the R² of an SVR that learns from standardized values."""
    mean, spread = parts.y.mean(), parts.y.std()
    predicted = SVR().fit(P, (parts.y - mean) / spread).predict(P_test)
    return float(r2_score(parts.y_test, predicted * spread + mean))
