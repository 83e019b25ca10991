"""The families of planted problems: each draws problems of one kind, with seeds of its own."""

import zlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.planted import draws
from benchmarks.planted.draws import between
from benchmarks.planted.problems import Column, PlantedProblem, planted
from ism_core.arrays import Array, Ints

Rng = np.random.Generator

PROBLEMS = 17  # of each family
QUICK_PROBLEMS = 2  # of each family with --quick
INTERACTIONS = ("xor", "ring")  # families in which no single column and no linear axis tells the classes apart
CLASS_NOISE = 0.4  # standard deviation of the noise before the score is cut into classes; the score has 1
VALUE_NOISE = 0.3  # standard deviation of the noise of targets that are values; the signal has 1
CLASS_DISTANCE = 4.0  # between the nearest class means, in standard deviations within a class
CLUSTER_DISTANCE = 6.0  # between the nearest means of clusters
COPY_NOISE = 0.05  # standard deviation of the difference of two columns that nearly copy each other
LAYOUTS = (
    ("simplex", 3),
    ("cross", 2),
    ("simplex", 4),
    ("cross", 3),
    ("cube", 3),
    ("simplex", 5),
    ("cross", 4),
    ("simplex", 6),
)
LINKS: tuple[Callable[[Array], Array], ...] = (lambda s: s, lambda s: np.tanh(2 * s), np.exp, np.arctan)


def problem(family: str, number: int) -> PlantedProblem:
    """Return a problem of a family. The same number gives the same problem."""
    rng = np.random.default_rng([zlib.crc32(family.encode()), number])
    return FAMILIES[family](rng, number)


def two_classes(
    rng: Rng, number: int, rows: tuple[int, int] = (250, 1000), noise: float = CLASS_NOISE
) -> PlantedProblem:
    """Two classes on both sides of a plane. In every second problem the columns correlate."""
    n, d = between(rng, *rows), between(rng, 10, 60)
    return _linear(rng, draws.normal_rows(rng, n, d, 0.5 * (number % 2)), noise)


def several_classes(rng: Rng, number: int) -> PlantedProblem:
    """Three to eight classes with normal noise, whose means span two to five axes."""
    means = draws.class_means(*LAYOUTS[number % len(LAYOUTS)], CLASS_DISTANCE)
    X, relevant, axes, codes = _groups(rng, means, between(rng, 300, 1000), between(rng, 15, 60))
    return planted(rng, X, np.array([f"class {code}" for code in codes]), relevant, axes)


def one_value(rng: Rng, number: int) -> PlantedProblem:
    """One target: a monotone function of one index, or in every third problem the sum of an index and a square."""
    X = draws.normal_rows(rng, between(rng, 250, 1000), between(rng, 10, 40), 0.5 * (number % 2))
    two = number % 3 == 2
    sets = draws.supports(rng, X.shape[1], 1 + two, (2, 3))
    axes = np.column_stack([draws.index(rng, X, support) for support in sets])
    signal = axes[:, 0] + draws.standardized(axes[:, 1] ** 2) if two else LINKS[number % len(LINKS)](axes[:, 0])
    return planted(rng, X, draws.noisy(rng, signal, VALUE_NOISE), np.concatenate(sets), axes)


def several_values(rng: Rng, number: int) -> PlantedProblem:
    """Two or three targets, each a monotone function of an index of its own."""
    X = draws.normal_rows(rng, between(rng, 250, 1000), between(rng, 12, 40))
    sets = draws.supports(rng, X.shape[1], 2 + number % 2, (2, 3))
    axes = np.column_stack([draws.index(rng, X, support) for support in sets])
    signals = np.column_stack([LINKS[(number + place) % len(LINKS)](axis) for place, axis in enumerate(axes.T)])
    return planted(rng, X, draws.noisy(rng, signals, VALUE_NOISE), np.concatenate(sets), axes)


def clusterings(rng: Rng, number: int) -> PlantedProblem:
    """Two to five clusters that differ in some columns, beside columns of noise."""
    means = draws.class_means("simplex", 2 + number % 4, CLUSTER_DISTANCE)
    X, relevant, axes, _ = _groups(rng, means, between(rng, 150, 600), between(rng, 10, 20), 2)
    return planted(rng, X, None, relevant, axes, clusters=len(means))


