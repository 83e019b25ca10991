"""The progress of a running job, and the list of jobs."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Opener, Watch, check_accessible, check_fits, every_look
from tests.service.conftest import SLOW
from tests.support.api import Api
from tests.support.forked_commands import forked_service
from tools.browser import PATIENCE

pytestmark = pytest.mark.thorough

WINE = (Path(__file__).parents[2] / "examples" / "wine.csv").read_bytes()


def submit_slow(api: Api) -> str:
    """Submit a job that runs much longer than any test, in many short steps."""
    rows = np.random.default_rng(0).standard_normal((6000, 61)).round(3)
    names = [*(f"x{place}" for place in range(60)), "y"]
    table = "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)])
    return api.submit(dataset=api.upload(table.encode(), "slow.csv")["id"], **SLOW, starts=1)


@pytest.fixture
def slow_job(api: Api) -> Iterator[str]:
    job = submit_slow(api)
    yield job
    api.post(f"/jobs/{job}/cancel")
    api.ended(job)


def iteration(page: Page) -> int:
    return int((page.locator(".facts dd").first.text_content() or "").replace("–", "-1"))


def wait_for_iteration(page: Page, least: int) -> None:
    """Wait until the page shows at least this iteration."""
    expect(page.locator(".stage")).to_have_text("Optimizing the axes")
    while iteration(page) < least:
        page.wait_for_timeout(50)


def points(page: Page, chart: str) -> int:
    figure = page.locator("figure").filter(has_text=chart)
    return len((figure.locator("polyline").first.get_attribute("points") or "").split())


def test_the_charts_grow_while_the_job_runs(opened: Opener, slow_job: str) -> None:
    page = opened(f"#/jobs/{slow_job}")
    wait_for_iteration(page, 2)
    before, drawn = iteration(page), points(page, "Objective")
    wait_for_iteration(page, before + 3)
    expect(page.locator("figure").filter(has_text="Eigenvalues").locator("polyline")).to_have_count(3)
    assert points(page, "Objective") > drawn
    expect(page.locator("h1 .badge")).to_have_text("running")
    expect(page.get_by_text("elapsed")).to_be_visible()
    expect(page.get_by_role("img", name="Objective:")).to_be_visible()


def test_a_reload_keeps_the_charts(opened: Opener, slow_job: str) -> None:
    page = opened(f"#/jobs/{slow_job}")
    wait_for_iteration(page, 5)
    before, drawn = iteration(page), points(page, "Objective")
    page.reload()
    wait_for_iteration(page, before)
    assert points(page, "Objective") >= drawn


def test_a_job_is_cancelled_by_a_click(opened: Opener, slow_job: str, api: Api) -> None:
    page = opened(f"#/jobs/{slow_job}")
    wait_for_iteration(page, 1)
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("h1 .badge")).to_have_text("cancelled")
    expect(page.get_by_role("heading", name="The job was cancelled")).to_be_visible()
    assert api.get(f"/jobs/{slow_job}").json()["state"] == "cancelled"


def test_a_job_shows_a_preview_at_once_and_can_be_finished_early(opened: Opener, slow_job: str) -> None:
    page = opened(f"#/jobs/{slow_job}")
    expect(page.get_by_role("heading", name="Preview of the best result so far")).to_be_visible()
    expect(page.get_by_role("img", name="2,000 rows")).to_be_visible()
    expect(page.locator(".ranking li")).to_have_count(8)
    wait_for_iteration(page, 1)
    check_accessible(page)
    page.get_by_role("button", name="Finish now").click()
    expect(page.locator("h1 .badge")).to_have_text("done")
    expect(page.get_by_text("finished early").first).to_be_attached()


def test_leaving_a_job_closes_its_event_stream(opened: Opener, slow_job: str) -> None:
    page = opened(f"#/jobs/{slow_job}")
    wait_for_iteration(page, 1)
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/events")):
        page.get_by_role("link", name="Jobs").click()
    expect(page.get_by_role("heading", name="Jobs")).to_be_visible()


def test_an_unknown_job_and_an_unknown_page_are_errors(opened: Opener, watch: Watch) -> None:
    watch.provoked.add(404)
    page = opened("#/jobs/nothing")
    expect(page.get_by_role("alert")).to_contain_text("nothing")
    page.goto(page.url.split("#")[0] + "#/no/such/view")
    expect(page.get_by_role("alert")).to_contain_text("No page has the address #/no/such/view.")


@pytest.fixture(scope="module")
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, psutil.Process]]:
    """A service whose processes the test kills. It does not retry a job whose process died."""
    folder = tmp_path_factory.mktemp("mortal")
    with forked_service(folder, workers=1, ISM_MAX_ATTEMPTS="1") as (url, process):
        yield url, psutil.Process(process.pid)


def api_process(service: psutil.Process, url: str) -> psutil.Process:
    port = int(url.rsplit(":", 1)[1])
    return next(
        child
        for child in service.children()
        if port in [one.laddr.port for one in child.net_connections() if one.status == psutil.CONN_LISTEN]
    )


def test_a_lost_connection_is_restored_and_a_failure_is_explained(
    opened: Opener, watch: Watch, mortal: tuple[str, psutil.Process]
) -> None:
    """Kill the API while a job runs, which `ism serve` restarts; then kill the process of the job."""
    watch.cut = True
    url, service = mortal
    with Api(base_url=url, timeout=90) as api:
        job = submit_slow(api)
        page = opened(f"#/jobs/{job}", url=url)
        wait_for_iteration(page, 1)
        lost = page.get_by_text("The connection is lost.")
        expect(lost).to_be_hidden()
        api_process(service, url).kill()
        expect(lost).to_be_visible()
        expect(lost).to_be_hidden(timeout=4 * PATIENCE)  # a service takes that long to start on a busy machine
        wait_for_iteration(page, iteration(page) + 1)

        front = api_process(service, url)
        for part in service.children():
            for process in part.children() if part != front else []:
                process.kill()
        expect(page.locator("h1 .badge")).to_have_text("failed")
        error = api.get(f"/jobs/{job}").json()["error"]
        expect(page.get_by_role("alert")).to_contain_text(error["title"])
        expect(page.get_by_role("alert")).to_contain_text(error["detail"])
        expect(page.get_by_role("link", name="Change and run again").first).to_be_visible()
        check_accessible(page)


def test_jobs_are_listed_with_states_and_links_that_can_be_shared(
    opened: Opener, api: Api, slow_job: str, watch: Watch
) -> None:
    wine = api.upload(WINE, "wine.csv")["id"]
    done = api.submit(
        dataset=wine, paradigm="supervised", target="class", kernel="gaussian", folds=3, label="first look"
    )
    api.succeeded(done)
    page = opened("#/jobs")
    finished, running = page.locator(f"[data-job='{done}']"), page.locator(f"[data-job='{slow_job}']")
    expect(finished.locator(".badge")).to_have_text("done")
    expect(finished).to_contain_text("explains class · gaussian kernel · 2 axes")
    expect(finished).to_contain_text("accuracy 9")
    expect(running.locator(".badge")).to_have_text("running")
    finished.get_by_role("button", name="Copy link").click()
    expect(finished.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    shared = opened(link.removeprefix(page.url.split("#")[0]))
    expect(shared.get_by_role("heading", name="wine.csv")).to_be_visible()
    expect(shared.get_by_text("first look · explains class")).to_be_visible()

    page.get_by_label("Filter by state").select_option("succeeded")
    expect(running).to_have_count(0)
    page.get_by_label("Filter by state").select_option("")
    running.get_by_role("button", name="Cancel").click()
    expect(running.locator(".badge")).to_have_text("cancelled")
    finished.get_by_role("button", name="Delete").click()
    expect(finished).to_have_count(0)
    watch.provoked.add(404)
    assert api.get(f"/jobs/{done}").status_code == 404


def test_finished_jobs_can_be_chosen_to_compare(opened: Opener, api: Api) -> None:
    wine = api.upload(WINE, "wine.csv")["id"]
    jobs = [
        api.submit(dataset=wine, paradigm="supervised", target="class", kernel="gaussian", folds=0, q=q) for q in (1, 2)
    ]
    for job in jobs:
        api.succeeded(job)
    page = opened("#/jobs")
    expect(page.get_by_role("button", name="Compare")).to_be_disabled()
    for job in jobs:
        page.locator(f"[data-job='{job}'] input").check()
    page.get_by_role("button", name="Compare 2").click()
    expect(page).to_have_url(f"{page.url.split('#')[0]}#/compare/{jobs[0]},{jobs[1]}")


@every_look
def test_progress_and_list_fit_every_window_and_are_accessible(
    opened: Opener, slow_job: str, viewport: dict[str, int], dark: bool
) -> None:
    page = opened(f"#/jobs/{slow_job}", viewport=viewport, dark=dark)
    wait_for_iteration(page, 1)
    check_fits(page)
    check_accessible(page)
    page.get_by_role("link", name="Jobs").click()
    expect(page.locator(f"[data-job='{slow_job}']")).to_be_visible()
    check_fits(page)
    check_accessible(page)
