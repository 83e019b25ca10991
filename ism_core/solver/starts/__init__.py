"""Starting points: Φ0 and others, the search among them, and continuation from a wide kernel to a narrow one."""

from ism_core.solver.starts.candidates import candidates, constant_derivative_maximum, has_constant_derivative
from ism_core.solver.starts.continuation import (
    COARSE_ASCENT_DELTA,
    FINE_ASCENT_DELTA,
    first_width,
    iter_continuation,
    iter_path_points,
    kernel_with_automatic_width,
    path_kernels,
    path_widths,
    widest_width,
    with_width,
)
from ism_core.solver.starts.interactions import interaction_directions
from ism_core.solver.starts.search import DEFAULT_STARTS, Start, iter_search

__all__ = [
    "COARSE_ASCENT_DELTA",
    "DEFAULT_STARTS",
    "FINE_ASCENT_DELTA",
    "Start",
    "candidates",
    "constant_derivative_maximum",
    "first_width",
    "has_constant_derivative",
    "interaction_directions",
    "iter_continuation",
    "iter_path_points",
    "iter_search",
    "kernel_with_automatic_width",
    "path_kernels",
    "path_widths",
    "widest_width",
    "with_width",
]
