"""The description of a table: its columns, a preview, and the assumptions made when it was read."""

from functools import cached_property
from typing import Literal

from pydantic import BaseModel, Field


class Column(BaseModel):
    """One column of a table."""

    name: str
    kind: Literal["number", "text"] = Field(description="Whether its values are numbers or text.")
    missing: int = Field(description="The number of missing values.")
    minimum: float | None = Field(default=None, description="The smallest number.")
    maximum: float | None = Field(default=None, description="The largest number.")
    mean: float | None = Field(default=None, description="The mean of the numbers, without missing values.")
    whole: bool | None = Field(default=None, description="Whether every number is whole.")
    constant: bool = Field(description="Whether there is at most one distinct value, not counting missing ones.")
    distinct: int | None = Field(
        default=None,
        description="The number of distinct values, not counting missing ones; "
        "null beyond 10,000 texts or 1,000 numbers.",
    )
    levels: list[str] | None = Field(
        default=None, description="The most frequent texts, at most 20; null if too many are distinct to be counted."
    )
    counter: Literal["rows", "blocks", "groups"] | None = Field(
        default=None,
        description='"rows" if each number is one more than the number before it; "blocks" if that holds'
        ' but the count starts again some times; "groups" if numbers repeat before the next follows.',
    )
    date_format: str | None = Field(
        default=None, description="The format of its dates, as in strptime, if all of its texts are dates."
    )


class Description(BaseModel):
    """What is known about a table without reading its rows again."""

    rows: int
    columns: list[Column]
    preview: list[list[float | str | None]] = Field(description="The first rows, at most 5.")
    format: str = Field(description="The format of the file it was read from.")
    notes: list[str] = Field(description="The assumptions made when the file was read.")
    uri: str | None = Field(default=None, description="Where the rows stay; None if the service has stored them.")
    sampled: int | None = Field(
        default=None, description="The number of rows that the columns are described by; None if it is all of them."
    )

    def column(self, name: str) -> Column:
        """Return the column of that name; raise KeyError if there is none."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}
