"""A scatter plot of very many rows: their density is drawn, and a selection is sent in few bytes."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Page, Request, expect

from tests.page.conftest import Opener
from tests.page.jobs import drawn, eventually, pixels
from tests.support.api import Api

PIXELS = """() => {
    const { width, height } = document.querySelector(".scatter-plot canvas");
    const { data } = document.querySelector(".scatter-plot canvas").getContext("2d").getImageData(0, 0, width, height);
    return new Set(new Uint32Array(data.buffer)).size;
}"""


def parquet(rows: int) -> bytes:
    """A table with two classes along the first of three features."""
    rng = np.random.default_rng(0)
    values, classes = rng.standard_normal((rows, 3)), rng.integers(0, 2, rows)
    values[:, 0] += 2 * classes
    columns = {"a": values[:, 0], "b": values[:, 1], "c": values[:, 2], "kind": np.where(classes, "k1", "k0")}
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


@pytest.fixture(scope="module", params=[210_000, pytest.param(1_000_000, marks=pytest.mark.thorough)])
def many(request: pytest.FixtureRequest, api: Api) -> tuple[str, int]:
    dataset = api.upload(parquet(request.param), "many.parquet")["id"]
    spec = {"paradigm": "supervised", "target": "kind", "kernel": "linear", "q": 2, "folds": 0}
    job = api.submit(dataset=dataset, **spec)
    api.succeeded(job)
    return job, request.param


@pytest.fixture
def result(opened: Opener, many: tuple[str, int]) -> Page:
    return drawn(opened(f"#/jobs/{many[0]}"), many[1])


def test_the_density_of_many_rows_has_shades_and_a_class_is_selected_in_few_bytes(
    result: Page, many: tuple[str, int]
) -> None:
    assert result.evaluate(PIXELS) > 200  # colors; marks alone have a few
    before = pixels(result)
    sent: list[Request] = []
    result.on("request", lambda request: sent.append(request))
    result.get_by_title("Select these rows").get_by_text("k1", exact=True).click()
    panel = result.get_by_role("region", name="Selected rows")
    expect(panel.locator("tbody tr")).to_have_count(4)
    expect(panel.locator("tbody tr").first).to_contain_text("kind is k1")
    eventually(result, lambda: pixels(result) != before)
    (body,) = [request.post_data or "" for request in sent if request.url.endswith("/differences")]
    assert len(body) < many[1] / 5
