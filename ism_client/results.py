"""The result of a job. Large tables are downloaded when they are first used."""

import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ism_client.downloads import content, download
from ism_client.pictures import Picture, result_html
from ism_client.transport import Http, run

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ResultFields:
    """W and its properties."""

    job_id: str
    W: Floats = field(repr=False)  # d×q; W[i, j] is the weight of features[i] in axis j
    features: tuple[str, ...] = field(repr=False)
    eigenvalues: Floats
    objective: float
    converged: bool
    stop: str  # why the iteration ended
    metrics: dict[str, float | None]
    warnings: tuple[str, ...]
    importance: Floats = field(repr=False)  # the share of each feature; the shares add up to 1
    kernel: Any  # with the parameters that were found
    method: str  # how Φ was computed: "tiles", "features" or "random features"
    error: dict[str, Any]  # the error of that method: its kind, and the relative errors of objective and gradient
    certificate: dict[str, Any] = field(repr=False)
    document: dict[str, Any] = field(repr=False, compare=False)  # the full answer of the service
    _http: Http = field(repr=False, compare=False)

    @classmethod
    def of(cls, http: Http, job_id: str, document: Mapping[str, Any]) -> Self:
        """Create it from an answer of the service."""
        features = tuple(document["features"])
        return cls(
            job_id=job_id,
            W=np.array(document["W"], dtype=np.float64).reshape(len(features), -1),
            features=features,
            eigenvalues=np.array(document["eigenvalues"], dtype=np.float64),
            objective=document["objective"],
            converged=bool(document.get("converged")),
            stop=document.get("stop") or "",
            metrics=dict(document.get("metrics") or {}),
            warnings=tuple(document.get("warnings") or ()),
            importance=np.array(document.get("importance") or (), dtype=np.float64),
            kernel=document.get("kernel"),
            method=document.get("method") or "",
            error=dict(document.get("error") or {}),
            certificate=dict(document.get("certificate") or {}),
            document=dict(document),
            _http=http,
        )

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the columns of W."""
        return tuple(f"axis{axis + 1}" for axis in range(self.W.shape[1]))

    @property
    def importance_errors(self) -> Floats | None:
        """The standard error of the importance of each feature; None if it is not known."""
        errors = self.document.get("importance_errors")
        return None if errors is None else np.array(errors, dtype=np.float64)

    @property
    def structure(self) -> Floats:
        """The correlation of each feature with each axis, d×q."""
        return np.array(self.document.get("structure") or (), dtype=np.float64).reshape(-1, self.W.shape[1])

    @property
    def contributions(self) -> list[dict[str, Any]]:
        """What each axis contributes; an axis that is not `informative` is there for plots only."""
        return list(self.document.get("contributions") or ())

    @property
    def groups(self) -> list[dict[str, Any]]:
        """Groups of collinear features, with their importance."""
        return list(self.document.get("groups") or ())

    def ranking(self) -> Any:
        """Return the features as a pandas DataFrame, the most important first.

        The columns are importance, error, unclear, and the permutation drop with its error.
        """
        import pandas

        permutation = self.document.get("permutation") or {}
        columns = {
            "importance": self.importance,
            "error": self.document.get("importance_errors"),
            "unclear": np.isin(self.features, self.document.get("unclear") or ()),
            "drop": permutation.get("drop"),
            "drop_error": permutation.get("error"),
        }
        frame = pandas.DataFrame(columns, index=pandas.Index(self.features, name="feature"))
        return frame.sort_values("importance", ascending=False, kind="stable")

    @property
    def errors(self) -> Floats | None:
        """The standard error of each entry of W; None if the table has too few rows."""
        stability = self.document.get("stability")
        return None if stability is None else np.array(stability["errors"], dtype=np.float64)

    @property
    def choice(self) -> dict[str, Any] | None:
        """The automatic choice of settings: the candidates, the chosen one and the reason; None if there was none.

        client.submit(result.choice["spec"])  # repeats the result without a choice
        """
        return self.document.get("choice")

    @property
    def missed(self) -> dict[str, Any] | None:
        """The test whether the target depends on the features beyond the axes: p_value, advice, sentence, …"""
        return self.document.get("missed")

    @property
    def baseline(self) -> dict[str, Any] | None:
        """The validated score beside a constant prediction and a linear model, with precision and recall by class."""
        return self.document.get("baseline")

    def W_frame(self) -> Any:  # noqa: N802
        """Return W as a pandas DataFrame with a row per feature and a column per axis."""
        import pandas

        return pandas.DataFrame(self.W, index=pandas.Index(self.features, name="feature"), columns=list(self.axes))

    def _repr_html_(self) -> str:
        return result_html(self.document)

    async def _embedding(self) -> Floats:
        array = _array(await content(self._http, self.job_id, "embedding", "npy"))
        return array[:, None] if array.ndim == 1 else array  # NPY files of one column are one-dimensional

    async def _labels(self) -> Ints | None:
        if "labels" not in self.document.get("links", {}):
            return None
        return _array(await content(self._http, self.job_id, "labels", "npy")).astype(np.int64, copy=False)

    async def _columns(self, name: str) -> dict[str, npt.NDArray[Any]]:
        table = json.loads(await content(self._http, self.job_id, name, "json"))
        columns = zip(*table["rows"], strict=True) if table["rows"] else ((),) * len(table["columns"])
        return {column: _typed(values) for column, values in zip(table["columns"], columns, strict=True)}

    async def _frame(self) -> Any:
        import pandas

        return pandas.DataFrame(await self._columns("embedding")).set_index("row")

    async def _plot(self, name: str, format: str) -> Picture:
        return Picture(await content(self._http, self.job_id, name, format), format)


class Result(ResultFields):
    """W and its properties.

    result = job.result()
    print(result.stop, result.metrics)
    print(result.W_frame().abs().sort_values("axis1", ascending=False).head())
    """

    @cached_property
    def embedding(self) -> Floats:
        """The rows of the data set in the new axes, n×q, without rows that were dropped for missing values."""
        return run(self._embedding())

    @cached_property
    def labels(self) -> Ints | None:
        """The cluster of each row of the embedding; None for a supervised job."""
        return run(self._labels())

    @cached_property
    def trace(self) -> dict[str, npt.NDArray[Any]]:
        """The trace of the iteration by column: iteration, objective, eigenvalue1, …"""
        return run(self._columns("trace"))

    def frame(self) -> Any:
        """Return the embedding as a pandas DataFrame, indexed by row number, with the group of each row if known."""
        return run(self._frame())

    def trace_frame(self) -> Any:
        """Return the trace as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.trace)

    def plot(self, name: str = "embedding", format: str = "svg") -> Picture:
        """Return a plot of the service: "embedding", "importance", "loadings" or "trace". A notebook shows it."""
        return run(self._plot(name, format))

    def report(self, path: str | os.PathLike[str] = "report.html") -> Path:
        """Write the report of the job: one HTML file that needs no network, or a PDF if the path ends in .pdf."""
        return run(download(self._http, self.job_id, "report", path))


@dataclass(frozen=True)
class Projection:
    """New rows in the axes of a job, and notes about them, such as ignored columns.

    projection = job.project("new.csv")
    print(projection.values.shape, projection.notes)
    """

    values: Floats = field(repr=False)  # n×q
    axes: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Create it from an answer of the service."""
        axes = tuple(document["columns"])
        values = np.array(document["rows"], dtype=np.float64).reshape(-1, len(axes))
        return cls(values, axes, tuple(document.get("notes") or ()))


def _array(npy: bytes) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = np.load(io.BytesIO(npy), allow_pickle=False)
    return array


def _typed(values: tuple[Any, ...]) -> npt.NDArray[Any]:
    if any(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    if values and all(isinstance(value, int) for value in values):
        return np.array(values, dtype=np.int64)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
