"""How large a table may be; whatever passes one of these limits is refused with both numbers."""

from dataclasses import dataclass

from ism_jobs.errors import FieldError, TooLarge

GIB = 1 << 30


@dataclass(frozen=True)
class Limits:
    """The largest table that is read.

    bytes: of the file, and of what a compressed one inflates to
    rows, columns, cells: of the table; cells are rows times columns
    name_length: characters in the name of a column
    text_length: bytes (UTF-8) in one text value
    """

    bytes: int = 4 * GIB
    rows: int = 10_000_000
    columns: int = 20_000
    cells: int = 500_000_000
    name_length: int = 200
    text_length: int = 100_000

    def check_bytes(self, count: int, what: str = "The file") -> None:
        """Whether so many bytes may be read or inflated; `count` may stop at the first byte too many."""
        if count > self.bytes:
            raise TooLarge(f"{what} has at least {count:,} bytes when not compressed; at most {self.bytes:,} are read.")

    def check_shape(self, rows: int, columns: int) -> None:
        """Whether a table may have so many rows and columns."""
        if columns > self.columns:
            raise TooLarge(f"The table has {columns:,} columns; at most {self.columns:,} are allowed.")
        if rows > self.rows:
            raise TooLarge(f"The table has at least {rows:,} rows; at most {self.rows:,} are allowed.")
        if rows * columns > self.cells:
            raise TooLarge(
                f"The table has at least {rows * columns:,} cells ({rows:,} rows of {columns:,} columns); "
                f"at most {self.cells:,} are allowed."
            )

    def check_name(self, name: str) -> None:
        """Whether a column may be called this."""
        if len(name) > self.name_length:
            short = name[:40] + "…"
            sentence = (
                f'The column name "{short}" has {len(name):,} characters; at most {self.name_length:,} are allowed.'
            )
            raise TooLarge(sentence, [FieldError(short, sentence)])

    def check_text(self, length: int, name: str) -> None:
        """Whether a value of the column `name` may have so many bytes."""
        if length > self.text_length:
            sentence = (
                f'A value in the column "{name}" has {length:,} bytes of text; '
                f"at most {self.text_length:,} are allowed."
            )
            raise TooLarge(sentence, [FieldError(name, sentence)])
