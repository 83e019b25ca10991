"""The clustering of a table in partitions: as for rows in memory, one step of W for each clustering of all rows.

A sample is solved first, in memory. Then a round takes two passes for the clustering, two for Φ(W)W, and one to choose
the features.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg import RowSpace, project_out
from ism_core.objective import COARSE_TOLERANCE, PartitionedData, Problem
from ism_core.paradigms import AffinityFeatures, ClusterBlocks, Unsupervised, cluster_blocks
from ism_core.solver.alternation import EXACT_CLUSTERING, ClusteringAscent, Solution, iter_cluster
from ism_core.solver.ascent import iter_moves
from ism_core.solver.options import SolveInput, SolveOptions, checked_initial
from ism_core.solver.result import Step, Stop, relay


def iter_cluster_partitions(
    problem: Problem, paradigm: Unsupervised, options: SolveOptions, rng: np.random.Generator
) -> Generator[Step, None, tuple[Solution, ClusterBlocks]]:
    """Find W and a clustering of all rows that belong together."""
    data = problem.data
    assert isinstance(data, PartitionedData)
    rounds = _Rounds(options, paradigm.n_clusters)
    narrowest = np.linalg.eigh(data.scatter)[1][:, : data.q]
    rounds.features(data, narrowest, EXACT_CLUSTERING)  # refuses a kernel that needs too many features at every W
    if options.initial_W is None:
        W = yield from _iter_solve_sample(data, paradigm, options, rng)
    else:
        W = checked_initial(options.initial_W, data.shape[1], data.q)
    W = np.linalg.qr(project_out(data.null_directions, W))[0]
    problem, clusters, _ = rounds.reclustered(problem, W, None, EXACT_CLUSTERING)
    method = ClusteringAscent(rounds, problem, clusters, None)
    moves = iter_moves(method, W, options.max_iter - 1)
    point, stop, iteration = yield from relay(moves, lambda move: move.as_step(move.iteration))
    stop = Stop.ROUNDS if stop is Stop.MAX_ITER else stop
    return Solution(method.problem, point, stop, iteration), method.clustering


def _iter_solve_sample(
    data: PartitionedData, paradigm: Unsupervised, options: SolveOptions, rng: np.random.Generator
) -> Generator[Step, None, Array]:
    """Solve the sample and return its W."""
    rows = data.sample.X
    given = SolveInput.of(rows, paradigm, data.kernel, data.q, replace(options, engine="local"))
    space = RowSpace.of(rows, data.q, options.seed)
    steps = iter_cluster(given, space, data.kernel, rng, None)
    found = yield from relay(steps, lambda step: replace(step, stage="search", W=space.out(step.W)))
    return space.out(found.point.W)


@dataclass(frozen=True)
class _Rounds:
    """The rounds of a clustering of all rows."""

    options: SolveOptions
    clusters: int
    is_sample: bool = False

    def reclustered(
        self, problem: Problem, W: Array, last: ClusterBlocks | None, error: float
    ) -> tuple[Problem, ClusterBlocks, float]:
        """Return the problem with the clustering at W, the clustering, and the angle by which Y turned since."""
        data = problem.data
        assert isinstance(data, PartitionedData)
        features = self.features(data, W, error)
        found, turned = cluster_blocks(features, self.clusters, data.table, last, data.options.engine)
        return problem.with_data(data.with_gammas(found)), found, turned

    def features(self, data: PartitionedData, W: Array, error: float) -> AffinityFeatures:
        """Return the features of the affinity at W."""
        rows = data.sample.X, data.far_rows.X
        return AffinityFeatures.at(W, data.mean, data.kernel, *rows, error * self.options.delta)

    def coarse(self, problem: Problem, W: Array) -> Problem:
        """Return the problem with few features."""
        return problem.within((COARSE_TOLERANCE,), W)
