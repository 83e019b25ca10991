"""The largest table that is accepted. An error about a larger one gives its size and the limit."""

from dataclasses import dataclass

from ism_jobs.errors import FieldError, TooLarge

GIB = 1 << 30  # bytes


@dataclass(frozen=True)
class Limits:
    """The limits of a table.

    bytes: of the file, and of its content after decompression
    rows, columns, cells: of the table; cells are rows times columns
    name_length: characters in the name of a column
    text_length: bytes (UTF-8) of one text value
    """

    bytes: int = 4 * GIB
    rows: int = 10_000_000
    columns: int = 20_000
    cells: int = 500_000_000
    name_length: int = 200
    text_length: int = 100_000

    def check_bytes(self, count: int, what: str = "The file") -> None:
        """Raise TooLarge if there are too many bytes. The caller may stop counting at the limit."""
        if count > self.bytes:
            raise TooLarge(
                f"{what} has at least {count:,} bytes after decompression; at most {self.bytes:,} are allowed."
            )

    def check_shape(self, rows: int, columns: int) -> None:
        """Raise TooLarge if there are too many rows, columns or cells."""
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
        """Raise TooLarge if the name of a column is too long."""
        if len(name) > self.name_length:
            short = name[:40] + "…"
            sentence = (
                f'The column name "{short}" has {len(name):,} characters; at most {self.name_length:,} are allowed.'
            )
            raise TooLarge(sentence, [FieldError(short, sentence)])

    def check_text(self, length: int, name: str) -> None:
        """Raise TooLarge if a value of the column `name` has too many bytes."""
        if length > self.text_length:
            sentence = (
                f'A value in the column "{name}" has {length:,} bytes of text; '
                f"at most {self.text_length:,} are allowed."
            )
            raise TooLarge(sentence, [FieldError(name, sentence)])