def collinear_noise(rng: Rng, number: int) -> PlantedProblem:
    """Two classes or one value, beside one to three pairs of irrelevant columns that nearly copy each other."""
    X = draws.normal_rows(rng, between(rng, 250, 1000), between(rng, 10, 40))
    (relevant,) = draws.supports(rng, X.shape[1], 1, (2, 4))
    others = np.setdiff1d(np.arange(X.shape[1]), relevant)[: 1 + number % 3]
    pairs = np.concatenate([others, X.shape[1] + np.arange(len(others))])
    copies = X[:, others] + COPY_NOISE * rng.standard_normal((len(X), len(others)))
    axis = draws.index(rng, X, relevant)
    target = draws.two_classes(rng, axis, CLASS_NOISE) if number % 3 else draws.noisy(rng, axis, VALUE_NOISE)
    return planted(rng, np.column_stack([X, copies]), target, relevant, axis, pairs)


def duplicates(rng: Rng, number: int) -> PlantedProblem:
    """Two classes; one or two relevant columns have a copy, exact in every second problem."""
    X = draws.normal_rows(rng, between(rng, 250, 1000), between(rng, 10, 40))
    (relevant,) = draws.supports(rng, X.shape[1], 1, (2, 4))
    copied = relevant[: 1 + number % 4 // 2]
    copies = X[:, copied] + COPY_NOISE * (number % 2) * rng.standard_normal((len(X), len(copied)))
    axis = draws.index(rng, X, relevant)
    both = np.concatenate([relevant, X.shape[1] + np.arange(len(copied))])
    return planted(rng, np.column_stack([X, copies]), draws.two_classes(rng, axis, CLASS_NOISE), both, axis)


def heavy_tails(rng: Rng, number: int) -> PlantedProblem:
    """Two classes on both sides of a plane; the columns have the t distribution, or are log-normal."""
    n, d = between(rng, 250, 1000), between(rng, 10, 40)
    X = np.exp(rng.standard_normal((n, d))) if number % 2 else rng.standard_t(2.5, (n, d))
    (relevant,) = draws.supports(rng, d, 1, (2, 4))
    axis = X[:, relevant] @ draws.weights(rng, len(relevant))
    noise = CLASS_NOISE * (np.quantile(axis, 0.84) - np.quantile(axis, 0.16)) / 2  # of a normal axis: its deviation
    noisy = axis + noise * rng.standard_normal(n)
    return planted(rng, X, np.where(noisy > np.median(noisy), "yes", "no"), relevant, axis)


def outliers(rng: Rng, number: int) -> PlantedProblem:
    """Two classes on both sides of a plane; then one cell in a hundred is replaced by a gross error."""
    made = two_classes(rng, 0)
    columns: dict[str, Column] = {}
    spoiled = np.zeros(made.n, dtype=bool)
    for name, values in made.columns.items():
        error = rng.choice([-1.0, 1.0], made.n) * rng.uniform(10, 50, made.n)
        replaced = rng.random(made.n) < 0.01
        columns[name] = np.where(replaced, error, np.asarray(values, dtype=np.float64))
        spoiled |= replaced
    return replace(made, columns=columns, spoiled=spoiled)


def mixed_scales(rng: Rng, number: int) -> PlantedProblem:
    """Two classes or one value; the columns have units from 1e-5 to 1e5, and zero points of their own."""
    made = two_classes(rng, number) if number % 2 else one_value(rng, 0)
    columns: dict[str, Column] = {
        name: 10 ** rng.uniform(-5, 5) * (np.asarray(values, dtype=np.float64) + rng.uniform(-100, 100))
        for name, values in made.columns.items()
    }
    return replace(made, columns=columns)


def large_block(rng: Rng, number: int) -> PlantedProblem:
    """Two classes, beside an irrelevant block of columns with a common factor and a large variance."""
    n, d = between(rng, 250, 1000), between(rng, 10, 40)
    X = draws.normal_rows(rng, n, d)
    (relevant,) = draws.supports(rng, d, 1, (2, 4))
    axis = draws.index(rng, X, relevant)
    size = int(rng.integers(5, 13))
    block = 30 * (rng.standard_normal((n, 1)) + 0.5 * rng.standard_normal((n, size)))
    return planted(rng, np.column_stack([X, block]), draws.two_classes(rng, axis, CLASS_NOISE), relevant, axis)


def xor(rng: Rng, number: int) -> PlantedProblem:
    """Two classes by the sign of the product of two columns."""
    X = draws.normal_rows(rng, between(rng, 300, 2000), between(rng, 10, 50))
    return planted(rng, X, np.where(X[:, 0] * X[:, 1] > 0, "yes", "no"), np.arange(2), X[:, :2])


def ring(rng: Rng, number: int) -> PlantedProblem:
    """Two classes, one of which surrounds the other in two columns."""
    X = draws.normal_rows(rng, between(rng, 300, 2000), between(rng, 10, 50))
    radius = np.linalg.norm(X[:, :2], axis=1)
    return planted(rng, X, np.where(radius > np.median(radius), "yes", "no"), np.arange(2), X[:, :2])


def wide(rng: Rng, number: int) -> PlantedProblem:
    """Two classes in 100 to 150 rows with 200 to 500 columns, three of which are relevant."""
    X = draws.normal_rows(rng, between(rng, 100, 150), between(rng, 200, 500))
    return _linear(rng, X, 0.2, (3, 3))


def long(rng: Rng, number: int) -> PlantedProblem:
    """Two classes in 5,000 rows with as much noise as signal."""
    return _linear(rng, draws.normal_rows(rng, 5000, between(rng, 20, 100), 0.5 * (number % 2)), 1.0, (5, 8))


def categorical(rng: Rng, number: int) -> PlantedProblem:
    """Two classes or one value from texts with two to five levels and from numbers, beside irrelevant ones."""
    n, texts, numbers = between(rng, 300, 1000), int(rng.integers(4, 9)), int(rng.integers(5, 16))
    columns: dict[str, Column] = {}
    effects: list[Array] = []
    for place in range(texts):
        levels = int(rng.integers(2, 6))
        codes = rng.integers(0, levels, n)
        columns[f"t{place}"] = np.array([f"level {code}" for code in codes])
        effects.append(draws.standardized(rng.permutation(np.linspace(-1, 1, levels))[codes]))
    X = draws.normal_rows(rng, n, numbers)
    columns |= {f"x{place}": column for place, column in enumerate(X.T)}
    names = ["t0", "t1", "x0"]
    axis = np.column_stack([effects[0], effects[1], X[:, 0]]) @ draws.weights(rng, 3)
    target = draws.two_classes(rng, axis, CLASS_NOISE) if number % 2 else draws.noisy(rng, axis, VALUE_NOISE)
    shuffled = {name: columns[name] for name in rng.permutation(list(columns))}
    return PlantedProblem(shuffled, target, frozenset(names), axis[:, None], is_table=True)


def missing_cells(rng: Rng, number: int) -> PlantedProblem:
    """Two classes; 5 to 15 % of all cells are missing at random, and 2 % of the classes."""
    made, share = two_classes(rng, 0), rng.uniform(0.05, 0.15)
    columns: dict[str, Column] = {
        name: np.where(rng.random(made.n) < share, np.nan, np.asarray(values, dtype=np.float64))
        for name, values in made.columns.items()
    }
    assert made.target is not None
    target = np.where(rng.random(made.n) < 0.02, "", made.target)
    return replace(made, columns=columns, target=target, is_table=True)


def identifiers(rng: Rng, number: int) -> PlantedProblem:
    """Two classes, beside a row number and a text that names each row; every second table is sorted by class."""
    made = two_classes(rng, number)
    assert made.target is not None
    order = np.argsort(made.target, kind="stable") if number % 2 else np.arange(made.n)
    names: dict[str, Column] = {
        ("id", "rownames")[number % 4 // 2]: np.arange(1.0, made.n + 1),
        "sample": np.array([f"S-{place:05d}" for place in rng.permutation(made.n)]),
    }
    columns = names | {name: values[order] for name, values in made.columns.items()}
    return replace(made, columns=columns, target=made.target[order], axes=made.axes[order], is_table=True)


def _linear(rng: Rng, X: Array, noise: float, sizes: tuple[int, int] = (2, 5)) -> PlantedProblem:
    (relevant,) = draws.supports(rng, X.shape[1], 1, sizes)
    axis = draws.index(rng, X, relevant)
    return planted(rng, X, draws.two_classes(rng, axis, noise), relevant, axis)


def _groups(rng: Rng, means: Array, n: int, d: int, more: int = 0) -> tuple[Array, Ints, Array, Ints]:
    """Return rows around the means, the relevant columns, the true axes of each row, and the group of each row.

    There are q to 2q relevant columns and `more`. Clusters need more than one: standardized, a single column of two
    clusters varies no more than a column of noise.
    """
    groups, q = means.shape
    count = int(rng.integers(q, 2 * q + 1)) + more
    A, codes = draws.loadings(rng, count, q), rng.permutation(np.arange(n) % groups)
    X = rng.standard_normal((n, max(d, count + 5)))
    X[:, :count] += means[codes] @ A.T
    return X, np.arange(count), X[:, :count] @ A, codes


FAMILIES: dict[str, Callable[[Rng, int], PlantedProblem]] = {
    family.__name__.replace("_", " "): family
    for family in (
        two_classes,
        several_classes,
        one_value,
        several_values,
        clusterings,
        collinear_noise,
        duplicates,
        heavy_tails,
        outliers,
        mixed_scales,
        large_block,
        wide,
        long,
        xor,
        ring,
        categorical,
        missing_cells,
        identifiers,
    )
}
