"""Entity tags name the bytes of an answer."""

import os
from pathlib import Path

import anyio
import httpx
import pytest
from fastapi import FastAPI, Request

from app.http.etags import TagMemory, etag_of
from app.http.negotiation import file_response
from app.http.pages import install_page


def request(method: str = "GET", **headers: str) -> Request:
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": method, "headers": pairs})


def get(app: FastAPI, **headers: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await client.get("/page/index.html", headers=headers)

    return anyio.run(ask)


def test_a_tag_changes_if_and_only_if_the_bytes_do() -> None:
    first = file_response(request(), b"1.0", "csv", "table")
    again = file_response(request(), b"1.0", "csv", "other name")
    other = file_response(request(), b"1.00", "csv", "table")
    assert first.headers["etag"] == again.headers["etag"] != other.headers["etag"]


def test_a_file_that_the_caller_has_is_not_sent_but_every_post_is_answered() -> None:
    etag = etag_of(b"1.0")
    assert file_response(request(if_none_match=etag), b"1.0", "csv", "table").status_code == 304
    assert file_response(request(if_none_match=etag), b"1.00", "csv", "table").status_code == 200
    assert file_response(request("POST", if_none_match=etag), b"1.0", "csv", "table").status_code == 200


def test_a_process_remembers_the_tags_of_its_last_answers() -> None:
    memory = TagMemory(most=2)
    for number in range(3):
        memory.add(("job", number), etag_of(b"%d" % number))
    asks = request(if_none_match=f"{etag_of(b'0')}, {etag_of(b'2')}")
    assert [memory.known(asks, ("job", number)) for number in range(3)] == [None, None, etag_of(b"2")]


def test_a_file_of_the_page_that_changes_has_another_tag_although_size_and_time_are_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tags = []
    for release, text in enumerate(("one", "two")):
        folder = tmp_path / str(release)
        folder.mkdir()
        (folder / "index.html").write_text(text)
        os.utime(folder / "index.html", (1_000_000_000, 1_000_000_000))
        monkeypatch.setattr("app.http.pages.WEB", folder)
        app = FastAPI()
        install_page(app)
        answer = get(app)
        assert (answer.text, answer.headers["etag"]) == (text, etag_of(text.encode()))
        known = {"If-None-Match": answer.headers["etag"]}
        assert get(app, **known).status_code == 304
        tags.append(answer.headers["etag"])
    assert tags[0] != tags[1]
