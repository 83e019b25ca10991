"""The comparison of jobs, and the button that runs a job with every kernel."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Opener, Watch, check_accessible, check_fits, every_look
from tests.page.jobs import done, drawn
from tests.support.api import Api

pytestmark = pytest.mark.thorough

KERNELS = {"linear", "squared", "polynomial", "gaussian", "relative gaussian", "multiquadratic"}


@pytest.fixture(scope="module")
def jobs(api: Api) -> list[str]:
    return [done(api, kernel=kernel, q=q, folds=3) for kernel, q in [("linear", 1), ("gaussian", 2)]]


def pictures(page: Page, count: int) -> None:
    """Wait until all small plots are drawn."""
    expect(page.locator(".multiples .scatter-plot[data-drawn='178']")).to_have_count(count)


def test_jobs_are_ranked_in_one_table_with_the_best_first(opened: Opener, api: Api, jobs: list[str]) -> None:
    page = opened(f"#/compare/{','.join(jobs)}")
    pictures(page, 2)
    scores = {api.get(f"/jobs/{job}").json()["metrics"]["accuracy"]: job for job in jobs}
    rows = page.locator("table").first.locator("tbody tr")
    expect(rows.first.locator("a")).to_have_attribute("href", f"#/jobs/{scores[max(scores)]}")
    expect(rows.first.locator(".best")).to_have_text(f"{100 * max(scores):.1f} %")
    expect(page.get_by_role("link", name="gaussian, q 2").first).to_be_visible()
    features = page.locator("section", has=page.get_by_role("heading", name="Feature importance by job")).locator(
        "tbody tr"
    )
    expect(features).to_have_count(12)
    with page.expect_download() as download:
        page.get_by_role("button", name="gaussian, q 2 as SVG").click()
    assert "<svg" in Path(download.value.path()).read_text()


def test_one_click_runs_all_kernels_and_compares_them(opened: Opener, api: Api, jobs: list[str]) -> None:
    page = drawn(opened(f"#/jobs/{jobs[1]}"), 178)
    page.get_by_role("button", name="Run with every kernel").click()
    expect(page.get_by_role("heading", name="Comparison of 6 jobs")).to_be_visible()
    pictures(page, 6)
    expect(page.locator("table").first.locator(".badge.succeeded")).to_have_count(6)
    assert set(page.locator(".multiples h3").all_text_contents()) == KERNELS
    ids = page.url.rsplit("/", 1)[1].split(",")
    posted = [api.get(f"/jobs/{id}").json()["spec"] for id in ids]
    assert {(spec["q"], spec["target"], spec["folds"]) for spec in posted} == {(2, "class", 3)}


def test_an_unknown_job_is_an_error(opened: Opener, jobs: list[str], watch: Watch) -> None:
    watch.provoked.add(404)
    page = opened(f"#/compare/{jobs[0]},nothing")
    expect(page.get_by_role("alert")).to_contain_text("nothing")


@every_look
def test_a_comparison_fits_every_window_and_is_accessible(
    opened: Opener, jobs: list[str], viewport: dict[str, int], dark: bool
) -> None:
    page = opened(f"#/compare/{','.join(jobs)}", viewport=viewport, dark=dark)
    pictures(page, 2)
    check_fits(page)
    check_accessible(page)
