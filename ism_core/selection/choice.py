"""What a choice of settings was made from: every candidate with its score, and the one that was taken."""

from dataclasses import dataclass
from typing import Literal

from ism_core.kernels.base import Kernel
from ism_core.scaling import Scale

Auto = Literal["auto"]


@dataclass(frozen=True)
class Candidate:
    """One setting that was tried."""

    kernel: Kernel  # with numbers, such as those of sigma
    scale: Scale
    q: int
    neighbors: bool  # whether Γ follows W
    score: float  # the higher the better
    error: float | None  # the standard error of the score, where it is known
    seconds: float  # that it took, in all folds


@dataclass(frozen=True)
class Choice:
    """The candidates in the order they were tried, and which was taken and why."""

    criterion: str  # what the score is: "accuracy", "r2" or "consensus"
    candidates: tuple[Candidate, ...]
    chosen: Candidate
    rows: int  # that the candidates were tried on
    reason: str  # a sentence


@dataclass(frozen=True)
class Trial:
    """How far a choice is: what is being tried now, in which fold (or as which candidate), and the best so far."""

    scale: Scale
    q: int
    fold: int
    folds: int
    tried: int  # projections that were scored so far
    best: float
