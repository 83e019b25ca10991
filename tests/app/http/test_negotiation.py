"""Formats by Accept, ranges and versions of files, and cursors of lists, by their rules."""

from typing import Any

import pytest
from fastapi import HTTPException, Request
from hypothesis import given
from hypothesis import strategies as st

from app.http.etags import etag_matches, etag_of
from app.http.negotiation import file_response, negotiate_format
from app.http.pagination import decode_cursor, encode_cursor
from ism_jobs.errors import InvalidParameter, NotAcceptable

BODY = bytes(range(100))
ETAG = etag_of(BODY)


def request(**headers: str) -> Request:
    pairs = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    return Request({"type": "http", "method": "GET", "headers": pairs})


def part(**headers: str) -> Any:
    return file_response(request(**headers), BODY, "npy", "file")


@given(first=st.integers(0, 120), last=st.integers(0, 120))
def test_a_range_is_the_bytes_from_the_first_to_the_last(first: int, last: int) -> None:
    if first > min(last, len(BODY) - 1):
        with pytest.raises(HTTPException) as refusal:
            part(range=f"bytes={first}-{last}")
        assert refusal.value.status_code == 416
        return
    answer = part(range=f"bytes={first}-{last}")
    assert (answer.status_code, answer.body) == (206, BODY[first : last + 1])
    assert answer.headers["content-range"] == f"bytes {first}-{min(last, 99)}/100"
    assert answer.headers["content-length"] == str(len(answer.body))


@given(count=st.integers(1, 120))
def test_a_suffix_is_the_last_bytes(count: int) -> None:
    assert part(range=f"bytes=-{count}").body == BODY[-count:]


@given(st.text(st.characters(max_codepoint=255), max_size=30))
def test_any_header_gets_an_answer(text: str) -> None:
    for name in ("range", "if_range", "if_none_match", "accept"):
        try:
            part(**{name: text})
            etag_matches(request(**{name: text}), ETAG)
            negotiate_format(request(**{name: text}), None, ("json", "csv"))
        except (HTTPException, NotAcceptable):
            pass


@given(st.floats(allow_nan=False, allow_infinity=False), st.text())
def test_a_cursor_stands_for_its_place(time: float, id: str) -> None:
    cursor = encode_cursor((time, id))
    assert cursor is not None
    assert decode_cursor(cursor) == (time, id)
    assert cursor.replace("-", "").replace("_", "").isalnum()


@given(st.text(max_size=60))
def test_any_other_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidParameter, match="Invalid cursor"):
        decode_cursor(text)


def test_no_cursor_is_the_beginning() -> None:
    assert decode_cursor(None) is None
    assert encode_cursor(None) is None


@pytest.mark.parametrize(
    ("accept", "format"),
    [
        ("text/csv", "csv"),
        ("*/*", "json"),
        ("text/csv, */*;q=0.1", "csv"),
        ("*/*;q=0.1, text/csv;q=0.2", "csv"),
        ("application/json;q=0, */*", "csv"),
        ("text/csv;q=oops", "csv"),
        ("text/csv;header=present;q=1", "csv"),
        ("text/plain", None),
        ("text/csv;q=0", None),
        ("*/*;q=0", None),
    ],
)
def test_accept_chooses_the_format(accept: str, format: str | None) -> None:
    if format is None:
        with pytest.raises(NotAcceptable):
            negotiate_format(request(accept=accept), None, ("json", "csv"))
    else:
        assert negotiate_format(request(accept=accept), None, ("json", "csv")) == format
    assert negotiate_format(request(accept=accept), "csv", ("json", "csv")) == "csv"
