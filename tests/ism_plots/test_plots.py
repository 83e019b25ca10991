"""Plots: the same bytes for the same input, safe with any text, and with every shape of result."""

import io
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_wine

from ism_plots import Format, embedding_plot, loadings_plot, trace_plot
from ism_plots.groups import MAX_CLASSES, Classes, Values, group_items
from ism_plots.names import one_line, text_width

SVG = "{http://www.w3.org/2000/svg}"
COLUMN_PIXELS = 1003  # 85 mm at 300 dpi
ODD = [
    "price in $ and $x_1^2$",
    "$\\frac{broken",
    "שלום עולם",
    "العربية",
    "葡萄酒的酒精含量",
    "हिन्दी",
    "two\nlines\tand a tab",
    "nul\x00 bell\x07 \ufffe",
    "half a pair \ud800",
    "\u202eturned around",
    "emoji 🍷",
    "<script>alert(1)</script>",
    "]]>&amp;\"'",
    "x" * 500,
    "",
]


def points(n: int, q: int) -> Any:
    return np.random.default_rng(0).normal(size=(n, q))


def trace(n: int, q: int, rounds: int = 1, factor: float = 2.0, **replaced: Any) -> dict[str, Any]:
    steps = np.arange(n)
    columns = [factor**-axis * (1 + 1.0 / (1 + steps)) for axis in range(q)]
    return {
        "iteration": steps,
        "objective": 100 - 1.0 / (1 + steps),
        "eigenvalues": np.column_stack(columns),
        "round": steps * rounds // max(n, 1),
    } | replaced


def texts(svg: bytes) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def as_text(plot: Callable[..., bytes], *arguments: Any, **options: Any) -> list[str]:
    """The picture's text, which is written as text and not as paths when a character is in no font at hand."""
    return texts(plot(*arguments, format="svg", **options))


def check(content: bytes, format: Format) -> None:
    if format == "svg":
        assert ElementTree.fromstring(content).tag == f"{SVG}svg"
    else:
        with Image.open(io.BytesIO(content)) as image:
            assert image.format == "PNG"
            assert image.width >= COLUMN_PIXELS


WINE = load_wine()


@pytest.mark.parametrize(
    ("plot", "arguments", "format"),
    [
        (embedding_plot, (points(178, 2), WINE.target, "Wine"), "svg"),
        (embedding_plot, (points(178, 2), WINE.target, "Wine"), "png"),
        (loadings_plot, (WINE.feature_names[:5], points(5, 2)), "svg"),
        (trace_plot, tuple(trace(6, 2, rounds=2).values()), "svg"),
    ],
)
def test_the_same_input_gives_the_same_picture(plot: Callable[..., bytes], arguments: Any, format: Format) -> None:
    first = plot(*arguments, format=format)
    check(first, format)
    assert plot(*arguments, format=format) == first
    assert b"matplotlib.org" not in first


@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize(
    "groups",
    [
        None,
        np.arange(60) % 3,
        [f"{row}" for row in range(60)],
        [None if row < 5 else row / 2 for row in range(60)],
        [None] * 60,
    ],
    ids=["none", "3 numbers", "60 classes", "values with gaps", "all missing"],
)
def test_every_kind_of_group_is_drawn(q: int, groups: Any) -> None:
    check(embedding_plot(points(60, q), groups, "A title", legend="what"), "svg")


@pytest.mark.parametrize(
    "embedding",
    [
        np.zeros((0, 2)),
        np.zeros((1, 2)),
        np.zeros((5, 1)),
        np.ones((5, 2)),
        np.array([[0.0, np.nan], [np.inf, 1.0]]),
        np.array([[1e300, -1e300], [-1e300, 1e300], [0, 0]]),
        np.array([[1e-300, 0], [0, 1e-300]]),
        np.array([[1e12, 1e12 + 1e-3], [1e12, 1e12]]),
    ],
    ids=["no rows", "one row", "one value", "one point", "not finite", "huge", "tiny", "offset"],
)
def test_degenerate_embeddings_are_drawn(embedding: Any) -> None:
    check(embedding_plot(embedding, np.full(len(embedding), 0.5)), "svg")


