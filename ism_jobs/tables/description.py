"""What is said of a table: its columns, a preview, and what was assumed when it was read."""

from functools import cached_property
from typing import Literal

from pydantic import BaseModel, Field


class Column(BaseModel):
    """One column of a table."""

    name: str
    kind: Literal["number", "text"] = Field(description="Whether its values are numbers or text.")
    missing: int = Field(description="How many of its values are missing.")
    minimum: float | None = Field(default=None, description="The smallest number.")
    maximum: float | None = Field(default=None, description="The largest number.")
    mean: float | None = Field(default=None, description="The mean of the numbers that are there.")
    whole: bool | None = Field(default=None, description="Whether every number is a whole one.")
    constant: bool = Field(description="Whether there is at most one distinct value besides missing ones.")
    distinct: int | None = Field(
        default=None,
        description="How many distinct values there are, not counting missing ones; "
        "null beyond 10,000 texts or 1,000 numbers.",
    )
    levels: list[str] | None = Field(
        default=None, description="The most frequent texts, at most 20; null if too many are distinct to be counted."
    )


class Description(BaseModel):
    """What is known of a table without reading it again."""

    rows: int
    columns: list[Column]
    preview: list[list[float | str | None]] = Field(description="The first rows, at most 5.")
    format: str = Field(description="The format of the file it was read from.")
    notes: list[str] = Field(description="What was assumed when the file was read.")

    def column(self, name: str) -> Column:
        """The column of that name, or KeyError."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}
