"""Query parameters and response schemas that several routes share."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query

from app.sandbox import TableFormat

TABLE_FORMATS: tuple[TableFormat, ...] = ("json", "csv", "npy", "npz", "parquet")
TABLE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["columns", "rows"],
    "properties": {
        "columns": {"type": "array", "items": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "array"}},
    },
}
PROJECTION_SCHEMA = TABLE_SCHEMA | {
    "properties": TABLE_SCHEMA["properties"]
    | {
        "notes": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What was done to the rows, such as ignored columns.",
        }
    }
}

FormatParameter = Annotated[
    str | None,
    Query(
        description="json (default), csv, npy, npz or parquet. The Accept header can be used instead.", max_length=20
    ),
]
HeaderParameter = Annotated[
    Literal["auto", "true", "false"],
    Query(description="Whether the first line of a CSV file holds column names; auto detects it."),
]
HEADER_VALUES: dict[str, bool | None] = {"auto": None, "true": True, "false": False}
LimitParameter = Annotated[int, Query(description="The largest number of items in the page.", ge=1, le=1000)]
CursorParameter = Annotated[str | None, Query(description="The value of `next` in the previous page.", max_length=200)]
DatasetId = Annotated[str, Path(description="The id of the data set.", max_length=100)]
