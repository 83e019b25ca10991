"""The kernels of candidates for a whole table."""

import numpy as np

from ism_core import Gaussian, Supervised
from ism_core.linalg import Scale
from ism_core.selection.candidates import CandidatePath
from ism_core.selection.table_kernels import TableKernels


def test_paths_that_share_rows_and_widths_have_the_kernels_of_a_path_alone() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 5)), np.arange(60) % 3
    X[:, 0] += y
    X[:, 4] = X[:, 0] - X[:, 1]  # q = 5 is more than the rank

    def kernels() -> TableKernels:
        return TableKernels(X, Supervised(y), Gaussian(1.0), True, 0)

    shared = kernels()
    scales: tuple[Scale, ...] = ("standard", "whiten", "standard")
    for scale in scales:
        for q in (1, 3, 5, 2):
            for neighbors, interactions in ((False, False), (True, False), (False, True)):
                path = CandidatePath(scale, q, neighbors, interactions)
                assert shared.at(path, 1, 2.0) == kernels().at(path, 1, 2.0)
