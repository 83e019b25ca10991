"""Options for evaluating J and Φ."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ism_core.engines import ALONE, LOCAL, Engine
from ism_core.linalg import Dtype

Precision = Literal["double", "single"]

DTYPES: dict[Precision, Dtype] = {"double": np.float64, "single": np.float32}

REMOTE_FLOPS = 2e9  # some 30 ms on two threads, which is about what the messages to a cluster cost
THREAD_FLOPS = 3e8  # for less work, two threads spend more time on synchronization than they save


@dataclass(frozen=True)
class EvaluationOptions:
    """How J and Φ may be computed."""

    precision: Precision = "double"  # of sums over pairs of rows
    features: int | None = None  # random features for each term of the kernel; None: no random features
    seed: int = 0  # of the random features and of samples of the rows
    engine: Engine = LOCAL
    spare: int | None = None  # bytes that a strategy may use beyond what all pairs need; None: no limit

    def engine_for(self, flops: float) -> Engine:
        """Return the engine that finishes work of this size first: little work stays in this thread or process."""
        if flops > REMOTE_FLOPS:
            return self.engine
        return LOCAL if flops > THREAD_FLOPS else ALONE
