"""The solver: from X, a paradigm and a kernel to the W that maximizes J, with a certificate.

`solve` validates its arguments (`options`), chooses starting points (`starts`), ascends from the best one (`ascent`, or
`alternation` for clusterings), limits the features of each axis if asked to (`sparse`) and checks the W it found
(`certificate`). `iter_solve` is the same as a generator of steps. `stability` resamples the rows of a result.
`updates` adds rows to a model and removes rows.
"""

from ism_core.solver.ascent import ascend
from ism_core.solver.options import SolveOptions, as_engine
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
from ism_core.solver.updates import RowMoments, check_updatable, solve_moments

__all__ = [
    "COARSE_ASCENT_DELTA",
    "FINE_ASCENT_DELTA",
    "Certificate",
    "Error",
    "Resample",
    "Result",
    "ReturnCapture",
    "RowMoments",
    "SolveOptions",
    "Stability",
    "Step",
    "Stop",
    "as_engine",
    "ascend",
    "ascend_on_supports",
    "check_updatable",
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
    "solve_moments",
    "stability",
    "widest_width",
    "with_width",
]
