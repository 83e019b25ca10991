"""From a file to a job: the proposed settings, and the form."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Opener, check_accessible, check_fits, every_look
from tests.page.forms import begin, field, spec_of
from tests.support.api import Api

WINE = (Path(__file__).parents[2] / "examples" / "wine.csv").read_text()


def test_a_dropped_csv_becomes_a_result_with_one_click(page: Page, api: Api) -> None:
    begin(page, WINE, "wine.csv")
    expect(page.get_by_role("heading", name="wine.csv")).to_be_visible()
    page.get_by_role("button", name="Run").click()
    expect(page.locator("h1 .badge")).to_have_text("done")
    job = api.get(f"/jobs/{page.url.rsplit('/', 1)[1]}").json()
    assert (job["state"], job["spec"]["target"], job["spec"]["kernel"]) == ("succeeded", "class", "auto")


@pytest.mark.parametrize(
    ("example", "rows", "target"),
    [
        ("Digits", "1,797 rows", "digit"),
        pytest.param("Wine", "178 rows", "class", marks=pytest.mark.thorough),
        pytest.param("WDBC", "569 rows", "diagnosis", marks=pytest.mark.thorough),
    ],
)
def test_every_example_can_be_used_without_a_file(page: Page, example: str, rows: str, target: str) -> None:
    page.get_by_role("button", name=example).click()
    expect(page.get_by_label("Column to explain")).to_have_value(target)
    # not before: the start lists the latest tables with their rows
    expect(page.locator(".page-head").get_by_text(rows)).to_be_visible()
    expect(page.locator(".cost")).to_contain_text(re.compile(r"features: about \d+ s on a free core"))
    spec = spec_of(page)
    assert spec == {"dataset": spec["dataset"], "paradigm": "supervised", "target": target, "kernel": "auto"}


def table(rows: int, **columns: Any) -> str:
    lines = [",".join(columns)]
    lines += [",".join(str(make(row)) for make in columns.values()) for row in range(rows)]
    return "\n".join(lines)


TABLES: dict[str, tuple[str, dict[str, object]]] = {
    "measurements alone": (
        table(40, a=lambda row: row * 0.3, b=lambda row: (row * 7) % 11 / 2),
        {"paradigm": "unsupervised", "clusters": 3},
    ),
    "gaps and text": (
        table(
            40,
            id=lambda row: row + 1,
            size=lambda row: "" if row == 3 else row * 0.3,
            color=lambda row: "red" if row % 2 else "blue",
            outcome=lambda row: "well" if row % 3 else "ill",
        ),
        {"paradigm": "supervised", "target": "outcome"},
    ),
    "a measured target": (
        table(40, a=lambda row: row * 0.3, b=lambda row: (row * 7) % 11, y=lambda row: row * 1.7),
        {"paradigm": "supervised", "target": "y"},
    ),
    "a target with gaps": (
        table(40, a=lambda row: row * 0.3, b=lambda row: (row * 7) % 11 / 2, label=lambda row: ["u", "v", ""][row % 3]),
        {"paradigm": "supervised", "target": "label"},
    ),
    "one feature": (table(40, a=lambda row: row * 0.3, y=lambda row: row % 2), {"target": "y"}),
}


ON_COMMIT = ("gaps and text", "a measured target")


@pytest.mark.parametrize(
    "case", [name if name in ON_COMMIT else pytest.param(name, marks=pytest.mark.thorough) for name in TABLES]
)
def test_the_proposed_settings_fit_the_table_and_run(page: Page, api: Api, case: str) -> None:
    content, expected = TABLES[case]
    begin(page, content)
    spec = spec_of(page)
    assert expected.items() <= spec.items()
    assert {"features", "missing", "categorical"}.isdisjoint(spec)  # the service decides
    api.succeeded(api.submit(**spec | ({"folds": 0} if spec["paradigm"] == "supervised" else {})))


def test_a_column_that_is_no_longer_the_target_is_a_feature_again(page: Page) -> None:
    begin(page, TABLES["gaps and text"][0])
    target = page.get_by_label("Column to explain")
    expect(target).to_have_value("outcome")
    target.select_option("size")
    expect(page.get_by_label("Use outcome as a feature")).to_be_checked()
    spec = spec_of(page)
    assert (spec["target"], "features" in spec) == ("size", False)
    page.get_by_label("Find clusters", exact=False).first.check()
    expect(page.get_by_label("Use size as a feature")).not_to_be_checked()  # the known target is none of a clustering
    page.get_by_label("Explain a column", exact=False).check()
    target.select_option("outcome")
    assert "features" not in spec_of(page)


def test_a_first_column_with_two_classes_is_proposed_before_other_texts(page: Page) -> None:
    left = table(
        40,
        rownames=lambda row: row + 1,
        left=lambda row: "yes" if row % 3 else "no",
        months=lambda row: row * 7 % 23,
        payment=lambda row: ["card", "bank", "cash"][row % 3],
    )
    begin(page, left)
    expect(page.get_by_label("Column to explain")).to_have_value("left")


def test_the_columns_are_shown_with_types_gaps_and_first_values(page: Page) -> None:
    begin(page, TABLES["gaps and text"][0])
    rows = page.locator(".columns tbody tr")
    expect(rows).to_have_count(4)
    size = rows.filter(has_text="size")
    expect(size).to_contain_text("number")
    expect(size).to_contain_text("1 (3 %)")
    expect(size).to_contain_text("0 · 0.3 · 0.6 · – · 1.2")
    expect(rows.filter(has_text="color")).to_contain_text("blue, red")
    expect(rows.filter(has_text="outcome")).to_contain_text("target")
    expect(rows.filter(has_text="id").first).to_contain_text("Left out: its name says that it identifies rows")
    expect(page.get_by_label("Use id as a feature")).not_to_be_checked()
    page.get_by_label("Use id as a feature").check()
    expect(page.get_by_text("3 of 3 columns are used as features.")).to_be_visible()
    assert spec_of(page)["features"] == "all"
    page.get_by_label("Use size as a feature").uncheck()
    assert spec_of(page)["features"] == ["id", "color"]
    page.get_by_label("Use id as a feature").uncheck()
    page.get_by_label("Use size as a feature").check()
    assert "features" not in spec_of(page)


def test_a_wide_table_is_shown_in_part_and_can_be_searched(page: Page) -> None:
    names = [f"gene{place}" for place in range(300)]
    lines = [",".join([*names, "y"]), *(",".join(str((row * place) % 17) for place in range(301)) for row in range(30))]
    begin(page, "\n".join(lines))
    rows = page.locator(".columns tbody tr")
    expect(rows).to_have_count(60)
    page.get_by_label("Find a column").fill("gene29")
    expect(rows).to_have_count(11)
    page.get_by_label("Find a column").fill("")
    page.get_by_role("button", name="Show all 301 columns").click()
    expect(rows).to_have_count(301)


def test_the_form_as_curl_posts_the_same_job(page: Page, api: Api) -> None:
    begin(page, WINE.replace("malic_acid", "the 'malic' \"acid\" $HOME"))
    page.get_by_label("Use alcohol as a feature").uncheck()
    page.get_by_label("Kernel", exact=True).select_option("polynomial")
    page.get_by_text("Advanced settings").click()
    page.get_by_label("Degree").fill("2")
    page.get_by_text("This job as JSON and as a curl command").click()
    page.get_by_role("button", name="Copy curl").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    command = page.evaluate("navigator.clipboard.readText()")
    job = json.loads(subprocess.run(["bash", "-c", command], check=True, capture_output=True).stdout)
    shown, posted = spec_of(page), job["spec"]
    assert {name: posted[name] for name in shown if name != "kernel"} | {"kernel": shown["kernel"]} == shown
    assert shown["kernel"] == {"name": "polynomial", "degree": 2}
    assert shown["kernel"].items() <= posted["kernel"].items()
    assert "alcohol" not in job["spec"]["features"]
    assert "the 'malic' \"acid\" $HOME" in job["spec"]["features"]
    api.ended(job["id"])


def test_a_new_kernel_of_the_catalogue_needs_no_change_of_the_page(page: Page) -> None:
    catalogue = page.request.get(f"{page.url.rstrip('/')}/kernels").json()
    power = {"name": "power", "type": "integer", "types": ["integer"], "required": False, "default": 2}
    cosine = {"name": "cosine", "title": "Cosine", "form": "product", "formula": "f = cos β", "description": "A toy."}
    cosine |= {"parameters": [power | {"choices": None, "description": "How often."}], "example": "cosine"}
    page.route("**/kernels", lambda route: route.fulfill(json={"items": [*catalogue["items"], cosine]}))
    begin(page, WINE)
    page.get_by_label("Kernel", exact=True).select_option("cosine")
    expect(field(page, "kernel")).to_contain_text("A toy.")
    page.get_by_text("Advanced settings").click()
    expect(page.get_by_label("Power")).to_have_attribute("placeholder", "2")
    expect(field(page, "kernel.power")).to_contain_text("How often.")
    page.get_by_label("Power").fill("4")
    assert spec_of(page)["kernel"] == {"name": "cosine", "power": 4}


def test_every_purpose_asks_for_what_it_needs_and_runs(page: Page, api: Api) -> None:
    begin(page, WINE)
    for purpose, fields in {
        "Find clusters with guidance": ["Number of clusters", "Guiding column"],
        "Find other clusters": ["Number of clusters", "Known clustering"],
        "Find clusters": ["Number of clusters"],
    }.items():
        page.get_by_role("radio", name=purpose, exact=False).first.check()
        for label in fields:
            expect(page.get_by_label(label, exact=True)).to_be_visible()
        expect(page.get_by_label("Column to explain")).to_have_count(0)
        expect(page.locator(".cost")).to_contain_text(re.compile(r"features: about \d s on a free core"))
        spec = spec_of(page)
        assert "class" not in spec.get("features", [])
        assert ("features" in spec) == (purpose == "Find clusters")  # else the class has another role
        if purpose == "Find clusters":
            page.get_by_text("Advanced settings").click()
            page.get_by_label("Compare with").select_option("class")
            spec = spec_of(page)
        api.succeeded(api.submit(**spec | ({"folds": 0} if spec["paradigm"] == "supervised" else {})))


def test_settings_are_automatic_unless_they_are_given(page: Page) -> None:
    begin(page, WINE)
    kernel, axes = page.get_by_label("Kernel", exact=True), page.get_by_label("New axes (q)")
    expect(kernel).to_have_value("auto")
    expect(axes).to_have_value("")
    expect(axes).to_have_attribute("placeholder", "automatic")
    page.get_by_text("Advanced settings").click()
    expect(page.get_by_label("Scale", exact=True).locator("option:checked")).to_have_text("automatic")
    expect(page.locator(".cost")).to_contain_text("about 3 s")
    kernel.select_option("gaussian")
    expect(page.locator(".cost")).to_contain_text("about 1 s")
    expect(page.get_by_label("Kernel", exact=True)).to_be_focused()
    expect(axes).to_have_attribute("placeholder", "2")
    expect(page.get_by_label("Scale", exact=True).locator("option:checked")).to_have_text("standard")
    page.get_by_label("Sigma").fill("auto")
    page.get_by_label("New axes (q)").fill("3")
    page.get_by_label("Scale", exact=True).select_option("whiten")
    page.get_by_label("Balance").select_option("true")
    page.get_by_label("Features per axis").fill("5")
    page.get_by_label("Resamples for standard errors").fill("20")
    spec = spec_of(page)
    settings = {"kernel": {"name": "gaussian", "sigma": "auto"}, "q": 3, "scale": "whiten", "balance": True}
    settings |= {"features_per_axis": 5, "resamples": 20}
    assert {name: spec[name] for name in settings} == settings
    page.get_by_label("Scale", exact=True).select_option("")
    page.get_by_label("Balance").select_option("false")
    assert not {"scale", "balance"} & spec_of(page).keys()


def test_changing_a_job_with_automatic_settings_keeps_them_automatic(api: Api, opened: Opener) -> None:
    dataset = api.upload(WINE.encode(), "wine.csv")["id"]
    job = api.submit(dataset=dataset, paradigm="supervised", target="class", features=["alcohol", "hue"], folds=0)
    api.succeeded(job)
    page = opened(f"#/data/{dataset}/{job}")
    expect(page.get_by_label("Kernel", exact=True)).to_have_value("auto")
    assert {"q", "scale", "delta"}.isdisjoint(spec_of(page))


def test_a_job_can_be_changed_and_run_again(page: Page, api: Api, opened: Opener) -> None:
    dataset = api.upload(WINE.encode(), "wine.csv")["id"]
    kernel = {"name": "polynomial", "degree": 2, "c": 1.0, "gamma": 0.5}
    features = ["alcohol", "hue", "proline"]
    job = api.submit(dataset=dataset, paradigm="supervised", target="class", kernel=kernel, q=2, features=features)
    api.succeeded(job)
    page = opened(f"#/jobs/{job}")
    page.get_by_role("link", name="Change and run again").click()
    expect(page.get_by_label("Kernel", exact=True)).to_have_value("polynomial")
    spec = spec_of(page)
    assert (spec["kernel"]["degree"], spec["features"], spec["q"]) == (2, features, 2)
    page.get_by_label("New axes (q)").fill("1")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("h1 .badge")).to_have_text("done")
    assert api.get(f"/jobs/{page.url.rsplit('/', 1)[1]}").json()["spec"]["q"] == 1


def test_everything_can_be_done_with_the_keyboard(page: Page) -> None:
    expect(page.get_by_role("heading", name="Or try an example")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator(".drop input")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Column to explain")).to_have_value("class")
    kernel = page.get_by_label("Kernel", exact=True)
    kernel.press("l")
    expect(kernel).to_have_value("linear")
    page.get_by_label("New axes (q)").press("Enter")
    expect(page.locator("h1 .badge")).to_have_text("done")


@every_look
def test_start_and_form_fit_every_window_and_are_accessible(
    opened: Opener, viewport: dict[str, int], dark: bool
) -> None:
    page = opened(viewport=viewport, dark=dark)
    expect(page.get_by_role("heading", name="Or try an example")).to_be_visible()
    check_fits(page)
    check_accessible(page)
    begin(page, WINE)
    page.get_by_text("Advanced settings").click()
    page.get_by_text("This job as JSON and as a curl command").click()
    check_fits(page)
    check_accessible(page)
