"""Frames per second and CPU time while the arrow of a feature is dragged on the page, and the time to draw many rows.

`python -m benchmarks.speed.tour [ROWS …]` starts a service and a browser, and prints a line for each number of rows.
"""

import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np
from playwright.sync_api import CDPSession, Page

from tools.browser import PATIENCE, WIDE, chromium, running_browser
from tools.local_service import running_service

FRAMES = 100
DRAG = """async (frames) => {
    const handle = document.querySelector(".arrows .handle");
    const box = handle.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const arrows = document.querySelector(".arrows");
    arrows.setPointerCapture = () => {};
    const at = (kind, target, shift) => target.dispatchEvent(
        new PointerEvent(kind, { clientX: x - shift, clientY: y + shift, bubbles: true, pointerId: 1 }));
    at("pointerdown", handle, 0);
    const began = performance.now();
    for (let frame = 0; frame < frames; frame += 1) {
        at("pointermove", arrows, frame / 2);
        await new Promise(requestAnimationFrame);
    }
    const seconds = (performance.now() - began) / 1000;
    at("pointerup", arrows, frames / 2);
    return frames / seconds;
}"""


def table(rows: int) -> bytes:
    """Return a CSV with two classes and eight features."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 8))
    y = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(rows) > 0.5
    lines = [",".join([*map("{:.3f}".format, row), "ab"[int(label)]]) for row, label in zip(X, y, strict=True)]
    return "\n".join([",".join([*(f"x{place}" for place in range(8)), "y"]), *lines]).encode()


def submit(client: httpx.Client, rows: int) -> str:
    """Run a job and return its id."""
    dataset = client.post("/datasets", files={"file": ("table.csv", table(rows))}).json()["id"]
    spec = {"paradigm": "supervised", "target": "y", "kernel": "linear", "q": 2, "folds": 0}
    id = str(client.post("/jobs", json={"dataset": dataset, **spec}).json()["id"])
    while client.get(f"/jobs/{id}", params={"wait": 30}).json()["state"] in ("queued", "running"):
        pass
    return id


def measure(page: Page, url: str, job: str, rows: int) -> str:
    """Open a result, drag an arrow and return a line."""
    began = time.perf_counter()
    page.goto(f"{url}/#/jobs/{job}")
    page.wait_for_selector(f".scatter-plot[data-drawn='{rows}']", timeout=PATIENCE)
    drawn = time.perf_counter() - began
    page.get_by_role("button", name="Tour", exact=True).click()
    page.wait_for_selector(".arrows .handle", timeout=PATIENCE)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before, rate = cpu_seconds(session), page.evaluate(DRAG, FRAMES)
    cpu = 1000 * (cpu_seconds(session) - before) / FRAMES
    return f"{rows:>9,} rows: drawn in {drawn:.1f} s, {rate:.0f} frames per second, {cpu:.1f} ms of CPU per frame"


def cpu_seconds(session: CDPSession) -> float:
    """Return the CPU time of the page's main thread."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def main(sizes: list[int]) -> None:
    """Print a line for each number of rows."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(Path(folder), workers=1) as (url, _),
        httpx.Client(base_url=url, timeout=600) as client,
    ):
        jobs = {rows: submit(client, rows) for rows in sizes}
        with running_browser(chromium()) as browser:
            for rows, job in jobs.items():
                page = browser.new_context(viewport=WIDE).new_page()  # type: ignore[arg-type]
                print(measure(page, url, job, rows), flush=True)
                page.context.close()


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [1_000, 10_000])
