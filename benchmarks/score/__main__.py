"""Compare the scores that an automatic choice reports with the score on other rows: `python -m benchmarks.score`.

    python -m benchmarks.score [tables …] [--halves 5] [--nested SECONDS] [--out FILE]

`SupervisedISM("auto", "auto")` learns from a random half of each table. The truth is the accuracy or R² of an SVM that
learned on the projection of that half, on the projection of the other half. It is compared with:

- corrected: the bootstrap bias-corrected score of the choice;
- chosen: the mean over the folds of the chosen candidate's SVM, not corrected;
- best: the highest score among all candidates, which is the mean of an SVM and of nearest neighbors;
- nested: nested cross-validation on the first half. It repeats the choice five times, so it is run only if the choice
  took less than `--nested` seconds (default 0: never).

The tables are `tables/*.npz` (classes) and `targets/*.npz` (values) in the folder ISM_DATA_DIR, with X and y. Missing
values are filled in with the medians of the first half. `--out` appends one line of JSON per half, and a later run with
the same file goes on from there.
"""

import json
import time
import warnings
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

from benchmarks.datasets import stored
from benchmarks.score.report import Half, as_markdown
from ism_core import InvalidInput, SupervisedISM
from ism_core.arrays import Array

# Of every kind: few rows and many, few columns and many, two classes and many.
TABLES = (
    *("ad_data", "attrition", "bfi_gender", "Caravan", "DNA", "Glass", "hpc_data", "Letter", "OJ", "Pima", "Sonar"),
    *("spam", "tissue_gene", "Vowel"),
    *("ames_log", "bdims_wgt", "Boston", "cpus", "Hitters", "permeability"),
)
NESTED_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Table:
    X: Array  # NaN where a value is missing
    y: Array
    has_classes: bool


def main() -> None:
    parser = ArgumentParser("python -m benchmarks.score", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tables", nargs="*", default=[], help=f"by default {', '.join(TABLES)}")
    parser.add_argument("--halves", type=int, default=5, help="random halves of each table")
    parser.add_argument("--nested", type=float, default=0.0, help="run nested folds if a choice took fewer seconds")
    parser.add_argument("--out", type=Path, help="file of finished halves, to which new ones are appended")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # about classes with few rows
    done = {} if given.out is None else {(half.table, half.seed): half for half in finished(given.out)}
    names = given.tables or TABLES
    with threadpool_limits(1):
        for seed, name in product(range(given.halves), names):
            if (name, seed) in done:
                continue
            done[name, seed] = measure(name, load(name), seed, given.nested)
            if given.out is not None:
                with given.out.open("a") as file:
                    file.write(json.dumps(asdict(done[name, seed])) + "\n")
    halves = [done[place] for place in product(names, range(given.halves))]
    print(as_markdown(halves))


def finished(path: Path) -> Iterator[Half]:
    """Yield the halves of an earlier run."""
    if path.exists():
        for line in path.read_text().splitlines():
            yield Half(**json.loads(line))


def load(name: str) -> Table:
    """Return a table of the data folder."""
    for kind in ("tables", "targets"):
        path = stored(f"{kind}/{name}")
        if path.exists():
            with np.load(path, allow_pickle=False) as file:
                return Table(file["X"].astype(float), file["y"], kind == "tables")
    raise FileNotFoundError(f"There is no table {name!r} in {path.parents[1]}.")


def measure(name: str, table: Table, seed: int, nested_seconds: float) -> Half:
    """Choose settings on one half of the rows and compare the scores with the score on the other half."""
    X, X_other, y, y_other = train_test_split(
        table.X, table.y, test_size=0.5, random_state=seed, stratify=table.y if table.has_classes else None
    )
    began = time.perf_counter()
    model, score, error = held_out(table, X, y, X_other, y_other)
    seconds = time.perf_counter() - began
    choice = model.choice_
    assert choice is not None
    assert choice.out_of_fold is not None
    known = choice.out_of_fold
    return Half(
        table=name,
        seed=seed,
        has_classes=table.has_classes,
        rows=len(X),
        columns=X.shape[1],
        searched=choice.rows,
        q=choice.chosen.q,
        truth=score,
        truth_error=error,
        corrected=known.corrected,
        corrected_error=known.error,
        chosen=float(np.mean(known.scores)),
        best=max(candidate.score for candidate in choice.candidates),
        nested=nested(table, X, y) if seconds < nested_seconds else None,
        seconds=seconds,
    )


def held_out(table: Table, X: Array, y: Array, X_other: Array, y_other: Array) -> tuple[SupervisedISM, float, float]:
    """Fit to X and y; return the model, its score on the other rows, and the standard error of the score."""
    medians = np.nanmedian(X, axis=0)
    X, X_other = np.where(np.isnan(X), medians, X), np.where(np.isnan(X_other), medians, X_other)
    model = SupervisedISM("auto", "auto").fit(X, y)
    P, P_other = model.transform(X), model.transform(X_other)
    if table.has_classes:
        right = SVC().fit(P, y).predict(P_other) == y_other
        return model, float(right.mean()), float(right.std() / np.sqrt(len(right)))
    mean, std = y.mean(), y.std()
    predicted = SVR().fit(P, (y - mean) / std).predict(P_other) * std + mean
    losses = (predicted - y_other) ** 2 / y_other.var()
    return model, float(r2_score(y_other, predicted)), float(losses.std() / np.sqrt(len(losses)))


def nested(table: Table, X: Array, y: Array) -> float | None:
    """Return the score of nested cross-validation; None if a fold leaves a class without rows."""
    splitter = (StratifiedKFold if table.has_classes else KFold)(NESTED_FOLDS, shuffle=True, random_state=0)
    try:
        scores = [held_out(table, X[train], y[train], X[test], y[test])[1] for train, test in splitter.split(X, y)]
    except InvalidInput:
        return None
    return float(np.mean(scores))


if __name__ == "__main__":
    main()
