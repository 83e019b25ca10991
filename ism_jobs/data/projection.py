"""What a job learned, in a form that projects new rows: the encoding, the mean, the scale and W."""

import io
import json
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from ism_jobs.data.onehot import Array, Encoding, Rows, named
from ism_jobs.errors import FieldError, InvalidTable

Missing = Literal["refuse", "mean", "drop"]

FORMAT = "ism-model"
VERSION = 1
BLOCK = 1_000_000  # numbers that are standardized at a time, 8 MB


@dataclass(frozen=True, eq=False)
class Model:
    """Projects a row x of encoded features to Wᵀ((x − mean) / scale).

    `fill` has a value for each encoded feature that is missing, and is there only when `missing` is "mean". The new
    features are called axis1 to axisq unless `axes` says otherwise.
    """

    encoding: Encoding
    missing: Missing
    fill: Array | None
    mean: Array
    scale: Array
    W: Array
    axes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        d = self.encoding.width
        if self.W.ndim != 2 or len(self.W) != d or self.mean.shape != (d,) or self.scale.shape != (d,):
            raise ValueError(
                f"{d} encoded features need W with {d} rows, a mean and a scale of {d} values;"
                f" the shapes that came are {self.W.shape}, {self.mean.shape} and {self.scale.shape}."
            )
        if (self.missing == "mean") != (self.fill is not None) or (self.fill is not None and self.fill.shape != (d,)):
            raise ValueError(f'fill has one value for each of {d} features where missing is "mean", and is else None.')
        if not self.axes:
            object.__setattr__(self, "axes", tuple(f"axis{axis}" for axis in range(1, self.q + 1)))

    @property
    def q(self) -> int:
        """The number of new features."""
        return int(self.W.shape[1])

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the encoded features, the rows of W."""
        return self.encoding.names

    def project(self, X: Array) -> Array:
        """The embedding of rows of encoded features; NaN is filled where the model has values for it, else it stays."""
        embedding = np.empty((len(X), self.q))
        rows = max(1, BLOCK // X.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(X), rows):
                block = X[start : start + rows]
                if self.fill is not None:
                    block = np.where(np.isnan(block), self.fill, block)
                embedding[start : start + rows] = (block - self.mean) / self.scale @ self.W
        return embedding

    def transform(self, table: Rows) -> tuple[Array, list[str]]:
        """The embedding of a table's rows, and notes on what was ignored, filled or not known."""
        X = self.encoding.encode(table)
        notes = self._unused(table) + self.encoding.notes(table) + self._missing(X)
        embedding = self.project(X)
        finite = np.isfinite(embedding).all(axis=1)
        if not finite.all():
            row = int(np.argmin(finite))
            column = self.encoding.origins[int(np.nanargmax(np.abs(X[row])))]
            raise InvalidTable(
                f"Row {row + 1} cannot be projected: its values are too large, the largest is in column"
                f' "{column}". Correct it or drop the row.',
                [FieldError(column, f"is too large in row {row + 1}")],
            )
        return embedding, notes

    def _unused(self, table: Rows) -> list[str]:
        used = set(self.encoding.columns)
        extra = [name for name in table.schema.names if name not in used]
        return [f"Ignored {len(extra)} column(s) that are not features of the model: {named(extra)}."] if extra else []

    def _missing(self, X: Array) -> list[str]:
        """A note on the columns with missing values if they are filled, and an error if they are not."""
        gaps = dict(zip(self.encoding.origins, np.isnan(X).sum(axis=0).tolist(), strict=True))
        gaps = {name: count for name, count in gaps.items() if count}
        if not gaps:
            return []
        columns, total = named(list(gaps)), sum(gaps.values())
        if self.fill is not None:
            return [f"Filled {total} missing value(s) in {columns} with the means of the data of the fit."]
        raise InvalidTable(
            f"{total} value(s) are missing in {columns}. Fill them or drop their rows;"
            ' a model of a job with "missing": "mean" fills them itself.',
            [FieldError(name, f"misses {count} value(s)") for name, count in gaps.items()],
        )

    def to_npz(self) -> bytes:
        """The model as a .npz file: its arrays, the names of the features, and the rest as JSON in `header`."""
        header = {
            "format": FORMAT,
            "version": VERSION,
            "encoding": self.encoding.to_dict(),
            "missing": self.missing,
            "axes": list(self.axes),
        }
        arrays: dict[str, Any] = {"W": self.W, "mean": self.mean, "scale": self.scale}
        if self.fill is not None:
            arrays["fill"] = self.fill
        file = io.BytesIO()
        np.savez(
            file,
            header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
            features=np.array(self.features, dtype=np.str_),
            **arrays,
        )
        return file.getvalue()

    @classmethod
    def from_npz(cls, content: bytes) -> Self:
        """The model that `to_npz` gave."""
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays["header"].tobytes()) if "header" in arrays else {}
        if header.get("format") != FORMAT or header.get("version") != VERSION:
            raise ValueError(f"The file is no {FORMAT} of version {VERSION}.")
        return cls(
            encoding=Encoding.from_dict(header["encoding"]),
            missing=header["missing"],
            fill=arrays.get("fill"),
            mean=arrays["mean"],
            scale=arrays["scale"],
            W=arrays["W"],
            axes=tuple(header["axes"]),
        )

    def to_onnx(self) -> bytes:
        """The model as an ONNX graph from encoded features to the embedding."""
        from ism_jobs.data.onnx import onnx_bytes  # onnx takes long to import, and few processes need it

        return onnx_bytes(self)
