"""Data sets: tables that the service stores, and their descriptions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Self

from ism_client.tables import opened
from ism_client.transport import Http, path_of, run

READ_TIMEOUT = 900.0  # seconds that the service may take to read a large table


@dataclass(frozen=True)
class Column:
    """A column of a data set: its name, its kind ("number" or "text") and its statistics.

    client.dataset(id).column("alcohol").mean
    """

    name: str
    kind: str
    missing: int = 0
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    whole: bool | None = None
    constant: bool = False
    distinct: int | None = None
    levels: tuple[str, ...] | None = None

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Create it from an answer of the service; unknown fields are ignored."""
        known = {name: document[name] for name in _names(cls) if name in document}
        if known.get("levels") is not None:
            known["levels"] = tuple(known["levels"])
        return cls(**known)


@dataclass(frozen=True)
class DatasetSummary:
    """A data set in a list; `client.dataset(summary.id)` returns its columns.

    for summary in client.datasets():
        print(summary.name, summary.rows)
    """

    id: str
    name: str
    rows: int
    columns: int
    created: datetime | None = None

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Create it from an answer of the service."""
        return cls(
            document["id"], document["name"], document["rows"], document["columns"], parse_time(document.get("created"))
        )


@dataclass(frozen=True)
class DatasetFields:
    """The description of a table that the service has read. `notes` lists the assumptions that were made.

    `uri` says where the rows of a table by reference stay. Its columns are described by `sampled` rows.
    """

    id: str
    name: str
    rows: int
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    format: str = ""
    bytes: int | None = None
    created: datetime | None = None
    preview: tuple[tuple[float | str | None, ...], ...] = field(default=(), repr=False)
    uri: str | None = None
    sampled: int | None = None
    _http: Http = field(kw_only=True, repr=False, compare=False)

    @classmethod
    def of(cls, http: Http, document: Mapping[str, Any]) -> Self:
        """Create it from an answer of the service."""
        return cls(
            id=document["id"],
            name=document["name"],
            rows=document["rows"],
            columns=tuple(map(Column.of, document["columns"])),
            notes=tuple(document.get("notes") or ()),
            format=document.get("format") or "",
            bytes=document.get("bytes"),
            created=parse_time(document.get("created")),
            preview=tuple(map(tuple, document.get("preview") or ())),
            uri=document.get("uri"),
            sampled=document.get("sampled"),
            _http=http,
        )

    def column(self, name: str) -> Column:
        """Return the column with this name. Raises KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


class Dataset(DatasetFields):
    """A table that the service has read. `notes` lists the assumptions that were made.

    dataset = client.upload("wine.csv")
    print(dataset.rows, [column.name for column in dataset.columns], dataset.notes)
    """

    def delete(self) -> None:
        """Delete the data set. Raises ApiError (409) while a queued or running job needs it."""
        run(delete_dataset(self._http, self.id))


async def delete_dataset(http: Http, id: str) -> None:
    """Delete a data set."""
    await http.request("DELETE", path_of("datasets", id))


async def upload(
    http: Http, source: Any, names: Sequence[str] | None, name: str | None, header: bool | None
) -> dict[str, Any]:
    """Upload a table and return the document that describes it."""
    params = {"name": name, "header": None if header is None else str(header).lower()}
    with opened(source, names, name) as payload:
        document: dict[str, Any] = await http.json(
            "POST",
            "/datasets",
            params=params,
            body=payload.body,
            timeout=max(http.timeout, READ_TIMEOUT),
            retries=None if payload.replayable else 0,
        )
    return document


async def upload_uri(http: Http, uri: str, name: str | None, header: bool | None) -> dict[str, Any]:
    """Say where a table is, and return the document that describes it."""
    params = {"header": None if header is None else str(header).lower()}
    body = {"uri": uri, **({} if name is None else {"name": name})}
    timeout = max(http.timeout, READ_TIMEOUT)
    document: dict[str, Any] = await http.json(
        "POST", "/datasets", params=params, body=lambda: {"json": body}, timeout=timeout
    )
    return document


def parse_time(value: str | None) -> datetime | None:
    """Parse a time in ISO 8601; None stays None."""
    return None if value is None else datetime.fromisoformat(value)


def _names(cls: type[Column]) -> list[str]:
    return [item.name for item in fields(cls)]
