"""A solve on a table in partitions, of which no process holds all rows.

The first pass finds counts, means, the scatter matrix and the classes. The second one picks a sample of the rows. The
start is searched on the sample, as for rows in memory; then the same ascent climbs on all rows, a pass for each sum.
"""

from collections.abc import Generator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.engines import own_threads
from ism_core.errors import InvalidInput
from ism_core.kernels import MEDIAN_ROWS, Combination, Kernel, Polynomial, as_kernel
from ism_core.linalg import LARGEST, Scaling, is_constant_between, null_directions, project_out, with_fixed_signs
from ism_core.objective import (
    Aligned,
    BlockGammas,
    PartitionedData,
    Partitions,
    Problem,
    ProblemData,
    Rows,
    Summary,
    Table,
    hold,
    pass_over,
    pick,
    read_again,
    with_scaling,
)
from ism_core.paradigms import (
    Clusters,
    Describing,
    NoClusters,
    Paradigm,
    Supervised,
    TargetSummary,
    Unsupervised,
    block_gammas,
)
from ism_core.solver.certificate import certify, error
from ism_core.solver.memory import check_partitions
from ism_core.solver.options import LARGEST_VALUE, SMALLEST_VALUE, SolveOptions, check_q, checked_initial
from ism_core.solver.partitioned_clustering import iter_cluster_partitions
from ism_core.solver.reduction import StartSearch, iter_given, iter_reduce, iter_start, notes_on
from ism_core.solver.result import Result, Step, relay
from ism_core.solver.starts import Start, interaction_directions

SAMPLE_ROWS = 20_000  # rows of the sample on which a start is searched
SAMPLE_NUMBERS = 8_000_000  # numbers in that sample at most, 64 MB
EXPECTED_ROWS = 10  # rows of a class in the sample; of rarer classes, the first rows are added
SMALL_MEAN = 0.1  # share of a column's root mean square below which its mean causes no cancellation


def iter_solve_partitions(
    table: Partitions, paradigm: Paradigm, kernel: Kernel | str, q: int, options: SolveOptions
) -> Generator[Step, None, Result]:
    """Find W for a table in partitions, as `iter_solve` does for rows in memory."""
    if not isinstance(paradigm, Supervised) and type(paradigm) is not Unsupervised:
        raise InvalidInput(
            "paradigm", "A table in partitions can be solved with Supervised() or Unsupervised(n_clusters) only."
        )
    named = as_kernel(kernel)
    options.check(q, paradigm, named)
    _refuse_what_needs_all_rows(paradigm, options)
    check_q(q, table.columns)
    check_partitions(table.columns, _sample_rows(table.columns), options.memory_limit)
    first = _First.of(table, paradigm, options)
    fitted = _fitted(named, first)
    data, rank, scaling = _data(first, fitted, q, options)
    null, rng, trace = data.null_directions, np.random.default_rng(options.seed), list[Step]()

    def finished(step: Step) -> Step:
        step = replace(step, W=with_fixed_signs(project_out(null, step.W)))
        if step.stage == "ascent":
            trace.append(step)
        return step

    with own_threads():
        problem = Problem.on(data)
    clusters = None
    if isinstance(paradigm, Unsupervised):
        found, blocks = yield from relay(iter_cluster_partitions(problem, paradigm, options, rng), finished)
        clusters = Clusters.of(blocks, scaling, data.sample.X, options.seed)
    else:
        search = _search(problem, data, named, options, rng)
        found = yield from relay(iter_reduce(problem, options, search), finished)
    problem, point, stop = found.problem, found.point, found.stop
    W = with_fixed_signs(project_out(null, point.W))
    with own_threads():
        certificate = certify(problem, point, rng, found.gap)
    return Result(
        W=W,
        eigenvalues=point.eigenvalues,
        objective=point.objective,
        steps=tuple(trace),
        stop=stop,
        certificate=replace(certificate, orthonormality=float(np.abs(W.T @ W - np.eye(q)).max())),
        kernel=fitted,
        method=problem.method,
        error=found.error or error(problem, point),
        warnings=tuple(notes_on(point, stop, rank, table.columns) + problem.warnings),
        clusters=clusters,
    )


