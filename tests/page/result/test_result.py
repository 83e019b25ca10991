"""The view of a result: the scatter plot, the important features, the metrics and the groups."""

import io

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Opener, check_accessible, check_fits, every_look
from tests.page.jobs import WINE, done, drawn, embedding, eventually, lasso, on_screen, pixels
from tests.support.api import Api

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def job(api: Api) -> str:
    return done(api, q=3)


@pytest.fixture(scope="module")
def clustered(api: Api) -> str:
    return done(api, paradigm="unsupervised", clusters=3, q=1, kernel="linear", reference="class")


@pytest.fixture
def result(opened: Opener, job: str) -> Page:
    return drawn(opened(f"#/jobs/{job}"), 178)


def test_a_result_starts_with_a_summary_and_the_important_features(result: Page, api: Api, job: str) -> None:
    found = api.get(f"/jobs/{job}/result").json()
    claim = result.locator(".claim")
    expect(claim).to_contain_text("13 features were reduced to 3 new axes that explain class")
    expect(claim).to_contain_text(f"{100 * found['metrics']['accuracy']:.1f} %")
    order = np.argsort(-np.array(found["importance"]), kind="stable")
    expect(result.locator(".headline")).to_contain_text(found["features"][order[0]])
    card = result.locator("figure", has_text="Which features matter")
    expect(card.locator(".plot")).to_have_attribute("data-drawn", "yes")
    card.get_by_text("All 13 features as a table").click()
    expect(card.locator("tbody tr td:first-child")).to_have_text([found["features"][place] for place in order])


def test_the_loadings_of_each_axis_are_ranked_by_size(result: Page, api: Api, job: str) -> None:
    found = api.get(f"/jobs/{job}/result").json()
    W = np.array(found["W"])
    for axis in range(3):
        card = result.locator("figure", has=result.get_by_role("heading", name=f"Axis {axis + 1}", exact=True))
        card.scroll_into_view_if_needed()
        expect(card.locator(".plot")).to_have_attribute("data-drawn", "yes")
        card.get_by_text("All loadings as a table").click()
        order = np.argsort(-np.abs(W[:, axis]), kind="stable")
        expect(card.locator("tbody tr").first).to_contain_text(found["features"][order[0]])
        shown = [
            float(text.replace("−", "-")) for text in card.locator("tbody td.number:nth-child(2)").all_text_contents()
        ]
        assert shown == pytest.approx(W[order, axis].tolist(), rel=1e-3, abs=1e-3)


def test_hovering_over_a_point_shows_its_row(result: Page, api: Api, job: str) -> None:
    points = embedding(api, job)
    far = int(np.argmax(points[:, 0]))
    result.mouse.move(*on_screen(result, points)[far])
    tip = result.locator(".tooltip")
    expect(tip).to_contain_text(f"Row {far} · class")
    alcohol = pd.read_csv(io.StringIO(WINE))["alcohol"][far]
    expect(tip.locator("dl")).to_contain_text(f"alcohol{alcohol:g}")
    result.mouse.move(5, 5)
    expect(tip).to_be_hidden()


def test_a_row_can_be_found_without_a_mouse(result: Page) -> None:
    find = result.get_by_label("Find row")
    find.fill("42")
    find.press("Enter")
    expect(result.locator(".tooltip")).to_contain_text("Row 42 · class")
    find.fill("178")
    find.press("Enter")
    expect(result.get_by_role("alert")).to_contain_text("There is no row 178 in the plot")


def test_a_lasso_shows_how_its_rows_differ_from_all_others(result: Page, api: Api, job: str) -> None:
    points = embedding(api, job)
    places = on_screen(result, points)
    across = np.sort(places[:, 0])
    gap = int(np.argmax(np.diff(across[20:-20]))) + 20
    cut = float(across[gap : gap + 2].mean())
    top, bottom, right = places[:, 1].min() - 4, places[:, 1].max() + 4, places[:, 0].max() + 6
    lasso(result, [(cut, top), (right, top), (right, bottom), (cut, bottom)])
    inside = np.flatnonzero(places[:, 0] > cut)
    panel = result.get_by_role("region", name="Selected rows")
    expect(panel.get_by_role("heading")).to_have_text(f"{len(inside)} rows of 178 selected")
    spec = api.get(f"/jobs/{job}").json()
    answer = api.post(f"/datasets/{spec['dataset']}/differences", json={"groups": [inside.tolist()]}).json()
    largest = answer["groups"][0]["differences"]
    names = [one["column"] if one["level"] is None else f"{one['column']} is {one['level']}" for one in largest[:8]]
    expect(panel.locator("tbody tr")).to_have_count(8)
    assert panel.locator("tbody tr td:first-child").all_text_contents() == names
    panel.get_by_role("button", name="Clear").click()
    expect(panel).to_be_hidden()


