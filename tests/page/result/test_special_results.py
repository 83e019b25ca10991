"""Results that need another view: axes that add nothing, pixels, a deleted table, a section that fails, a leak."""

import io
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Opener, Watch
from tests.page.jobs import WINE, done, drawn, embedding
from tests.service.references.places import Places
from tests.support.api import Api
from tests.support.tables import write_rows

pytestmark = pytest.mark.thorough


CORE_VIEW = """async ([x, y]) => {
    const { coreView } = await import(new URL("page/result/explorer/ranges.js", document.baseURI).href);
    return coreView({ points: { x, y }, isEqual: true }, { width: 800, height: 400 });
}"""


def collinear_table() -> str:
    """Two classes along x0; x4 and x5 are nearly equal and tell nothing."""
    X = np.random.default_rng(0).standard_normal((160, 6))
    X[:, 5] = X[:, 4] + 0.05 * X[:, 3]
    lines = [",".join([*map("{:.4f}".format, row), "ab"[int(row[0] > 0)]]) for row in X]
    return "\n".join(["x0,x1,x2,x3,x4,x5,y", *lines])


def test_an_axis_that_adds_nothing_is_said_to_be_for_the_picture_only(opened: Opener, api: Api) -> None:
    job = done(api, collinear_table(), "collinear.csv", target="y", q=2)
    page = drawn(opened(f"#/jobs/{job}"), 160)
    expect(page.locator(".headline")).to_contain_text("The most important feature is x0")
    expect(page.locator(".headline")).to_contain_text("Axis 2 adds nothing; it is there for plots only.")
    expect(page.locator(".scatter-plot .ytitle")).to_have_text("axis 2: adds nothing, for plots only")
    card = page.locator("figure", has_text="Which features matter")
    expect(card.locator(".plot .ytick", has_text="x4 / x5")).to_have_count(1)  # a group is one bar
    expect(card.locator(".plot .xerror")).to_have_count(10)  # of the importance and of the permutation
    expect(page.locator(".arrows text", has_text="x4 / x5")).to_have_count(1)  # and one arrow


def test_rows_far_from_all_others_are_outside_the_first_view_and_counted(page: Page) -> None:
    near = np.random.default_rng(0).standard_normal((600, 2))
    far = [[40, 0.1], [0.2, -50]]

    def core(points: Any) -> Any:
        return page.evaluate(CORE_VIEW, np.transpose(points).tolist())

    found = core([*near.tolist(), *far])
    assert found["outside"] == 2
    assert all(-12 < low < -2.5 and 2.5 < high < 12 for low, high in found["view"].values())
    assert core(near) is None
    assert core([*near[:100].tolist(), *far]) is None  # of few rows, all are shown


def test_a_single_axis_is_drawn_with_a_second_one_that_is_not_ranked(opened: Opener, api: Api) -> None:
    job = done(api, collinear_table(), "collinear.csv", target="y", q=1)
    page = drawn(opened(f"#/jobs/{job}"), 160)
    expect(page.locator(".scatter-plot .xtitle")).to_have_text("axis 1: contributes 100 %")
    expect(page.locator(".scatter-plot .ytitle")).to_have_text("adds nothing, for plots only")


def test_the_tour_of_a_single_axis_scores_that_axis_alone(opened: Opener, api: Api) -> None:
    content = collinear_table()
    job = done(api, content, "collinear.csv", target="y", q=1)
    axis = embedding(api, job)[:, 0]
    classes = pd.read_csv(io.StringIO(content))["y"].to_numpy()
    distances = np.abs(axis[:, None] - axis)
    np.fill_diagonal(distances, np.inf)
    nearest = classes[np.argsort(distances, axis=1)[:, :5]]
    score = np.mean((nearest == classes[:, None]).sum(axis=1) > 2)
    page = drawn(opened(f"#/jobs/{job}"), len(axis))
    page.get_by_role("button", name="Tour", exact=True).click()
    expect(page.locator(".tour-score")).to_have_text(
        f"J: 100.0\u00a0% of the optimum · Quick accuracy: {score:.3f} (optimum {score:.3f})"
    )


