"""Settings chosen from the data: the progress of the choice, its candidates, and running again with it."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Opener, check_accessible, check_fits
from tests.page.jobs import WINE, done, drawn
from tests.support.api import Api
from tools.browser import LOOKS

FEW = "\n".join(WINE.splitlines()[:1] + WINE.splitlines()[1::3])


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
    assert f"{taken['score']:.3f} ± {taken['error']:.3f}" in marked
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
    defaults = {"notify": None, "priority": 0}  # a stored spec leaves these out
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


@pytest.mark.parametrize(("viewport", "dark"), LOOKS.values(), ids=LOOKS)
def test_a_choice_fits_every_window_and_is_accessible(
    opened: Opener, job: str, viewport: dict[str, int], dark: bool
) -> None:
    page = drawn(opened(f"#/jobs/{job}", viewport=viewport, dark=dark), 60)
    page.locator(".chosen").scroll_into_view_if_needed()
    check_fits(page)
    check_accessible(page)
