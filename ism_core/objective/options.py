"""What the sums over rows and pairs may be computed with."""

from dataclasses import dataclass

from ism_core.engines.base import LOCAL, Engine
from ism_core.objective.tiles import Precision


@dataclass(frozen=True)
class EvaluationOptions:
    """What a problem may be computed with."""

    precision: Precision = "double"
    features: int | None = None  # random ones for each term, in place of pairs
    seed: int = 0  # of those
    engine: Engine = LOCAL
    spare: int | None = None  # bytes that a way other than tiles may take; None: any number
