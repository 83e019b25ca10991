"""The kernels of the candidates for all rows of a table, from their places on paths that were tried on few rows."""

from itertools import islice

import numpy as np

from ism_core.arrays import Array
from ism_core.engines import own_threads
from ism_core.kernels import Kernel, KernelWithWidth, Squared
from ism_core.linalg import RowSpace, Scale, Scaling
from ism_core.objective import Problem
from ism_core.paradigms import Supervised
from ism_core.selection.candidates import CandidatePath, ScoredKernel
from ism_core.selection.choice import Candidate
from ism_core.solver import first_width, interaction_directions, path_widths, widest_width, with_width


class TableKernels:
    """The kernels of the paths for all rows of the table, which are scaled on demand."""

    def __init__(self, table: Array, paradigm: Supervised, kernel: Kernel, chooses_width: bool, seed: int) -> None:
        self._table = table
        self._paradigm = paradigm
        self._kernel = kernel
        self._chooses_width = chooses_width
        self._seed = seed
        self._paradigms = {paradigm.neighbors: paradigm}  # without and with neighbors; each computes its Γ once
        self._first_widths: dict[tuple[Scale, int, bool, bool], float] = {}
        self._rows: tuple[Scale, Array] | None = None
        self._last_space: RowSpace | None = None

    def candidates(self, paths: list[CandidatePath], training_rows: float) -> dict[ScoredKernel, Candidate]:
        """Return each candidate with its kernel for the whole table; `training_rows` is their number in the search."""
        return {
            point: Candidate(
                self.at(path, point.place, len(self._table) / training_rows),
                path.scale,
                path.q,
                path.neighbors,
                point.score,
                point.error,
                point.seconds,
                path.interactions,
                path.linear,
                point.loadings,
            )
            for path in paths
            for point in path.points
        }

    @own_threads()
    def at(self, path: CandidatePath, place: int, times: float = 1.0) -> Kernel:
        """Return the kernel at a place of a path, for the whole table; or the given kernel, if its width is given.

        The whole table has `times` as many rows as the candidate learned from, so that neighbors are closer. The width
        shrinks by times^(−1/(q + 4)), Scott's (1992) rule for density estimation.
        """
        if path.linear:
            return Squared()
        if not self._chooses_width:
            return self._kernel
        assert isinstance(self._kernel, KernelWithWidth)
        nearer = times ** (-1 / (path.q + 4)) if path.neighbors else 1.0
        first = nearer * path.widest * self._first_width(path)
        return with_width(self._kernel, next(islice(path_widths(first), place, None)))

    def _first_width(self, path: CandidatePath) -> float:
        """Return the usual first width of a path; it depends on q only with neighbors or interactions."""
        q = path.q if path.neighbors or path.interactions else 0
        of = path.scale, q, path.neighbors, path.interactions
        if of not in self._first_widths:
            assert isinstance(self._kernel, KernelWithWidth)
            rng = np.random.default_rng(self._seed)
            rows = self._scaled(path.scale)
            if path.neighbors not in self._paradigms:
                self._paradigms[path.neighbors] = self._paradigm.with_neighbors(path.neighbors)
            gamma = self._paradigms[path.neighbors].target_gamma()
            if path.interactions:
                first = widest_width(self._kernel, rows @ interaction_directions(rows, gamma, path.q, rng)[0], rng)
            else:
                space = self._space(path)
                problem = Problem.of(space.Z, gamma, self._kernel, path.q, space.null_directions)
                first = first_width(problem, rows, rng)
            self._first_widths[of] = first
        return self._first_widths[of]

    def _scaled(self, scale: Scale) -> Array:
        """Return the scaled rows of the table. The last ones are kept: paths with the same scale share them."""
        if self._rows is None or self._rows[0] != scale:
            self._rows, self._last_space = (scale, Scaling.learned(self._table, scale, self._paradigm.codes)[1]), None
        return self._rows[1]

    def _space(self, path: CandidatePath) -> RowSpace:
        """Return the row space of the scaled rows, which all q up to its rank share."""
        rows = self._scaled(path.scale)
        if self._last_space is None:
            self._last_space = RowSpace.of(rows, 1, self._seed)
        return self._last_space if path.q <= self._last_space.rank else RowSpace.of(rows, path.q, self._seed)
