"""The files of the page: how they are served, and what may stand in them."""

import re
import tomllib
from pathlib import Path

import httpx
import pytest

from ism_jobs.settings import Settings
from tests.app.auth.test_access import answers, bearer
from tests.support.api import problem

ROOT = Path(__file__).parents[2]
WEB = ROOT / "app" / "web"
FILES = sorted(path.relative_to(WEB).as_posix() for path in WEB.rglob("*") if path.is_file())
MODULES = [name for name in FILES if name.endswith(".js") and not name.startswith("vendor/")]
MARKUP = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://(?!www\.w3\.org/)"
TYPES = {".css": "text/css", ".csv": "text/csv", ".gz": "text/csv", ".html": "text/html", ".svg": "image/svg+xml"}
TYPES |= {".txt": "text/plain"}


@pytest.fixture
def closed(redis_url: str, tmp_path: Path) -> Settings:
    """Of a service that has a key."""
    settings = Settings(redis_url=redis_url, api_keys_file=tmp_path / "api-keys")
    bearer(settings, "alice")
    return settings


def test_every_file_is_there_for_everybody_with_its_type(closed: Settings) -> None:
    async def ask(client: httpx.AsyncClient) -> list[httpx.Response]:
        return [await client.get(f"/page/{name}") for name in FILES]

    for name, answer in zip(FILES, answers(ask, closed), strict=True):
        assert answer.status_code == 200, name
        assert answer.content == (WEB / name).read_bytes()
        kind = answer.headers["content-type"].split(";")[0]
        assert kind == TYPES.get(Path(name).suffix) or kind.endswith("/javascript"), name


def test_the_page_and_plotly_are_there_and_are_not_sent_twice(closed: Settings) -> None:
    async def ask(client: httpx.AsyncClient) -> list[httpx.Response]:
        paths = ("/", "/page/main.js", "/page/vendor/plotly.min.js")
        found = [await client.get(path) for path in paths]
        return found + [
            await client.get(path, headers={"If-None-Match": answer.headers["etag"]})
            for path, answer in zip(paths, found, strict=True)
        ]

    page, module, plotly, *again = answers(ask, closed)
    assert [answer.status_code for answer in again] == [304, 304, 304]
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert plotly.headers["content-type"] == module.headers["content-type"]
    assert b"plotly.js v" in plotly.content[:500]


@pytest.mark.parametrize("path", ["/page/nothing.js", "/page/", "/page/..%2fmain.py", "/page/form", "/page/%00"])
def test_nothing_else_is_there(closed: Settings, path: str) -> None:
    async def ask(client: httpx.AsyncClient) -> httpx.Response:
        return await client.get(path)

    problem(answers(ask, closed), 404)


def test_the_page_cannot_be_posted_to(closed: Settings) -> None:
    async def ask(client: httpx.AsyncClient) -> list[httpx.Response]:
        return [await client.post(path) for path in ("/", "/page/main.js")]

    for answer in answers(ask, closed):
        problem(answer, 405)


def test_every_file_is_in_the_wheel() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["app"]
    packed = {path for pattern in patterns for path in (ROOT / "app").glob(pattern) if path.is_file()}
    assert packed == {WEB / name for name in FILES}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_what_it_is_for_and_makes_no_markup_of_text(name: str) -> None:
    text = (WEB / name).read_text()
    assert text.startswith("// ")
    assert len(text.splitlines()) <= 300
    assert re.findall(MARKUP, text) == []


def test_the_document_holds_no_script_and_no_style_and_nothing_from_elsewhere() -> None:
    text = (WEB / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=|//", text) == []
    assert len((WEB / "style.css").read_text().splitlines()) <= 300


def test_the_example_of_the_page_is_that_of_the_readme() -> None:
    assert (WEB / "examples" / "wine.csv").read_bytes() == (ROOT / "examples" / "wine.csv").read_bytes()
