"""Documents of A4 pages as PDF."""

import re

import numpy as np
import pytest

from ism_plots import Block, Grid, Plots, Text, loadings_plot, pdf_document

PLOT = loadings_plot(["a", "b"], np.array([[0.8, -0.6], [0.6, 0.8]]), format="png")


def pages(pdf: bytes) -> int:
    assert pdf.startswith(b"%PDF-")
    return len(re.findall(rb"/Type /Page\b", pdf))


@pytest.mark.parametrize(
    ("block", "count", "expected"),
    [
        (Text("A sentence of a few words. " * 20), 1, 1),
        (Text("A sentence of a few words. " * 20), 40, 4),
        (Text("x = 1\n" * 10, "code"), 1, 1),
        (Grid(["name", "value"], [(f"row {row}", row) for row in range(100)]), 1, 1),
        (Grid([f"column {place}" for place in range(50)], [range(50)] * 3), 1, 1),
        (Plots([PLOT, PLOT]), 12, 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_blocks_fill_pages_from_the_top(block: Block, count: int, expected: int) -> None:
    assert pages(pdf_document([block] * count, "A title")) == expected


def test_names_of_any_length_and_script_are_drawn_and_the_bytes_are_the_same_each_time() -> None:
    names = ["$x$", "\u202eabc", "名前", "", "a" * 300, "<b>"]
    blocks = [Text("\n".join(names), "title"), Grid(names, [names] * 2), Plots([PLOT])]
    first = pdf_document(blocks, "名前")
    assert pages(first) == 1
    assert pdf_document(blocks, "名前") == first