def test_points_can_be_colored_by_any_column_and_classes_hidden(result: Page) -> None:
    colored = pixels(result)
    key = result.locator(".legend")
    expect(key.get_by_role("button")).to_have_count(3)
    key.get_by_role("button").first.click()
    expect(key.get_by_role("button").first).to_have_attribute("aria-pressed", "false")
    eventually(result, lambda: pixels(result) != colored)
    result.get_by_label("Color", exact=True).select_option("proline")
    proline = sorted(pd.read_csv(io.StringIO(WINE))["proline"])
    expect(key).to_contain_text(f"≤ {proline[4]:g}≥ {proline[-5]:g}")  # 2 % of the values are beyond each end
    result.get_by_label("Color", exact=True).select_option(label="none")
    expect(key.get_by_role("button")).to_have_count(0)


def test_any_two_or_three_axes_can_be_shown(result: Page) -> None:
    result.get_by_label("X axis").select_option("axis 3")
    expect(result.locator(".scatter-plot .xtitle")).to_contain_text("axis 3: ")
    result.get_by_label("Y axis").select_option("axis 1")
    expect(result.locator(".scatter-plot .ytitle")).to_contain_text("axis 1: ")
    result.get_by_label("Z axis").select_option("axis 2")
    expect(result.locator(".plot-area .plot")).to_have_attribute("data-points", "178")
    result.get_by_label("Z axis").select_option("none")
    drawn(result, 178)


def test_the_plot_can_be_zoomed_and_reset(result: Page) -> None:
    whole = result.locator(".scatter-plot g.xtick").all_text_contents()
    result.get_by_role("button", name="Zoom").click()
    box = result.locator(".scatter-plot").bounding_box()
    assert box is not None
    result.mouse.move(box["x"] + 200, box["y"] + 100)
    result.mouse.down()
    result.mouse.move(box["x"] + 300, box["y"] + 180, steps=5)
    result.mouse.up()
    expect(result.locator(".scatter-plot g.xtick").first).not_to_have_text(whole[0])
    result.get_by_role("button", name="Reset view").click()
    expect(result.locator(".scatter-plot g.xtick").first).to_have_text(whole[0])


def test_arrows_stay_inside_the_frame_and_their_labels_apart(result: Page, api: Api, job: str) -> None:
    found = api.get(f"/jobs/{job}/result").json()
    labels = result.locator(".arrows text")
    shown = [int(result.get_by_label(f"{name} axis").input_value()) for name in "XY"]
    for kind, vectors in (("correlations", found["structure"]), ("weights", found["W"])):
        result.get_by_label("Arrows", exact=True).select_option(label=kind)
        strongest = found["features"][int(np.argmax(np.linalg.norm(np.array(vectors)[:, shown], axis=1)))]
        expect(result.locator(".arrows").get_by_text(strongest, exact=True)).to_be_visible()
        expect(labels.first).to_have_text(found["features"][int(np.argmax(found["importance"]))])
    frame = result.locator(".arrows").bounding_box()
    boxes = [label.bounding_box() for label in labels.all()]
    assert frame
    assert len(boxes) > 3
    for place, box in enumerate(boxes):
        assert box
        assert frame["x"] - 6 < box["x"] < box["x"] + box["width"] < frame["x"] + frame["width"] + 6
        assert frame["y"] - 6 < box["y"] < box["y"] + box["height"] < frame["y"] + frame["height"] + 6
        others = [other for other in boxes[:place] if other]
        assert not any(
            abs(box["x"] - other["x"]) < (box["width"] if box["x"] < other["x"] else other["width"]) - 6
            and abs(box["y"] - other["y"]) < 12
            for other in others
        )
    result.get_by_label("Arrows", exact=True).select_option(label="none")
    expect(labels).to_have_count(0)


@every_look
def test_dragging_an_arrow_turns_the_axes_and_the_optimum_comes_back(
    opened: Opener, job: str, viewport: dict[str, int], dark: bool
) -> None:
    result = drawn(opened(f"#/jobs/{job}", viewport=viewport, dark=dark), 178)
    before = pixels(result)
    result.get_by_role("button", name="Tour", exact=True).click()
    told = result.locator(".explorer [role=status]")
    expect(told).to_contain_text("J: 100.0 % of the optimum")
    handle = result.locator(".arrows .handle").first
    handle.focus()
    for _ in range(8):
        handle.press("ArrowLeft")
        handle.press("ArrowDown")
    expect(told).not_to_contain_text("J: 100.0 %")
    eventually(result, lambda: pixels(result) != before)
    result.get_by_role("button", name="Back to the optimum").click()
    expect(told).to_contain_text("J: 100.0 % of the optimum")
    eventually(result, lambda: pixels(result) == before)