def test_the_tour_shows_the_objective_of_whitened_rows(opened: Opener, api: Api) -> None:
    page = drawn(opened(f"#/jobs/{done(api, scale='whiten', q=2)}"), 178)
    page.get_by_role("button", name="Tour", exact=True).click()
    told = page.locator(".tour-score")
    expect(told).to_contain_text("J: 100.0\u00a0% of the optimum")
    handle = page.locator(".arrows .handle").first
    handle.focus()
    for _ in range(12):
        handle.press("ArrowLeft")
        handle.press("ArrowDown")
    expect(told).to_contain_text(re.compile(r"J: [1-9]?\d\.\d\u00a0% of the optimum"))


def image_table(pixels: int) -> str:
    rng = np.random.default_rng(0)
    values = np.round(rng.standard_normal((60, pixels)) + 3 * (np.arange(60) % 2)[:, None] * (np.arange(pixels) < 5), 3)
    lines = [",".join([*(f"p{place}" for place in range(pixels)), "y"])]
    return "\n".join([*lines, *(",".join([*map(str, row), "ab"[place % 2]]) for place, row in enumerate(values))])


@pytest.mark.parametrize(("pixels_", "metadata"), [(12, {"image": "3x4"}), (36, {})], ids=["told", "square"])
def test_features_that_are_pixels_are_shown_as_images(
    opened: Opener, api: Api, pixels_: int, metadata: dict[str, str]
) -> None:
    job = done(api, image_table(pixels_), "images.csv", target="y", q=2, metadata=metadata)
    page = drawn(opened(f"#/jobs/{job}"), 60)
    axes = page.locator("section", has=page.get_by_role("heading", name="Axes as images"))
    expect(axes.locator("figure")).to_have_count(2)
    means = page.locator("section", has=page.get_by_role("heading", name="Mean image of each group"))
    expect(means.locator("figure h3")).to_have_text(["a", "b"])
    means.scroll_into_view_if_needed()
    expect(means.locator("image").first).to_be_attached()


def test_a_result_is_shown_after_its_table_was_deleted(opened: Opener, api: Api, watch: Watch) -> None:
    watch.provoked.add(404)
    job = done(api, WINE.replace("alcohol", "spirit"), q=2)
    api.delete(f"/datasets/{api.get(f'/jobs/{job}').json()['dataset']}").raise_for_status()
    page = drawn(opened(f"#/jobs/{job}"), 178)
    expect(page.get_by_role("heading", name="Downloads")).to_be_visible()
    expect(page.locator(".claim")).to_contain_text("13 features were reduced to 2 new axes")


def test_a_result_is_shown_whose_rows_stay_in_their_files(opened: Opener, api: Api, places: Places) -> None:
    write_rows(places.tables / "page", files=1)
    dataset = api.post("/datasets", json={"uri": str(places.tables / "page")}).json()["id"]
    spec = {"paradigm": "supervised", "target": "class", "kernel": "polynomial", "q": 2, "folds": 2}
    job = api.submit(dataset=dataset, **spec)
    api.succeeded(job)
    page = drawn(opened(f"#/jobs/{job}"), 2_000)
    expect(page.get_by_role("heading", name="Downloads")).to_be_visible()
    expect(page.locator(".claim")).to_contain_text("new axes")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_an_error_in_one_section_leaves_the_others(opened: Opener, api: Api, watch: Watch) -> None:
    job = done(api, q=2)
    watch.provoked.add(503)
    page = opened()
    problem = {"title": "Temporarily unavailable", "status": 503, "detail": "Redis does not answer.", "errors": []}
    page.route("**/differences", lambda route: route.fulfill(status=503, json=problem))
    page.goto(f"{page.url.split('#')[0]}#/jobs/{job}")
    drawn(page, 178)
    expect(page.get_by_role("alert")).to_have_text("Redis does not answer.")
    expect(page.get_by_role("heading", name="Convergence", exact=True)).to_be_visible()


def test_a_feature_with_most_of_the_importance_is_asked_about_and_left_out(opened: Opener, api: Api) -> None:
    job = done(api, collinear_table(), "collinear.csv", target="y", q=1)
    page = drawn(opened(f"#/jobs/{job}"), 160)
    expect(page.locator(".question")).to_contain_text("Is x0 known before y? What is measured later")
    page.get_by_role("button", name="Run again without it").click()
    expect(page).not_to_have_url(f"#/jobs/{job}")
    expect(page.locator("h1 .badge")).to_have_text("done")
    features = api.get(f"/jobs/{page.url.rsplit('/', 1)[1]}").json()["spec"]["features"]
    assert features == ["x1", "x2", "x3", "x4", "x5"]
