"""Wine as a file, as a data set of the service, and as a job that has ended."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

from tests.support.api import Api

SLOW = {"paradigm": "supervised", "kernel": "gaussian", "target": "y", "target_kind": "values", "q": 3, "folds": 0}
SLOW |= {"kernel": "multiquadratic", "delta": 1e-9, "max_iter": 100_000}  # runs far longer than any test does


@pytest.fixture(scope="session")
def api(service: str) -> Iterator[Api]:
    with Api(base_url=service, timeout=90) as client:
        yield client


@pytest.fixture(scope="session")
def wine() -> Any:
    """A frame of 13 features, the column "class" and, as a clustering to avoid, the column "strong"."""
    frame = load_wine(as_frame=True).frame.rename(columns={"target": "class"})
    return frame.assign(strong=np.where(frame["alcohol"] > 13, "yes", "no"))


@pytest.fixture(scope="session")
def wine_csv(wine: Any) -> bytes:
    return wine.to_csv(index=False).encode()


@pytest.fixture(scope="session")
def wine_id(api: Api, wine_csv: bytes) -> str:
    return api.upload(wine_csv, "wine.csv")["id"]


@pytest.fixture(scope="session")
def features(wine: Any) -> list[str]:
    return [name for name in wine if name not in ("class", "strong")]


@pytest.fixture(scope="session")
def done(api: Api, wine_id: str, features: list[str]) -> str:
    """A supervised job that has succeeded."""
    job = api.submit(
        dataset=wine_id,
        paradigm="supervised",
        target="class",
        features=features,
        kernel="polynomial",
        folds=3,
        label="wine, first look",
        metadata={"experiment": "42"},
    )
    api.succeeded(job)
    return job


@pytest.fixture(scope="session")
def clustered(api: Api, wine_id: str, features: list[str]) -> str:
    """An unsupervised job that has succeeded."""
    job = api.submit(
        dataset=wine_id, paradigm="unsupervised", clusters=3, q=1, reference="class", features=features, kernel="linear"
    )
    api.succeeded(job)
    return job


@pytest.fixture(scope="session")
def slow_id(api: Api) -> str:
    """A data set with which a job takes long."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.standard_normal((6000, 60)).round(3), rng.standard_normal(6000).round(3)])
    header = ",".join([*(f"x{place}" for place in range(60)), "y"])
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    return api.upload("\n".join(lines).encode(), "slow.csv")["id"]
