"""The solver: from X, a paradigm and a kernel to the W that maximizes J, with a certificate.

`solve` validates its arguments (`options`), chooses starting points (`starts`), ascends from the best one (`ascent`, or
`alternation` for clusterings), limits the features of each axis if asked to (`sparse`) and checks the W it found
(`certificate`). `iter_solve` is the same as a generator of steps. `stability` resamples the rows of a result.
"""

from ism_core.solver.ascent import ascend
from ism_core.solver.options import SolveOptions
from ism_core.solver.partitioned_scaling import learned_scaling
from ism_core.solver.result import (
    Certificate,
    Error,
    Result,
    ReturnCapture,
    Step,
    Stop,
    drain,
    drained,
    relay,
)
from ism_core.solver.solve import iter_solve, solve
from ism_core.solver.sparse import ascend_on_supports
from ism_core.solver.stability import Resample, Stability, iter_stability, scale_of_deviations, stability
from ism_core.solver.starts import (
    COARSE_ASCENT_DELTA,
    FINE_ASCENT_DELTA,
    first_width,
    interaction_directions,
    iter_path_points,
    kernel_with_automatic_width,
    path_widths,
    widest_width,
    with_width,
)

__all__ = [
    "COARSE_ASCENT_DELTA",
    "FINE_ASCENT_DELTA",
    "Certificate",
    "Error",
    "Resample",
    "Result",
    "ReturnCapture",
    "SolveOptions",
    "Stability",
    "Step",
    "Stop",
    "ascend",
    "ascend_on_supports",
    "drain",
    "drained",
    "first_width",
    "interaction_directions",
    "iter_path_points",
    "iter_solve",
    "iter_stability",
    "kernel_with_automatic_width",
    "learned_scaling",
    "path_widths",
    "relay",
    "scale_of_deviations",
    "solve",
    "stability",
    "widest_width",
    "with_width",
]