def units(page: Page) -> list[float]:
    """Return the pixels of a unit on the x axis and on the y axis."""
    layout = "document.querySelector('.scatter-plot .plot')._fullLayout"
    return [
        float(
            page.evaluate(
                f"{layout}.{axis}axis._length / ({layout}.{axis}axis.range[1] - {layout}.{axis}axis.range[0])"
            )
        )
        for axis in "xy"
    ]


def test_both_axes_have_one_scale_unless_the_user_asks_otherwise(result: Page) -> None:
    x, y = units(result)
    assert x == pytest.approx(y, rel=1e-6)
    result.get_by_label("One scale for both axes").uncheck()
    eventually(result, lambda: abs(units(result)[0] / units(result)[1] - 1) > 0.05)


def test_metrics_and_certificate_are_explained(result: Page, api: Api, job: str) -> None:
    found = api.get(f"/jobs/{job}/result").json()
    section = result.locator("section", has=result.get_by_role("heading", name="Quality of the result"))
    expect(section).to_contain_text("support vector machine (SVM) on the new axes classifies correctly")
    expect(section).to_contain_text(found["stop"])
    expect(section.locator(".badge")).to_have_text("Converged")
    how = result.locator("section", has=result.get_by_role("heading", name="Convergence", exact=True))
    for plot in how.locator(".plot").all():
        plot.scroll_into_view_if_needed()
        expect(plot).to_have_attribute("data-drawn", "yes")
    eigengap = float(f"{found['certificate']['eigengap']:.4g}")
    expect(how).to_contain_text(f"The eigengap is {eigengap:,g}")


def test_the_score_stands_beside_baselines_with_the_confusions_of_the_classes(result: Page, api: Api, job: str) -> None:
    found = api.get(f"/jobs/{job}/result").json()
    expect(result.locator(".headline")).to_contain_text(found["baseline"]["sentence"])
    scores = result.get_by_role("region", name="Scores of the axes")
    expect(scores.locator("tbody tr")).to_have_count(3)
    classes = result.get_by_role("region", name="Precision, recall and predicted classes")
    for place, row in enumerate(found["baseline"]["confusion"]):
        cells = classes.locator("tbody tr").nth(place).locator("td").all_text_contents()
        assert cells[-3:] == [str(count) for count in row]
    expect(result.locator(".card", has_text="What the axes miss")).to_contain_text(found["missed"]["sentence"])


def test_clusters_are_counted_against_the_known_classes(opened: Opener, api: Api, clustered: str) -> None:
    page = drawn(opened(f"#/jobs/{clustered}"), 178)
    table = api.get(f"/jobs/{clustered}/labels").json()
    labels = np.array([row[1] for row in table["rows"]])
    classes = pd.read_csv(io.StringIO(WINE))["class"]
    counts = pd.crosstab(labels, classes)
    against = page.locator(".contingency tbody tr")
    expect(against).to_have_count(3)
    for place, row in enumerate(against.all()):
        cells = [int(text) for text in row.locator("td.number").all_text_contents()]
        assert cells == [*counts.iloc[place].tolist(), int(counts.iloc[place].sum())]
    sizes = page.locator("section", has=page.get_by_role("heading", name="Clusters", exact=True)).locator("tbody tr")
    expect(sizes.first).to_contain_text(str(int((labels == 0).sum())))


@every_look
def test_a_result_fits_every_window_and_is_accessible(
    opened: Opener, clustered: str, viewport: dict[str, int], dark: bool
) -> None:
    page = drawn(opened(f"#/jobs/{clustered}", viewport=viewport, dark=dark), 178)
    expect(page.locator(".contingency")).to_be_visible()
    expect(page.get_by_role("heading", name="Convergence", exact=True)).to_be_visible()
    check_fits(page)
    check_accessible(page)


def test_the_plot_follows_the_color_scheme_of_the_system(result: Page) -> None:
    light = pixels(result)
    swatch = result.locator(".legend .swatch").first
    color = swatch.evaluate("element => getComputedStyle(element).backgroundColor")
    result.emulate_media(color_scheme="dark")
    expect(swatch).not_to_have_css("background-color", color)
    eventually(result, lambda: pixels(result) != light)
