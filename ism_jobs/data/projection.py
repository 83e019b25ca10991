"""The model of a job, which projects new rows: the encoding, the limits, the mean, the scale and W."""

import io
import json
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ism_jobs import schema_versions
from ism_jobs.data.encoding import ArrowTable, Encoding
from ism_jobs.data.imputation import Missing
from ism_jobs.data.source import Array
from ism_jobs.errors import FieldError, InvalidTable
from ism_jobs.sentences import listed

FORMAT = "ism-model"  # in the header of a stored model
BLOCK_SIZE = 1_000_000  # numbers that are standardized together, 8 MB
FILLED = {"auto": "medians", "median": "medians", "mean": "means"}  # with which values missing ones are filled in


@dataclass(frozen=True, eq=False)
class Model:
    """Projects a row x of encoded features to Wᵀ((x − mean) / scale).

    If the model has `limits` (2×d), values of x beyond the smallest or largest value of their feature are moved there.
    If `missing` is "auto", "mean" or "median", `fill` holds the value that replaces a missing value of each encoded
    feature. The new features are called axis1 to axisq unless `axes` gives other names.
    """

    encoding: Encoding
    missing: Missing
    fill: Array | None
    mean: Array
    scale: Array
    W: Array
    axes: tuple[str, ...] = ()
    limits: Array | None = None

    def __post_init__(self) -> None:
        d = self.encoding.width
        if self.W.ndim != 2 or len(self.W) != d or self.mean.shape != (d,) or self.scale.shape != (d,):
            raise ValueError(
                f"{d} encoded features need W with {d} rows, a mean and a scale of {d} values;"
                f" the shapes are {self.W.shape}, {self.mean.shape} and {self.scale.shape}."
            )
        if (self.missing in FILLED) != (self.fill is not None) or (self.fill is not None and self.fill.shape != (d,)):
            raise ValueError(f"fill must have {d} values if missing is one of {', '.join(FILLED)}, else None.")
        if self.limits is not None and self.limits.shape != (2, d):
            raise ValueError(f"limits must have the shape (2, {d}); it is {self.limits.shape}.")
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
        """Return the embedding of rows of encoded features. NaN is filled in if the model has `fill`."""
        embedding = np.empty((len(X), self.q))
        rows = max(1, BLOCK_SIZE // X.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(X), rows):
                block = X[start : start + rows]
                if self.fill is not None:
                    block = np.where(np.isnan(block), self.fill, block)
                if self.limits is not None:
                    block = np.clip(block, *self.limits)
                embedding[start : start + rows] = (block - self.mean) / self.scale @ self.W
        return embedding

    def transform(self, table: ArrowTable) -> tuple[Array, list[str]]:
        """Return the embedding of a table's rows, and notes on ignored columns, filled values and unknown levels."""
        X = self.encoding.encode(table)
        notes = self._unused(table) + self.encoding.notes(table) + self._missing(X)
        embedding = self.project(X)
        finite = np.isfinite(embedding).all(axis=1)
        if not finite.all():
            row = int(np.argmin(finite))
            column = self.encoding.origins[int(np.nanargmax(np.abs(X[row])))]
            raise InvalidTable(
                f"Row {row + 1} cannot be projected, because its values are too large. The largest is in the column"
                f' "{column}". Correct it or drop the row.',
                [FieldError(column, f"is too large in row {row + 1}")],
            )
        return embedding, notes

    def _unused(self, table: ArrowTable) -> list[str]:
        used = set(self.encoding.columns)
        extra = [name for name in table.schema.names if name not in used]
        if not extra:
            return []
        return [f"Ignored {len(extra)} column(s) that are not features of the model: {listed(extra, quoted=True)}."]

    def _missing(self, X: Array) -> list[str]:
        """Return a note on filled values; raise InvalidTable if values are missing and the model has no `fill`."""
        gaps = dict(zip(self.encoding.origins, np.isnan(X).sum(axis=0).tolist(), strict=True))
        gaps = {name: count for name, count in gaps.items() if count}
        if not gaps:
            return []
        columns, total = listed(list(gaps), quoted=True), sum(gaps.values())
        if self.fill is not None:
            return [
                f"Filled {total} missing value(s) in {columns} with the {FILLED[self.missing]} of the training data."
            ]
        raise InvalidTable(
            f"{total} value(s) are missing in {columns}. Fill them or drop their rows;"
            ' the model of a job with "missing": "auto" fills them itself.',
            [FieldError(name, f"has {count} missing value(s)") for name, count in gaps.items()],
        )

    def to_npz(self) -> bytes:
        """Return the model as an NPZ file: its arrays, the names of the features, and the rest as JSON in `header`."""
        header = {
            "format": FORMAT,
            "version": schema_versions.MODEL,
            "encoding": self.encoding.to_dict(),
            "missing": self.missing,
            "axes": list(self.axes),
        }
        arrays: dict[str, Any] = {"W": self.W, "mean": self.mean, "scale": self.scale}
        arrays |= {name: array for name, array in (("fill", self.fill), ("limits", self.limits)) if array is not None}
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
        """Return the model that `to_npz` has written."""
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays["header"].tobytes()) if "header" in arrays else {}
        if header.get("format") != FORMAT:
            raise ValueError(f"The file is not an {FORMAT}.")
        schema_versions.check_readable("model", header["version"], schema_versions.MODEL)
        return cls(
            encoding=Encoding.from_dict(header["encoding"]),
            missing=header["missing"],
            fill=arrays.get("fill"),
            mean=arrays["mean"],
            scale=arrays["scale"],
            W=arrays["W"],
            axes=tuple(header["axes"]),
            limits=arrays.get("limits"),
        )

    def to_onnx(self) -> bytes:
        """Return the model as an ONNX graph from encoded features to the embedding."""
        from ism_jobs.data.onnx import onnx_bytes  # few processes need onnx, and importing it is slow

        return onnx_bytes(self)
