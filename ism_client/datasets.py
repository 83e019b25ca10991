"""Data sets: tables that the service keeps, and what it says about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Self

from ism_client.http import Http, path_of
from ism_client.tables import opened

LONGEST_READING = 900.0  # seconds that the service may take to read a large table


@dataclass(frozen=True)
class Column:
    """A column of a data set: its name, its kind ("number" or "text") and what was found in it.

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
        """Read from the service's answer; what it says beyond these fields is left out."""
        known = {name: document[name] for name in _names(cls) if name in document}
        if known.get("levels") is not None:
            known["levels"] = tuple(known["levels"])
        return cls(**known)


@dataclass(frozen=True)
class DatasetSummary:
    """A line of the list of data sets; `client.dataset(summary.id)` has the columns.

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
        """Read from the service's answer."""
        return cls(
            document["id"], document["name"], document["rows"], document["columns"], moment(document.get("created"))
        )


@dataclass(frozen=True)
class Dataset:
    """A table that the service has read. `notes` say what was assumed in reading it.

    dataset = client.upload("wine.csv")
    print(dataset.rows, [column.name for column in dataset.columns], dataset.notes)
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
    _http: Http = field(kw_only=True, repr=False, compare=False)

    @classmethod
    def of(cls, http: Http, document: Mapping[str, Any]) -> Self:
        """Read from the service's answer."""
        return cls(
            id=document["id"],
            name=document["name"],
            rows=document["rows"],
            columns=tuple(map(Column.of, document["columns"])),
            notes=tuple(document.get("notes") or ()),
            format=document.get("format") or "",
            bytes=document.get("bytes"),
            created=moment(document.get("created")),
            preview=tuple(map(tuple, document.get("preview") or ())),
            _http=http,
        )

    def column(self, name: str) -> Column:
        """The column of that name; KeyError where there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def delete(self) -> None:
        """Delete it from the service; refused (ApiError, 409) while an open job uses it."""
        self._http.request("DELETE", path_of("datasets", self.id))


def upload(http: Http, source: Any, names: Sequence[str] | None, name: str | None, header: bool | None) -> Dataset:
    """Send a table and read what the service found in it."""
    params = {"name": name, "header": None if header is None else str(header).lower()}
    with opened(source, names, name) as payload:
        document = http.json(
            "POST",
            "/datasets",
            params=params,
            body=payload.body,
            timeout=max(http.timeout, LONGEST_READING),
            retries=None if payload.replayable else 0,
        )
    return Dataset.of(http, document)


def moment(value: str | None) -> datetime | None:
    """A time as the service writes it (ISO 8601)."""
    return None if value is None else datetime.fromisoformat(value)


def _names(cls: type[Column]) -> list[str]:
    return [item.name for item in fields(cls)]
