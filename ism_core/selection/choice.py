"""The outcome of an automatic choice: every candidate with its score, and the chosen one."""

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Literal

from ism_core.arrays import Array, Ints
from ism_core.kernels import Kernel
from ism_core.linalg import Scale
from ism_core.selection.candidates import PathKey
from ism_core.selection.fold_paths import FoldScore

Auto = Literal["auto"]
MOST_SHOWN = 8  # candidates in a notebook


@dataclass(frozen=True)
class Candidate:
    """One setting that was tried."""

    kernel: Kernel  # with numbers for all its parameters
    scale: Scale
    q: int
    neighbors: bool  # whether Γ counts nearest neighbors
    score: float  # mean cross-validated accuracy or R², or consensus; higher is better
    error: float | None  # the standard error of the score, if it is known
    seconds: float  # time spent on it, over all folds
    interactions: bool = False  # whether the ascent starts from interactions
    linear: bool = False  # whether the kernel is squared and that between values linear
    # d×q weights of the scaled features that it learned from some of the rows; None if they are unknown or large
    loadings: Array | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Predictions of an SVM on the projection by the chosen candidate, each from folds without the predicted row.

    The scores are accuracies or R² of these predictions.
    """

    rows: Ints  # numbers of the rows that were predicted, in ascending order
    predictions: Array  # the class number, or the values, of each of them
    scores: tuple[float, ...]  # of the folds; optimistic, since the candidate was chosen on the same rows
    corrected: float  # bootstrap bias-corrected score: what to expect on other rows
    error: float  # the standard error of the corrected score

    @property
    def optimism(self) -> float:
        """The mean score of the folds minus the corrected score."""
        return sum(self.scores) / len(self.scores) - self.corrected


@dataclass(frozen=True)
class FinalCheck:
    """How well the axes of all rows of a table in partitions predict rows that the choice never saw.

    The score is that of a `Candidate`; compare it with `OutOfFold.corrected`.
    """

    score: float  # accuracy or R²
    error: float  # its standard error
    rows: int  # number of rows that were predicted


@dataclass(frozen=True)
class Choice:
    """The candidates in the order in which they were tried, the chosen one, and the reason."""

    criterion: str  # meaning of the score: "accuracy", "r2" or "consensus"
    candidates: tuple[Candidate, ...]
    chosen: Candidate
    rows: int  # number of rows that the candidates were tried on
    reason: str  # a sentence
    out_of_fold: OutOfFold | None = None  # of supervised choices; None if there were too few rows
    cut_short: bool = False  # whether the search ended on request, before all candidates were tried
    mu: float | None = None  # 0 if labels of a clustering do not guide its axes; None if the weight stays as it is
    final_check: FinalCheck | None = None  # of a table in partitions

    def _repr_html_(self) -> str:
        best = sorted(self.candidates, key=lambda each: (each is not self.chosen, -each.score))[:MOST_SHOWN]
        heads = ("kernel", "scale", "axes", self.criterion, "standard error", "")
        rows = [
            (each.kernel, each.scale, each.q, f"{each.score:.3f}", "" if each.error is None else f"{each.error:.3f}",
             "chosen" if each is self.chosen else "")
            for each in best
        ]  # fmt: skip
        lines = [f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows]
        head = "".join(f"<th>{escape(name)}</th>" for name in heads)
        return f"<p>{escape(self.reason)}</p><table><tr>{head}</tr>{''.join(lines)}</table>"


@dataclass(frozen=True, eq=False)
class Leader:
    """The best candidate so far, with the W that it learned from some of the rows."""

    kernel: Kernel  # with the width that it has for these rows
    scale: Scale
    q: int
    score: float  # over the folds that it saw
    loadings: Array  # d×q weights of the scaled features, before whitening
    rows: Ints | None = None  # the rows that were clustered, and their clusters, if the paradigm is a clustering
    labels: Ints | None = None


@dataclass(frozen=True)
class Trial:
    """Progress of a choice: what is being tried, in which fold (or as which candidate), and the best score so far."""

    scale: Scale
    q: int
    fold: int
    folds: int
    tried: int  # number of projections scored so far
    best: float
    leader: Leader | None = None  # None until a candidate has been scored


class SearchFinished(Exception):
    """The caller has asked to end the search."""


def never() -> bool:
    """Return False: nobody asks to cut the search short."""
    return False


Journal = dict[PathKey, list[FoldScore]]  # the scores of the paths that are done, in each fold


@dataclass(frozen=True, eq=False)
class SearchControl:
    """What a caller of a search may ask for."""

    finish: Callable[[], bool] = never  # whether to end the search and keep the best candidate so far
    journal: Journal = field(default_factory=dict)  # scores of an earlier search with the same arguments; grows
    may_fork: bool = False  # whether a second process may share the work
