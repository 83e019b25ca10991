"""Types of a spec's fields: each validates a value, says in words what is allowed, and gives its JSON Schema."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from ism_jobs.sentences import figure, named

LONGEST_COLUMN_NAME = 1_000  # characters of a column's name
MOST_COLUMNS = 20_000  # that one list may name
MOST_PAIRS = 10_000  # of rows that one list may name


def refused(allowed: str) -> PydanticCustomError:
    """Return the error of a value that must be what `allowed` says."""
    return PydanticCustomError("allowed", "must be {allowed}", {"allowed": allowed})


def refused_with(sentence: str) -> PydanticCustomError:
    """Return an error whose message is this sentence."""
    return PydanticCustomError("sentence", "{sentence}", {"sentence": sentence})


class _FieldType(ABC):
    """A type with its own validation."""

    @abstractmethod
    def check(self, value: Any) -> Any:
        """Return the value as the spec stores it; raise PydanticCustomError if it is not allowed."""

    @abstractmethod
    def schema(self) -> JsonSchemaValue:
        """Return the JSON Schema of the values that are allowed."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return self.schema()


@dataclass(frozen=True)
class Integer(_FieldType):
    """An integer in a range. 3.0 is allowed; true and "3" are not."""

    minimum: int
    maximum: int
    also: int | None = None  # a number outside the range that is also allowed
    words: tuple[str, ...] = ()  # words that are allowed in place of a number
    optional: bool = False

    def check(self, value: Any) -> int | str | None:
        if value is None and self.optional:
            return None
        if isinstance(value, str) and value in self.words:
            return value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise refused(self.allowed)
        if not (self.minimum <= value <= self.maximum or value == self.also):
            raise refused(self.allowed)
        return value

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        words = f"a whole number from {self.minimum:,} to {self.maximum:,}"
        if self.also is not None:
            words = f"{self.also:,} or {words}"
        if self.words:
            words = f"{', '.join(map(named, self.words))} or {words}"
        return f"{words}, or null for the default" if self.optional else words

    def schema(self) -> JsonSchemaValue:
        schema: JsonSchemaValue = {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}
        others: list[JsonSchemaValue] = []
        others += [{"type": "string", "const": word} for word in self.words]
        if self.also is not None:
            others.append({"type": "integer", "const": self.also})
        if self.optional:
            others.append({"type": "null"})
        return {"anyOf": [schema, *others]} if others else schema


@dataclass(frozen=True)
class Boolean(_FieldType):
    """true or false, but not 0, 1, "yes" or "no"."""

    def check(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise refused("true or false")
        return value

    def schema(self) -> JsonSchemaValue:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Number(_FieldType):
    """A finite number in a range, or one of some words that stand for a number found from the data."""

    minimum: float
    maximum: float
    above: bool = False  # the minimum itself is not allowed
    zero: bool = False  # 0 is allowed although it is outside the range
    words: tuple[str, ...] = ()
    optional: bool = False

    def check(self, value: Any) -> float | str | None:
        if value is None and self.optional:
            return None
        if isinstance(value, str) and value in self.words:
            return value
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise refused(self.allowed)
        inside = self.minimum < value <= self.maximum if self.above else self.minimum <= value <= self.maximum
        if not (inside or (self.zero and value == 0)):  # NaN is never inside
            raise refused(self.allowed)
        return float(value)

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        low, high = figure(self.minimum), figure(self.maximum)
        words = f"a number above {low} and at most {high}" if self.above else f"a number from {low} to {high}"
        if self.zero:
            words = f"0 or {words}"
        if self.words:
            words = f"{', '.join(map(named, self.words))} or {words}"
        return f"{words}, or null for the default" if self.optional else words

    def schema(self) -> JsonSchemaValue:
        schema: JsonSchemaValue = {"type": "number"}
        schema["exclusiveMinimum" if self.above else "minimum"] = 0 if self.zero else self.minimum
        schema["maximum"] = self.maximum
        options: list[JsonSchemaValue] = [{"type": "string", "const": word} for word in self.words]
        options += [schema, {"type": "null"}] if self.optional else [schema]
        return {"anyOf": options} if len(options) > 1 else schema


@dataclass(frozen=True)
class Names(_FieldType):
    """Names of columns: a list without duplicates; with `single`, one name by itself is allowed too.

    The words stand for columns that the job finds itself. null stands for the last of them, or for no name at all if
    that is optional.
    """

    single: bool = False
    words: tuple[str, ...] = ()
    optional: bool = False

    def check(self, value: Any) -> str | list[str] | None:
        if value is None and self.optional:
            return None
        if value is None and self.words:
            return self.words[-1]
        if isinstance(value, str) and value in self.words:
            return value
        if isinstance(value, str) and self.single:
            if not is_name(value):
                raise refused(self.allowed)
            return value
        if not isinstance(value, list) or not 1 <= len(value) <= MOST_COLUMNS:
            raise refused(self.allowed)
        seen = set()
        for name in value:
            if not is_name(name):
                raise refused(self.allowed)
            if name in seen:
                raise refused_with(f"The column {named(name)} is named twice; name each column once.")
            seen.add(name)
        return list(value)

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        names = f"a list of 1 to {MOST_COLUMNS:,} column names"
        if self.single:
            names = f"the name of a column, or {names}"
        return " or ".join([", ".join(map(named, self.words)), names]) if self.words else names

    def schema(self) -> JsonSchemaValue:
        name: JsonSchemaValue = {"type": "string", "minLength": 1, "maxLength": LONGEST_COLUMN_NAME}
        names = {"type": "array", "items": name, "minItems": 1, "maxItems": MOST_COLUMNS, "uniqueItems": True}
        options: list[JsonSchemaValue] = [{"type": "string", "const": word} for word in self.words]
        options += [name, names] if self.single else [names]
        options += [{"type": "null"}] if self.words or self.optional else []
        return {"anyOf": options} if len(options) > 1 else names


@dataclass(frozen=True)
class RowPairs(_FieldType):
    """Pairs of row numbers, or null."""

    def check(self, value: Any) -> list[list[int]] | None:
        if value is None or value == []:
            return None
        if not isinstance(value, list) or len(value) > MOST_PAIRS:
            raise refused(self.allowed)
        for pair in value:
            if not isinstance(pair, list) or len(pair) != 2 or not all(type(row) is int and row >= 0 for row in pair):
                raise refused(self.allowed)
            if pair[0] == pair[1]:
                raise refused_with(f"The pair {pair} names one row twice; name two rows.")
        return value

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return f"a list of at most {MOST_PAIRS:,} pairs of row numbers, such as [[0, 7], [3, 5]]"

    def schema(self) -> JsonSchemaValue:
        row: JsonSchemaValue = {"type": "integer", "minimum": 0}
        pair: JsonSchemaValue = {"type": "array", "items": row, "minItems": 2, "maxItems": 2}
        return {"anyOf": [{"type": "array", "items": pair, "maxItems": MOST_PAIRS}, {"type": "null"}]}


def is_name(value: Any) -> bool:
    """Return whether a value can be the name of a column."""
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_COLUMN_NAME:
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
