"""The choice of settings for a table in partitions: on a sample, and a check on rows that the choice never saw."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.engines import Engine
from ism_core.kernels import Kernel
from ism_core.linalg import Scale
from ism_core.objective import Partitions, Rows, pass_over, pick
from ism_core.paradigms import Describing, Kind, Supervised, TargetSummary, check_known
from ism_core.selection.choice import Auto, FinalCheck
from ism_core.selection.estimation.fit import Fit
from ism_core.selection.scoring import classification_scores, regression_scores, splits
from ism_core.selection.settings import Settings, Starts, iter_settings
from ism_core.solver import drain

CHOICE_ROWS = 30_000  # rows that the settings are chosen from; the search takes 3,000 of them at most
CHECKED_ROWS = 10_000  # further rows, for the final check
LEARNED_ROWS = 3_000  # rows of the choice that the rows of the final check are predicted from


class _WithoutNeighbors(Supervised):
    """A paradigm for which no neighbors are tried: they need all pairs of rows."""

    can_have_neighbors = False


class ChosenAtScale(NamedTuple):
    """Settings, the rows that they were chosen from, and others for the final check."""

    settings: Settings
    learned: Rows
    unseen: Rows


def choose_at_scale(
    table: Partitions,
    paradigm: Supervised,
    kernel: Kernel | str,
    q: int | Auto,
    scale: Scale | Auto | None,
    delta: float | None,
    starts: Starts,
    seed: int,
    engine: Engine,
) -> ChosenAtScale:
    """Choose the settings that are "auto" from a stratified sample; `paradigm` has no targets."""
    learned, unseen = _samples(table, paradigm, seed, engine)
    given = _WithoutNeighbors(learned.y, paradigm.kind, paradigm.target_kernel, paradigm.balance)
    found = iter_settings(learned.X, given, kernel, q, scale, delta=delta, starts=starts, seed=seed)
    settings = drain(found)
    assert settings.choice is not None
    if settings.choice.chosen.linear:
        paradigm = paradigm.with_target_kernel("linear")
    return ChosenAtScale(replace(settings, paradigm=paradigm), learned, unseen)


def checked(fit: Fit, chosen: ChosenAtScale) -> Fit:
    """Return the fit with the score of its axes on the rows that the choice never saw."""
    choice, given = chosen.settings.choice, fit.settings.paradigm
    assert choice is not None
    assert isinstance(given, Supervised)
    rng = np.random.default_rng(0)
    some = np.sort(rng.permutation(len(chosen.learned.X))[:LEARNED_ROWS])
    P, P_test = (fit.scaling.apply(rows) @ fit.result.W for rows in (chosen.learned.X[some], chosen.unseen.X))
    assert chosen.learned.y is not None
    check = final_check(P, chosen.learned.y[some], P_test, chosen.unseen.y, given.kind)
    return fit._replace(settings=replace(fit.settings, choice=replace(choice, final_check=check)))


def final_check(P: Array, y: Any, P_test: Array, y_test: Any, kind: Kind) -> FinalCheck:
    """Return how well projected rows with these targets predict those of others."""
    targets = Supervised(np.concatenate([y, y_test]), kind)
    if targets.codes is None:
        assert targets.values is not None
        scores = regression_scores(P, targets.values[: len(P)], P_test, targets.values[len(P) :])[0]
    else:
        scores = classification_scores(P, targets.codes[: len(P)], P_test, targets.codes[len(P) :])[0]
    return FinalCheck(float(scores.mean()), float(scores.std() / np.sqrt(len(scores))), len(scores))


def _samples(table: Partitions, paradigm: Supervised, seed: int, engine: Engine) -> tuple[Rows, Rows]:
    """Return two disjoint samples of the rows, in which every class has its share; rare classes have some rows."""
    placed = engine.place(table)
    summary, found = pass_over(placed, Describing(paradigm.kind), engine)
    summary.check()
    check_known(found, summary)
    rng, n = np.random.default_rng(seed), summary.rows
    count = min(n, CHOICE_ROWS + CHECKED_ROWS)
    numbers = np.arange(n) if n <= count else rng.choice(n, count, replace=False)
    rows = pick(placed, summary, np.union1d(numbers, _first_of_classes(found, summary.first_rows())), engine)[0]
    assert rows.y is not None
    codes = Supervised(rows.y, paradigm.kind).codes
    parts = (CHOICE_ROWS + CHECKED_ROWS) // CHECKED_ROWS
    learned, unseen = splits(len(rows.X), codes, parts, rng)[0]
    return rows.of(rows.numbers[learned]), rows.of(rows.numbers[unseen])


def _first_of_classes(found: TargetSummary, first_rows: dict[tuple[int, int], int]) -> Ints:
    """Return the numbers of the first rows of each class."""
    known = (found.classes or {}).values()
    return np.array([first_rows[place] + row for _, _, first in known for place, row in first], dtype=np.intp)
