"""Figures, tables and paragraphs as Markdown."""

import textwrap
from collections.abc import Iterable, Sequence

import numpy as np

LINE_WIDTH = 120  # characters of a line of prose


def wrapped(text: str) -> str:
    """Wrap the paragraphs and list items of a Markdown text; headings, pictures and tables stay as they are."""
    lines: list[str] = []
    paragraph: list[str] = []
    for line in [*text.splitlines(), ""]:
        stays = not line.strip() or line.startswith(("#", "|", "!["))
        if paragraph and (stays or line.startswith("- ")):
            indent = "  " if paragraph[0].startswith("- ") else ""
            joined = " ".join(part.strip() for part in paragraph)
            lines += textwrap.wrap(joined, LINE_WIDTH, subsequent_indent=indent, break_on_hyphens=False)
            paragraph = []
        if stays:
            lines.append(line)
        else:
            paragraph.append(line)
    return "\n".join(lines[:-1])


def table(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return a Markdown table; the first columns are text, the others are figures."""
    rule = [":--" if index < left else "--:" for index in range(len(header))]
    return "\n".join(f"| {' | '.join(line)} |" for line in ([*header], rule, *rows)) + "\n"


def bold(text: str, wanted: bool = True) -> str:
    """Return the text in bold, if wanted."""
    return f"**{text}**" if wanted else text


def seconds(values: Sequence[float]) -> str:
    """Return the mean, with the standard deviation if there are several values."""
    mean, deviation = float(np.mean(values)), float(np.std(values))
    if mean >= 120:
        return f"{mean / 60:.1f} min" + (f" ± {deviation / 60:.1f}" if len(values) > 1 else "")
    digits = 3 if mean < 0.1 else 2 if mean < 10 else 1
    return f"{mean:.{digits}f} s" + (f" ± {deviation:.{digits}f}" if len(values) > 1 else "")


def number(values: Sequence[float]) -> str:
    """Return the mean to about six digits, with the standard deviation if there are several values."""
    mean, deviation = float(np.mean(values)), float(np.std(values))
    digits = int(np.clip(5 - np.floor(np.log10(abs(mean) or 1)), 0, 4))
    shown = f"{mean:,.{digits}f}" + (f" ± {deviation:,.{min(digits, 1)}f}" if len(values) > 1 else "")
    return shown.replace("-", "−")


def percent(values: Sequence[float]) -> str:
    """Return the mean, with the standard deviation if there are several values."""
    mean, deviation = 100 * float(np.mean(values)), 100 * float(np.std(values))
    return f"{mean:.1f} %" + (f" ± {deviation:.1f}" if len(values) > 1 else "")


def score(values: Sequence[float]) -> str:
    """Return an NMI with two digits."""
    return f"{float(np.mean(values)):.2f}"


def sentence(parts: Sequence[str]) -> str:
    """Join the parts as "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