@pytest.mark.parametrize("format", ["svg", "png"])
def test_any_text_can_be_a_name(format: Format) -> None:
    check(loadings_plot(ODD, points(len(ODD), 2), format=format), format)
    for q in (1, 2):
        check(embedding_plot(points(len(ODD), q), ODD, " ".join(ODD), format=format, legend=ODD[1]), format)


def test_formulas_are_shown_as_they_were_written() -> None:
    written = as_text(loadings_plot, ["price in $ and $x_1^2$", "中"], np.eye(2))
    assert "price in $ and $x_1^2$" in written


def test_text_is_no_markup() -> None:
    evil = "</text><script>x()</script>"
    for svg in (
        embedding_plot(points(4, 2), [evil, "中", evil, "中"], evil + "中", legend=evil),
        embedding_plot(points(4, 2), [evil, "]]> -->", evil, "b"], "--><a href='x'>", legend='" onload="x()'),
    ):
        root = ElementTree.fromstring(svg)
        assert not [element for element in root.iter() if element.tag in (f"{SVG}script", f"{SVG}a")]
        assert not [name for element in root.iter() for name in element.attrib if name.startswith("on")]
    assert evil in as_text(loadings_plot, [evil, "中"], np.eye(2))


def test_text_is_paths_unless_the_font_lacks_some_of_it() -> None:
    assert as_text(loadings_plot, ["alcohol", "μ²"], np.eye(2)) == []
    svg = loadings_plot(["alcohol", "葡萄酒"], np.eye(2))
    assert "葡萄酒" in texts(svg)
    assert b"sans-serif" in svg


def test_many_rows_become_pixels_also_in_an_svg() -> None:
    few = embedding_plot(points(100, 2))
    many = embedding_plot(points(60_000, 3), np.arange(60_000) % 10, "60,000 rows")
    assert b"<image" not in few
    assert b"<image" in many
    assert len(many) < 2_000_000


def test_more_rows_than_can_be_seen_are_sampled_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ism_plots.embedding.MAX_ROWS", 50)
    written = as_text(embedding_plot, points(1_000, 3), title="中")
    assert "50 of 1,000 rows, axes 1 and 2 of 3" in written


def test_groups_must_match_the_rows() -> None:
    with pytest.raises(ValueError, match="3 groups for 4 rows"):
        embedding_plot(points(4, 2), ["a", "b", "c"])
    with pytest.raises(ValueError, match="1 names for the 2 rows"):
        loadings_plot(["a"], np.eye(2))


def test_numbers_are_classes_only_if_whole_and_few() -> None:
    assert isinstance(group_items(np.arange(MAX_CLASSES), "auto"), Classes)
    assert isinstance(group_items(np.arange(MAX_CLASSES + 1), "auto"), Values)
    assert isinstance(group_items([0.5, 1.0], "auto"), Values)
    assert isinstance(group_items([0.5, 1.0], "classes"), Classes)
    assert isinstance(group_items([1, 2], "values"), Values)
    assert isinstance(group_items(["1", "2"], "values"), Classes)


def test_classes_are_in_natural_order_with_the_rare_and_the_missing_last() -> None:
    known = group_items(["week 10", "week 2", None, "week 2", float("nan")], "auto")
    assert isinstance(known, Classes)
    assert known.names == ["week 2", "week 10", "missing"]
    assert known.codes.tolist() == [1, 0, 2, 0, 2]
    many = group_items([f"c{row}" for row in range(30)] + ["c29"], "auto")
    assert isinstance(many, Classes)
    assert len(many.names) == MAX_CLASSES
    assert many.names[-2:] == ["c29", "11 others"]
    assert many.codes[-1] == MAX_CLASSES - 2


def test_every_class_has_its_own_look() -> None:
    for count in (3, 7, 8, 10, 15, 20):
        known = group_items([f"c{row}" for row in range(count)], "auto")
        assert isinstance(known, Classes)
        for rows in (100, 60_000):
            assert len(set(zip(known.colors, known.markers(rows), strict=True))) == count


