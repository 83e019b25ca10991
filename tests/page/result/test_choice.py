"""Settings chosen from the data: the progress of the choice, its candidates, a tour of them, and running again."""

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from ism_jobs.spec import SupervisedSpec
from tests.page.conftest import Opener, check_accessible, check_fits, every_look
from tests.page.jobs import WINE, done, drawn, eventually, pixels
from tests.support.api import Api

FEW = "\n".join(WINE.splitlines()[:1] + WINE.splitlines()[1::3])
GEODESIC = """async ([one, other]) => {
    const { geodesic } = await import(new URL("page/result/tour/frames.js", document.baseURI).href);
    const frame = (W) => ({ W, rows: W[0].map((_, axis) => W.map((row) => row[axis])) });
    const path = geodesic(frame(one), frame(other));
    return { angles: path.angles, W: [0, 0.5, 1].map((t) => path.at(t).W), rows: path.at(0.5).rows.map((a) => [...a]) };
}"""


@pytest.fixture(scope="module")
def job(api: Api) -> str:
    return done(api, FEW, "few.csv", kernel="auto", q=2, resamples=3)


@pytest.fixture
def result(opened: Opener, job: str) -> Page:
    return drawn(opened(f"#/jobs/{job}"), 60)


def test_the_candidates_are_listed_with_the_chosen_one_and_the_reason(result: Page, api: Api, job: str) -> None:
    choice = api.get(f"/jobs/{job}/result").json()["choice"]
    section = result.locator(".chosen")
    expect(section).to_contain_text(choice["reason"])
    section.get_by_text(f"All {len(choice['candidates'])} candidates").click()
    rows = section.get_by_role("region", name="All candidates, the best first").locator("tbody tr")
    expect(rows).to_have_count(len(choice["candidates"]))
    (taken,) = [each for each in choice["candidates"] if each["chosen"]]
    (marked,) = [text for text in rows.all_text_contents() if "chosen" in text]
    assert f"{100 * taken['score']:.1f}\u00a0% ± {100 * taken['error']:.1f}\u00a0%" in marked
    assert ("whitened" if taken["scale"] == "whiten" else "standardized") in marked
    scores = [float(text.split()[0]) for text in rows.locator("td:nth-child(2)").all_text_contents() if text != "–"]
    assert scores == sorted(scores, reverse=True)
    expect(result.locator(".page-head")).to_contain_text("explains class · automatic settings · 2 axes")


def test_a_click_runs_the_job_with_the_chosen_settings(result: Page, api: Api, job: str) -> None:
    choice = api.get(f"/jobs/{job}/result").json()["choice"]
    before = result.url
    result.get_by_role("button", name="Run again with exactly these settings").click()
    expect(result).not_to_have_url(before)
    expect(result.locator("h1 .badge")).to_have_text("done")
    pinned = result.url.rsplit("/", 1)[1]
    assert pinned != job
    spec = api.get(f"/jobs/{pinned}").json()["spec"]
    defaults = {name: field.default for name, field in SupervisedSpec.model_fields.items()}  # some are not stored
    assert {name: (defaults | spec)[name] for name in choice["spec"]} == choice["spec"]
    drawn(result, 60)
    expect(result.locator(".chosen")).to_have_count(0)


def test_loadings_have_error_bars_if_the_job_resampled(result: Page, api: Api, job: str) -> None:
    stability = api.get(f"/jobs/{job}/result").json()["stability"]
    card = result.locator("figure", has=result.get_by_role("heading", name="Axis 1", exact=True))
    card.scroll_into_view_if_needed()
    expect(card.locator(".plot")).to_have_attribute("data-drawn", "yes")
    expect(card.locator(".errorbar")).to_have_count(13)
    card.get_by_text("All loadings as a table").click()
    errors = card.locator("tbody td:nth-child(3)")
    expect(errors).to_have_count(13)
    shown = sorted(float(text) for text in errors.all_text_contents())
    assert shown == pytest.approx(sorted(row[0] for row in stability["errors"]), rel=0.06)
    expect(result.get_by_role("button", name="Standard errors as CSV")).to_be_visible()


def test_the_progress_of_a_choice_counts_the_fits(api: Api, opened: Opener) -> None:
    rows = (",".join(str((row * prime) % 1009) for prime in (3, 7, 11, 13, 17, 19, 23, 29)) for row in range(1_200))
    dataset = api.upload(("a,b,c,d,e,f,g,y\n" + "\n".join(rows)).encode(), "long.csv")["id"]
    job = api.submit(dataset=dataset, paradigm="supervised", target="y", target_kind="values")
    page = opened(f"#/jobs/{job}")
    expect(page.locator(".stage")).to_contain_text("Choosing settings:")
    expect(page.locator(".stage")).to_contain_text("fits so far")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("h1 .badge")).to_have_text("cancelled")


