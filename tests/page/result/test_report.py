"""The report of a job: one file that opens from disk without network, and repeats the job with its own lines."""

import html
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from tests.page.conftest import Opener, check_accessible, check_fits, every_look
from tests.page.jobs import WINE, done, drawn
from tests.support.api import Api

pytestmark = pytest.mark.thorough

MAX_BYTES = 3_000_000


@pytest.fixture(scope="module")
def job(api: Api) -> str:
    return done(api, q=2)


def test_the_lines_of_a_report_give_the_same_numbers(
    opened: Opener, api: Api, job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = drawn(opened(f"#/jobs/{job}"), 178)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download report").click()
    text = Path(download.value.path()).read_text()
    lines = html.unescape(re.findall(r"<pre class='python' tabindex='0'>(.*?)</pre>", text, re.DOTALL)[0])
    (tmp_path / "wine.csv").write_text(WINE)
    monkeypatch.chdir(tmp_path)
    repeated: dict[str, Any] = {}
    exec(lines, repeated)
    repeated["client"].close()
    found, again = api.get(f"/jobs/{job}/result").json(), repeated["result"]
    assert f"<td>J</td><td class='number'>{found['objective']!r}</td>" in text
    assert again.objective == pytest.approx(found["objective"], rel=1e-9)
    np.testing.assert_allclose(again.W, found["W"], atol=1e-6)
    for name in ("accuracy", "hsic"):
        assert again.metrics[name] == pytest.approx(found["metrics"][name], rel=1e-6)
    commands = html.unescape(re.findall(r"<h3>curl</h3><pre tabindex='0'>(.*?)</pre>", text, re.DOTALL)[0])
    printed = subprocess.run(["sh", "-c", commands], check=True, capture_output=True, text=True).stdout
    assert float(printed.split()[0]) == pytest.approx(found["objective"], rel=1e-9)
    assert repr(found["metrics"]["accuracy"]) in printed


@every_look
def test_a_report_opens_from_disk_without_network(
    browser: Browser, api: Api, job: str, tmp_path: Path, viewport: Any, dark: bool
) -> None:
    (tmp_path / "report.html").write_bytes(api.get(f"/jobs/{job}/report.html").content)
    context = browser.new_context(viewport=viewport, color_scheme="dark" if dark else "light", offline=True)
    faults: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto((tmp_path / "report.html").as_uri())
    expect(page.locator(".plot-area")).to_have_attribute("data-drawn", "178")
    expect(page.locator(".arrows text").first).to_be_visible()
    page.get_by_label("Arrows").select_option("none")
    expect(page.locator(".arrows text")).to_have_count(0)
    expect(page.get_by_role("heading", name="Repeat it")).to_be_visible()
    check_fits(page)
    check_accessible(page)
    assert faults == []
    context.close()


def test_a_report_of_many_rows_is_small_and_runs_no_markup_of_the_table(api: Api) -> None:
    rng = np.random.default_rng(0)
    values, classes = rng.standard_normal((10_000, 5)), rng.integers(0, 2, 10_000)
    names = ["a", "b", "c", "d", "<script>alert(1)</script>"]
    lines = [",".join([*map("{:.3f}".format, row), f"</script>{k}"]) for row, k in zip(values, classes, strict=True)]
    job = done(api, "\n".join([",".join([*names, "y"]), *lines]), "many.csv", target="y", q=2, kernel="linear", folds=0)
    body = api.get(f"/jobs/{job}/report.html").content
    assert len(body) < MAX_BYTES
    assert b"<script>alert" not in body
    assert body.count(b"</script>") == 2