def test_the_strongest_loadings_are_shown_and_the_others_counted() -> None:
    W = np.diag(np.arange(30.0, 0, -1))[:, :5]
    W[:, 0] += np.arange(30)
    names = [f"f{row}中" for row in range(30)]
    written = as_text(loadings_plot, names, W)
    shown = [name for name in written if name in names]
    expected = np.argsort(-np.linalg.norm(W, axis=1), kind="stable")[:20]
    assert shown == [names[row] for row in expected]
    assert "20 of 30 features, 4 of 5 axes" in written


@pytest.mark.parametrize("W", [np.zeros((3, 1)), -np.ones((1, 1)), np.zeros((0, 2))])
def test_degenerate_loadings_are_drawn(W: Any) -> None:
    check(loadings_plot([f"f{row}" for row in range(len(W))], W), "svg")


@pytest.mark.parametrize(
    "arrays",
    [
        trace(0, 2),
        trace(1, 1),
        trace(200, 3, rounds=10),
        trace(300, 12, rounds=100),
        trace(20, 5, factor=1e5),
        trace(20, 2, objective=np.full(20, 18699.15)),
        trace(3, 2, objective=np.array([1.0, np.nan, 2.0])),
        trace(3, 1, eigenvalues=np.array([[-1.0], [0.0], [1e-12]]), round=None),
    ],
    ids=["empty", "one", "rounds", "many axes", "decades", "level", "gap", "negative"],
)
def test_every_trace_is_drawn(arrays: dict[str, Any]) -> None:
    check(trace_plot(**arrays), "svg")


def test_names_become_one_short_line() -> None:
    assert one_line("a\n b\tc ", 28) == "a b c"
    assert one_line("", 28) == one_line("\n", 28) == "(empty)"
    assert one_line("\u202ea", 28) == "a"
    assert one_line("a" * 28, 28) == "a" * 28
    assert one_line("color of the bottle's label=dark green", 28) == "color of the bottl…ark green"
    for name in ODD:
        assert 0 < text_width(one_line(name, 28)) <= 28


def test_drawing_leaves_the_process_as_it_was() -> None:
    import matplotlib as mpl

    before, filters = dict(mpl.rcParams), list(warnings.filters)
    loadings_plot(["中"], np.ones((1, 1)))
    assert dict(mpl.rcParams) == before
    assert list(warnings.filters) == filters


def test_importing_the_plots_imports_no_matplotlib_and_drawing_no_pyplot() -> None:
    code = """
import sys
import numpy as np
from ism_plots import loadings_plot
assert "matplotlib" not in sys.modules
loadings_plot(["a"], np.ones((1, 1)))
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_errors_are_drawn_as_whiskers() -> None:
    W, names = np.array([[0.9, 0.1], [0.4, -0.8], [0.0, 0.5]]), WINE.feature_names[:3]
    plain = loadings_plot(names, W)
    errors = np.array([[0.05, 0.1], [0.1, 0.3], [0.0, 0.2]])
    drawn = loadings_plot(names, W, errors)
    check(drawn, "svg")
    assert whiskers(plain) == 0
    assert whiskers(drawn) == 2  # a set of them for each axis
    with pytest.raises(ValueError, match=r"errors have the shape \(2, 2\); it must be that of W, \(3, 2\)"):
        loadings_plot(names, W, errors[:2])


def whiskers(svg: bytes) -> int:
    return sum("LineCollection" in (element.get("id") or "") for element in ElementTree.fromstring(svg).iter())


def test_features_of_an_axis_for_the_picture_only_are_not_the_strongest() -> None:
    W = np.column_stack([np.linspace(1, 0.5, 30), np.linspace(0, 2, 30)])
    names = [f"f{row}中" for row in range(30)]
    shown = as_text(loadings_plot, names, W, shares=[1.0, 0.0])
    assert [name for name in shown if name in names] == names[:20]
    assert any("for plots only" in text for text in shown)


def test_a_single_axis_is_drawn_against_the_picture() -> None:
    written = as_text(embedding_plot, points(30, 1), title="中", picture=points(30, 1)[:, 0])
    assert "adds nothing, for plots only" in written