def _search(
    problem: Problem, data: PartitionedData, kernel: Kernel, options: SolveOptions, rng: np.random.Generator
) -> StartSearch:
    """Return the search for a start on the sample; `kernel` is the kernel before it was fitted."""
    if options.initial_W is not None:
        given = project_out(data.null_directions, checked_initial(options.initial_W, data.shape[1], data.q))
        left, _, right = np.linalg.svd(given, full_matrices=False)
        return iter_given(Start(left @ right))
    if options.starts == "interactions":
        return iter_given(Start(interaction_directions(data.sample.X, data.sample.gamma, data.q, rng)[0]))
    return iter_start(problem, kernel, data.sample.X, options, rng)


def _refuse_what_needs_all_rows(paradigm: Paradigm, options: SolveOptions) -> None:
    """Raise InvalidInput for options that need pairs of rows, or several passes for each feature."""
    if isinstance(paradigm, Supervised) and paradigm.neighbors:
        raise InvalidInput("neighbors", "neighbors compares all pairs of rows, which a table in partitions cannot do.")
    if options.features_per_axis is not None:
        raise InvalidInput(
            "features_per_axis", "features_per_axis is not available for tables in partitions; leave it out."
        )


class _First(NamedTuple):
    """What the first passes find."""

    table: Table  # as it is, in double precision
    summary: Summary
    gammas: BlockGammas
    sums: Array | None  # XᵀU; None for clusterings
    sample: Rows
    median: Rows  # the rows that the median distance comes from
    far: Rows
    radius: float

    @staticmethod
    def of(table: Partitions, paradigm: Paradigm, options: SolveOptions) -> "_First":
        engine = options.evaluation().engine
        kind = paradigm.kind if isinstance(paradigm, Supervised) else "auto"
        summary, targets = pass_over(read_again(table, None, engine), Describing(kind), engine)
        summary.check()
        _check_magnitude(summary)
        n, rng = summary.rows, np.random.default_rng(options.seed)
        median = _chosen(n, MEDIAN_ROWS, rng)
        target_median = _chosen(n, MEDIAN_ROWS, np.random.default_rng(0))
        count = _sample_rows(table.columns)
        numbers = np.union1d(_chosen(n, count, rng), _rare(targets, summary, count))
        wanted = np.union1d(numbers, np.union1d(median, target_median))
        held = hold(table, n, engine)
        rows, far, radius = pick(held, summary, wanted, engine)
        y = rows.of(target_median).y if n > count else rows.y
        gammas: BlockGammas
        if isinstance(paradigm, Supervised):
            gammas, sums = block_gammas(paradigm, targets, held, summary, y, engine)
        else:
            gammas, sums = NoClusters(paradigm.rank), None
        return _First(held, summary, gammas, sums, rows.of(numbers), rows.of(median), far, radius)


