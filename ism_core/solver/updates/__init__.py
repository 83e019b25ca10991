"""Rows that are added to a model or removed from it: sums over the rows are kept, and W follows from them."""

from ism_core.solver.updates.row_moments import RowMoments, check_updatable
from ism_core.solver.updates.solve_moments import solve_moments

__all__ = ["RowMoments", "check_updatable", "solve_moments"]