def test_the_axes_turn_to_another_candidate_and_back(result: Page, api: Api, job: str) -> None:
    choice = api.get(f"/jobs/{job}/result").json()["choice"]
    stops = sorted((each for each in choice["candidates"] if each["W"]), key=lambda each: -each["score"])
    assert stops
    before = pixels(result)
    result.get_by_role("button", name="Tour", exact=True).click()
    candidates = result.get_by_role("region", name="Other candidates")
    expect(candidates.locator("tbody tr")).to_have_count(len(stops))
    expect(candidates.locator("tbody tr").first).to_contain_text(f"{stops[0]['score']:.3f}")
    first = candidates.get_by_role("button").first
    first.click()
    expect(first).to_have_attribute("aria-pressed", "true")
    expect(result.locator(".scatter-plot .xtitle")).to_have_text("axis 1, turned")
    eventually(result, lambda: pixels(result) != before)
    result.get_by_role("button", name="Back to the optimum").click()
    expect(first).to_have_attribute("aria-pressed", "false")
    expect(result.locator(".scatter-plot .xtitle")).to_contain_text("contributes")
    eventually(result, lambda: pixels(result) == before)


def test_a_feature_that_is_left_out_changes_the_score_as_the_table_says(result: Page) -> None:
    result.get_by_role("button", name="Tour", exact=True).click()
    line = result.get_by_role("region", name="Without one feature").locator("tbody tr").first
    score = line.locator("td").nth(2).text_content()
    line.get_by_role("button").click()
    expect(result.locator(".tour-score")).to_contain_text(f"Quick accuracy: {score} (optimum")


def test_a_geodesic_turns_every_principal_angle_evenly(page: Page) -> None:
    for axes in ((2, 2), (3, 1), (2, 4)):
        check_geodesic(page, axes)


def check_geodesic(page: Page, axes: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    one, other = (np.linalg.qr(rng.standard_normal((6, q)))[0] for q in axes)
    q = min(axes)
    found = page.evaluate(GEODESIC, [one.tolist(), other.tolist()])
    cosines = np.linalg.svd(one.T @ other[:, :q], compute_uv=False)
    assert np.sort(found["angles"]) == pytest.approx(np.sort(np.arccos(cosines))[:q])
    start, middle, end = map(np.array, found["W"])
    assert start == pytest.approx(one, abs=1e-12)
    half = np.linalg.svd(one.T @ middle, compute_uv=False)[: axes[0]]
    assert np.sort(np.arccos(half.clip(max=1)))[-q:] == pytest.approx(np.sort(found["angles"]) / 2, abs=1e-7)
    assert end @ end.T @ other[:, :q] == pytest.approx(other[:, :q], abs=1e-12)  # it contains the other axes
    np.testing.assert_allclose(np.transpose(found["rows"]), middle, atol=1e-12)  # rows turn like W


def test_all_candidates_are_visited_and_the_tour_ends_at_the_optimum(result: Page) -> None:
    result.emulate_media(reduced_motion="reduce")  # the axes jump instead of turning
    result.get_by_role("button", name="Tour", exact=True).click()
    candidates = result.get_by_role("region", name="Other candidates")
    seen = "() => { window.visited = new Set(); new MutationObserver(list => list.forEach(({ target }) =>"
    seen += " target.getAttribute('aria-pressed') === 'true' && window.visited.add(target.textContent)))"
    seen += ".observe(document.querySelector('.tour'), { subtree: true, attributeFilter: ['aria-pressed'] }) }"
    result.evaluate(seen)
    candidates.locator("xpath=..").get_by_role("button", name="Visit them all").click()
    names = candidates.locator("tbody button").all_text_contents()
    eventually(result, lambda: result.evaluate("window.visited.size") == len(set(names)))
    expect(result.locator(".scatter-plot .xtitle")).to_contain_text("contributes")
    expect(candidates.locator("[aria-pressed=true]")).to_have_count(0)


@every_look
def test_a_choice_fits_every_window_and_is_accessible(
    opened: Opener, job: str, viewport: dict[str, int], dark: bool
) -> None:
    page = drawn(opened(f"#/jobs/{job}", viewport=viewport, dark=dark), 60)
    page.locator(".chosen").scroll_into_view_if_needed()
    page.get_by_role("button", name="Tour", exact=True).click()
    expect(page.get_by_role("region", name="Without one feature")).to_be_visible()
    check_fits(page)
    check_accessible(page)