def _sample_rows(columns: int) -> int:
    return min(SAMPLE_ROWS, max(MEDIAN_ROWS, SAMPLE_NUMBERS // columns))


def _chosen(n: int, count: int, rng: np.random.Generator) -> Ints:
    """Return the numbers of randomly chosen rows, in order: those that `median_distance` chooses of a table."""
    return np.arange(n) if n <= count else np.sort(rng.choice(n, count, replace=False))


def _rare(targets: TargetSummary, summary: Summary, count: int) -> Ints:
    """Return the numbers of the first rows of the classes of which a sample would have hardly any."""
    first_rows, share = summary.first_rows(), count / summary.rows
    numbers = [
        first_rows[place] + row
        for size, _, first in (targets.classes or {}).values()
        if size * share < EXPECTED_ROWS
        for place, row in first
    ]
    return np.array(sorted(numbers), dtype=np.intp)


def _check_magnitude(summary: Summary) -> None:
    largest = float(max(summary.high.max(), -summary.low.min()))
    if largest > LARGEST_VALUE or 0 < largest < SMALLEST_VALUE:
        raise InvalidInput(
            "X",
            f"The largest value of X is {largest:.3g}, too {'large' if largest > 1 else 'small'} to compute with;"
            " standardize X, or scale it to between 1e-20 and 1e20.",
        )


def _fitted(kernel: Kernel, first: _First) -> Kernel:
    """Return the kernel with numbers for the settings that depend on the data."""
    rng = np.random.default_rng(0)
    if isinstance(kernel, Aligned):
        return kernel.fitted_to(first.sample.X, rng, first.gammas.of_sample(first.sample.X, first.sample.y))
    extremes = np.vstack([first.summary.low, first.summary.high])
    parts = []
    for weight, term in kernel.terms:
        rows = extremes if isinstance(term, Polynomial) else first.median.X
        parts.append((weight, term.fitted_to(rows, rng)))
    if not parts:
        raise InvalidInput("weight", "All weights in the sum of kernels are 0; at least one must be more than 0.")
    return Combination(tuple(parts)) if isinstance(kernel, Combination) else parts[0][1]


def _data(first: _First, kernel: Kernel, q: int, options: SolveOptions) -> tuple[PartitionedData, int, Scaling | None]:
    """Return the data of the problem, the rank of X, and how rows are shifted."""
    summary, d = first.summary, len(first.summary.mean)
    if d > LARGEST:
        raise InvalidInput("X", f"X has {d:,} columns; a table in partitions may have {LARGEST:,} at most.")
    shift = _shift(kernel, summary)
    scaling = None if shift is None else _shifting(shift, summary)
    mean = summary.mean if shift is None else np.zeros(d)
    squares = summary.scatter + summary.rows * np.multiply.outer(mean, mean)
    constant = is_constant_between(summary.low, summary.high)
    lengths = np.sqrt(squares.diagonal())
    lengths[constant & (shift is not None)] = 0
    used = np.flatnonzero(lengths)
    null = null_directions(squares[np.ix_(used, used)] / np.multiply.outer(lengths[used], lengths[used]), lengths)
    rank = d - null.shape[1]
    null = null[:, max(0, q - rank) :]
    evaluation = options.evaluation()

    def in_memory(rows: Rows) -> ProblemData:
        X = rows.X if scaling is None else scaling.apply(rows.X)
        gamma = first.gammas.of_sample(X, rows.y)
        return ProblemData.of(X, gamma, kernel, q, null, replace(evaluation, engine=SolveOptions().evaluation().engine))

    data = PartitionedData(
        gamma=first.gammas.weights,
        kernel=kernel,
        q=q,
        null_directions=null,
        options=evaluation,
        table=with_scaling(first.table, scaling, evaluation.engine),
        gammas=first.gammas,
        rows=summary.rows,
        mean=mean,
        scatter_matrix=summary.scatter,
        radius=first.radius,
        sums=first.sums,
        sample=in_memory(first.sample),
        far_rows=in_memory(first.far),
    )
    return data, rank, scaling


def _shift(kernel: Kernel, summary: Summary) -> Array | None:
    """Return the mean if rows should be centered: a large mean causes cancellation in differences."""
    if not all(term.form == "difference" for _, term in kernel.terms):
        return None
    mean_squares = summary.scatter.diagonal() / summary.rows + summary.mean**2
    return None if (summary.mean**2 <= SMALL_MEAN**2 * mean_squares).all() else summary.mean


def _shifting(mean: Array, summary: Summary) -> Scaling:
    """Return the map x → x − mean, under which constant columns become exactly 0."""
    constant = is_constant_between(summary.low, summary.high)
    limits = np.where(constant, summary.low, [[-np.inf], [np.inf]]) if constant.any() else None
    return Scaling(np.where(constant, summary.low, mean), np.ones(len(mean)), None, limits)
