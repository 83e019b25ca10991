"""The parts of a workbook beside its sheets: the list of sheets, the shared texts, and which styles show dates."""

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from xml.parsers import expat
from zipfile import ZipFile, ZipInfo

from ism_jobs.errors import InvalidTable, TooLarge
from ism_jobs.tables.archives import files_of, iter_pieces
from ism_jobs.tables.limits import Limits

WHAT = "The workbook"

Start = Callable[[str, dict[str, str]], None]  # called with the name and attributes of an element
End = Callable[[str], None]

MOST_BYTES = 1 << 28  # of one part that is kept in memory, after decompression
LONGEST_TOKEN = 1 << 24  # bytes of one tag with its attributes, or of a comment
DEEPEST = 64  # elements within elements
MOST_TEXTS = 5_000_000  # shared texts; each takes some 60 bytes of memory beside its letters

# Numbers of the built-in formats that show a day; those of East Asian editions are 27 to 36 and 50 to 58.
DATE_FORMATS = frozenset({14, 15, 16, 17, 22, *range(27, 32), 36, *range(50, 55), 57, 58})
NOT_LETTERS = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')  # parts of a format code that are no letters of dates


@dataclass(frozen=True)
class Sheet:
    """A sheet and the member of the archive that holds its cells."""

    name: str
    member: ZipInfo


class Parts:
    """The parts of a workbook that its sheets refer to."""

    def __init__(self, archive: ZipFile, limits: Limits) -> None:
        self._archive = archive
        self._most_bytes = min(limits.bytes, MOST_BYTES)
        self._members = {member.filename: member for member in files_of(archive)}
        self.counts_from_1904 = False
        self.sheets = self._read_sheets()
        self.date_styles = self._read_styles()
        self.texts = self._read_texts()

    def parse(self, member: ZipInfo, start: Start, end: End, parser: Any) -> Iterator[None]:
        """Parse a member piece by piece, and yield after each."""
        parser.buffer_text = True
        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.StartDoctypeDeclHandler = _refuse_doctype
        read = 0
        try:
            for piece in iter_pieces(self._archive, member, WHAT):
                parser.Parse(piece)
                read += len(piece)
                if read - parser.CurrentByteIndex > LONGEST_TOKEN:
                    raise damaged(f"a tag in {member.filename[:60]} has more than {LONGEST_TOKEN:,} bytes")
                yield
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise damaged(f"{member.filename[:60]} is no valid XML") from error
        yield

    def _elements(self, name: str) -> Iterator[tuple[str, dict[str, str], str]]:
        """Yield the elements of a small part as name, attributes and text; nothing if the part is missing."""
        member = self._members.get(name)
        if member is None:
            return
        if member.file_size > self._most_bytes:
            raise TooLarge(
                f"{name} of the workbook has {member.file_size:,} bytes after decompression; at most "
                f"{self._most_bytes:,} are read. Save the table as CSV."
            )
        found: list[tuple[str, dict[str, str], str]] = []
        open_elements: list[tuple[str, dict[str, str], list[str]]] = []

        def begin(tag: str, attributes: dict[str, str]) -> None:
            if len(open_elements) > DEEPEST:
                raise too_deep()
            open_elements.append((local(tag), attributes, []))

        def text(data: str) -> None:
            open_elements[-1][2].append(data)

        def finish(tag: str) -> None:
            name, attributes, pieces = open_elements.pop()
            found.append((name, attributes, "".join(pieces)))

        parser = expat.ParserCreate("utf-8")
        parser.CharacterDataHandler = text
        for _ in self.parse(member, begin, finish, parser):
            yield from found
            found.clear()

    def _read_sheets(self) -> list[Sheet]:
        """Return the sheets that are shown, in their order."""
        targets = {
            attributes.get("Id", ""): attributes.get("Target", "")
            for tag, attributes, _ in self._elements("xl/_rels/workbook.xml.rels")
            if tag == "Relationship"
        }
        sheets = []
        for tag, attributes, _ in self._elements("xl/workbook.xml"):
            if tag == "workbookPr":
                self.counts_from_1904 = attributes.get("date1904") in ("1", "true")
            if tag == "sheet" and attributes.get("state", "visible") == "visible":
                id = next((value for key, value in attributes.items() if local(key) == "id"), "")
                path = posixpath.normpath(posixpath.join("/xl", targets.get(id, ""))).lstrip("/")
                if path in self._members:
                    sheets.append(Sheet(attributes.get("name", ""), self._members[path]))
        return sheets

    def _read_styles(self) -> frozenset[str]:
        """Return the numbers of the styles that show a number as a date."""
        custom: dict[str, str] = {}
        styles: list[str] = []
        pending: list[str] = []
        for tag, attributes, _ in self._elements("xl/styles.xml"):
            if tag == "numFmt":
                custom[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
            elif tag == "xf":
                pending.append(attributes.get("numFmtId", "0"))
            elif tag == "cellStyleXfs":
                pending = []
            elif tag == "cellXfs":
                styles, pending = pending, []
        return frozenset(str(place) for place, id in enumerate(styles) if _shows_date(id, custom))

    def _read_texts(self) -> list[str]:
        """Return the shared texts, without their phonetic readings."""
        texts: list[str] = []
        runs: list[str] = []
        for tag, _, text in self._elements("xl/sharedStrings.xml"):
            if tag == "t":
                runs.append(text)
            elif tag == "rPh":
                del runs[-1:]
            elif tag == "si":
                texts.append("".join(runs))
                runs = []
                if len(texts) > MOST_TEXTS:
                    raise TooLarge(f"The workbook has more than {MOST_TEXTS:,} different texts. Save the table as CSV.")
        return texts


def too_deep() -> InvalidTable:
    """Return an error about elements that are nested too deeply."""
    return damaged(f"its XML is nested more than {DEEPEST} deep")


def damaged(reason: str) -> InvalidTable:
    """Return an error about a workbook that breaks the rules of its format."""
    return InvalidTable(f"The workbook cannot be read: {reason}. Save it again.")


@lru_cache(maxsize=1024)
def local(name: str) -> str:
    """Return the name of an element or attribute without its prefix."""
    return name.rpartition(":")[2]


def _shows_date(id: str, custom: dict[str, str]) -> bool:
    code = custom.get(id)
    if code is None:
        return id.isdecimal() and len(id) < 4 and int(id) in DATE_FORMATS
    letters = NOT_LETTERS.sub("", code.split(";")[0]).lower()
    return "y" in letters or "d" in letters


def _refuse_doctype(*_: Any) -> None:
    raise damaged("its XML declares a document type")
