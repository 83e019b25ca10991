"""The stream of events: parsed as the HTML standard says, however it is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ism_client.events import Message, parse


def said(data, id=None):
    return Message("message", data, id, None)


CASES = {
    "one event": (b"data: a\n\n", [said("a")]),
    "named, with an id": (b"id: 7\nevent: step\ndata: a\n\n", [Message("step", "a", "7", None)]),
    "several lines of data": (b"data: a\ndata:\ndata: b\n\n", [said("a\n\nb")]),
    "only the first space goes": (b"data:  a \n\n", [said(" a ")]),
    "no space": (b"data:a\n\n", [said("a")]),
    "a colon in the data": (b"data: a: b\n\n", [said("a: b")]),
    "a field without a colon": (b"data\n\n", [said("")]),
    "comments": (b": ping\n\n:\ndata: a\n: more\n\n", [said("a")]),
    "an unknown field": (b"color: red\ndata: a\n\n", [said("a")]),
    "CRLF": (b"id: 1\r\ndata: a\r\n\r\ndata: b\r\n\r\n", [said("a", "1"), said("b")]),
    "CR": (b"data: a\r\rdata: b\r\r:\n", [said("a"), said("b")]),
    "a byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [said("a")]),
    "U+2028 is no end of line": ("data: a\u2028b\u0085c\n\n".encode(), [said("a\u2028b\u0085c")]),
    "an id with NUL is ignored": (b"id: a\0b\ndata: a\n\n", [said("a")]),
    "an empty id is one": (b"id\ndata: a\n\n", [Message("message", "a", "", None)]),
    "a delay": (b"retry: 1500\n\n", [Message("message", None, None, 1.5)]),
    "a delay that is no number": (b"retry: 1.5\ndata: a\n\n", [said("a")]),
    "a type alone is no event": (b"event: step\n\ndata: a\n\n", [said("a")]),
    "cut off": (b"data: a\n\ndata: b\n", [said("a")]),
    "text beyond ASCII": ("data: größe 🜁\n\n".encode(), [said("größe 🜁")]),
}  # fmt: skip


@pytest.mark.parametrize(("stream", "messages"), CASES.values(), ids=CASES.keys())
def test_the_stream_is_read_as_the_standard_says(stream, messages):
    assert list(parse([stream])) == messages


@pytest.mark.parametrize(("stream", "messages"), CASES.values(), ids=CASES.keys())
def test_it_does_not_matter_where_the_stream_is_cut(stream, messages):
    assert list(parse(stream[i : i + 1] for i in range(len(stream)))) == messages


@given(st.lists(st.sampled_from([b"data: a", b"id: 1", b"event: x", b":", b"\r", b"\n", b"\r\n", b"\n\n"])), st.data())
def test_any_stream_means_the_same_in_any_pieces(parts, data):
    stream = b"".join(parts)
    cut = data.draw(st.integers(0, len(stream)))
    assert list(parse([stream[:cut], stream[cut:]])) == list(parse([stream]))
